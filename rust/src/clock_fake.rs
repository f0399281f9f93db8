//! The clock of tests: time passes only in `sleep`. So the longest wait takes no real time, and a test
//! can check how long it would have been.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::ops::Add;
use std::time::Duration;

thread_local! {
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// In place of the standard library's.
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

/// In place of the standard library's. It returns at once.
pub(crate) fn sleep(duration: Duration) {
    NOW.set(NOW.get() + duration);
}
