//! A table slot for one memory mapping. A signal handler reads the slots while other threads fill
//! and empty them.
//!
//! The handler looks for the mapping that holds an address in use. The slot of that mapping cannot
//! change meanwhile, but the other slots can. The handler must never combine the base of one
//! mapping with the length of another.

use super::sync::{AtomicBool, AtomicUsize, Ordering};

/// The base of a slot that is being filled. Real mappings begin at whole pages.
const RESERVED: usize = 1;

/// A mapping's place; the base is 0 while the slot is free.
pub(crate) struct Slot {
    pub(crate) base: AtomicUsize,
    pub(crate) len: AtomicUsize,
    pub(crate) lost: AtomicBool,
}

impl Slot {
    /// Takes the slot for a mapping. Returns false if the slot is not free.
    pub(crate) fn take(&self, base: usize, len: usize) -> bool {
        let taken = self
            .base
            .compare_exchange(0, RESERVED, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_err() {
            return false;
        }
        // Release: a thread that reads this length no longer reads the base before RESERVED.
        self.len.store(len, Ordering::Release);
        self.lost.store(false, Ordering::Relaxed);
        self.base.store(base, Ordering::Release);
        true
    }

    /// Frees the slot.
    pub(crate) fn free(&self) {
        self.base.store(0, Ordering::Release);
    }

    /// Base and length of the mapping, if the address is in it.
    pub(crate) fn range_with(&self, address: usize) -> Option<(usize, usize)> {
        let base = self.base.load(Ordering::Acquire);
        let len = self.len.load(Ordering::Acquire);
        // Between the two loads, another mapping may have taken the slot.
        let same = self.base.load(Ordering::Acquire) == base;
        (base > RESERVED && same && address.wrapping_sub(base) < len).then_some((base, len))
    }

    /// Marks the mapping as lost: its memory is no longer the file's.
    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// Whether the mapping was marked as lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }
}
