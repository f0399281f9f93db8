//! Wakes a running data plane that sleeps because it has no work.
//!
//! A thread that adds work rings the alarm afterwards. Sleeper and ringer both swap `rung`, and the
//! second of the two swaps sees everything done before the first. So either the sleeper sees the
//! new work before it sleeps, or the ringer sees the sleeper and wakes it.

use std::sync::PoisonError;
use std::time::Duration;

use super::sync::{current, park_timeout, AtomicBool, Mutex, Ordering, Thread};

/// The alarm that all ports of a NIC share.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    sleeping: AtomicBool,
    /// The alarm has rung since the last sleep: the next sleep ends at once.
    rung: AtomicBool,
    sleeper: Mutex<Option<Thread>>,
}

impl Alarm {
    /// Sleeps until the alarm rings, at most for `longest`. May wake up without a reason.
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
