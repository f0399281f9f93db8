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

use crate::driver::rx::RxQueue;
use crate::driver::tx::TxQueue;
use crate::error::{Error, Result};
use crate::rooms::forwarder::{Counts, Forwarder, TOUCHED_BYTE};
use crate::rooms::lane::{split, Monitor};
use crate::sys::mmio::Register;
use crate::sys::remote::{RxEnd, TxEnd};

pub use crate::sys::remote::RemotePacket;

/// One direction of a queue, as the RX thread has it.
struct RxStream<'f, 'p> {
    rx: RxEnd<'f, 'p>,
    to_worker: Producer<RemotePacket<'p>>,
}

/// One direction of a queue, as its worker has it.
struct WorkStream<'p> {
    to_worker: Consumer<RemotePacket<'p>>,
    to_sender: Producer<RemotePacket<'p>>,
}

/// One direction of a queue, as the TX thread has it.
struct TxStream<'f, 'p> {
    tx: TxEnd<'f, 'p>,
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
        let packets = self.rx.receive(wanted)?;
        let received = packets.len();

        counts.rx_calls += 1;
        if received == 0 {
            return Ok(0);
        }
        ring_put(&mut self.to_worker, packets);
        counts.rx += received as u64;
        counts.full_batches += u64::from(received == wanted);
        Ok(received)
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
        self.tx.take_sent();
        // What the device's ring cannot take waits in this one.
        let space = self.tx.space();
        let Some(packets) = ring_take(&mut self.to_sender, batch.min(space)) else {
            return Ok(0);
        };
        let sent = self.tx.send(packets)?;
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
                stream.rx.check(address, queue)?;
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
    /// If a doorbell is not mapped, or a packet of the queues' pools is in use elsewhere.
    pub fn give_pipeline(&mut self) -> Result<(Monitor<'_>, Pipeline<'_, 'p>)> {
        self.check_doorbells()?;
        let batch = self.batch();
        let [a, b] = &mut self.devices;
        let (monitor, addresses, queues) = split(a, b);
        let in_use = || {
            let message = "a packet of the queues' pools is in use elsewhere";
            Error::device(addresses[0], message)
        };
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
            let a_to_b = stream(rx_a, head_a, tx_b, batch).ok_or_else(in_use)?;
            let b_to_a = stream(rx_b, head_b, tx_a, batch).ok_or_else(in_use)?;
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

/// Makes the three parts of one direction of a queue. `None` if a packet of its pool is in use elsewhere.
fn stream<'f, 'p>(
    rx: &'f mut RxQueue<'p>,
    head: &'f Register,
    tx: &'f mut TxQueue<'p>,
    batch: usize,
) -> Option<(RxStream<'f, 'p>, WorkStream<'p>, TxStream<'f, 'p>)> {
    let tx = TxEnd::new(tx)?;
    let rx = RxEnd::new(rx, head, batch)?;
    // Room for all packets of the pool, so that no ring is ever full.
    let (to_worker, from_receiver) = RingBuffer::new(rx.capacity());
    let (to_sender, from_worker) = RingBuffer::new(rx.capacity());
    let work = WorkStream {
        to_worker: from_receiver,
        to_sender,
    };
    let tx = TxStream {
        tx,
        to_sender: from_worker,
    };
    Some((RxStream { rx, to_worker }, work, tx))
}
