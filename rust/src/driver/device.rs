//! A port of an 82599 (or X540, X550): its configuration, its queues, its statistics.
//!
//! A device and everything in it belongs to one thread. A [`Forwarder`] can give its queues to others.
//!
//! [`Forwarder`]: crate::rooms::forwarder::Forwarder
#![forbid(unsafe_code)]

use std::os::fd::OwnedFd;
use std::rc::Rc;

use crate::driver::device_ids::{Family, DEVICE_IDS};
use crate::driver::mempool::{Mempool, Packet};
use crate::driver::register_access::Registers;
use crate::driver::registers as regs;
use crate::driver::rx::RxQueue;
use crate::driver::tx::TxQueue;
use crate::error::{Error, Result};
use crate::vfio::Container;

/// The queues that have their own packet-buffer statistics. More queues need a second layout.
pub const MAX_QUEUES: u32 = 16;

/// The smallest ring, in descriptors.
pub const MIN_RING_SIZE: u32 = 64;

/// The largest ring, in descriptors.
pub const MAX_RING_SIZE: u32 = 4096;

/// The configuration of a device.
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
    /// Only some TX descriptors have RS (tuned/tx.rs).
    pub tx_sparse_rs: bool,
}

impl Default for Config {
    /// The paper's configuration: one queue each way, rings of 512, promiscuous.
    fn default() -> Self {
        Self {
            rx_queues: 1,
            tx_queues: 1,
            rx_ring_size: 512,
            tx_ring_size: 512,
            promiscuous: true,
            tx_sparse_rs: false,
        }
    }
}

/// Totals since the device was started. A read clears the registers that they come from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// Frames that got a descriptor.
    pub rx_packets: u64,
    /// With the CRC, which some cards leave out if they strip it.
    pub rx_bytes: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// With CRC.
    pub tx_bytes: u64,
}

/// Totals of a queue pair since the device was started. Bytes include the CRC, as in [`Stats`].
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueStats {
    /// Frames received.
    pub rx_packets: u64,
    /// Their bytes.
    pub rx_bytes: u64,
    /// Frames for which the queue had no descriptor.
    pub rx_dropped: u64,
    /// Frames sent.
    pub tx_packets: u64,
    /// Their bytes.
    pub tx_bytes: u64,
}

/// A device that is open.
pub struct OpenDevice {
    pub(crate) registers: Registers,
    pub(crate) family: Family,
}

impl OpenDevice {
    /// Opens the device at `address` and checks that this driver knows it. Open all devices before
    /// you map memory.
    ///
    /// # Errors
    /// If the device cannot be opened, or this driver does not know it.
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
                     driver supports no other"
                ),
            ));
        };
        if let Some(reason) = known.refused {
            return Err(Error::device(
                address,
                format!(
                    "device {vendor:04x}:{id:04x}, {}, is not supported, because {reason}",
                    known.name
                ),
            ));
        }
        Ok(Self {
            registers: Registers { vfio },
            family: known.family,
        })
    }
}

/// The interrupts of a device.
#[derive(Default)]
pub(crate) struct Interrupts {
    /// Of each vector. Empty if the device is only polled.
    pub(crate) eventfds: Vec<OwnedFd>,
    /// The EICR bits of the vectors that may signal.
    pub(crate) armed: u32,
}

/// A device that runs until it is stopped or dropped.
pub struct Device<'p> {
    pub(crate) registers: Registers,
    pub(crate) family: Family,
    pub(crate) config: Config,
    /// One pool for each RX queue, or one for all.
    pub(crate) pools: &'p [Mempool],
    pub(crate) running: bool,
    pub(crate) mac: [u8; 6],
    pub(crate) stats: Stats,
    pub(crate) queue_stats: [QueueStats; MAX_QUEUES as usize],
    /// The receive queues.
    pub(crate) rx: Vec<RxQueue<'p>>,
    /// The transmit queues.
    pub(crate) tx: Vec<TxQueue<'p>>,
    pub(crate) interrupts: Interrupts,
}

impl<'p> Device<'p> {
    /// Appends up to `count` packets of receive queue `queue` to `packets`. If `packets` has no room for
    /// `count` packets, the limit is the size of the ring. Returns the number of packets. A wrong length
    /// ends the batch early.
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

    /// Hands packets from the front of `packets` to transmit queue `queue`. Returns the number of
    /// packets that it took; the caller keeps the others.
    ///
    /// # Errors
    /// If there is no such queue, a packet belongs to the pool of another container, or the device can
    /// no longer be reached. A packet of another container lies where this device reaches no memory.
    pub fn tx_batch(&mut self, queue: usize, packets: &mut Vec<Packet<'p>>) -> Result<usize> {
        // A thread with one container has no such packets, and packets do not change threads. So most
        // programs do not pay for the check. A `Forwarder` has one container and calls the queue.
        if !Container::is_alone() {
            self.check_owner(packets)?;
        }
        match self.tx.get_mut(queue) {
            Some(tx) => tx.tx_batch(packets),
            None => Err(self.no_queue(queue)),
        }
    }

    /// Checks that this device reaches the packets: they are of pools of its container.
    #[cold]
    fn check_owner(&self, packets: &[Packet<'p>]) -> Result<()> {
        let foreign = packets
            .iter()
            .position(|packet| !self.pools.iter().any(|pool| pool.is_beside(packet)));
        match foreign {
            None => Ok(()),
            Some(index) => Err(Error::device(
                self.registers.vfio.address(),
                format!(
                    "packet {index} of the batch belongs to the pool of another container; copy it \
                     into a packet of a pool of this device's container"
                ),
            )),
        }
    }

    pub(crate) fn no_queue(&self, queue: usize) -> Box<Error> {
        Error::device(
            self.registers.vfio.address(),
            format!("the device has no queue {queue}"),
        )
    }
}
