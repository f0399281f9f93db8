//! A lock for a thread that takes it over and over and yields it to threads that wait.
//!
//! An ordinary mutex would let the data plane, which polls, starve the control threads.

use std::sync::{PoisonError, TryLockError};

use super::sync::{yield_now, AtomicU32, Mutex, MutexGuard, Ordering};

/// Most times that [`Turns::lock_after_others`] yields before it takes the lock regardless.
const YIELDS: u32 = 1000;

/// A value behind a lock, and the number of threads that wait for it.
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

    /// Locks the value. Threads that use the other two methods let this one go first.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        inner
    }

    /// Locks the value unless another thread has it or waits for it. For a thread that tries again
    /// soon.
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

    /// Locks the value after the threads that wait for it now. For a thread that may come back
    /// soon.
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
