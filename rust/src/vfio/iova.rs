//! The I/O virtual addresses (IOVAs) of a container's memory.
//!
//! The containers of a thread share one cursor, so no two of them hand out the same IOVA. A packet
//! cannot leave its thread. So a packet's IOVA shows to which container the packet belongs. A device of
//! another container has no memory at that IOVA, and the IOMMU refuses its access.
//!
//! IOVAs are not reused while a container of the thread lives: a device that misses the end of a
//! mapping then hits nothing.
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};

use super::kernel::IovaRange;
use crate::error::{Error, Result};

/// The IOVAs to use unless the kernel permits fewer. They do not include 0, so that a forgotten
/// address is a fault. They have 39 bits, the fewest of any VT-d IOMMU.
const DEFAULT: IovaRange = IovaRange {
    first: 0x20_0000,
    last: 0x7f_ffff_ffff,
};

thread_local! {
    /// The containers of this thread.
    static LIVE: Cell<usize> = const { Cell::new(0) };
    /// All IOVAs of these containers are below this one.
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// The IOVAs of a container.
pub(super) struct Iovas {
    /// Those permitted. Ascending, disjoint.
    permitted: RefCell<Vec<IovaRange>>,
    /// Those of the container's memory.
    used: RefCell<Vec<IovaRange>>,
}

impl Iovas {
    /// All of them are free.
    pub(super) fn new() -> Self {
        LIVE.set(LIVE.get() + 1);
        Self {
            permitted: RefCell::new(vec![DEFAULT]),
            used: RefCell::new(Vec::new()),
        }
    }

    /// Whether this thread has no other container.
    pub(super) fn alone() -> bool {
        LIVE.get() == 1
    }

    /// Takes `size` bytes of permitted IOVAs, aligned to a power of two.
    pub(super) fn alloc(&self, size: u64, alignment: u64) -> Result<u64> {
        for range in self.permitted.borrow().iter() {
            let start = range.first.max(NEXT.get());
            let Some(start) = start.checked_next_multiple_of(alignment) else {
                break;
            };
            let last = size.checked_sub(1).and_then(|size| start.checked_add(size));
            let Some(last) = last.filter(|last| *last < range.last) else {
                continue;
            };
            // It does not overflow: `last` is below the last address of the range.
            NEXT.set(last + 1);
            self.used
                .borrow_mut()
                .push(IovaRange { first: start, last });
            return Ok(start);
        }
        Err(Box::new(Error::NoIova { size }))
    }

    /// Whether `iova` is in use.
    pub(super) fn owns(&self, iova: u64) -> bool {
        let used = self.used.borrow();
        used.iter()
            .any(|range| (range.first..=range.last).contains(&iova))
    }

    /// Ends the use of the IOVAs from `first` on.
    pub(super) fn release(&self, first: u64) {
        self.used.borrow_mut().retain(|range| range.first != first);
    }

    /// Narrows the permitted IOVAs to those also in `permitted`.
    pub(super) fn narrow(&self, permitted: &[IovaRange]) {
        let before = self.permitted.take();
        let narrowed = permitted
            .iter()
            .flat_map(|a| {
                before.iter().map(|b| IovaRange {
                    first: a.first.max(b.first),
                    last: a.last.min(b.last),
                })
            })
            .filter(|both| both.first <= both.last)
            .collect();
        self.permitted.replace(narrowed);
    }
}

impl Drop for Iovas {
    fn drop(&mut self) {
        LIVE.set(LIVE.get() - 1);
        if LIVE.get() == 0 {
            NEXT.set(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;

    fn range(first: u64, last: u64) -> IovaRange {
        IovaRange { first, last }
    }

    fn iovas_in(ranges: &[IovaRange]) -> Iovas {
        let iovas = Iovas::new();
        iovas.permitted.replace(ranges.to_vec());
        iovas
    }

    #[test]
    fn iovas_are_aligned_and_within_the_ranges() {
        let iovas = iovas_in(&[range(MIB, 6 * MIB - 1), range(16 * MIB, 20 * MIB - 1)]);
        assert_eq!(iovas.alloc(4096, 2 * MIB).unwrap(), 2 * MIB);
        // There is no room below 6 MiB, so this comes from the second range.
        let second = iovas.alloc(2 * MIB + 4096, 2 * MIB).unwrap();
        assert_eq!(second, 16 * MIB);
        let error = iovas.alloc(4 * MIB, 2 * MIB).unwrap_err();
        assert!(error.to_string().contains("I/O address space"));
    }

    #[test]
    fn iovas_end_with_the_address_space() {
        let iovas = iovas_in(&[range(u64::MAX - 4095, u64::MAX)]);
        assert!(iovas.alloc(8192, 4096).is_err());
        assert!(iovas.alloc(0, 4096).is_err());
        assert!(iovas.alloc(u64::MAX, 4096).is_err());
        let iovas = iovas_in(&[range(u64::MAX - 100, u64::MAX)]);
        assert!(iovas.alloc(4096, 4096).is_err());
    }

    #[test]
    fn ranges_are_narrowed_to_those_that_all_permit() {
        let iovas = iovas_in(&[range(0x1000, 0x7fff)]);
        iovas.narrow(&[
            range(0, 0x1fff),
            range(0x3000, 0x3fff),
            range(0x9000, 0x9fff),
        ]);
        let expected = vec![range(0x1000, 0x1fff), range(0x3000, 0x3fff)];
        assert_eq!(*iovas.permitted.borrow(), expected);
    }

    #[test]
    fn after_the_last_container_the_first_iova_is_free_again() {
        let first = Iovas::new().alloc(4096, 4096).unwrap();
        assert_eq!(first, DEFAULT.first);
        let longest = Iovas::new();
        assert!(Iovas::alone());
        assert_eq!(longest.alloc(4096, 4096).unwrap(), first);
        let second = Iovas::new().alloc(4096, 4096).unwrap();
        assert_eq!(second, first + 4096);
        // The second container is gone, but the first one lives.
        assert_eq!(Iovas::new().alloc(4096, 4096).unwrap(), first + 2 * 4096);
    }

    #[test]
    fn released_iovas_are_not_owned() {
        let iovas = Iovas::new();
        let (kept, released) = (
            iovas.alloc(4096, 4096).unwrap(),
            iovas.alloc(4096, 4096).unwrap(),
        );
        assert!(iovas.owns(released) && iovas.owns(released + 4095));
        iovas.release(released);
        assert!(!iovas.owns(released) && iovas.owns(kept + 4095) && !iovas.owns(kept + 4096));
    }

    proptest! {
        /// Whichever of a thread's containers asks, each IOVA belongs to one container.
        #[test]
        fn iovas_never_overlap(steps in prop::collection::vec((0usize..3, 1u64..5 * MIB), 1..40)) {
            let ranges = [range(MIB, 50 * MIB), range(70 * MIB, 200 * MIB)];
            let all = [(); 3].map(|()| iovas_in(&ranges));
            let mut end = 0;
            for (which, size) in steps {
                let Ok(start) = all[which].alloc(size, 2 * MIB) else { continue };
                prop_assert!(start >= end && start % (2 * MIB) == 0);
                end = start + size;
                prop_assert!(end - 1 <= 50 * MIB || (start >= 70 * MIB && end - 1 <= 200 * MIB));
                for (i, iovas) in all.iter().enumerate() {
                    prop_assert_eq!(iovas.owns(start), i == which);
                    prop_assert_eq!(iovas.owns(end - 1), i == which);
                }
            }
        }
    }
}
