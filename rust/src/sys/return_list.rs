//! A list to which any thread adds, and from which one thread takes everything.
//!
//! It holds numbers below [`NONE`]. Their links are the caller's. Each addition is one atomic write, for
//! however many numbers, and so is taking. The taker takes the whole list. To take one number would need
//! care that it does not come back meanwhile (ABA).

use super::sync::{AtomicU32, Ordering};

/// The end of a list.
pub const NONE: u32 = u32::MAX;

/// See the top.
pub struct ReturnList {
    /// The number added last, or [`NONE`].
    head: AtomicU32,
}

impl ReturnList {
    pub fn new() -> Self {
        Self {
            head: AtomicU32::new(NONE),
        }
    }

    /// Adds a list that begins with `first`. `link` sets what follows its last number; it may run again.
    pub fn add(&self, first: u32, link: impl Fn(u32)) {
        let mut before = self.head.load(Ordering::Relaxed);
        loop {
            link(before);
            // With release: shows the links, and what this thread did with the members of the list.
            let replaced = self.head.compare_exchange_weak(
                before,
                first,
                Ordering::Release,
                Ordering::Relaxed,
            );
            match replaced {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
    }

    /// Takes the list. Returns its first number, or [`NONE`].
    #[inline]
    pub fn take(&self) -> u32 {
        // Looks first: taking would get the cache line for itself, even if nothing is there.
        match self.head.load(Ordering::Relaxed) {
            NONE => NONE,
            _ => self.head.swap(NONE, Ordering::Acquire),
        }
    }
}
