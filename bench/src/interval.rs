//! A median and how sure it is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Samples that the bootstrap draws.
const DRAWS: usize = 1_000;
/// Where the random numbers begin, so that the same values give the same interval.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The values of a cell, by process and round.
pub type Rounds = BTreeMap<(u32, u32), f64>;

/// A median with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub low: f64,
    pub median: f64,
    pub high: f64,
}

impl Interval {
    /// The interval of values from several processes, by a bootstrap that draws processes first, then
    /// values of each: the addresses of a process favour one driver or another. `None` without values.
    pub fn of(processes: &[Vec<f64>]) -> Option<Self> {
        let processes: Vec<_> = processes.iter().filter(|one| !one.is_empty()).collect();
        let middle = median(processes.iter().copied().flatten().copied().collect())?;
        let mut random = SEED;
        let mut draw = |count: usize| {
            // xorshift64: good enough to choose, and always the same.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % count as u64) as usize
        };
        let mut medians = Vec::new();
        for _ in 0..DRAWS {
            let mut drawn = Vec::new();
            for _ in &processes {
                let process = processes[draw(processes.len())];
                drawn.extend(process.iter().map(|_| process[draw(process.len())]));
            }
            medians.extend(median(drawn));
        }
        medians.sort_by(f64::total_cmp);
        let at = |share: f64| medians[(share * (DRAWS - 1) as f64).round() as usize];
        Some(Self {
            low: at(0.025),
            median: middle,
            high: at(0.975),
        })
    }

    pub fn of_rounds(rounds: &Rounds) -> Option<Self> {
        let mut processes: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for ((process, _), value) in rounds {
            processes.entry(*process).or_default().push(*value);
        }
        Self::of(&processes.into_values().collect::<Vec<_>>())
    }

    /// The interval of the ratios within the rounds that two cells share.
    pub fn of_ratios(cell: &Rounds, base: &Rounds) -> Option<Self> {
        let ratio = |(round, value): (&_, &f64)| Some((*round, value / base.get(round)?));
        Self::of_rounds(&cell.iter().filter_map(ratio).collect())
    }

    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// The median; `None` without values.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(match values.len() % 2 {
        0 => (values[middle - 1] + upper) / 2.0,
        _ => upper,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_differ_make_the_interval_wider_than_their_values() {
        // Within a process the values agree to 1 %, and the processes differ by 10 %.
        let process = |level: f64| (0..30).map(|at| level + f64::from(at % 3) * 0.01).collect();
        let alike: Vec<Vec<f64>> = (0..6).map(|_| process(1.0)).collect();
        let apart: Vec<Vec<f64>> = (0..6)
            .map(|at| process(1.0 + 0.02 * f64::from(at)))
            .collect();
        let width = |processes: &[Vec<f64>]| {
            let interval = Interval::of(processes).unwrap();
            interval.high - interval.low
        };
        assert!(width(&alike) <= 0.02, "{}", width(&alike));
        assert!(width(&apart) > 0.03, "{}", width(&apart));
        let interval = Interval::of(&apart).unwrap();
        assert!(interval.low <= interval.median && interval.median <= interval.high);
        assert_eq!(Interval::of(&apart), Some(interval), "reproducible");
        assert_eq!(Interval::of(&[]), None);
        assert_eq!(Interval::of(&[Vec::new()]), None);
    }
}
