//! Access to the registers of an open device, for the driver: fields, waits, doorbells.
#![forbid(unsafe_code)]

use std::rc::Rc;
use std::time::Duration;

use crate::clock::{sleep, Instant};
use crate::error::{Error, Result};
use crate::sys::home::Home;
use crate::sys::mmio::Register;
use crate::vfio::VfioDevice;

/// A check looks this often, this far apart, before it reports an error.
pub(crate) const CHECK_LOOKS: u32 = 100;
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(1);

const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// For errors: what to do about a device that does not react.
pub(crate) const REMEDY_RESET: &str =
    "reset the device (echo 1 > /sys/bus/pci/devices/.../reset) or restart the software NIC";

/// The registers of a device.
#[derive(Clone)]
pub(crate) struct Registers {
    pub(crate) vfio: Rc<VfioDevice>,
}

/// What [`Registers::wait`] waits for: until the bits of `mask` equal `value`.
pub(crate) struct Wait {
    pub(crate) offset: u32,
    pub(crate) mask: u32,
    pub(crate) value: u32,
    pub(crate) timeout_ms: u64,
    /// The register and field, for the error.
    pub(crate) name: &'static str,
    /// What to do, for the error.
    pub(crate) remedy: &'static str,
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

    /// Polls until the bits of `mask` equal `value`. Returns whether they do, the last value of the
    /// register, and the limit: `timeout_ms`, or less if the patience for the device is less.
    fn poll(
        &self,
        offset: u32,
        mask: u32,
        value: u32,
        timeout_ms: u64,
    ) -> Result<(bool, u32, u64)> {
        let patience_ms = self.vfio.patience().as_millis();
        let timeout_ms = u64::try_from(patience_ms).map_or(timeout_ms, |ms| ms.min(timeout_ms));
        let deadline = Instant::now() + Duration::from_millis(timeout_ms);
        loop {
            // The clock comes first, so that a slow read does not cost the last attempt.
            let late = Instant::now() >= deadline;
            let read = self.read(offset)?;
            if read & mask == value {
                return Ok((true, read, timeout_ms));
            }
            if late {
                return Ok((false, read, timeout_ms));
            }
            self.pause(POLL_INTERVAL);
        }
    }

    /// Sleeps between two looks at a register, which uses up patience for the device.
    pub(crate) fn pause(&self, time: Duration) {
        let asleep = std::time::Instant::now();
        sleep(time);
        self.vfio.patience_use(asleep.elapsed());
    }

    /// Whether the bits of `mask` equal `value` within the time of [`Registers::wait`].
    pub(crate) fn reaches(
        &self,
        offset: u32,
        mask: u32,
        value: u32,
        timeout_ms: u64,
    ) -> Result<bool> {
        Ok(self.poll(offset, mask, value, timeout_ms)?.0)
    }

    /// Waits until a register has the wanted value, or until the time is up, and no longer than the
    /// patience for the device lasts (`vfio/patience.rs`). The register is read at least once.
    pub(crate) fn wait(&self, wait: &Wait) -> Result<()> {
        match self.poll(wait.offset, wait.mask, wait.value, wait.timeout_ms)? {
            (true, ..) => Ok(()),
            (false, read, timeout_ms) => Err(Box::new(Error::Timeout {
                address: self.vfio.address().to_owned(),
                name: wait.name,
                read,
                timeout_ms,
                value: wait.value,
                mask: wait.mask,
                remedy: wait.remedy,
            })),
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
