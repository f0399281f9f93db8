//! A device without memory, for programs that test registers and interrupts.
#![forbid(unsafe_code)]

use std::os::fd::BorrowedFd;
use std::rc::Rc;

use super::{Container, VfioDevice};
use crate::error::Result;

/// An open device whose registers can be written, and that reaches no memory of this process.
///
/// The device has a container of its own, which never holds DMA memory. So the IOMMU refuses every
/// access of the device, whatever address the caller writes to a register. The driver's own types,
/// [`OpenDevice`] and [`Device`], have memory and therefore give no access to registers that is not
/// safe.
///
/// [`OpenDevice`]: crate::driver::device::OpenDevice
/// [`Device`]: crate::driver::device::Device
pub struct BareDevice {
    device: Rc<VfioDevice>,
    /// It is private, so that no one can add memory to it.
    _container: Rc<Container>,
}

impl BareDevice {
    /// Opens the device at `address` and turns on its memory space. Does not wait for a server.
    ///
    /// # Errors
    /// If the device cannot be opened. A device that another container has open is busy.
    pub fn open(address: &str) -> Result<Self> {
        let container = Container::new();
        Ok(Self {
            device: container.open(address)?,
            _container: container,
        })
    }

    /// Reads a 4-byte register of BAR0. Reading clears some registers.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn read32(&self, offset: u32) -> Result<u32> {
        self.device.read32(offset)
    }

    /// Writes a 4-byte register of BAR0.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn write32(&self, offset: u32, value: u32) -> Result<()> {
        self.device.write32(offset, value)
    }

    /// Reads 16 bits of the PCI configuration space.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn config_read16(&self, offset: u32) -> Result<u16> {
        self.device.config_read16(offset)
    }

    /// Writes 16 bits of the PCI configuration space.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn config_write16(&self, offset: u32, value: u16) -> Result<()> {
        self.device.config_write16(offset, value)
    }

    /// Signals the eventfd at each message of MSI-X vector 0, or switches MSI-X off.
    ///
    /// # Errors
    /// If the device can no longer be reached, or has no MSI-X.
    pub fn signal_msix(&self, eventfd: Option<BorrowedFd<'_>>) -> Result<()> {
        self.device.signal_msix(eventfd.as_slice())
    }
}
