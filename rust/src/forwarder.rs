//! The forwarder: two devices, and what one receives the other sends.
#![forbid(unsafe_code)]

use std::rc::Rc;

use crate::device::{Config, Device, OpenDevice, MAX_RING_SIZE};
use crate::error::{Error, Result};
use crate::mempool::{Mempool, Packet};
use crate::rx::RxQueue;
use crate::stats::Stats;
use crate::tx::TxQueue;
use crate::vfio::Container;

/// The most packets of a batch.
pub const MAX_BATCH: usize = 512;

/// The paper's.
pub const DEFAULT_BATCH: usize = 32;

/// The paper's.
pub const DEFAULT_RING_SIZE: u32 = 512;

/// Enough to fill an RX and a TX ring and the batch in hand, so that the pool never runs dry:
/// the paper's 2048, more for rings above its 512.
const POOL_MIN_CAPACITY: u32 = 2048;
const POOL_PACKETS_PER_DESCRIPTOR: u32 = 4;

/// The byte of every packet that is changed, so that its data reaches the first-level cache.
const TOUCHED_BYTE: usize = 1;

/// Packets, both directions together, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Received.
    pub rx: u64,
    /// Handed to the other device.
    pub tx: u64,
    /// Received, but the other device's TX ring was full.
    pub dropped: u64,
    /// Calls of `rx_batch`.
    pub rx_calls: u64,
    /// Calls that returned as many packets as were asked for.
    pub full_batches: u64,
}

/// Two open devices and their pools: what a [`Forwarder`] borrows.
pub struct Ports {
    // In the order in which they are dropped: a pool is unmapped while its devices are open.
    pools: [Mempool; 2],
    devices: [OpenDevice; 2],
    container: Rc<Container>,
    ring_size: u32,
}

fn pool_capacity(ring_size: u32) -> u32 {
    // Larger rings are refused when the devices start.
    let ring_size = ring_size.min(MAX_RING_SIZE);
    (ring_size * POOL_PACKETS_PER_DESCRIPTOR).max(POOL_MIN_CAPACITY)
}

impl Ports {
    /// Opens both devices and allocates pools for rings of `ring_size` descriptors.
    ///
    /// # Errors
    /// If a device cannot be opened, or there is no memory.
    pub fn open(device_a: &str, device_b: &str, ring_size: u32) -> Result<Self> {
        let capacity = pool_capacity(ring_size);
        let container = Container::new();
        let devices = [
            OpenDevice::open(&container, device_a)?,
            OpenDevice::open(&container, device_b)?,
        ];
        let pools = [
            Mempool::create(&container, capacity)?,
            Mempool::create(&container, capacity)?,
        ];
        Ok(Self {
            pools,
            devices,
            container,
            ring_size,
        })
    }
}

/// Two running devices.
pub struct Forwarder<'p> {
    container: &'p Container,
    devices: [Device<'p>; 2],
    direction: Direction<'p>,
}

/// What both directions of the forwarding share.
struct Direction<'p> {
    batch: usize,
    packets_left: u64,
    counts: Counts,
    packets: Vec<Packet<'p>>,
}

impl<'p> Direction<'p> {
    /// A batch from one device to the other. Returns how many packets were received.
    #[inline]
    fn forward(&mut self, rx: &mut RxQueue<'p>, tx: &mut TxQueue<'p>) -> Result<usize> {
        let counts = &mut self.counts;
        let packets = &mut self.packets;
        let wanted = (self.batch as u64).min(self.packets_left) as usize;
        let received = rx.rx_batch(packets, wanted)?;

        counts.rx_calls += 1;
        if received == 0 {
            return Ok(0);
        }
        for packet in packets.iter_mut() {
            if let Some(byte) = packet.get_mut(TOUCHED_BYTE) {
                *byte = byte.wrapping_add(1);
            }
        }
        let sent = tx.tx_batch(packets)?;

        // What the ring cannot take is dropped: waiting would only move the loss to the RX side.
        packets.clear();
        self.packets_left -= received as u64;
        counts.rx += received as u64;
        counts.tx += sent as u64;
        counts.dropped += (received - sent) as u64;
        counts.full_batches += u64::from(received == wanted);
        Ok(received)
    }
}

impl<'p> Forwarder<'p> {
    /// One turn: a batch from a to b, and a batch from b to a. Returns how many were received.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    pub fn turn(&mut self) -> Result<usize> {
        let [a, b] = &mut self.devices;
        let a_to_b = self.direction.forward(&mut a.rx[0], &mut b.tx[0])?;
        let b_to_a = self.direction.forward(&mut b.rx[0], &mut a.tx[0])?;
        Ok(a_to_b + b_to_a)
    }

    /// Whether some of its memory is on ordinary pages, for want of 2 MiB ones.
    pub fn on_ordinary_pages(&self) -> bool {
        self.container.ordinary_pages.get()
    }

    /// From now on, receives `packets` more and then no others. Without it there is no limit.
    pub fn limit(&mut self, packets: u64) {
        self.direction.packets_left = packets;
    }

    /// What was forwarded.
    pub fn read_counts(&self) -> Counts {
        self.direction.counts
    }

    /// Reads what device 0 (a) or 1 (b) counted. This is also how a device that has died is
    /// noticed: the forwarding itself does not wait for answers.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn device_stats(&mut self, device: usize) -> Result<Stats> {
        self.devices[device & 1].stats_read()
    }

    /// Takes both devices to running. `batch` is 1 to [`MAX_BATCH`].
    ///
    /// # Errors
    /// If the batch or the rings' size is out of range, or a device does not start.
    pub fn start(ports: &'p Ports, batch: usize) -> Result<Self> {
        if !(1..=MAX_BATCH).contains(&batch) {
            return Err(Box::new(Error::Argument(format!(
                "a batch has 1 to {MAX_BATCH} packets, not {batch}"
            ))));
        }
        let config = Config {
            rx_ring_size: ports.ring_size,
            tx_ring_size: ports.ring_size,
            ..Config::default()
        };
        let [a, b] = &ports.devices;
        let [pool_a, pool_b] = &ports.pools;
        Ok(Self {
            container: &ports.container,
            devices: [a.start(&config, pool_a)?, b.start(&config, pool_b)?],
            direction: Direction {
                batch,
                packets_left: u64::MAX,
                counts: Counts::default(),
                packets: Vec::with_capacity(batch),
            },
        })
    }

    /// Sends what is in the TX rings and quiesces both devices.
    ///
    /// # Errors
    /// The first thing that did not work; the rest is done all the same.
    pub fn stop(mut self) -> Result<()> {
        let [a, b] = &mut self.devices;
        let result = a.stop();
        result.and(b.stop())
    }
}
