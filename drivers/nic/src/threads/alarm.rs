//! Wakes a running data plane that sleeps because there is nothing to do.
//!
//! Whoever has given it something to do rings afterwards. Then either the sleeper sees that when it is about to
//! sleep, or whoever rings sees that it sleeps, and wakes it: both swap `rung`, and of two swaps one comes second, and
//! sees what was done before the first.

use std::sync::PoisonError;
use std::time::Duration;

use super::sync::{current, park_timeout, AtomicBool, Mutex, Ordering, Thread};

/// All ports of a NIC have the same.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    sleeping: AtomicBool,
    /// Rung since the last sleep, so that there is no need for the next one.
    rung: AtomicBool,
    sleeper: Mutex<Option<Thread>>,
}

impl Alarm {
    /// Sleeps until woken, or for that time. Spurious wake-ups happen.
    pub(crate) fn sleep(&self, longest: Duration) {
        *self.sleeper.lock().unwrap_or_else(PoisonError::into_inner) = Some(current());
        self.sleeping.store(true, Ordering::SeqCst);
        if !self.rung.swap(false, Ordering::SeqCst) {
            park_timeout(longest);
            self.rung.store(false, Ordering::SeqCst);
        }
        self.sleeping.store(false, Ordering::SeqCst);
    }

    /// Wakes the sleeper, if there is one.
    pub(crate) fn ring(&self) {
        self.rung.swap(true, Ordering::SeqCst);
        if self.sleeping.load(Ordering::SeqCst) {
            if let Some(sleeper) = &*self.sleeper.lock().unwrap_or_else(PoisonError::into_inner) {
                sleeper.unpark();
            }
        }
    }
}
