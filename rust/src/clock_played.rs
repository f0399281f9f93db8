//! Time as it passes when a hostile device is played: only where somebody sleeps. So the longest wait takes no time, and
//! how long it would have been is known.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::ops::Add;
use std::time::Duration;

thread_local! {
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// As the standard library's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant(Duration);

impl Instant {
    pub(crate) fn now() -> Self {
        Self(NOW.get())
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}

/// As the standard library's, but at once.
pub(crate) fn sleep(duration: Duration) {
    NOW.set(NOW.get() + duration);
}
