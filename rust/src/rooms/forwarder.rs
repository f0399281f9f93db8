//! The forwarder: each of two devices sends the packets that the other receives.
#![forbid(unsafe_code)]

use std::time::Duration;

use crate::driver::device::{Config, Device, QueueStats, Stats};
use crate::driver::mempool::Packet;
use crate::driver::registers as regs;
use crate::driver::rx::RxQueue;
use crate::driver::tx::TxQueue;
use crate::error::{Error, Result};
use crate::rooms::interrupts::{interrupts_wait, Waits, MAX_INTERVAL_US};
use crate::rooms::ports::wrong_path;
use crate::sys::buffers::BufferStore;
use crate::sys::mmio::Register;
use crate::tuned::agent::{agent_check, Agent};
use crate::tuned::forward::{TunedLane, TOUCHED_BYTE};
use crate::vfio::Container;

pub use crate::rooms::ports::{
    Path, Ports, PortsOptions, DEFAULT_CONNECT_TIMEOUT_MS, DEFAULT_RING_SIZE,
};
pub use crate::tuned::batch::MAX_BATCH;

/// The paper's batch, in packets.
pub const DEFAULT_BATCH: usize = 32;

/// Milliseconds: long enough for a copper link, which may train for ten seconds.
pub const DEFAULT_LINK_TIMEOUT_MS: u32 = 30_000;

/// Microseconds: the most that can be asked for as the least time between two interrupts of a queue.
pub const MAX_INTERRUPT_INTERVAL_US: u32 = MAX_INTERVAL_US;

/// Microseconds: the least time between two interrupts of a queue, unless asked for another.
pub const DEFAULT_INTERRUPT_INTERVAL_US: u32 = 50;

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

impl Counts {
    /// Adds those of others.
    pub fn add(&mut self, more: &Self) {
        self.rx += more.rx;
        self.tx += more.tx;
        self.dropped += more.dropped;
        self.rx_calls += more.rx_calls;
        self.full_batches += more.full_batches;
    }
}

/// Two running devices.
pub struct Forwarder<'p> {
    container: &'p Container,
    pub(crate) devices: [Device<'p>; 2],
    /// One for each queue.
    pub(crate) directions: Vec<Direction<'p>>,
    /// One for each queue.
    pub(crate) parts: Vec<PathParts<'p>>,
    /// RDH of each queue of both devices; empty if they or the doorbells are not mapped.
    pub(crate) heads: Vec<[Register; 2]>,
    waits: Waits,
}

/// What the path of a queue needs beside the queues.
pub(crate) enum PathParts<'p> {
    /// With a pool.
    Pool,
    Tuned(TunedLane<'p>),
    /// Of each receive queue.
    Agents([Agent<'p>; 2]),
}

/// The state that both directions of a queue share. It may lie beside that of another thread.
#[repr(align(128))]
pub(crate) struct Direction<'p> {
    pub(crate) turns: Turns,
    packets: Vec<Packet<'p>>,
}

impl Direction<'_> {
    fn new(batch: usize) -> Self {
        Self {
            turns: Turns::new(batch),
            packets: Vec::with_capacity(batch),
        }
    }
}

/// The part of it that may move to another thread.
pub(crate) struct Turns {
    pub(crate) batch: usize,
    pub(crate) packets_left: u64,
    counts: Counts,
}

impl Turns {
    pub(crate) fn new(batch: usize) -> Self {
        Self {
            batch,
            packets_left: u64::MAX,
            counts: Counts::default(),
        }
    }

    /// The most packets that the next batch may have.
    #[inline(always)]
    fn wanted(&self) -> usize {
        (self.batch as u64).min(self.packets_left) as usize
    }

    /// Forwards a batch from one device to the other, by way of `packets`. Returns the number of received packets.
    // How all three drivers compile the data path: a turn is one function, which contains `rx_batch` and `tx_batch`
    // once for each direction. So no call costs instructions. And a prefetcher of the processor learns the distance
    // between packets for each instruction. In a function that both directions share, the packets of two pools
    // alternate, and at batch 1 every packet is a miss.
    #[inline(always)]
    pub(crate) fn forward<'p>(
        &mut self,
        packets: &mut Vec<Packet<'p>>,
        rx: &mut RxQueue<'p>,
        tx: &mut TxQueue<'p>,
    ) -> Result<usize> {
        let wanted = self.wanted();
        let received = rx.rx_batch(packets, wanted)?;

        self.counts.rx_calls += 1;
        if received == 0 {
            return Ok(0);
        }
        for packet in packets.iter_mut() {
            packet.change_at(TOUCHED_BYTE, |byte| byte.wrapping_add(1));
        }
        let sent = tx.tx_batch(packets)?;

        // Drops the packets that the ring cannot take: waiting would only move the loss to RX.
        packets.clear();
        self.count(wanted, received, sent);
        Ok(received)
    }

    /// The same by the tuned path.
    #[inline(always)]
    pub(crate) fn forward_tuned<'p, const FROM: usize>(
        &mut self,
        lane: &mut TunedLane<'p>,
        rx: &mut RxQueue<'p>,
        tx: &mut TxQueue<'p>,
    ) -> Result<usize> {
        let wanted = self.wanted();
        let (received, sent) = lane.forward::<FROM>(rx, tx, wanted)?;

        self.counts.rx_calls += 1;
        if received > 0 {
            self.count(wanted, received, sent);
        }
        Ok(received)
    }

    /// The same by the agent of `rx`, which drops nothing.
    #[inline(always)]
    pub(crate) fn forward_by_agent<'p>(
        &mut self,
        agent: &mut Agent<'p>,
        rx: &mut RxQueue<'p>,
        tx: &mut TxQueue<'p>,
    ) -> Result<usize> {
        let wanted = self.wanted();
        let forwarded = agent.agent_forward(rx, tx, wanted)?;

        self.counts.rx_calls += 1;
        if forwarded > 0 {
            self.count(wanted, forwarded, forwarded);
        }
        Ok(forwarded)
    }

    #[inline(always)]
    fn count(&mut self, wanted: usize, received: usize, sent: usize) {
        self.packets_left -= received as u64;
        self.counts.rx += received as u64;
        self.counts.tx += sent as u64;
        self.counts.dropped += (received - sent) as u64;
        self.counts.full_batches += u64::from(received == wanted);
    }
}

/// Gives the lanes what their path needs. The links are up, so no device starts again.
fn path_parts<'p>(path: Path, [a, b]: &mut [Device<'p>; 2]) -> Result<Vec<PathParts<'p>>> {
    let rx = a.rx.iter_mut().zip(&mut b.rx);
    let queues = rx.zip(a.tx.iter().zip(&b.tx)).enumerate();
    let parts = |(queue, ((rx_a, rx_b), (tx_a, tx_b)))| {
        let parts = match path {
            Path::Tuned => TunedLane::new([rx_a, rx_b], [tx_a, tx_b]).map(PathParts::Tuned),
            Path::Agent => Agent::new(rx_a)
                .zip(Agent::new(rx_b))
                .map(|(a, b)| PathParts::Agents([a, b])),
            Path::Default | Path::Stride => Some(PathParts::Pool),
        };
        parts.ok_or_else(|| {
            let message = format!("the buffers of queue {queue} do not suit its path");
            Box::new(Error::Argument(message))
        })
    };
    queues.map(parts).collect()
}

/// Takes a batch from a pool into `packets`, or fewer packets if the pool has fewer.
fn alloc_batch<'p>(packets: &mut Vec<Packet<'p>>, pool: &'p BufferStore, batch: usize) {
    let Some(pool) = pool.local() else { return };
    while packets.len() < batch {
        let Some(packet) = pool.take() else { break };
        packets.push(Packet::new(packet));
    }
}

impl<'p> Forwarder<'p> {
    /// One turn: a batch from a to b, and one from b to a. Returns the number of received packets.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    pub fn turn(&mut self) -> Result<usize> {
        let [a, b] = &mut self.devices;
        let Direction { turns, packets } = &mut self.directions[0];
        let a_to_b = turns.forward(packets, &mut a.rx[0], &mut b.tx[0])?;
        let b_to_a = turns.forward(packets, &mut b.rx[0], &mut a.tx[0])?;
        Ok(a_to_b + b_to_a)
    }

    /// A turn of one queue pair. For queue 0 it does what [`Forwarder::turn`] does. It is a function of its
    /// own, so that the loop that calls [`Forwarder::turn`] contains that as a whole.
    ///
    /// # Errors
    /// If there is no such queue, or a device can no longer be reached.
    #[inline(never)]
    pub fn queue_turn(&mut self, queue: usize) -> Result<usize> {
        let [a, b] = &mut self.devices;
        let Some(Direction { turns, packets }) = self.directions.get_mut(queue) else {
            return Err(a.no_queue(queue));
        };
        let a_to_b = turns.forward(packets, &mut a.rx[queue], &mut b.tx[queue])?;
        let b_to_a = turns.forward(packets, &mut b.rx[queue], &mut a.tx[queue])?;
        Ok(a_to_b + b_to_a)
    }

    /// One turn, as [`Forwarder::turn`], by the tuned path.
    ///
    /// # Errors
    /// If the ports were not opened with [`Path::Tuned`], or a device can no longer be reached.
    #[inline]
    pub fn tuned_turn(&mut self) -> Result<usize> {
        self.tuned_queue_turn(0)
    }

    /// One turn, as [`Forwarder::turn`], by the agent.
    ///
    /// # Errors
    /// If the ports were not opened with [`Path::Agent`], or a device can no longer be reached.
    #[inline]
    pub fn agent_turn(&mut self) -> Result<usize> {
        self.agent_queue_turn(0)
    }

    /// A turn of one queue pair, as [`Forwarder::queue_turn`], by the tuned path.
    ///
    /// # Errors
    /// As for [`Forwarder::tuned_turn`], or if there is no such queue.
    #[inline]
    pub fn tuned_queue_turn(&mut self, queue: usize) -> Result<usize> {
        let [a, b] = &mut self.devices;
        let direction = self.directions.get_mut(queue);
        let (Some(PathParts::Tuned(lane)), Some(Direction { turns, .. })) =
            (self.parts.get_mut(queue), direction)
        else {
            return Err(wrong_path());
        };
        let a_to_b = turns.forward_tuned::<0>(lane, &mut a.rx[queue], &mut b.tx[queue])?;
        let b_to_a = turns.forward_tuned::<1>(lane, &mut b.rx[queue], &mut a.tx[queue])?;
        Ok(a_to_b + b_to_a)
    }

    /// A turn of one queue pair, as [`Forwarder::queue_turn`], by the agent.
    ///
    /// # Errors
    /// As for [`Forwarder::agent_turn`], or if there is no such queue.
    #[inline]
    pub fn agent_queue_turn(&mut self, queue: usize) -> Result<usize> {
        let [a, b] = &mut self.devices;
        let direction = self.directions.get_mut(queue);
        let (Some(PathParts::Agents([agent_a, agent_b])), Some(Direction { turns, .. })) =
            (self.parts.get_mut(queue), direction)
        else {
            return Err(wrong_path());
        };
        let a_to_b = turns.forward_by_agent(agent_a, &mut a.rx[queue], &mut b.tx[queue])?;
        let b_to_a = turns.forward_by_agent(agent_b, &mut b.rx[queue], &mut a.tx[queue])?;
        Ok(a_to_b + b_to_a)
    }

    /// Reads what device 0 (a) or 1 (b) counted for a queue. Needs more than one queue.
    ///
    /// # Errors
    /// If there is no such queue, or the device can no longer be reached.
    ///
    /// # Panics
    /// If `device` is neither.
    pub fn queue_stats(&mut self, device: usize, queue: u32) -> Result<QueueStats> {
        self.devices[device].queue_stats_read(queue)
    }

    /// Receives a batch from each device and frees it. Returns the number of packets. This,
    /// [`Forwarder::send`] and [`Forwarder::alloc`] are single parts of a turn, to measure each by
    /// itself. [`Forwarder::read_counts`] does not count these packets.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    pub fn receive(&mut self) -> Result<usize> {
        let Direction { packets, turns } = &mut self.directions[0];
        let mut total = 0;
        for device in &mut self.devices {
            total += device.rx[0].rx_batch(packets, turns.batch)?;
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
        let Direction { packets, turns } = &mut self.directions[0];
        let mut total = 0;
        for device in &mut self.devices {
            alloc_batch(packets, device.rx[0].pool, turns.batch);
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
        let Direction { packets, turns } = &mut self.directions[0];
        let mut total = 0;
        for device in &mut self.devices {
            alloc_batch(packets, device.rx[0].pool, turns.batch);
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
        self.devices.iter().any(Device::is_trapped)
    }

    /// Stops receiving after `packets` more packets. Without this call there is no limit.
    pub fn limit(&mut self, packets: u64) {
        self.directions[0].turns.packets_left = packets;
    }

    /// The counts of the forwarded packets of all queues together.
    pub fn read_counts(&self) -> Counts {
        let mut counts = Counts::default();
        for direction in &self.directions {
            counts.add(&direction.turns.counts);
        }
        counts
    }

    /// The counts of the forwarded packets of each queue.
    pub fn read_queue_counts(&self) -> Vec<Counts> {
        let directions = self.directions.iter();
        directions.map(|direction| direction.turns.counts).collect()
    }

    /// Reads the counters of device 0 (a) or 1 (b). It also detects a dead device, because the
    /// forwarding itself does not wait for answers.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    ///
    /// # Panics
    /// If `device` is neither.
    pub fn device_stats(&mut self, device: usize) -> Result<Stats> {
        let stats = self.devices[device].stats_read()?;
        for (queue, parts) in self.parts.iter().enumerate() {
            if let PathParts::Agents(_) = parts {
                let Device { rx, registers, .. } = &mut self.devices[device];
                agent_check(&mut rx[queue], registers.vfio.address(), queue as u32)?;
            }
        }
        Ok(stats)
    }

    /// Reads for how many frames the queues of both devices had no descriptor.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    pub fn read_missed(&mut self) -> Result<u64> {
        let mut missed = 0;
        for queue in 0..self.directions.len() as u32 {
            for device in &mut self.devices {
                missed += device.queue_stats_read(queue)?.rx_dropped;
            }
        }
        Ok(missed)
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
        let queues = ports.pools[0].len() as u32;
        let config = Config {
            rx_queues: queues,
            tx_queues: queues,
            rx_ring_size: ports.options.ring_size,
            tx_ring_size: ports.options.ring_size,
            tx_sparse_rs: matches!(ports.options.path, Path::Tuned | Path::Agent),
            ..Config::default()
        };
        let [a, b] = &ports.devices;
        let [pools_a, pools_b] = &ports.pools;
        let pools_b = if ports.options.path == Path::Tuned {
            pools_a
        } else {
            pools_b
        };
        let mut devices = [
            a.start_queues(&config, pools_a)?,
            b.start_queues(&config, pools_b)?,
        ];
        // Both devices run by now, because they may be cabled to each other.
        for device in &mut devices {
            device.wait_for_link(u64::from(link_timeout_ms))?;
        }
        let parts = path_parts(ports.options.path, &mut devices)?;
        let head = |device: usize, queue| {
            let vfio = &devices[device].registers.vfio;
            let doorbells = vfio
                .register(regs::RDT(queue))
                .zip(vfio.register(regs::TDT(queue)));
            doorbells.and(vfio.register(regs::RDH(queue)))
        };
        let heads = (0..queues).map(|queue| Some([head(0, queue)?, head(1, queue)?]));
        Ok(Self {
            container: &ports.container,
            heads: heads.collect::<Option<Vec<_>>>().unwrap_or_default(),
            devices,
            parts,
            directions: (0..queues).map(|_| Direction::new(batch)).collect(),
            waits: Waits::default(),
        })
    }

    /// Gives the queues interrupts, at least `interval_us` microseconds apart.
    ///
    /// # Errors
    /// If a device has no MSI-X, or can no longer be reached.
    pub fn use_interrupts(&mut self, interval_us: u32) -> Result<()> {
        self.devices
            .iter_mut()
            .try_for_each(|device| device.interrupts_start(interval_us))
    }

    /// Sleeps until a packet arrives, for at most `timeout` and at most 0.1 s. Returns at once if a packet
    /// waits already.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    pub fn wait(&mut self, timeout: Duration) -> Result<()> {
        interrupts_wait(&mut self.devices, timeout, &mut self.waits)
    }

    /// The interrupts and the sleeps so far.
    pub fn read_waits(&self) -> Waits {
        self.waits
    }

    /// Sends what is in the TX rings and stops both devices.
    ///
    /// # Errors
    /// The first error. The rest is done all the same.
    pub fn stop(mut self) -> Result<()> {
        let [a, b] = &mut self.devices;
        let result = a.stop_queues();
        result.and(b.stop_queues())
    }
}

impl<'p> Forwarder<'p> {
    /// Whether other threads can have the queues.
    pub(crate) fn check_doorbells(&self) -> Result<()> {
        if !self.heads.is_empty() {
            return Ok(());
        }
        Err(Error::device(
            self.devices[0].registers.vfio.address(),
            "the queues cannot have threads of their own, because a doorbell is not mapped; start the \
             software NIC with --mmio shared",
        ))
    }

    /// The packets of a batch.
    pub(crate) fn batch(&self) -> usize {
        self.directions[0].turns.batch
    }

    /// Adds what others forwarded with a queue.
    ///
    /// # Panics
    /// If there is no such queue.
    pub fn add_counts(&mut self, queue: usize, more: &Counts) {
        self.directions[queue].turns.counts.add(more);
    }
}
