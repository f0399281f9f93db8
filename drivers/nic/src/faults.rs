//! Single acts of a hostile or broken card, which a test makes a port perform.
//!
//! Lasting faults are in [`Faults`](crate::Faults). What the card does to the driver's memory goes
//! through the driver's DMA maps, as behind an IOMMU. An access outside the maps is a DMA fault.

use crate::device::registers as r;
use crate::error::ConfigError;
use crate::memory::dma_fault::{Direction, DmaFault, Purpose};
use crate::port::Port;

impl Port {
    /// Makes the card write to the driver's memory at any IOVA. Returns false, and records a DMA
    /// fault, if the maps do not permit the write; then the memory does not change.
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

    /// Puts a frame with a wrong CRC on the port's wire. The card counts it in CRCERRS and drops it.
    ///
    /// # Errors
    /// If no wire carries a frame of this length.
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
}
