//! The data plane: moves frames between wires and rings, for all ports.
//!
//! [`DataPlane::poll`] does one round, in the caller's thread; [`DataPlane::run`] does rounds until
//! told to stop. Both are the same code. The difference is in pace: a round by hand does everything
//! there is to do, so that a test knows where it stands; a running data plane waits until a few
//! descriptors have come together, because a cache line that two processors write in turns is what
//! limits the rate.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::{Cable, NicConfig, Traffic, VerifyMode};
use crate::device::{Device, Held, Queue};
use crate::frame::{crc32, Head, MAX_FRAME, MIN_FRAME};
use crate::memory::SmallFrame;
use crate::port::PortShared;
use crate::registers as r;
use crate::rss::Hash;
use crate::rx::{Delivery, Dma};
use crate::statistics::CRC_LEN;
use crate::traffic::Generator;
use crate::tx::{Sorted, Wire};
use crate::verify::Verifier;
use crate::QUEUES;

/// Most descriptors of one queue in one round of a running data plane; then the other queues get
/// their turn.
const ROUND: u32 = 256;
/// A running data plane waits for this many descriptors ...
const PATIENCE: u32 = 32;
/// ... but not for more rounds than this.
const PATIENT_ROUNDS: u8 = 32;
/// A running data plane tells heads and statistics to the registers after this many rounds with
/// work, or after one without. They lie next to the tails, in cache lines that the driver needs.
const PUBLISH_ROUNDS: u32 = 256;
/// Pauses after a round without work: a driver on the other half of the same core needs the time
/// more.
const PAUSES: u32 = 4;
/// Rounds without work after which a running data plane lets others use the processor.
const IDLE_ROUNDS: u32 = 2000;
/// How long it sleeps at most when no port is in use. A driver's write to any register that is not
/// shared wakes it.
const IDLE_SLEEP: Duration = Duration::from_millis(1);
/// Most frames on a cable. A port takes all it gets in every round, so this is never reached but by
/// a stopped port.
const CABLE_FRAMES: usize = 65_536;

/// What one round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Frames that got into drivers' memory.
    pub received: u64,
    /// Frames that drivers sent.
    pub transmitted: u64,
    /// Whether any port is set to receive or send, work or not.
    pub active: bool,
}

impl Progress {
    /// Whether there was nothing to do.
    pub fn is_idle(&self) -> bool {
        self.received + self.transmitted == 0
    }
}

/// How thorough a round is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// Everything, now.
    Exact,
    /// As fast as possible in the long run.
    Running,
}

/// A port's share of the data plane: what only the thread that polls needs.
#[derive(Debug)]
struct PortPlane {
    shared: Arc<PortShared>,
    generator: Generator,
    /// Checks what this port sends; with the port that received it.
    verifier: Option<(usize, Verifier)>,
    /// Where this port's cable leads.
    cable: Option<usize>,
    /// Frames that have come over the cable.
    inbox: VecDeque<Vec<u8>>,
    /// Frames that are to go over the cable.
    outbox: Vec<Vec<u8>>,
    /// Rounds in which a queue's descriptors were left waiting.
    rx_waits: [u8; QUEUES],
    tx_waits: [u8; QUEUES],
    /// Rounds whose effects the registers do not show yet.
    unpublished: u32,
    /// The queue whose enable bits are looked at next, if not all are.
    look_at: usize,
    generation: u64,
    rss_generation: u64,
    scratch: Box<[u8; MAX_FRAME]>,
    /// Frames at a fixed rate that have arrived in all.
    arrivals: u64,
}

/// The data plane of a NIC. There is one; see [`Nic::data_plane`](crate::Nic::data_plane).
#[derive(Debug)]
pub struct DataPlane {
    ports: Vec<PortPlane>,
    /// Whether any port's traffic depends on the time.
    timed: bool,
    start: Instant,
    rounds: u32,
}

impl DataPlane {
    pub(crate) fn new(config: &NicConfig, ports: &[Arc<PortShared>]) -> Self {
        let cable = |port: usize| {
            config.cables.iter().find_map(|Cable { a, b }| match port {
                _ if port == *a => Some(*b),
                _ if port == *b => Some(*a),
                _ => None,
            })
        };
        let planes = config
            .ports
            .iter()
            .zip(ports)
            .enumerate()
            .map(|(index, (port, shared))| PortPlane {
                shared: shared.clone(),
                generator: Generator::new(index, port.traffic, &port.sizes, port.flows),
                verifier: port
                    .peer
                    .filter(|_| {
                        port.verify != VerifyMode::Off && !port.capture && cable(index).is_none()
                    })
                    .map(|peer| {
                        (
                            peer,
                            Verifier::new(
                                peer,
                                config.ports[peer].flows,
                                port.verify,
                                port.expected,
                            ),
                        )
                    }),
                cable: cable(index),
                inbox: VecDeque::new(),
                outbox: Vec::new(),
                rx_waits: [0; QUEUES],
                tx_waits: [0; QUEUES],
                unpublished: 0,
                look_at: 0,
                generation: 0,
                rss_generation: 0,
                scratch: Box::new([0; MAX_FRAME]),
                arrivals: 0,
            });
        let ports: Vec<_> = planes.collect();
        let timed = ports
            .iter()
            .any(|port| matches!(port.generator.traffic(), Traffic::Rate { .. }));
        Self {
            ports,
            timed,
            start: Instant::now(),
            rounds: 0,
        }
    }

    /// One round over all ports, which does everything there is to do: every frame that drivers
    /// have handed over is sent; every frame that has come is received, if there are descriptors.
    pub fn poll(&mut self) -> Progress {
        let now = self.now();
        self.round(now, Pace::Exact)
    }

    /// As [`DataPlane::poll`], at a time of the caller's choice: `now` counts from any moment, and
    /// is what `rate` traffic goes by.
    pub fn poll_at(&mut self, now: Duration) -> Progress {
        self.round(now, Pace::Exact)
    }

    /// Polls until `stop` is set. While no port is in use it mostly sleeps.
    pub fn run(&mut self, stop: &AtomicBool) {
        let mut idle_rounds = 0;
        while !stop.load(Ordering::Relaxed) {
            let now = self.now();
            let progress = self.round(now, Pace::Running);
            if !progress.is_idle() {
                idle_rounds = 0;
                continue;
            }
            idle_rounds += 1;
            if !progress.active && idle_rounds > QUEUES as u32 {
                match self.ports.first() {
                    Some(port) => port.shared.alarm.sleep(IDLE_SLEEP),
                    None => return,
                }
            } else if idle_rounds > IDLE_ROUNDS {
                idle_rounds = 0;
                std::thread::yield_now();
            } else {
                (0..PAUSES).for_each(|_| std::hint::spin_loop());
            }
        }
        for port in &self.ports {
            port.shared.lock().publish();
        }
        self.update_outstanding();
    }

    fn now(&self) -> Duration {
        if self.timed {
            self.start.elapsed()
        } else {
            Duration::ZERO
        }
    }

    fn round(&mut self, now: Duration, pace: Pace) -> Progress {
        let mut progress = Progress::default();
        for index in 0..self.ports.len() {
            let shared = self.ports[index].shared.clone();
            let mut device = match pace {
                Pace::Exact => shared.lock_after_others(),
                // The driver is waiting for an answer: the data plane can do without this port for
                // one round.
                Pace::Running => match shared.lock_if_nobody_waits() {
                    Some(device) => device,
                    None => {
                        progress.active = true;
                        continue;
                    }
                },
            };
            // Before anything new comes: what was under way is lost, what comes now is not.
            if self.ports[index].generation != device.generation {
                self.ports[index].generation = device.generation;
                self.give_up(index);
            }
            let port = &mut self.ports[index];
            if port.rss_generation != device.rss_generation {
                port.rss_generation = device.rss_generation;
                port.generator.assign_flows(device.running.rss.as_ref());
            }
            if let Some(traffic) = device.new_traffic.take() {
                port.generator.set_traffic(traffic);
                self.timed |= matches!(traffic, Traffic::Rate { .. });
            }
            port.poll(&mut device, now, pace, &mut progress);
            drop(device);
            self.carry(index);
        }
        // Nobody minds if this lags behind in a running data plane, which has better things to do.
        self.rounds = self.rounds.wrapping_add(1);
        if pace == Pace::Exact || self.rounds % 4096 == 0 {
            self.update_outstanding();
        }
        progress
    }

    /// The frames that a reset port had received need not come back: the driver has lost them.
    fn give_up(&mut self, reset: usize) {
        let next = self.ports[reset].generator.next_sequences();
        for port in &mut self.ports {
            if let Some((source, verifier)) = &mut port.verifier {
                if *source == reset {
                    verifier.give_up(&next);
                }
            }
        }
    }

    /// Tells how many frames are on their way from each port's peer to it.
    fn update_outstanding(&self) {
        for port in &self.ports {
            let Some((source, verifier)) = &port.verifier else {
                continue;
            };
            if let Some(source) = self.ports.get(*source) {
                let outstanding = verifier.outstanding(&source.generator.next_sequences());
                port.shared
                    .outstanding
                    .store(outstanding, Ordering::Relaxed);
            }
        }
    }

    /// Takes what a port sent over its cable to the other end.
    fn carry(&mut self, index: usize) {
        if self.ports[index].outbox.is_empty() {
            return;
        }
        let mut frames = std::mem::take(&mut self.ports[index].outbox);
        if let Some(other) = self.ports[index]
            .cable
            .and_then(|other| self.ports.get_mut(other))
        {
            let room = CABLE_FRAMES.saturating_sub(other.inbox.len());
            other.inbox.extend(frames.drain(..).take(room));
        }
        frames.clear();
        self.ports[index].outbox = frames;
    }
}

/// Where a port's frames go when they are sent.
struct Sent<'a> {
    verifier: Option<&'a mut Verifier>,
    captured: Option<&'a mut Vec<Vec<u8>>>,
    outbox: Option<&'a mut Vec<Vec<u8>>>,
    /// Whether there is anything but the verifier.
    keep: bool,
    frames: u64,
}

impl Wire for Sent<'_> {
    #[inline(always)]
    fn send_small(&mut self, frames: &[Option<SmallFrame<'_>>]) -> Sorted {
        self.frames += frames.len() as u64;
        if self.keep {
            return self.send_small_slowly(frames);
        }
        let any_group = match &mut self.verifier {
            Some(verifier) => verifier.check_small(frames) > 0,
            None => frames.iter().flatten().any(SmallFrame::is_to_group),
        };
        if any_group {
            let heads = frames.iter().flatten().map(SmallFrame::read);
            heads.fold(Sorted::default(), sort)
        } else {
            Sorted {
                unicast: frames.len() as u64,
                ..Sorted::default()
            }
        }
    }

    fn send(&mut self, frame: &[u8], own_crc: bool) {
        // On the wire a frame has a CRC, be it from the device or from the driver.
        let len = if own_crc {
            frame.len().saturating_sub(CRC_LEN as usize)
        } else {
            frame.len()
        };
        let (contents, crc) = frame.split_at(len);
        self.frames += 1;
        if own_crc && crc != crc32(contents).to_le_bytes() {
            // The other end of the wire drops it.
            return;
        }
        if let Some(verifier) = &mut self.verifier {
            verifier.check_frame(contents);
        }
        if self.keep {
            self.keep(contents);
        }
    }
}

impl Sent<'_> {
    /// For wires with something else at their end than a verifier.
    fn send_small_slowly(&mut self, frames: &[Option<SmallFrame<'_>>]) -> Sorted {
        let mut sorted = Sorted::default();
        for frame in frames.iter().flatten() {
            let head = frame.read();
            sorted = sort(sorted, head);
            let bytes = head.to_bytes();
            if let Some(verifier) = &mut self.verifier {
                verifier.check_frame(&bytes);
            }
            if self.keep {
                self.keep(&bytes);
            }
        }
        sorted
    }

    fn keep(&mut self, frame: &[u8]) {
        if let Some(captured) = &mut self.captured {
            captured.push(frame.to_vec());
        }
        if let Some(outbox) = &mut self.outbox {
            outbox.push(frame.to_vec());
        }
    }
}

/// Counts one more frame by its destination.
fn sort(mut sorted: Sorted, head: Head) -> Sorted {
    let kind = match (head.is_to_group(), head.is_to_all()) {
        (false, _) => &mut sorted.unicast,
        (true, false) => &mut sorted.multicast,
        (true, true) => &mut sorted.broadcast,
    };
    *kind += 1;
    sorted
}

impl PortPlane {
    fn poll(&mut self, device: &mut Device, now: Duration, pace: Pace, progress: &mut Progress) {
        match pace {
            Pace::Exact => device.observe_queues(),
            Pace::Running => {
                // Queue 0, which all drivers use, at once; the others in turn.
                device.observe_queue(0);
                self.look_at = (self.look_at + 1) % QUEUES;
                device.observe_queue(self.look_at);
            }
        }
        let delivered = device.counters.delivered;
        let transmitted = device.counters.transmitted;
        self.receive(device, now, pace);
        self.transmit(device, pace);
        device.interrupts.poll(&device.registers);
        if device.device_faults().interrupt_storm {
            device.storm();
        }
        let received = device.counters.delivered - delivered;
        let sent = device.counters.transmitted - transmitted;
        progress.received += received;
        progress.transmitted += sent;
        progress.active |= device.running.rx || device.running.tx;
        if let Some((_, verifier)) = &self.verifier {
            device.counters.verify = verifier.counts();
        }
        self.unpublished = if received + sent > 0 {
            self.unpublished + 1
        } else {
            PUBLISH_ROUNDS
        };
        if pace == Pace::Exact || self.unpublished >= PUBLISH_ROUNDS {
            self.unpublished = 0;
            device.publish();
        }
    }

    // ---- Receiving ----

    fn receive(&mut self, device: &mut Device, now: Duration, pace: Pace) {
        let arrived = self.generator.newly_arrived(now);
        if !device.running.rx {
            let lost = device.injected.len() + self.inbox.len();
            device.counters.dropped_not_running += lost as u64 + arrived;
            device.counters.generated += arrived;
            device.injected.clear();
            self.inbox.clear();
            return;
        }
        device.deliver_held();
        while let Some(frame) = device.injected.pop_front() {
            device.arrive(&frame);
        }
        while let Some(frame) = self.inbox.pop_front() {
            device.arrive(&frame);
        }
        match self.generator.traffic() {
            Traffic::Off => {}
            Traffic::Rate { .. } => self.receive_arrived(device, arrived),
            Traffic::Saturate => self.saturate(device, pace),
        }
    }

    /// Frames at a fixed rate, whether or not there are descriptors for them.
    fn receive_arrived(&mut self, device: &mut Device, arrived: u64) {
        for _ in 0..arrived {
            let queue = self.generator.next_queue(self.arrivals);
            self.arrivals += 1;
            device.counters.generated += 1;
            let (len, _) = self.generator.build(queue, &mut self.scratch);
            if device.arrive(&self.scratch[..len]) {
                self.generator.accept(queue);
                device.counters.delivered_generated += 1;
            }
        }
    }

    /// A frame for every descriptor there is.
    fn saturate(&mut self, device: &mut Device, pace: Pace) {
        if !device.running.accepts_generated || !device.held.is_empty() {
            return;
        }
        for queue in device.rx_on.queues() {
            let Queue::On(rx) = &device.rx[queue] else {
                continue;
            };
            if !self.generator.feeds(queue) {
                continue;
            }
            let available = rx.available(device.registers.get(r::RDT(queue as u32)));
            let Some(count) = due(available, rx.len(), pace, &mut self.rx_waits[queue]) else {
                continue;
            };
            if self.generator.small_only().is_some() && rx.takes_small() && device.running.strip_crc
            {
                device.fill_small(queue, &mut self.generator, count);
            } else {
                self.fill(device, queue, count);
            }
        }
    }

    /// Frames of any length, one by one, as long as there are descriptors.
    fn fill(&mut self, device: &mut Device, queue: usize, count: u32) {
        for _ in 0..count {
            let (len, hash) = self.generator.build(queue, &mut self.scratch);
            if !device.offer(queue, &self.scratch[..len], hash) {
                return;
            }
            self.generator.accept(queue);
            device.counters.generated += 1;
            device.counters.delivered_generated += 1;
        }
    }

    // ---- Sending ----

    fn transmit(&mut self, device: &mut Device, pace: Pace) {
        if !device.running.tx {
            return;
        }
        for queue in device.tx_on.queues() {
            let Queue::On(tx) = &device.tx[queue] else {
                continue;
            };
            let available = tx.available(device.registers.get(r::TDT(queue as u32)));
            let Some(count) = due(available, tx.len(), pace, &mut self.tx_waits[queue]) else {
                continue;
            };
            let verifier = self.verifier.as_mut().map(|(_, verifier)| verifier);
            let outbox = self.cable.map(|_| &mut self.outbox);
            device.drain(queue, verifier, outbox, count);
        }
    }
}

/// How many of the available descriptors to work on now, if any.
#[inline(always)]
fn due(available: u32, ring: u32, pace: Pace, waits: &mut u8) -> Option<u32> {
    if available == 0 {
        return None;
    }
    if pace == Pace::Exact {
        return Some(available);
    }
    if available < PATIENCE.min(ring / 8) && *waits < PATIENT_ROUNDS {
        *waits += 1;
        return None;
    }
    *waits = 0;
    Some(available.min(ROUND))
}

impl Device {
    /// Receives generated frames of 60 bytes into `count` descriptors, which must be available.
    fn fill_small(&mut self, queue: usize, generator: &mut Generator, count: u32) {
        let Queue::On(rx) = &mut self.rx[queue] else {
            return;
        };
        let mut dma = Dma {
            table: &self.dma,
            faults: &mut self.faults,
        };
        let faults = dma.faults.count();
        let done = u64::from(rx.fill_small(&mut dma, generator, count));
        self.counters.dma_faults += dma.faults.count() - faults;
        if done == 0 {
            return;
        }
        let wire_len = MIN_FRAME as u64 + CRC_LEN;
        self.batch.seen(done, done * wire_len);
        self.batch
            .received(done, wire_len, crate::filter::Kind::Unicast);
        self.batch.delivered(queue, done, done * wire_len);
        self.counters.generated += done;
        self.counters.delivered += done;
        self.counters.delivered_generated += done;
        self.interrupts.queue_cause(&self.registers, queue, false);
    }

    /// Takes a generated frame, for a queue that is known, unless there are too few descriptors.
    fn offer(&mut self, queue: usize, frame: &[u8], hash: Hash) -> bool {
        if !self.place(queue, frame, hash) {
            return false;
        }
        let wire_len = frame.len() as u64 + CRC_LEN;
        self.batch.seen(1, wire_len);
        self.batch
            .received(1, wire_len, crate::filter::Kind::Unicast);
        true
    }

    /// Takes a frame from the wire: for this port or not, room for it or not. Whether it has got,
    /// or will get, to the driver.
    fn arrive(&mut self, frame: &[u8]) -> bool {
        let wire_len = frame.len() as u64 + CRC_LEN;
        self.batch.seen(1, wire_len);
        let Some(destination) = frame
            .first_chunk::<6>()
            .filter(|_| frame.len() >= MIN_FRAME)
        else {
            self.batch.undersize();
            self.counters.dropped_filtered += 1;
            return false;
        };
        if wire_len > self.running.max_frame as u64 {
            self.batch.oversize();
            self.counters.dropped_filtered += 1;
            return false;
        }
        let Some(kind) = self.running.filter.accepts(*destination) else {
            self.counters.dropped_filtered += 1;
            return false;
        };
        self.batch.received(1, wire_len, kind);
        let (queue, hash) = match &self.running.rss {
            Some(rss) => rss.queue(frame),
            None => (0, Hash::default()),
        };
        if self.held.is_empty() && self.place(queue, frame, hash) {
            return true;
        }
        self.keep_or_drop(queue, frame, hash)
    }

    /// A frame for which there is no descriptor.
    fn keep_or_drop(&mut self, queue: usize, frame: &[u8], hash: Hash) -> bool {
        let enabled = matches!(self.rx[queue], Queue::On(_));
        let drop_enabled = self.registers.get(r::SRRCTL(queue as u32)) & r::SRRCTL_DROP_EN != 0;
        if !enabled || drop_enabled && self.held.is_empty() {
            self.batch.dropped(queue, 1);
            self.counters.dropped_no_descriptor += 1;
            return false;
        }
        if self.held_bytes + frame.len() > self.running.buffer_bytes {
            self.batch.missed(1);
            self.counters.dropped_no_buffer += 1;
            return false;
        }
        self.held_bytes += frame.len();
        self.held.push_back(Held {
            frame: frame.to_vec(),
            queue,
            hash,
        });
        true
    }

    /// Hands out the frames that wait in the packet buffer, in order, as far as there are
    /// descriptors now.
    fn deliver_held(&mut self) {
        while let Some(held) = self.held.pop_front() {
            if self.place(held.queue, &held.frame, held.hash) {
                self.held_bytes -= held.frame.len();
            } else {
                self.held.push_front(held);
                return;
            }
        }
    }

    /// Puts a frame into a queue's buffers, if it has enough.
    fn place(&mut self, queue: usize, frame: &[u8], hash: Hash) -> bool {
        let ignore_tail = self.device_faults().ignore_tail;
        let Queue::On(rx) = &mut self.rx[queue] else {
            return false;
        };
        let available = if ignore_tail {
            rx.len()
        } else {
            rx.available(self.registers.get(r::RDT(queue as u32)))
        };
        let mut dma = Dma {
            table: &self.dma,
            faults: &mut self.faults,
        };
        let faults = dma.faults.count();
        let delivery = if self.running.strip_crc {
            rx.deliver(&mut dma, frame, hash, available)
        } else {
            let with_crc = [frame, &crc32(frame).to_le_bytes()].concat();
            rx.deliver(&mut dma, &with_crc, hash, available)
        };
        self.counters.dma_faults += dma.faults.count() - faults;
        if delivery != Delivery::Done {
            return false;
        }
        self.batch.delivered(queue, 1, frame.len() as u64 + CRC_LEN);
        self.counters.delivered += 1;
        self.interrupts.queue_cause(&self.registers, queue, false);
        true
    }

    /// Sends what `count` descriptors describe, which must be available.
    fn drain(
        &mut self,
        queue: usize,
        verifier: Option<&mut Verifier>,
        outbox: Option<&mut Vec<Vec<u8>>>,
        count: u32,
    ) {
        let Queue::On(tx) = &mut self.tx[queue] else {
            return;
        };
        let mut dma = Dma {
            table: &self.dma,
            faults: &mut self.faults,
        };
        let faults = dma.faults.count();
        let captured = self.captured.as_mut();
        let keep = captured.is_some() || outbox.is_some();
        let mut sent = Sent {
            verifier,
            captured,
            outbox,
            keep,
            frames: 0,
        };
        let bytes = self.batch.sent_bytes();
        let progress = tx.drain(
            &mut dma,
            self.running.mac,
            &mut sent,
            &mut self.batch,
            count,
        );
        self.counters.dma_faults += dma.faults.count() - faults;
        self.counters.transmitted += sent.frames;
        self.counters.transmitted_bytes += self.batch.sent_bytes() - bytes;
        if progress.written_back {
            self.interrupts.queue_cause(&self.registers, queue, true);
        }
    }
}
