//! What a turn of the forwarding loop costs, by the frames that it finds.

/// The cost of a turn on one port: receive, touch, send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    /// Frames that the turn found, 0 for an empty ring.
    pub frames: u32,
    /// Core cycles of the turn.
    pub cycles: f64,
}

/// The costs of turns by their frames. Between two known turns the cost is interpolated.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnCosts {
    turns: Vec<Turn>,
}

/// Costs that no simulation can use.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CostError {
    /// The costs of two turns at least are needed.
    #[error(
        "{0} turns are known: trace a driver with empty rings and with at least one batch size"
    )]
    TooFew(usize),
    /// No turn without frames.
    #[error("the cost of a turn without frames is missing: trace a driver with empty rings")]
    NoEmptyTurn,
    /// Two costs for the same number of frames.
    #[error("a turn of {0} frames has two costs: give each number of frames once")]
    Twice(u32),
    /// A cost that is no positive number.
    #[error("a turn of {frames} frames costs {cycles} cycles: the cost must be a positive number")]
    NoCost {
        /// The frames of the turn.
        frames: u32,
        /// Its cost.
        cycles: f64,
    },
}

impl TurnCosts {
    /// The costs from the known turns, in any order. One of them must have no frames.
    ///
    /// # Errors
    /// If turns are missing, twice there, or without a positive cost.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Result<Self, CostError> {
        let mut turns: Vec<Turn> = turns.into_iter().collect();
        turns.sort_by_key(|turn| turn.frames);
        for turn in &turns {
            if !(turn.cycles.is_finite() && turn.cycles > 0.0) {
                return Err(CostError::NoCost {
                    frames: turn.frames,
                    cycles: turn.cycles,
                });
            }
        }
        if let Some(pair) = turns
            .windows(2)
            .find(|pair| pair[0].frames == pair[1].frames)
        {
            return Err(CostError::Twice(pair[0].frames));
        }
        match turns.first() {
            _ if turns.len() < 2 => Err(CostError::TooFew(turns.len())),
            Some(first) if first.frames > 0 => Err(CostError::NoEmptyTurn),
            _ => Ok(Self { turns }),
        }
    }

    /// The most frames of a turn whose cost is known.
    #[must_use]
    pub fn most_frames(&self) -> u32 {
        self.turns.last().map_or(0, |turn| turn.frames)
    }

    /// Core cycles of a turn that finds `frames` frames. Beyond the known turns, each further frame
    /// costs what it costs between the last two.
    #[must_use]
    pub fn cycles(&self, frames: u32) -> f64 {
        let after = self
            .turns
            .partition_point(|turn| turn.frames < frames)
            .clamp(1, self.turns.len() - 1);
        let (low, high) = (self.turns[after - 1], self.turns[after]);
        let share = (f64::from(frames) - f64::from(low.frames))
            / (f64::from(high.frames) - f64::from(low.frames));
        low.cycles + share * (high.cycles - low.cycles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(frames: u32, cycles: f64) -> Turn {
        Turn { frames, cycles }
    }

    #[test]
    fn known_turns_have_their_own_cost() {
        let costs = TurnCosts::new([turn(32, 3000.0), turn(0, 30.0), turn(8, 900.0)]).unwrap();
        for (frames, cycles) in [(0, 30.0), (8, 900.0), (32, 3000.0)] {
            assert_eq!(costs.cycles(frames), cycles);
        }
    }

    #[test]
    fn unknown_turns_lie_on_the_line_between_known_ones() {
        let costs = TurnCosts::new([turn(0, 30.0), turn(8, 830.0), turn(32, 3230.0)]).unwrap();
        assert_eq!(costs.cycles(4), 430.0);
        assert_eq!(costs.cycles(20), 2030.0);
        assert_eq!(costs.cycles(64), 6430.0);
    }

    #[test]
    fn costs_that_no_simulation_can_use_are_refused() {
        let cases: [(&[Turn], &str); 5] = [
            (&[], "0 turns"),
            (&[turn(0, 1.0)], "1 turns"),
            (&[turn(1, 1.0), turn(2, 2.0)], "empty rings"),
            (&[turn(0, 1.0), turn(8, 1.0), turn(8, 2.0)], "two costs"),
            (&[turn(0, 1.0), turn(8, f64::NAN)], "positive"),
        ];
        for (turns, text) in cases {
            let error = TurnCosts::new(turns.iter().copied()).unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
