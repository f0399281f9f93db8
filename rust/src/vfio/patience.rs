//! How long a driver waits for servers, all waits together.
//!
//! A limit for each wait is not enough: a server could let each of a thousand waits take almost as long.
//! So all waits of a container use up one amount of time, its patience. It comes back slowly, so that a
//! long run does not use it up. Each device has a small reserve of its own: when one server has used up
//! the patience, the other device can still be stopped.
//!
//! The kernel's VFIO answers at once, so its devices only have the limits of the single waits.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The patience of a container: how long it waits for its servers, all waits together, for replies and
/// for registers. One millisecond comes back in 20. Each device has a reserve besides.
///
/// A correct server takes a tenth of a second of it for a start. The waits for a server that starts and
/// for the link have limits of their own.
pub(crate) const PATIENCE: Duration = Duration::from_millis(5000);

/// The reserve of a device.
pub(crate) const RESERVE: Duration = Duration::from_millis(500);

/// A microsecond of patience comes back in this many microseconds.
const REFILL: u32 = 20;

/// The patience of a container.
pub(crate) struct Patience {
    /// What was left of it when it was refilled.
    left: Cell<Duration>,
    refilled: Cell<Instant>,
}

impl Patience {
    /// The full patience.
    pub(crate) fn new() -> Rc<Self> {
        Rc::new(Self {
            left: Cell::new(PATIENCE),
            refilled: Cell::new(Instant::now()),
        })
    }

    fn refill(&self) -> Duration {
        let now = Instant::now();
        let back = now.duration_since(self.refilled.replace(now)) / REFILL;
        let left = self.left.get().saturating_add(back).min(PATIENCE);
        self.left.set(left);
        left
    }
}

/// The patience for a device: that of its container, and its own reserve.
pub(crate) struct DevicePatience {
    shared: Rc<Patience>,
    reserve: Cell<Duration>,
}

impl DevicePatience {
    /// The full reserve, beside the patience of the container.
    pub(crate) fn new(shared: &Rc<Patience>) -> Self {
        Self {
            shared: Rc::clone(shared),
            reserve: Cell::new(RESERVE),
        }
    }

    /// What is left.
    pub(crate) fn left(&self) -> Duration {
        self.shared.refill() + self.reserve.get()
    }

    /// Uses up patience for a device that the driver has waited for.
    pub(crate) fn use_up(&self, waited: Duration) {
        let left = self.shared.left.get();
        let own = waited.saturating_sub(left);
        self.shared.left.set(left.saturating_sub(waited));
        self.reserve.set(self.reserve.get().saturating_sub(own));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_device_does_not_use_up_the_reserve_of_another() {
        let patience = Patience::new();
        let [a, b] = [0, 1].map(|_| DevicePatience::new(&patience));
        assert_eq!(a.left(), PATIENCE + RESERVE);
        a.use_up(Duration::from_secs(100));
        assert!(a.left() < Duration::from_millis(100));
        assert!(b.left() >= RESERVE && b.left() < RESERVE + Duration::from_millis(100));
        b.use_up(Duration::from_secs(100));
        assert!(b.left() < Duration::from_millis(100));
    }

    #[test]
    fn the_patience_comes_back_slowly_and_not_beyond_its_size() {
        let patience = Patience::new();
        let device = DevicePatience::new(&patience);
        device.use_up(PATIENCE);
        let Some(earlier) = Instant::now().checked_sub(Duration::from_secs(20)) else {
            return;
        };
        patience.refilled.set(earlier);
        let left = device.left();
        assert!(left >= RESERVE + Duration::from_secs(1));
        assert!(left < RESERVE + Duration::from_millis(1100));
        for _ in 0..5 {
            patience.refilled.set(earlier);
            device.left();
        }
        assert_eq!(device.left(), PATIENCE + RESERVE);
    }
}
