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

    fn situation(outstanding: u64, millis: u64) -> Situation {
        Situation {
            frames: 256,
            outstanding,
            begun: true,
            has_room: true,
            now: Duration::from_millis(millis),
        }
    }

    #[test]
    fn a_window_has_room_until_it_is_full() {
        let mut window = Window::default();
        assert_eq!(window.decide(situation(0, 0)), Decision::Allow(256));
        assert_eq!(window.decide(situation(250, 0)), Decision::Allow(6));
        assert_eq!(window.decide(situation(256, 0)), Decision::Allow(0));
    }

    #[test]
    fn a_driver_that_sleeps_gets_a_few_frames_beyond_the_window() {
        let mut window = Window::default();
        let mut outstanding = 256;
        for millis in 0..1000 {
            match window.decide(situation(outstanding, 10 * millis)) {
                Decision::Allow(more) => outstanding += more,
                Decision::Abandon => panic!("the driver has begun"),
            }
        }
        assert_eq!(outstanding, 256 + 256 / TRICKLE_PART);
        assert_eq!(window.decide(situation(255, 20_000)), Decision::Allow(1));
    }

    #[test]
    fn a_driver_that_works_gets_none_beyond_the_window() {
        let mut window = Window::default();
        for step in 0..20 {
            let now = situation(300 - step, step);
            assert_eq!(window.decide(now), Decision::Allow(0));
        }
    }

    #[test]
    fn only_a_driver_that_has_not_begun_may_drop_frames() {
        let at = |begun, has_room, millis| Situation {
            begun,
            has_room,
            ..situation(400, millis)
        };
        for (begun, has_room) in [(true, true), (false, false), (true, false)] {
            let mut window = Window::default();
            assert_eq!(window.decide(at(begun, has_room, 0)), Decision::Allow(0));
            assert_eq!(window.decide(at(begun, has_room, 500)), Decision::Allow(0));
        }
        let mut window = Window::default();
        assert_eq!(window.decide(at(false, true, 0)), Decision::Allow(0));
        assert_eq!(window.decide(at(false, true, 50)), Decision::Allow(0));
        assert_eq!(window.decide(at(false, true, 101)), Decision::Abandon);
    }
}
