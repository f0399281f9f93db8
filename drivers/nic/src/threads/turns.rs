//! A lock that a thread which takes it again and again leaves to others when they want it.

use std::sync::{PoisonError, TryLockError};

use super::sync::{yield_now, AtomicU32, Mutex, MutexGuard, Ordering};

/// How often [`Turns::lock_after_others`] lets others go first before it takes what they are waiting for.
const YIELDS: u32 = 1000;

/// What the lock protects, and how many want it.
#[derive(Debug)]
pub(crate) struct Turns<T> {
    inner: Mutex<T>,
    /// Threads that wait in [`Turns::lock`].
    waiting: AtomicU32,
}

impl<T> Turns<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self {
            inner: Mutex::new(inner),
            waiting: AtomicU32::new(0),
        }
    }

    /// It, soon.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        inner
    }

    /// It, unless somebody has it or wants it: for one who comes back at once anyway.
    pub(crate) fn lock_unless_wanted(&self) -> Option<MutexGuard<'_, T>> {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            return None;
        }
        match self.inner.try_lock() {
            Ok(inner) => Some(inner),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// It, for one who perhaps comes back soon: others come first.
    pub(crate) fn lock_after_others(&self) -> MutexGuard<'_, T> {
        for _ in 0..YIELDS {
            if self.waiting.load(Ordering::Relaxed) == 0 {
                break;
            }
            yield_now();
        }
        self.lock()
    }
}
