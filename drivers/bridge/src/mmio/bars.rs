//! Which addresses of the program are a device's registers. The fault handler reads this without a
//! lock.

use std::ops::Range;
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

impl Place {
    fn after(self, bytes: usize) -> Self {
        let offset = self.offset + bytes as u64;
        Self { offset, ..self }
    }
}

/// The addresses of a slot, and the place of the first.
type Mapping = (Range<usize>, Place);

impl Slot {
    fn mapping(&self) -> Option<Mapping> {
        let start = self.start.load(Ordering::Acquire);
        let region = self.region.load(Ordering::Relaxed);
        let range = start..self.end.load(Ordering::Relaxed);
        let first = Place {
            port: Port((region >> 32) as usize),
            region: region as u32,
            offset: self.offset.load(Ordering::Relaxed),
        };
        // A slot that changed meanwhile describes another mapping.
        let is_whole = self.start.load(Ordering::Acquire) == start;
        (start != 0 && is_whole).then_some((range, first))
    }
}

fn mappings() -> impl Iterator<Item = Mapping> {
    TABLE.iter().filter_map(Slot::mapping)
}

/// Adds a mapping. False if there are too many.
pub(crate) fn add(range: Range<usize>, first: Place) -> bool {
    let _change = CHANGE.lock();
    fill(range, first)
}

fn fill(range: Range<usize>, first: Place) -> bool {
    let is_free = |slot: &&Slot| slot.start.load(Ordering::Acquire) == 0;
    let Some(slot) = TABLE.iter().find(is_free) else {
        return false;
    };
    let region = (first.port.0 as u64) << 32 | u64::from(first.region);
    slot.end.store(range.end, Ordering::Relaxed);
    slot.region.store(region, Ordering::Relaxed);
    slot.offset.store(first.offset, Ordering::Relaxed);
    slot.start.store(range.start, Ordering::Release);
    true
}

/// Forgets the part of all mappings that lies in a range. Returns whether there was any.
pub(crate) fn remove(from: usize, to: usize) -> bool {
    let overlaps = |(range, _): &Mapping| range.start < to && range.end > from;
    if !mappings().any(|mapping| overlaps(&mapping)) {
        return false;
    }
    let _change = CHANGE.lock();
    for slot in &TABLE {
        let Some((range, first)) = slot.mapping().filter(overlaps) else {
            continue;
        };
        slot.start.store(0, Ordering::Release);
        if range.start < from {
            fill(range.start..from, first);
        }
        if range.end > to {
            fill(to..range.end, first.after(to - range.start));
        }
    }
    true
}

/// Whether a port has a mapping.
pub(crate) fn any(port: Port) -> bool {
    mappings().any(|(_, first)| first.port == port)
}

/// The register at an address. Takes no lock: the fault handler calls it.
pub(crate) fn find(address: usize) -> Option<Place> {
    let (range, first) = mappings().find(|(range, _)| range.contains(&address))?;
    Some(first.after(address - range.start))
}

/// Forgets mappings that the program has unmapped by a system call that the bridge did not see.
pub(crate) fn forget_unmapped() {
    for (Range { start, end }, _) in mappings() {
        let areas = areas::overlapping(start, start + 1).unwrap_or_default();
        // A mapping of registers begins without access, or with the shared registers of the card.
        if !areas.iter().any(|area| area.protection == 0 || area.shared) {
            remove(start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_can_lose_its_middle() {
        let base = 0x7000_0000_0000;
        let first = Place {
            port: Port(9),
            region: 0,
            offset: 0x1000,
        };
        assert!(add(base..base + 0x8000, first));
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
