//! The card's PCI regions: the register BAR, the I/O BAR, the MSI-X table and the configuration
//! space.

use rustix::io::Errno;

use crate::device::card::Device;
use crate::device::pci_config::{PciEvent, CONFIG_LEN, IO_LEN, MSIX_LEN};
use crate::device::register_file::BAR0_LEN;
use crate::device::trace::TraceEntry;
use crate::pci_function::REGION_CONFIG;
use crate::report::ResetCause;

/// The region of the registers.
pub(crate) const REGION_BAR0: u32 = 0;
/// The region with an address and a data register, through which drivers reach the registers too.
pub(crate) const REGION_IO: u32 = 2;
/// The region of the MSI-X table.
pub(crate) const REGION_MSIX: u32 = 4;

/// Bytes of a region; 0 if the card does not have the region.
pub(crate) fn region_len(region: u32) -> u64 {
    match region {
        REGION_BAR0 => u64::from(BAR0_LEN),
        REGION_IO => u64::from(IO_LEN),
        REGION_MSIX => u64::from(MSIX_LEN),
        REGION_CONFIG => CONFIG_LEN as u64,
        _ => 0,
    }
}

impl Device {
    /// A driver's read of a region. The range must lie inside the region.
    pub(crate) fn region_read(
        &mut self,
        region: u32,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), Errno> {
        let offset = check_range(region, offset, into.len())?;
        if self.config.faults.removed {
            into.fill(0xff);
            return Ok(());
        }
        match region {
            REGION_BAR0 => self.bar0_read(offset as u32, into),
            REGION_IO => {
                let word = match offset & !3 {
                    0 => self.pci.io_address,
                    4 => self.register_read(self.pci.io_address),
                    _ => 0,
                };
                copy_from(&word.to_le_bytes(), offset % 4, into);
            }
            REGION_MSIX => copy_from(&self.pci.msix_table, offset, into),
            _ => {
                self.pci.config.read(offset, into);
                self.trace_config(false, offset, into);
            }
        }
        Ok(())
    }

    /// A driver's write to a region. The range must lie inside the region.
    pub(crate) fn region_write(
        &mut self,
        region: u32,
        offset: u64,
        from: &[u8],
    ) -> Result<(), Errno> {
        let offset = check_range(region, offset, from.len())?;
        if self.config.faults.removed {
            return Ok(());
        }
        match region {
            REGION_BAR0 => self.bar0_write(offset as u32, from),
            REGION_IO => {
                if let Ok(bytes) = <[u8; 4]>::try_from(from) {
                    let word = u32::from_le_bytes(bytes);
                    match offset {
                        0 => self.pci.io_address = word,
                        4 => self.register_write(self.pci.io_address, word),
                        _ => {}
                    }
                }
            }
            REGION_MSIX => self.pci.msix_table[offset..offset + from.len()].copy_from_slice(from),
            _ => {
                self.trace_config(true, offset, from);
                match self.pci.config.write(offset, from) {
                    Some(PciEvent::Reset) => self.reset(ResetCause::Function),
                    Some(PciEvent::WakeUp) => self.reset(ResetCause::WakeUp),
                    None => self.refresh(),
                }
            }
        }
        Ok(())
    }

    fn bar0_read(&mut self, offset: u32, into: &mut [u8]) {
        if offset % 4 == 0 && into.len() % 4 == 0 {
            for (nth, word) in into.chunks_exact_mut(4).enumerate() {
                word.copy_from_slice(&self.register_read(offset + 4 * nth as u32).to_le_bytes());
            }
            return;
        }
        // A read of part of a register returns the right bytes and has no effect.
        self.note(format!(
            "read of {} bytes at {offset:#07x}: registers are read 4 bytes at a time",
            into.len()
        ));
        for (nth, byte) in into.iter_mut().enumerate() {
            let at = offset + nth as u32;
            *byte = self.registers.peek(at & !3).to_le_bytes()[at as usize % 4];
        }
    }

    fn bar0_write(&mut self, offset: u32, from: &[u8]) {
        if offset % 4 != 0 || from.len() % 4 != 0 {
            self.note(format!(
                "write of {} bytes at {offset:#07x}: ignored, as partial writes are",
                from.len()
            ));
            return;
        }
        for (nth, word) in from.chunks_exact(4).enumerate() {
            let value = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
            self.register_write(offset + 4 * nth as u32, value);
        }
    }

    fn trace_config(&self, write: bool, offset: usize, bytes: &[u8]) {
        let Some(trace) = &self.trace else { return };
        for (nth, bytes) in bytes.chunks(4).enumerate() {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            let address = (offset + 4 * nth) as u32;
            trace.record(TraceEntry {
                port: self.index,
                write,
                register: format!("PCI({address:#05x})"),
                address,
                value: u32::from_le_bytes(word),
                size: bytes.len(),
            });
        }
    }
}

/// The offset as a `usize`, if the range lies inside the region.
fn check_range(region: u32, offset: u64, len: usize) -> Result<usize, Errno> {
    let end = offset.checked_add(len as u64).ok_or(Errno::INVAL)?;
    if end > region_len(region) {
        return Err(Errno::INVAL);
    }
    usize::try_from(offset).map_err(|_| Errno::INVAL)
}

/// Copies the bytes from `offset` on, as many as both sides have.
fn copy_from(from: &[u8], offset: usize, into: &mut [u8]) {
    for (byte, value) in into.iter_mut().zip(from.iter().skip(offset)) {
        *byte = *value;
    }
}
