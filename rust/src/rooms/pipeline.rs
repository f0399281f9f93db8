//! The pipeline: packets that travel between threads. The RX thread receives with all queues. Each queue
//! has a worker, which changes its packets. The TX thread sends with all queues.
//!
//! A packet goes from thread to thread through rings, as a [`RemotePacket`], and its owner is the thread
//! that has it. The pools stay with the RX thread. The TX thread takes sent packets out of its rings and
//! returns them to their pools. No ring can be full: each has room for all packets of its pool. If the
//! later threads or the other device are slow, the pool runs empty, and the first device drops packets.
//!
//! A part that is dropped ends the pipeline: the parts behind it drain their rings, and then end too. So a
//! thread that panics does not keep the others.
#![forbid(unsafe_code)]

use rtrb::chunks::ReadChunkIntoIter;
use rtrb::{Consumer, Producer, RingBuffer};

use crate::driver::mempool::{AnyThread, Packet};
use crate::driver::rx::RxQueue;
use crate::driver::tx::TxQueue;
use crate::error::Result;
use crate::rooms::forwarder::{Counts, Forwarder};
use crate::rooms::lane::{split, Monitor};
use crate::sys::buffers::{buffers_return, Lease};
use crate::sys::home::Spare;
use crate::sys::mmio::Register;
use crate::tuned::forward::TOUCHED_BYTE;

/// Sent packets come home so many at a time: one look at DD and one atomic access for all.
const TAKE_BATCH: usize = 32;

/// A packet that may move to another thread. It comes home to its pool wherever it is dropped.
///
/// ```
/// # use ixgbe::{driver::mempool::Mempool, rooms::pipeline::RemotePacket, vfio::Container};
/// let pool = Mempool::create(&Container::new(), 64).unwrap();
/// let mut packet = RemotePacket::from(pool.alloc().unwrap());
/// std::thread::scope(|scope| {
///     scope.spawn(move || packet.change_at(0, |byte| byte + 1));
/// });
/// assert_eq!(pool.free_count(), 63);
/// pool.take_returned();
/// assert_eq!(pool.free_count(), 64);
/// ```
///
/// A device does not take it, because the packets in its rings come back to the thread of the device:
///
/// ```compile_fail,E0308
/// # use ixgbe::{driver::device::Device, rooms::pipeline::RemotePacket};
/// fn send<'p>(device: &mut Device<'p>, packets: &mut Vec<RemotePacket<'p>>) {
///     device.tx_batch(0, packets).unwrap();
/// }
/// ```
///
/// It cannot outlive its pool either:
///
/// ```compile_fail,E0597
/// # use ixgbe::{driver::mempool::Mempool, rooms::pipeline::RemotePacket, vfio::Container};
/// let packet = {
///     let pool = Mempool::create(&Container::new(), 64).unwrap();
///     RemotePacket::from(pool.alloc().unwrap())
/// };
/// ```
pub type RemotePacket<'p> = Packet<'p, AnyThread>;

impl<'p> From<Packet<'p>> for RemotePacket<'p> {
    #[inline]
    fn from(packet: Packet<'p>) -> Self {
        Self::new(packet.buffer)
    }
}

/// One direction of a queue, as the RX thread has it.
struct RxStream<'f, 'p> {
    rx: &'f mut RxQueue<'p>,
    /// RDH.
    head: &'f Register,
    received: Spare<Packet<'p>>,
    to_worker: Producer<RemotePacket<'p>>,
    /// The pool of the queue.
    _pool: Lease<'p>,
}

/// One direction of a queue, as its worker has it.
struct WorkStream<'p> {
    to_worker: Consumer<RemotePacket<'p>>,
    to_sender: Producer<RemotePacket<'p>>,
}

/// One direction of a queue, as the TX thread has it.
struct TxStream<'f, 'p> {
    tx: &'f mut TxQueue<'p>,
    to_sender: Consumer<RemotePacket<'p>>,
}

/// The part of the RX thread: all receive queues.
pub struct Receiver<'f, 'p> {
    queues: Vec<([RxStream<'f, 'p>; 2], Counts)>,
    addresses: [&'f str; 2],
    batch: usize,
    packets_left: u64,
}

/// The part of a worker: both directions of a queue.
pub struct Worker<'p> {
    streams: [WorkStream<'p>; 2],
    batch: usize,
}

/// The part of the TX thread: all transmit queues.
pub struct Sender<'f, 'p> {
    queues: Vec<([TxStream<'f, 'p>; 2], Counts)>,
    batch: usize,
}

/// All parts of a pipeline. Each may move to a thread of its own.
///
/// The devices cannot be stopped before all parts are back:
///
/// ```compile_fail,E0505
/// # use ixgbe::rooms::forwarder::Forwarder;
/// fn stop_too_early(mut forwarder: Forwarder<'_>) {
///     let (_, mut pipeline) = forwarder.give_pipeline().unwrap();
///     forwarder.stop().unwrap();
///     pipeline.receiver.receive(0).unwrap();
/// }
/// ```
pub struct Pipeline<'f, 'p> {
    /// For the RX thread.
    pub receiver: Receiver<'f, 'p>,
    /// For a thread each, one for each queue.
    pub workers: Vec<Worker<'p>>,
    /// For the TX thread.
    pub sender: Sender<'f, 'p>,
}

/// Puts packets into a ring. What does not fit comes home, but the ring has room for the whole pool.
#[inline]
fn ring_put<'p>(
    ring: &mut Producer<RemotePacket<'p>>,
    packets: impl ExactSizeIterator<Item = RemotePacket<'p>>,
) {
    if let Ok(chunk) = ring.write_chunk_uninit(packets.len()) {
        chunk.fill_from_iter(packets);
    }
}

/// Takes up to `count` packets out of a ring, the oldest first. `None` if it is empty.
#[inline]
fn ring_take<'r, 'p>(
    ring: &'r mut Consumer<RemotePacket<'p>>,
    count: usize,
) -> Option<ReadChunkIntoIter<'r, RemotePacket<'p>>> {
    // Reads the other thread's count only if its last value is too low: that takes a cache line from the
    // other processor.
    let available = match ring.cached_slots() {
        cached if cached < count => ring.slots().min(count),
        _ => count,
    };
    let chunk = ring.read_chunk(available).ok()?;
    (available > 0).then(|| chunk.into_iter())
}

impl RxStream<'_, '_> {
    #[inline]
    fn receive(&mut self, wanted: usize, counts: &mut Counts) -> Result<usize> {
        if let Some(pool) = self.rx.pool.local() {
            pool.take_returned();
        }
        self.received.with(|packets| {
            let received = self.rx.rx_batch(packets, wanted)?;

            counts.rx_calls += 1;
            if received == 0 {
                return Ok(0);
            }
            ring_put(
                &mut self.to_worker,
                packets.drain(..).map(RemotePacket::from),
            );
            counts.rx += received as u64;
            counts.full_batches += u64::from(received == wanted);
            Ok(received)
        })
    }
}

impl WorkStream<'_> {
    #[inline]
    fn work(&mut self, batch: usize) -> usize {
        let Some(packets) = ring_take(&mut self.to_worker, batch) else {
            return 0;
        };
        let count = packets.len();
        let changed = packets.map(|mut packet| {
            packet.change_at(TOUCHED_BYTE, |byte| byte.wrapping_add(1));
            packet
        });
        ring_put(&mut self.to_sender, changed);
        count
    }
}

impl TxStream<'_, '_> {
    #[inline]
    fn send(&mut self, batch: usize, counts: &mut Counts) -> Result<usize> {
        while let Some(sent) = self.tx.tx_take(TAKE_BATCH) {
            buffers_return(sent);
        }
        // What the device's ring cannot take waits in this one.
        let space = self.tx.tx_space();
        let Some(packets) = ring_take(&mut self.to_sender, batch.min(space)) else {
            return Ok(0);
        };
        let count = packets.len();
        let sent = self.tx.tx_put(packets, count)?;
        counts.tx += sent as u64;
        Ok(sent)
    }
}

impl Receiver<'_, '_> {
    /// A turn: receives a batch in each direction of a queue, and gives the packets to its worker. Returns
    /// the number of packets, 0 for a queue that does not exist.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    pub fn receive(&mut self, queue: usize) -> Result<usize> {
        let Some((streams, counts)) = self.queues.get_mut(queue) else {
            return Ok(0);
        };
        let mut total = 0;
        for stream in streams {
            let wanted = (self.batch as u64).min(self.packets_left) as usize;
            let received = stream.receive(wanted, counts)?;
            self.packets_left -= received as u64;
            total += received;
        }
        Ok(total)
    }

    /// Stops receiving after `packets` more packets.
    pub fn limit(&mut self, packets: u64) {
        self.packets_left = packets;
    }

    /// Checks that the queues are not stalled; the thread calls it about once a second.
    ///
    /// # Errors
    /// If one is, in two calls in a row.
    pub fn check(&mut self) -> Result<()> {
        for (queue, (streams, _)) in (0..).zip(&mut self.queues) {
            for (stream, address) in streams.iter_mut().zip(self.addresses) {
                let head = stream.head;
                stream
                    .rx
                    .rx_check_stall(address, queue, || Ok(head.load()))?;
            }
        }
        Ok(())
    }

    /// The number of queues.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// What was received on each queue.
    pub fn counts(&self) -> Vec<Counts> {
        self.queues.iter().map(|(_, counts)| *counts).collect()
    }
}

impl Worker<'_> {
    /// A turn: changes a byte of each packet of a batch in each direction, and gives the packets to the TX
    /// thread. Returns the number of packets.
    pub fn work(&mut self) -> usize {
        let batch = self.batch;
        self.streams
            .iter_mut()
            .map(|stream| stream.work(batch))
            .sum()
    }

    /// Whether the RX thread has ended, so that no more packets come than are in the rings.
    pub fn input_ended(&self) -> bool {
        let [a_to_b, b_to_a] = &self.streams;
        a_to_b.to_worker.is_abandoned() && b_to_a.to_worker.is_abandoned()
    }
}

impl<'f, 'p> Sender<'f, 'p> {
    /// A turn, in each direction of a queue: returns sent packets to their pools, and sends a batch, or what
    /// the ring of the device can take. Returns the number of packets, 0 for a queue that does not exist.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    pub fn send(&mut self, queue: usize) -> Result<usize> {
        let Some((streams, counts)) = self.queues.get_mut(queue) else {
            return Ok(0);
        };
        let mut total = 0;
        for stream in streams {
            total += stream.send(self.batch, counts)?;
        }
        Ok(total)
    }

    fn streams(&self) -> impl Iterator<Item = &TxStream<'f, 'p>> {
        self.queues.iter().flat_map(|(streams, _)| streams)
    }

    /// Whether all workers have ended, so that no more packets come than are in the rings.
    pub fn input_ended(&self) -> bool {
        self.streams().all(|stream| stream.to_sender.is_abandoned())
    }

    /// Whether packets wait to be sent.
    pub fn waits(&self) -> bool {
        self.streams().any(|stream| !stream.to_sender.is_empty())
    }

    /// The number of queues.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// What was sent on each queue.
    pub fn counts(&self) -> Vec<Counts> {
        self.queues.iter().map(|(_, counts)| *counts).collect()
    }
}

impl<'p> Forwarder<'p> {
    /// Gives all queues to a pipeline, and the counters of the devices to this thread.
    ///
    /// # Errors
    /// If a doorbell is not mapped.
    pub fn give_pipeline(&mut self) -> Result<(Monitor<'_>, Pipeline<'_, 'p>)> {
        self.check_doorbells()?;
        let batch = self.batch();
        let [a, b] = &mut self.devices;
        let (monitor, addresses, queues) = split(a, b);
        let mut pipeline = Pipeline {
            receiver: Receiver {
                queues: Vec::new(),
                addresses,
                batch,
                packets_left: u64::MAX,
            },
            workers: Vec::new(),
            sender: Sender {
                queues: Vec::new(),
                batch,
            },
        };
        for (([rx_a, rx_b], [tx_a, tx_b]), [head_a, head_b]) in queues.zip(&self.heads) {
            let a_to_b = stream(rx_a, head_a, tx_b, batch);
            let b_to_a = stream(rx_b, head_b, tx_a, batch);
            let counts = Counts::default();
            pipeline
                .receiver
                .queues
                .push(([a_to_b.0, b_to_a.0], counts));
            pipeline.workers.push(Worker {
                streams: [a_to_b.1, b_to_a.1],
                batch,
            });
            pipeline.sender.queues.push(([a_to_b.2, b_to_a.2], counts));
        }
        Ok((monitor, pipeline))
    }
}

/// Makes the three parts of one direction of a queue.
fn stream<'f, 'p>(
    rx: &'f mut RxQueue<'p>,
    head: &'f Register,
    tx: &'f mut TxQueue<'p>,
    batch: usize,
) -> (RxStream<'f, 'p>, WorkStream<'p>, TxStream<'f, 'p>) {
    // Room for all packets of the pool, so that no ring is ever full.
    let (to_worker, from_receiver) = RingBuffer::new(rx.pool.capacity());
    let (to_sender, from_worker) = RingBuffer::new(rx.pool.capacity());
    let rx = RxStream {
        _pool: rx.pool.lease(),
        rx,
        head,
        received: Spare::new(batch),
        to_worker,
    };
    let work = WorkStream {
        to_worker: from_receiver,
        to_sender,
    };
    let tx = TxStream {
        tx,
        to_sender: from_worker,
    };
    (rx, work, tx)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::test_queues::{pool, registers, Queues, POOL_CAPACITY, RING_SIZE};

    #[test]
    fn packets_come_home_from_any_thread() {
        let pool = pool(POOL_CAPACITY);
        let rounds = if cfg!(miri) { 2 } else { 20 };
        for round in 0..rounds {
            let packets = std::iter::from_fn(|| pool.alloc());
            let mut packets: Vec<_> = packets.map(RemotePacket::from).collect();
            assert_eq!((packets.len(), pool.free_count()), (pool.capacity(), 0));
            thread::scope(|scope| {
                for _ in 0..3 {
                    let part = packets.split_off(packets.len() - POOL_CAPACITY as usize / 4);
                    scope.spawn(move || {
                        for (index, mut packet) in part.into_iter().enumerate() {
                            assert!(packet.set_size(60) && packet.size() == 60);
                            assert!(packet.write_at(0, &[round, index as u8]));
                        }
                    });
                }
                // Meanwhile, the pool's thread takes what is there.
                pool.take_returned();
            });
            drop(packets);
            for _ in 0..2 {
                pool.take_returned();
                assert_eq!(pool.free_count(), pool.capacity());
            }
        }
    }

    #[test]
    fn a_panic_in_another_thread_loses_no_packet() {
        let pool = pool(POOL_CAPACITY);
        let packet = RemotePacket::from(pool.alloc().unwrap());
        let result = thread::scope(|scope| {
            let thread = scope.spawn(move || {
                let _held = packet;
                panic!("on purpose");
            });
            thread.join()
        });
        assert!(result.is_err());
        pool.take_returned();
        assert_eq!(pool.free_count(), pool.capacity());
    }

    #[test]
    fn packets_of_two_pools_come_home_to_theirs() {
        let pools = [pool(8), pool(8)];
        let packets: Vec<_> = [0, 0, 1, 1, 1, 0]
            .map(|which: usize| pools[which].alloc().unwrap())
            .into();
        buffers_return(packets.into_iter().map(|packet| packet.buffer));
        for pool in &pools {
            pool.take_returned();
            assert_eq!(pool.free_count(), 8);
        }
    }

    /// The RX thread has the pool. All others that free a packet return it.
    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn the_parts_of_a_pipeline_work_in_other_threads() {
        let pool = pool(POOL_CAPACITY);
        let [head, _] = registers();
        let mut queues = Queues::new(&pool);
        for i in 0..40 {
            queues.device_receives(i, 60, true);
        }
        let mut counts = Counts::default();
        let (mut rx, mut work, mut tx) = stream(&mut queues.rx, &head, &mut queues.tx, 40);
        thread::scope(|scope| {
            let received = scope.spawn(move || rx.receive(40, &mut Counts::default()).unwrap());
            assert_eq!(received.join().unwrap(), 40);
            let worked = scope.spawn(move || work.work(40));
            assert_eq!(worked.join().unwrap(), 40);
            assert_eq!(tx.send(40, &mut counts).unwrap(), 40);
        });
        for i in 0..40 {
            queues.device_sends(i);
        }
        let (rx, _, mut tx) = stream(&mut queues.rx, &head, &mut queues.tx, 40);
        thread::scope(|scope| {
            scope.spawn(move || tx.send(40, &mut counts).unwrap());
        });
        drop(rx);
        // Those in the rings are not free: 32 of the 40 were sent and taken.
        let in_rings = RING_SIZE + 8;
        pool.take_returned();
        assert_eq!(pool.free_count(), pool.capacity() - in_rings);
        drop(queues);
        assert_eq!(pool.free_count(), pool.capacity());
    }
}
