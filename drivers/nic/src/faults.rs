//! A device that lies: what broken or hostile hardware does to a driver, on request.
//!
//! Lasting faults are switched on by [`Faults`](crate::Faults); single deeds are methods of
//! [`Port`]. Everything that the device does to the driver's memory goes through the driver's maps,
//! as it would behind an IOMMU: what is not mapped is a DMA fault. Only [`DriverMemory`] is no part
//! of the device: it is how a test looks at (and plants canaries in) what a driver mapped.
//!
//! None of this costs the data path anything while it is off: lies are told where frames are
//! delivered one by one, and a queue that lies does not take the short cut.

use crate::config::ConfigError;
use crate::device::registers as r;
use crate::memory::dma::MappedRange;
use crate::memory::dma_fault::{Direction, DmaFault, Purpose};
use crate::port::Port;

impl Port {
    /// The device writes to the driver's memory where and what it likes. Whether the IOMMU let it:
    /// where it does not, that is a DMA fault, and nothing is written.
    pub fn rogue_write(&self, iova: u64, bytes: &[u8]) -> bool {
        let mut device = self.device();
        let Err(refusal) = device.dma.write(iova, bytes) else {
            return true;
        };
        device.counters.dma_faults += 1;
        device.dma_faults.record(DmaFault {
            iova,
            len: bytes.len() as u64,
            direction: Direction::Write,
            purpose: Purpose::Rogue,
            queue: 0,
            refusal,
        });
        false
    }

    /// Puts a frame on the port's wire that has been damaged on its way: its CRC is wrong. The
    /// device counts it (CRCERRS) and drops it.
    pub fn inject_with_bad_crc(&self, frame: &[u8]) -> Result<(), ConfigError> {
        self.check_injected(frame)?;
        let mut device = self.device();
        if device.settings.rx {
            device.registers.count(r::CRCERRS, 1);
            device.counters.dropped_filtered += 1;
        } else {
            device.counters.dropped_not_running += 1;
        }
        Ok(())
    }

    /// What the driver has mapped for the device at this moment.
    pub fn driver_memory(&self) -> DriverMemory {
        DriverMemory {
            port: self.clone(),
            pieces: self.device().dma.mapped_ranges(),
        }
    }
}

/// Memory that a driver has mapped for its device. It stays as long as this object, also when the
/// driver is gone.
#[derive(Clone, Debug)]
pub struct DriverMemory {
    port: Port,
    pieces: Vec<MappedRange>,
}

impl DriverMemory {
    /// First byte and size of each map, by IOVA.
    pub fn maps(&self) -> Vec<(u64, u64)> {
        let of = |piece: &MappedRange| (piece.iova, piece.size);
        self.pieces.iter().map(of).collect()
    }

    /// The map that holds all `len` bytes from `iova` on, and how far into its file they are.
    fn find(&self, iova: u64, len: usize) -> Option<(&MappedRange, u64)> {
        self.pieces.iter().find_map(|piece| {
            let inside = iova.checked_sub(piece.iova)?;
            let end = inside.checked_add(len as u64)?;
            (end <= piece.size).then_some((piece, piece.offset + inside))
        })
    }

    /// Copies bytes out. False, and nothing is copied, if they are not all in one map.
    #[must_use]
    pub fn read(&self, iova: u64, into: &mut [u8]) -> bool {
        // Not while the device works on the same mapping: two threads of one process must not.
        let _device = self.port.device();
        self.find(iova, into.len())
            .is_some_and(|(piece, offset)| piece.mapping.read(offset, into))
    }

    /// Copies bytes in, without the device and its IOMMU. False, and nothing is changed, if they
    /// are not all in one map.
    #[must_use]
    pub fn write(&self, iova: u64, from: &[u8]) -> bool {
        let _device = self.port.device();
        self.find(iova, from.len())
            .is_some_and(|(piece, offset)| piece.mapping.write(offset, from))
    }
}
