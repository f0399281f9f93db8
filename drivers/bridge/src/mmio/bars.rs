//! Which addresses of the program are a device's registers.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::dma::areas;
use crate::lock::Lock;
use crate::ports::Port;

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

/// The addresses of a mapped part of a region, and the place of the first.
type Mapping = (Range<usize>, Place);

/// All mapped parts of regions. No access to a register faults while it is locked.
pub(crate) static MAPPED: Lock<Vec<Mapping>> = Lock::new(Vec::new());

/// Whether there ever was one: most programs unmap memory long before they map registers.
static ANY: AtomicBool = AtomicBool::new(false);

/// Adds a mapping.
pub(crate) fn add(range: Range<usize>, first: Place) {
    MAPPED.lock().push((range, first));
    ANY.store(true, Ordering::Release);
}

/// Forgets the part of all mappings that lies in a range. Returns whether there was any.
pub(crate) fn remove(from: usize, to: usize) -> bool {
    if !ANY.load(Ordering::Acquire) {
        return false;
    }
    let (mut mapped, mut any) = (MAPPED.lock(), false);
    for (range, first) in std::mem::take(&mut *mapped) {
        if range.end <= from || to <= range.start {
            mapped.push((range, first));
            continue;
        }
        any = true;
        if range.start < from {
            mapped.push((range.start..from, first));
        }
        if range.end > to {
            mapped.push((to..range.end, first.after(to - range.start)));
        }
    }
    any
}

/// Whether a port has a mapping.
pub(crate) fn any(port: Port) -> bool {
    MAPPED.lock().iter().any(|(_, first)| first.port == port)
}

/// The register at an address.
pub(crate) fn find(address: usize) -> Option<Place> {
    let mapped = MAPPED.lock();
    let (range, first) = mapped.iter().find(|(range, _)| range.contains(&address))?;
    Some(first.after(address - range.start))
}

/// Forgets mappings that the program has unmapped by a system call that the bridge did not see.
pub(crate) fn forget_unmapped() {
    let mapped = MAPPED.lock().clone();
    for (Range { start, end }, _) in mapped {
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
        add(base..base + 0x8000, first);
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
