//! How many frames of a port may arrive, if its traffic has a window.
//!
//! At most a window of frames is with the driver, so no ring runs full. Two kinds of drivers need
//! more. Some drop the frames that they find in their rings at their start, as DPDK's testpmd does.
//! Others sleep until the next frame arrives although frames wait in their rings, as ixy.rs does.

use std::time::Duration;

use crate::data_plane::tuning::{FLUSH_TIME, TRICKLE_PART, TRICKLE_TIME};

/// What a port knows about its driver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation {
    /// Frames of the window.
    pub(super) frames: u32,
    /// Frames that have not come back.
    pub(super) outstanding: u64,
    /// Whether any frame has come back since the driver's start.
    pub(super) begun: bool,
    /// Whether the driver has taken most frames out of its rings.
    pub(super) has_room: bool,
    pub(super) now: Duration,
}

/// What may happen in this round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// So many frames may arrive.
    Allow(u64),
    /// The driver has dropped the outstanding frames at its start. It gets new ones.
    Abandon,
}

/// A wait of a port whose window is full.
#[derive(Clone, Copy, Debug)]
struct Wait {
    since: Duration,
    /// Time of the last frame beyond the window.
    trickled: Duration,
    /// The frames that were outstanding then.
    outstanding: u64,
}

/// The window of one port.
#[derive(Debug, Default)]
pub(super) struct Window {
    wait: Option<Wait>,
}

impl Window {
    /// Decides what may happen in this round.
    pub(super) fn decide(&mut self, situation: Situation) -> Decision {
        let Situation {
            frames,
            outstanding,
            now,
            ..
        } = situation;
        let frames = u64::from(frames);
        if outstanding < frames {
            self.wait = None;
            return Decision::Allow(frames - outstanding);
        }
        let wait = self.wait.get_or_insert(Wait {
            since: now,
            trickled: now,
            outstanding,
        });
        let waited = |since: Duration| now.saturating_sub(since);
        if outstanding < wait.outstanding {
            // The driver works.
            (wait.trickled, wait.outstanding) = (now, outstanding);
        }
        if !situation.begun && situation.has_room && waited(wait.since) > FLUSH_TIME {
            self.wait = None;
            return Decision::Abandon;
        }
        if waited(wait.trickled) > TRICKLE_TIME && outstanding < frames + frames / TRICKLE_PART {
            (wait.trickled, wait.outstanding) = (now, outstanding + 1);
            return Decision::Allow(1);
        }
        Decision::Allow(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a full window allows a driver after so many milliseconds.
    fn decisions(begun: bool, has_room: bool, steps: &[(u64, u64)]) -> Vec<Decision> {
        let mut window = Window::default();
        let decide = |(outstanding, millis): &(u64, u64)| {
            window.decide(Situation {
                frames: 256,
                outstanding: *outstanding,
                begun,
                has_room,
                now: Duration::from_millis(*millis),
            })
        };
        steps.iter().map(decide).collect()
    }

    #[test]
    fn a_driver_that_works_gets_none_beyond_the_window() {
        let steps = Vec::from_iter((0..20).map(|step| (300 - step, step)));
        assert_eq!(decisions(true, true, &steps), [Decision::Allow(0); 20]);
    }

    #[test]
    fn only_a_driver_that_has_not_begun_may_drop_frames() {
        let allow_none = Decision::Allow(0);
        for (begun, has_room) in [(true, true), (false, false), (true, false)] {
            let decided = decisions(begun, has_room, &[(400, 0), (400, 500)]);
            assert_eq!(decided, [allow_none; 2]);
        }
        let decided = decisions(false, true, &[(400, 0), (400, 50), (400, 101)]);
        assert_eq!(decided, [allow_none, allow_none, Decision::Abandon]);
    }
}
