//! A test's access to the memory that a driver has mapped for its card. It bypasses the card and its
//! IOMMU, so a test can inspect the memory and plant canaries in it.

use crate::memory::dma::MappedRange;
use crate::port::Port;

/// Memory that a driver has mapped for its card. The memory lives as long as this object, even if the
/// driver goes away.
#[derive(Clone, Debug)]
pub struct DriverMemory {
    port: Port,
    ranges: Vec<MappedRange>,
}

impl Port {
    /// The memory that the driver has mapped for the card at this moment.
    pub fn driver_memory(&self) -> DriverMemory {
        DriverMemory {
            port: self.clone(),
            ranges: self.device().dma.mapped_ranges(),
        }
    }
}

impl DriverMemory {
    /// IOVA and size in bytes of each map, ascending.
    pub fn maps(&self) -> Vec<(u64, u64)> {
        let of = |range: &MappedRange| (range.iova, range.size);
        self.ranges.iter().map(of).collect()
    }

    /// The map that holds all `len` bytes from `iova` on, and their offset in its file.
    fn find(&self, iova: u64, len: usize) -> Option<(&MappedRange, u64)> {
        self.ranges.iter().find_map(|range| {
            let inside = iova.checked_sub(range.iova)?;
            let end = inside.checked_add(len as u64)?;
            (end <= range.size).then_some((range, range.offset + inside))
        })
    }

    /// Copies bytes out. Returns false, and copies nothing, if one map does not hold them all.
    #[must_use]
    pub fn read(&self, iova: u64, into: &mut [u8]) -> bool {
        // The lock keeps the card away: two threads must not work on one mapping at the same time.
        let _device = self.port.device();
        self.find(iova, into.len())
            .is_some_and(|(range, offset)| range.mapping.read(offset, into))
    }

    /// Copies bytes in. Returns false, and changes nothing, if one map does not hold them all.
    #[must_use]
    pub fn write(&self, iova: u64, from: &[u8]) -> bool {
        let _device = self.port.device();
        self.find(iova, from.len())
            .is_some_and(|(range, offset)| range.mapping.write(offset, from))
    }
}
