//! Which addresses of the program are a device's registers. The fault handler reads this without a
//! lock.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::dma::areas;
use crate::lock::Lock;
use crate::ports::Port;

const SLOTS: usize = 128;

/// A mapped part of a region. `start` is 0 in a free slot.
struct Slot {
    start: AtomicUsize,
    end: AtomicUsize,
    /// The port's number in the upper half, the region's in the lower one.
    region: AtomicU64,
    /// Offset of `start` in the region.
    offset: AtomicU64,
}

static TABLE: [Slot; SLOTS] = [const {
    Slot {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        region: AtomicU64::new(0),
        offset: AtomicU64::new(0),
    }
}; SLOTS];

/// Held while slots change.
static CHANGE: Lock<()> = Lock::new(());

/// A register's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) port: Port,
    pub(crate) region: u32,
    pub(crate) offset: u64,
}

/// Adds a mapping. False if there are too many.
pub(crate) fn add(start: usize, end: usize, port: Port, region: u32, offset: u64) -> bool {
    let _change = CHANGE.lock();
    fill(
        start,
        end,
        (port.0 as u64) << 32 | u64::from(region),
        offset,
    )
}

fn fill(start: usize, end: usize, region: u64, offset: u64) -> bool {
    let free = TABLE
        .iter()
        .find(|slot| slot.start.load(Ordering::Acquire) == 0);
    let Some(slot) = free else { return false };
    slot.end.store(end, Ordering::Relaxed);
    slot.region.store(region, Ordering::Relaxed);
    slot.offset.store(offset, Ordering::Relaxed);
    slot.start.store(start, Ordering::Release);
    true
}

/// Forgets the part of all mappings that lies in a range. Returns whether there was any.
pub(crate) fn remove(from: usize, to: usize) -> bool {
    if !overlaps(from, to) {
        return false;
    }
    let _change = CHANGE.lock();
    for slot in &TABLE {
        let start = slot.start.load(Ordering::Acquire);
        let end = slot.end.load(Ordering::Relaxed);
        if start == 0 || start >= to || end <= from {
            continue;
        }
        let (region, offset) = (
            slot.region.load(Ordering::Relaxed),
            slot.offset.load(Ordering::Relaxed),
        );
        slot.start.store(0, Ordering::Release);
        if start < from {
            fill(start, from, region, offset);
        }
        if end > to {
            fill(to, end, region, offset + (to - start) as u64);
        }
    }
    true
}

/// Whether a mapping lies in a range.
pub(crate) fn overlaps(from: usize, to: usize) -> bool {
    TABLE.iter().any(|slot| {
        let start = slot.start.load(Ordering::Acquire);
        start != 0 && start < to && slot.end.load(Ordering::Relaxed) > from
    })
}

/// Whether a port has a mapping.
pub(crate) fn any(port: Port) -> bool {
    TABLE.iter().any(|slot| {
        slot.start.load(Ordering::Acquire) != 0
            && slot.region.load(Ordering::Relaxed) >> 32 == port.0 as u64
    })
}

/// The register at an address. Takes no lock: the fault handler calls it.
pub(crate) fn find(address: usize) -> Option<Place> {
    TABLE.iter().find_map(|slot| {
        let start = slot.start.load(Ordering::Acquire);
        if start == 0 || address < start || address >= slot.end.load(Ordering::Relaxed) {
            return None;
        }
        let region = slot.region.load(Ordering::Relaxed);
        let place = Place {
            port: Port((region >> 32) as usize),
            region: region as u32,
            offset: slot.offset.load(Ordering::Relaxed) + (address - start) as u64,
        };
        // A slot that changed meanwhile describes another mapping.
        (slot.start.load(Ordering::Acquire) == start).then_some(place)
    })
}

/// Forgets mappings that the program has unmapped by a system call that the bridge did not see.
pub(crate) fn forget_unmapped() {
    for slot in &TABLE {
        let start = slot.start.load(Ordering::Acquire);
        if start == 0 {
            continue;
        }
        let areas = areas::overlapping(start, start + 1).unwrap_or_default();
        // A mapping of registers begins without access, or with the shared registers of the card.
        let still = areas.iter().any(|area| area.protection == 0 || area.shared);
        if !still {
            remove(start, slot.end.load(Ordering::Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_can_lose_its_middle() {
        let base = 0x7000_0000_0000;
        assert!(add(base, base + 0x8000, Port(9), 0, 0x1000));
        assert!(remove(base + 0x2000, base + 0x3000));
        assert!(!remove(base + 0x2000, base + 0x3000));
        assert_eq!(find(base + 0x2800), None);
        let place = |address| find(address).map(|place| place.offset);
        assert_eq!(place(base + 0x10), Some(0x1010));
        assert_eq!(place(base + 0x3010), Some(0x4010));
        assert!(any(Port(9)));
        remove(base, base + 0x8000);
        assert!(!any(Port(9)));
    }
}
