//! The forwarder: each of two devices sends the packets that the other receives.
#![forbid(unsafe_code)]

use std::rc::Rc;

use crate::device::{Config, Device, OpenDevice, Stats, MAX_RING_SIZE};
use crate::error::{Error, Result};
use crate::mempool::{Mempool, Packet};
use crate::registers as regs;
use crate::rx::RxQueue;
use crate::tx::TxQueue;
use crate::vfio::Container;

/// The largest batch, in packets.
pub const MAX_BATCH: usize = 512;

/// The paper's batch, in packets.
pub const DEFAULT_BATCH: usize = 32;

/// The paper's ring, in descriptors.
pub const DEFAULT_RING_SIZE: u32 = 512;

/// Milliseconds: long enough for a software NIC that starts at the same time.
pub const DEFAULT_CONNECT_TIMEOUT_MS: u32 = 5_000;

/// Milliseconds: long enough for a copper link, which may train for ten seconds.
pub const DEFAULT_LINK_TIMEOUT_MS: u32 = 30_000;

/// Enough packets for an RX ring, a TX ring and a batch, so that the pool never runs empty: the
/// paper's 2048, and more for rings larger than its 512.
const POOL_MIN_CAPACITY: u32 = 2048;
const POOL_PACKETS_PER_DESCRIPTOR: u32 = 4;

/// The forwarder changes this byte of every packet, so that its data reaches the L1 cache.
const TOUCHED_BYTE: usize = 1;

/// The size of a packet of [`Forwarder::send`]: the smallest frame, without CRC.
const SENT_SIZE: usize = 60;

/// Packets of both directions since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Received.
    pub rx: u64,
    /// Handed to the other device.
    pub tx: u64,
    /// Received, but not sent because the TX ring was full.
    pub dropped: u64,
    /// Calls of `rx_batch`.
    pub rx_calls: u64,
    /// Calls that returned as many packets as wanted.
    pub full_batches: u64,
}

/// Two open devices and their pools. A [`Forwarder`] borrows them.
pub struct Ports {
    // Fields are dropped in this order, so that a pool is unmapped while its devices are open.
    pools: [Mempool; 2],
    devices: [OpenDevice; 2],
    container: Rc<Container>,
    ring_size: u32,
}

fn pool_capacity(ring_size: u32) -> u32 {
    // `OpenDevice::start` refuses larger rings.
    let ring_size = ring_size.min(MAX_RING_SIZE);
    (ring_size * POOL_PACKETS_PER_DESCRIPTOR).max(POOL_MIN_CAPACITY)
}

impl Ports {
    /// Opens both devices and allocates pools for rings of `ring_size` descriptors. Waits at most
    /// `connect_timeout_ms` milliseconds for the servers of vfio-user sockets, all together.
    ///
    /// # Errors
    /// If a device cannot be opened, or there is no memory.
    pub fn open(
        device_a: &str,
        device_b: &str,
        ring_size: u32,
        connect_timeout_ms: u32,
    ) -> Result<Self> {
        let capacity = pool_capacity(ring_size);
        let container = Container::with_connect_timeout(connect_timeout_ms);
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

/// The state that both directions share.
struct Direction<'p> {
    batch: usize,
    packets_left: u64,
    counts: Counts,
    packets: Vec<Packet<'p>>,
}

impl<'p> Direction<'p> {
    /// Forwards a batch from one device to the other. Returns the number of received packets.
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
            packet.change_at(TOUCHED_BYTE, |byte| byte.wrapping_add(1));
        }
        let sent = tx.tx_batch(packets)?;

        // Drops the packets that the ring cannot take: waiting would only move the loss to RX.
        packets.clear();
        self.packets_left -= received as u64;
        counts.rx += received as u64;
        counts.tx += sent as u64;
        counts.dropped += (received - sent) as u64;
        counts.full_batches += u64::from(received == wanted);
        Ok(received)
    }
}

/// Takes a batch from a pool into `packets`, or fewer packets if the pool has fewer.
fn alloc_batch<'p>(packets: &mut Vec<Packet<'p>>, pool: &'p Mempool, batch: usize) {
    while packets.len() < batch {
        let Some(packet) = pool.alloc() else { break };
        packets.push(packet);
    }
}

impl<'p> Forwarder<'p> {
    /// One turn: a batch from a to b, and one from b to a. Returns the number of received packets.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    pub fn turn(&mut self) -> Result<usize> {
        let [a, b] = &mut self.devices;
        let a_to_b = self.direction.forward(&mut a.rx[0], &mut b.tx[0])?;
        let b_to_a = self.direction.forward(&mut b.rx[0], &mut a.tx[0])?;
        Ok(a_to_b + b_to_a)
    }

    /// Receives a batch from each device and frees it. Returns the number of packets. This,
    /// [`Forwarder::send`] and [`Forwarder::alloc`] are single parts of a turn, to measure each by
    /// itself. [`Forwarder::read_counts`] does not count these packets.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    pub fn receive(&mut self) -> Result<usize> {
        let Direction { packets, batch, .. } = &mut self.direction;
        let mut total = 0;
        for device in &mut self.devices {
            total += device.rx[0].rx_batch(packets, *batch)?;
            packets.clear();
        }
        Ok(total)
    }

    /// Sends a batch of fresh packets of 60 bytes to each device, with the contents of their last
    /// use. Returns the number of packets.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    pub fn send(&mut self) -> Result<usize> {
        let Direction { packets, batch, .. } = &mut self.direction;
        let mut total = 0;
        for device in &mut self.devices {
            alloc_batch(packets, device.rx[0].pool, *batch);
            for packet in packets.iter_mut() {
                // Every buffer has room for it.
                let _ = packet.set_size(SENT_SIZE);
            }
            total += device.tx[0].tx_batch(packets)?;
            packets.clear();
        }
        Ok(total)
    }

    /// Allocates a batch of packets from the pool of each device and frees them. Returns the number
    /// of packets.
    pub fn alloc(&mut self) -> usize {
        let Direction { packets, batch, .. } = &mut self.direction;
        let mut total = 0;
        for device in &mut self.devices {
            alloc_batch(packets, device.rx[0].pool, *batch);
            total += packets.len();
            packets.clear();
        }
        total
    }

    /// Whether some of its memory is on ordinary pages because too few 2 MiB pages were free.
    pub fn on_ordinary_pages(&self) -> bool {
        self.container.ordinary_pages.get()
    }

    /// Whether some doorbell is a message to a server, which may take its time to answer.
    pub fn is_trapped(&self) -> bool {
        let doorbells = [regs::RDT(0), regs::TDT(0)];
        let mut devices = self.devices.iter();
        devices.any(|device| {
            let is_mapped = |&offset: &u32| device.registers.vfio.register(offset).is_some();
            !doorbells.iter().all(is_mapped)
        })
    }

    /// Stops receiving after `packets` more packets. Without this call there is no limit.
    pub fn limit(&mut self, packets: u64) {
        self.direction.packets_left = packets;
    }

    /// The counts of the forwarded packets.
    pub fn read_counts(&self) -> Counts {
        self.direction.counts
    }

    /// Reads the counters of device 0 (a) or 1 (b). It also detects a dead device, because the
    /// forwarding itself does not wait for answers.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn device_stats(&mut self, device: usize) -> Result<Stats> {
        self.devices[device & 1].stats_read()
    }

    /// Starts both devices, then waits for the link of each, at most `link_timeout_ms` milliseconds.
    /// `batch` is 1 to [`MAX_BATCH`].
    ///
    /// # Errors
    /// If the batch or the size of the rings is out of range, a device does not start, or a link
    /// does not come up.
    pub fn start(ports: &'p Ports, batch: usize, link_timeout_ms: u32) -> Result<Self> {
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
        let mut devices = [a.start(&config, pool_a)?, b.start(&config, pool_b)?];
        // Both devices run by now, because they may be cabled to each other.
        for device in &mut devices {
            device.wait_for_link(u64::from(link_timeout_ms))?;
        }
        Ok(Self {
            container: &ports.container,
            devices,
            direction: Direction {
                batch,
                packets_left: u64::MAX,
                counts: Counts::default(),
                packets: Vec::with_capacity(batch),
            },
        })
    }

    /// Sends what is in the TX rings and stops both devices.
    ///
    /// # Errors
    /// The first error. The rest is done all the same.
    pub fn stop(mut self) -> Result<()> {
        let [a, b] = &mut self.devices;
        let result = a.stop();
        result.and(b.stop())
    }
}
