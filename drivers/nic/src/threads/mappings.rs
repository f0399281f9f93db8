//! Where the mappings are: a table of slots that a signal handler reads while other threads fill and empty them.
//!
//! The handler looks for the mapping that holds an address which is in use. That mapping's slot does not change
//! meanwhile; the others may, and must not be taken for what they are not: address and length of a range belong
//! together.

use super::sync::{AtomicBool, AtomicUsize, Ordering};

/// The address of a slot that is being filled. Mappings begin at whole pages.
const RESERVED: usize = 1;

/// Where a mapping is; nowhere (0) if the slot is free.
pub(crate) struct Slot {
    pub(crate) base: AtomicUsize,
    pub(crate) len: AtomicUsize,
    pub(crate) lost: AtomicBool,
}

impl Slot {
    /// Takes the slot for a mapping, if it is free.
    pub(crate) fn take(&self, base: usize, len: usize) -> bool {
        let taken = self
            .base
            .compare_exchange(0, RESERVED, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_err() {
            return false;
        }
        // Release: who reads this length does not read the base before RESERVED any more.
        self.len.store(len, Ordering::Release);
        self.lost.store(false, Ordering::Relaxed);
        self.base.store(base, Ordering::Release);
        true
    }

    /// Gives the slot back.
    pub(crate) fn free(&self) {
        self.base.store(0, Ordering::Release);
    }

    /// Base and length of the mapping, if the address is in it.
    pub(crate) fn range_with(&self, address: usize) -> Option<(usize, usize)> {
        let base = self.base.load(Ordering::Acquire);
        let len = self.len.load(Ordering::Acquire);
        // The slot may have been given back and taken between the two loads.
        let same = self.base.load(Ordering::Acquire) == base;
        (base > RESERVED && same && address.wrapping_sub(base) < len).then_some((base, len))
    }

    /// The mapping is no longer what it was.
    pub(crate) fn lose(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// Whether that was said of it.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }
}
