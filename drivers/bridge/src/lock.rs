//! A lock that signal handlers and threads may take.
//!
//! The holder's thread has all signals blocked, so that no handler on it waits for the lock.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::sys;

/// Every signal but the two that the bridge needs. The bridge's own code causes neither.
pub(crate) const ALL_SIGNALS: u64 =
    !(1 << (libc::SIGSEGV - 1) | 1 << (libc::SIGSYS - 1) | 1 << (libc::SIGBUS - 1));

const FREE: u32 = 0;
const HELD: u32 = 1;
const AWAITED: u32 = 2;

/// Protects a value.
pub(crate) struct Lock<T> {
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the lock hands out one reference at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self {
            state: AtomicU32::new(FREE),
            value: UnsafeCell::new(value),
        }
    }

    /// Blocks all signals, then waits for the lock. Holders wait for nothing but the card, and for
    /// that at most five seconds.
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        let mask = sys::set_signal_mask(libc::SIG_BLOCK, ALL_SIGNALS);
        self.acquire();
        Guard { lock: self, mask }
    }

    /// Takes the lock without a guard. Signals must be blocked.
    pub(crate) fn acquire(&self) {
        let take = self
            .state
            .compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed);
        if take.is_err() {
            while self.state.swap(AWAITED, Ordering::Acquire) != FREE {
                futex(&self.state, libc::FUTEX_WAIT, AWAITED);
            }
        }
    }

    /// Gives back what [`Self::acquire`] took, also in the child of a fork.
    pub(crate) fn release(&self) {
        if self.state.swap(FREE, Ordering::Release) == AWAITED {
            futex(&self.state, libc::FUTEX_WAKE, 1);
        }
    }
}

fn futex(word: &AtomicU32, operation: i32, value: u32) {
    let operation = operation | libc::FUTEX_PRIVATE_FLAG;
    let arguments = [word.as_ptr() as u64, operation as u64, u64::from(value)];
    // SAFETY: the word outlives the call.
    let _ = unsafe { sys::call(libc::SYS_futex, arguments) };
}

/// The right to use the value.
pub(crate) struct Guard<'a, T> {
    lock: &'a Lock<T>,
    mask: u64,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.lock.release();
        sys::set_signal_mask(libc::SIG_SETMASK, self.mask);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_take_turns_and_keep_their_signal_masks() {
        static COUNTER: Lock<u64> = Lock::new(0);
        let mask = || sys::set_signal_mask(libc::SIG_BLOCK, 0);
        let count = || {
            let before = mask();
            (0..10_000).for_each(|_| *COUNTER.lock() += 1);
            assert_eq!(mask(), before);
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|_| drop(scope.spawn(count)));
        });
        assert_eq!(*COUNTER.lock(), 40_000);
    }
}
