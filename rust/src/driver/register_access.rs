//! Access to the registers of an open device, for the driver: fields, waits, doorbells.
#![forbid(unsafe_code)]

use std::rc::Rc;
use std::time::Duration;

use crate::clock::Instant;
use crate::error::{Error, Result};
use crate::sys::home::Home;
use crate::sys::mmio::Register;
use crate::vfio::VfioDevice;

/// The bound of a wait. A working device is far faster, but the software NIC may have to wait for a
/// processor.
const TIMEOUT: Duration = Duration::from_secs(1);

const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The registers of a device.
#[derive(Clone)]
pub(crate) struct Registers {
    pub(crate) vfio: Rc<VfioDevice>,
}

impl Registers {
    /// Reads a register.
    pub(crate) fn read(&self, offset: u32) -> Result<u32> {
        self.vfio.read32(offset)
    }

    /// Writes a register.
    pub(crate) fn write(&self, offset: u32, value: u32) -> Result<()> {
        self.vfio.write32(offset, value)
    }

    /// Sets bits of a register.
    pub(crate) fn set(&self, offset: u32, bits: u32) -> Result<()> {
        self.write(offset, self.read(offset)? | bits)
    }

    /// Clears bits of a register.
    pub(crate) fn clear(&self, offset: u32, bits: u32) -> Result<()> {
        self.write(offset, self.read(offset)? & !bits)
    }

    /// Writes some fields of a register: the bits of `mask` become those of `value`.
    pub(crate) fn write_field(&self, offset: u32, mask: u32, value: u32) -> Result<()> {
        self.write(offset, (self.read(offset)? & !mask) | value)
    }

    /// Waits until the bits of `mask` equal `value`, for at most a second, or the patience for the device
    /// if that is less (`vfio/patience.rs`). The register is read at least once. `name`, of the register
    /// and the field, is for the error.
    pub(crate) fn wait(
        &self,
        offset: u32,
        mask: u32,
        value: u32,
        name: &'static str,
    ) -> Result<()> {
        self.wait_setting(None, offset, mask, value, name)
    }

    /// As [`Registers::wait`], and sets bits of another register, if there is one, before each look.
    pub(crate) fn wait_setting(
        &self,
        request: Option<(u32, u32)>,
        offset: u32,
        mask: u32,
        value: u32,
        name: &'static str,
    ) -> Result<()> {
        let timeout = self.vfio.patience().min(TIMEOUT);
        let deadline = Instant::now() + timeout;
        loop {
            // The clock comes first, so that a slow read does not cost the last attempt.
            let late = Instant::now() >= deadline;
            if let Some((register, bits)) = request {
                self.set(register, bits)?;
            }
            let read = self.read(offset)?;
            if read & mask == value {
                return Ok(());
            }
            if late {
                return Err(Box::new(Error::Timeout {
                    address: self.vfio.address().to_owned(),
                    name,
                    read,
                    timeout,
                    value,
                    mask,
                }));
            }
            self.vfio.pause(POLL_INTERVAL);
        }
    }

    /// The doorbell whose register is at `offset`.
    pub(crate) fn tail(&self, offset: u32) -> Tail {
        match self.vfio.register(offset) {
            Some(register) => Tail::Mapped(register),
            None => Tail::Trapped(Home::new(self.clone()), offset),
        }
    }
}

/// A doorbell: a tail register.
pub(crate) enum Tail {
    /// The register is mapped: a write is a store.
    Mapped(Register),
    /// The register is not mapped: a write is a message or a system call, from the thread of the device.
    Trapped(Home<Registers>, u32),
    /// A variable in place of the register, for tests.
    #[cfg(any(test, feature = "fuzzing"))]
    Fake(crate::test_queues::FakeTail),
}

/// Rings a doorbell that is not mapped, kept out of the data path.
#[cold]
fn write_trapped(registers: &Home<Registers>, offset: u32, value: u32) -> Result<()> {
    let Some(registers) = registers.get() else {
        let message = "a doorbell that is not mapped stays with the thread of its device";
        return Err(Box::new(Error::Argument(message.to_owned())));
    };
    registers.vfio.ring(offset, value)
}

impl Tail {
    /// Rings the doorbell. The caller orders the descriptors before it, with `dma_write_barrier`.
    #[inline]
    pub(crate) fn write(&self, value: u32) -> Result<()> {
        match self {
            Self::Mapped(register) => {
                register.store_relaxed(value);
                Ok(())
            }
            Self::Trapped(registers, offset) => write_trapped(registers, *offset, value),
            #[cfg(any(test, feature = "fuzzing"))]
            Self::Fake(register) => {
                register.set(value);
                Ok(())
            }
        }
    }
}
