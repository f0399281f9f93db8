//! An 82599 (or X540, X550) port: its registers, its queues, its life from reset to running
//! and back.
//!
//! A device and everything in it belongs to one thread.
#![forbid(unsafe_code)]

use std::rc::Rc;
use std::time::Duration;

use crate::clock::{sleep, Instant};
use crate::device_ids::DEVICE_IDS;
use crate::error::{Error, Result};
use crate::mempool::{Mempool, Packet};
use crate::registers as regs;
use crate::rx::RxQueue;
use crate::stats::Stats;
use crate::sys::mmio::Register;
use crate::tx::TxQueue;
use crate::vfio::{Container, VfioDevice};

/// The queues that have their own packet-buffer statistics; more need a second layout.
pub const MAX_QUEUES: u32 = 16;

/// The fewest descriptors of a ring.
pub const MIN_RING_SIZE: u32 = 64;

/// The most descriptors of a ring.
pub const MAX_RING_SIZE: u32 = 4096;

/// How often, and how far apart, a check looks before it believes that something is wrong.
pub(crate) const CHECK_LOOKS: u32 = 100;
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(1);

const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// How a device is to run.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// 1 to [`MAX_QUEUES`].
    pub rx_queues: u32,
    /// 1 to [`MAX_QUEUES`].
    pub tx_queues: u32,
    /// Descriptors: a power of two, [`MIN_RING_SIZE`] to [`MAX_RING_SIZE`].
    pub rx_ring_size: u32,
    /// The same.
    pub tx_ring_size: u32,
    /// Receive frames for any address.
    pub promiscuous: bool,
}

impl Default for Config {
    /// The paper's: one queue each way, rings of 512, everything received.
    fn default() -> Self {
        Self {
            rx_queues: 1,
            tx_queues: 1,
            rx_ring_size: 512,
            tx_ring_size: 512,
            promiscuous: true,
        }
    }
}

/// A device that is open, but not running.
pub struct OpenDevice {
    registers: Registers,
    is_82599: bool,
}

impl OpenDevice {
    /// Opens the device at `address` and checks that this driver knows it. Memory is mapped
    /// later: open all devices first.
    ///
    /// # Errors
    /// If it cannot be opened, or is another kind of device.
    pub fn open(container: &Rc<Container>, address: &str) -> Result<Self> {
        let vfio = container.open(address)?;
        let vendor = vfio.config_read16(regs::PCI_VENDOR_ID)?;
        let id = vfio.config_read16(regs::PCI_DEVICE_ID)?;
        let known = (vendor == regs::PCI_VENDOR_ID_INTEL)
            .then(|| DEVICE_IDS.iter().find(|known| known.id == id))
            .flatten();
        let Some(known) = known else {
            return Err(Error::device(
                address,
                format!(
                    "device {vendor:04x}:{id:04x} is not an Intel 82599, X540 or X550; this \
                     driver drives no other"
                ),
            ));
        };
        Ok(Self {
            registers: Registers { vfio },
            is_82599: known.family == "82599",
        })
    }

    /// Takes the device from any state to running. Its RX queues draw from `pool`.
    ///
    /// # Errors
    /// If it is running already, the configuration is out of range, or the device does not do as
    /// it should.
    pub fn start<'p>(&self, config: &Config, pool: &'p Mempool) -> Result<Device<'p>> {
        let vfio = &self.registers.vfio;
        if !vfio.claim() {
            return Err(Error::device(vfio.address(), "is running already"));
        }
        let mut device = Device {
            registers: self.registers.clone(),
            is_82599: self.is_82599,
            config: *config,
            pool,
            running: false,
            mac: [0; 6],
            stats: Stats::default(),
            rx: Vec::new(),
            tx: Vec::new(),
        };
        device.start()?;
        Ok(device)
    }
}

/// What a receive queue could not hand out, since its device was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RxLosses {
    /// Calls that stopped early because the pool was empty.
    pub pool_empty: u64,
    /// Frames that did not fit into one buffer, or whose length was a lie.
    pub discarded: u64,
}

/// A device that is running, until it is stopped or dropped.
pub struct Device<'p> {
    pub(crate) registers: Registers,
    /// And not one of its copper successors X540 and X550.
    pub(crate) is_82599: bool,
    pub(crate) config: Config,
    pub(crate) pool: &'p Mempool,
    pub(crate) running: bool,
    pub(crate) mac: [u8; 6],
    pub(crate) stats: Stats,
    /// The receive queues.
    pub(crate) rx: Vec<RxQueue<'p>>,
    /// The transmit queues.
    pub(crate) tx: Vec<TxQueue<'p>>,
}

impl<'p> Device<'p> {
    /// [`RxQueue::rx_batch`] of receive queue `queue`.
    ///
    /// # Errors
    /// If there is no such queue, or the device can no longer be reached.
    pub fn rx_batch(
        &mut self,
        queue: usize,
        packets: &mut Vec<Packet<'p>>,
        count: usize,
    ) -> Result<usize> {
        match self.rx.get_mut(queue) {
            Some(rx) => rx.rx_batch(packets, count),
            None => Err(self.no_queue(queue)),
        }
    }

    /// [`TxQueue::tx_batch`] of transmit queue `queue`.
    ///
    /// # Errors
    /// If there is no such queue, or the device can no longer be reached.
    pub fn tx_batch(&mut self, queue: usize, packets: &mut Vec<Packet<'p>>) -> Result<usize> {
        match self.tx.get_mut(queue) {
            Some(tx) => tx.tx_batch(packets),
            None => Err(self.no_queue(queue)),
        }
    }

    /// What receive queue `queue` could not hand out; nothing if there is no such queue.
    pub fn rx_losses(&self, queue: usize) -> Option<RxLosses> {
        let rx = self.rx.get(queue)?;
        Some(RxLosses {
            pool_empty: rx.pool_empty,
            discarded: rx.discard.discarded,
        })
    }

    fn no_queue(&self, queue: usize) -> Box<Error> {
        Error::device(
            self.registers.vfio.address(),
            format!("has no queue {queue}"),
        )
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        if self.running {
            // Whoever wants to know why it cannot be stopped calls `stop`.
            let _ = self.stop();
        }
        self.registers.vfio.release();
    }
}

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

    /// [`Registers::write`], kept out of the data path.
    #[cold]
    fn write_trapped(&self, offset: u32, value: u32) -> Result<()> {
        self.write(offset, value)
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

    /// Waits until a register says what it should.
    pub(crate) fn wait(&self, wait: &Wait) -> Result<()> {
        let deadline = Instant::now() + Duration::from_millis(wait.timeout_ms);
        loop {
            // The clock first: a slow read does not cost the device its last chance.
            let late = Instant::now() >= deadline;
            let read = self.read(wait.offset)?;
            if read & wait.mask == wait.value {
                return Ok(());
            }
            if late {
                return Err(Box::new(Error::Timeout {
                    address: self.vfio.address().to_owned(),
                    name: wait.name,
                    read,
                    timeout_ms: wait.timeout_ms,
                    value: wait.value,
                    mask: wait.mask,
                    mend: wait.mend,
                }));
            }
            sleep(POLL_INTERVAL);
        }
    }

    /// The doorbell whose register is at `offset`.
    pub(crate) fn tail(&self, offset: u32) -> Tail {
        match self.vfio.register(offset) {
            Some(register) => Tail::Mapped(register),
            None => Tail::Trapped(self.clone(), offset),
        }
    }
}

/// What is waited for: until the bits of `mask` equal `value`.
pub(crate) struct Wait {
    pub(crate) offset: u32,
    pub(crate) mask: u32,
    pub(crate) value: u32,
    pub(crate) timeout_ms: u64,
    /// The register and field, for the error.
    pub(crate) name: &'static str,
    /// What to do, for the error.
    pub(crate) mend: &'static str,
}

/// A doorbell: a tail register.
pub(crate) enum Tail {
    /// It is mapped: a write is a store.
    Mapped(Register),
    /// It is not: a write is a message or a call.
    Trapped(Registers, u32),
    /// There is no device but the test.
    #[cfg(any(test, feature = "fuzzing"))]
    Fake(Rc<std::cell::Cell<u32>>),
}

impl Tail {
    /// Rings the doorbell.
    #[inline]
    pub(crate) fn write(&self, value: u32) -> Result<()> {
        match self {
            Self::Mapped(register) => {
                register.store(value);
                Ok(())
            }
            Self::Trapped(registers, offset) => registers.write_trapped(*offset, value),
            #[cfg(any(test, feature = "fuzzing"))]
            Self::Fake(register) => {
                register.set(value);
                Ok(())
            }
        }
    }
}
