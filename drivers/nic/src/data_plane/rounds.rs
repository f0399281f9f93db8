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

use crate::config::QUEUES;
use crate::config::{Cable, MmioMode, NicConfig, Traffic, VerifyMode};
use crate::device::card::{Device, Held};
use crate::device::packet::{Packet, Verdict, TAG_LEN};
use crate::device::queues::Queue;
use crate::device::registers as r;
use crate::device::rss::Hash;
use crate::device::rx::{Delivery, Dma};
use crate::device::shared::SharedDevice;
use crate::device::statistics::CRC_LEN;
use crate::device::tx::{Sorted, Wire};
use crate::memory::shared::SmallFrame;
use crate::traffic::frame::{crc32, Head, MAX_FRAME, MIN_FRAME};
use crate::traffic::generator::{Arrivals, Arriving, Generator};
use crate::traffic::latency::nanos;
use crate::traffic::verify::{Meter, Verifier};

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
/// Rounds without work after which a running data plane sleeps that has no traffic of its own to
/// make: who waits at the other end is a program that wants to run as well.
const CALM_ROUNDS: u32 = 32;
/// How long it sleeps then at most, if every tail that a driver writes is seen.
const CALM_SLEEP_TRAP: Duration = Duration::from_millis(1);
/// How long it sleeps then at most, if tails are written to shared memory.
const CALM_SLEEP_SHARED: Duration = Duration::from_micros(50);
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
    /// Whether a port was left to a thread that wanted it.
    pub(crate) skipped: bool,
    /// When the first of the interrupts is due that wait for their time.
    pub(crate) next_due: Option<Instant>,
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
    /// As soon as possible: there is no traffic of our own to keep up with.
    Calm,
}

/// What the data plane goes by.
#[derive(Clone, Copy, Debug)]
enum Clock {
    /// Always the same time.
    At(Duration),
    /// The time since then, by CLOCK_MONOTONIC: the time-stamp counter where the kernel trusts it,
    /// scaled by the kernel.
    Since(Instant),
}

impl Clock {
    #[inline(always)]
    fn now(self) -> Duration {
        match self {
            Clock::At(now) => now,
            Clock::Since(start) => start.elapsed(),
        }
    }
}

/// A port's share of the data plane: what only the thread that polls needs.
#[derive(Debug)]
struct PortPlane {
    shared: Arc<SharedDevice>,
    generator: Generator,
    /// Checks what this port sends; with the port that received it.
    verifier: Option<(usize, Verifier)>,
    /// That port, if latency is measured.
    measured: Option<Arc<SharedDevice>>,
    /// Where this port's cable leads.
    cable: Option<usize>,
    /// Whether light comes out of that cable.
    partner_lit: bool,
    /// Whether light goes into it.
    lit: bool,
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
    /// Whether any port's traffic is made here.
    busy: bool,
    calm_sleep: Duration,
    start: Instant,
    rounds: u32,
}

impl DataPlane {
    pub(crate) fn new(config: &NicConfig, ports: &[Arc<SharedDevice>]) -> Self {
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
                measured: port
                    .peer
                    .map(|peer| ports[peer].clone())
                    .filter(|source| source.is_measured()),
                cable: cable(index),
                partner_lit: true,
                lit: true,
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
        let busy = ports
            .iter()
            .any(|port| port.generator.traffic() != Traffic::Off);
        let calm_sleep = match config.mmio {
            MmioMode::Trap => CALM_SLEEP_TRAP,
            MmioMode::Shared => CALM_SLEEP_SHARED,
        };
        Self {
            ports,
            timed,
            busy,
            calm_sleep,
            start: Instant::now(),
            rounds: 0,
        }
    }

    /// One round over all ports, which does everything there is to do: every frame that drivers
    /// have handed over is sent; every frame that has come is received, if there are descriptors.
    pub fn poll(&mut self) -> Progress {
        let clock = self.clock();
        self.round(clock, Pace::Exact)
    }

    /// As [`DataPlane::poll`], at a time of the caller's choice: `now` counts from any moment, and
    /// is what `rate` traffic and latency go by. It must not go backwards.
    pub fn poll_at(&mut self, now: Duration) -> Progress {
        self.round(Clock::At(now), Pace::Exact)
    }

    /// One round as of a running data plane, at a time of the caller's choice.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn run_once_at(&mut self, now: Duration) -> Progress {
        self.round(Clock::At(now), Pace::Running)
    }

    /// Polls until `stop` is set. While no port is in use it mostly sleeps.
    pub fn run(&mut self, stop: &AtomicBool) {
        let mut idle_rounds = 0;
        while !stop.load(Ordering::Relaxed) {
            let clock = self.clock();
            let pace = if self.busy { Pace::Running } else { Pace::Calm };
            let progress = self.round(clock, pace);
            if !progress.is_idle() {
                idle_rounds = 0;
                continue;
            }
            idle_rounds += 1;
            if progress.skipped {
                // There may be something to do there that nobody will ring for any more.
                std::thread::yield_now();
            } else if !progress.active && idle_rounds > QUEUES as u32 {
                match self.ports.first() {
                    Some(port) => port.shared.alarm.sleep(IDLE_SLEEP),
                    None => return,
                }
            } else if pace == Pace::Calm && idle_rounds > CALM_ROUNDS {
                let due = progress.next_due;
                let wait = due.map(|due| due.saturating_duration_since(Instant::now()));
                if let Some(port) = self.ports.first() {
                    let longest = wait.map_or(self.calm_sleep, |wait| wait.min(self.calm_sleep));
                    port.shared.alarm.sleep(longest);
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

    fn clock(&self) -> Clock {
        if self.timed {
            Clock::Since(self.start)
        } else {
            Clock::At(Duration::ZERO)
        }
    }

    fn round(&mut self, clock: Clock, pace: Pace) -> Progress {
        let mut progress = Progress::default();
        for index in 0..self.ports.len() {
            let shared = self.ports[index].shared.clone();
            let mut device = match pace {
                Pace::Exact => shared.lock_after_others(),
                // The driver is waiting for an answer: the data plane can do without this port for
                // one round.
                Pace::Running | Pace::Calm => match shared.lock_unless_wanted() {
                    Some(device) => device,
                    None => {
                        progress.skipped = true;
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
                self.busy |= traffic != Traffic::Off;
            }
            if port.cable.is_some() {
                device.set_partner_lit(port.partner_lit);
                port.lit = device.lit();
            }
            port.poll(&mut device, clock, pace, &mut progress);
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
        if let Some(mut probe) = self.ports[reset].shared.probe() {
            probe.restart();
        }
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
        let lit = self.ports[index].lit;
        if let Some(other) = self.ports[index]
            .cable
            .and_then(|other| self.ports.get_mut(other))
        {
            other.partner_lit = lit;
        }
        if self.ports[index].outbox.is_empty() {
            return;
        }
        let mut frames = std::mem::take(&mut self.ports[index].outbox);
        if let Some(other) = self.ports[index]
            .cable
            .filter(|_| lit)
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
    meter: Option<Meter<'a>>,
    clock: Clock,
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
        self.look_at_clock();
        if self.keep {
            return self.send_small_slowly(frames);
        }
        let any_group = match &mut self.verifier {
            Some(verifier) => verifier.check_small(frames, &mut self.meter) > 0,
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
        self.look_at_clock();
        if let Some(verifier) = &mut self.verifier {
            verifier.check_frame(contents, &mut self.meter);
        }
        if self.keep {
            self.keep(contents);
        }
    }
}

impl Sent<'_> {
    /// Frames are fetched now.
    #[inline(always)]
    fn look_at_clock(&mut self) {
        if let Some(meter) = &mut self.meter {
            meter.now = self.clock.now();
        }
    }

    /// For wires with something else at their end than a verifier.
    fn send_small_slowly(&mut self, frames: &[Option<SmallFrame<'_>>]) -> Sorted {
        let mut sorted = Sorted::default();
        for frame in frames.iter().flatten() {
            let head = frame.read();
            sorted = sort(sorted, head);
            let bytes = head.to_bytes();
            if let Some(verifier) = &mut self.verifier {
                verifier.check_frame(&bytes, &mut self.meter);
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
    fn poll(&mut self, device: &mut Device, clock: Clock, pace: Pace, progress: &mut Progress) {
        match pace {
            Pace::Exact => device.observe_queues(),
            Pace::Running | Pace::Calm => {
                // Queue 0, which all drivers use, at once; the others in turn.
                device.observe_queue(0);
                self.look_at = (self.look_at + 1) % QUEUES;
                device.observe_queue(self.look_at);
            }
        }
        let delivered = device.counters.delivered;
        let transmitted = device.counters.transmitted;
        self.receive(device, clock, pace);
        self.transmit(device, clock, pace);
        device.withdraw_lost_memory();
        device.interrupts.poll(&device.registers);
        if device.device_faults().interrupt_storm {
            device.storm();
        }
        if device.interrupts.set_up() {
            let written_back = device.write_back_overdue();
            let signalled = device.interrupts.next_due(&device.registers);
            let dues = [progress.next_due, written_back, signalled];
            progress.next_due = dues.into_iter().flatten().min();
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
        if pace != Pace::Running || self.unpublished >= PUBLISH_ROUNDS {
            self.unpublished = 0;
            device.publish();
        }
    }

    // ---- Receiving ----

    fn receive(&mut self, device: &mut Device, clock: Clock, pace: Pace) {
        let now = clock.now();
        let how = match pace {
            _ if !device.running.rx => Arriving::Unheeded,
            Pace::Exact => Arriving::AtOnce,
            Pace::Running | Pace::Calm => Arriving::AtLineRate,
        };
        let arrivals = self.generator.newly_arrived(now, how);
        if !device.running.rx {
            let lost = device.injected.len() + self.inbox.len();
            device.counters.dropped_not_running += lost as u64 + arrivals.count;
            device.counters.generated += arrivals.count;
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
            Traffic::Rate { .. } if arrivals.count == 0 => {}
            Traffic::Rate { .. } => self.receive_arrived(device, arrivals, now),
            Traffic::Saturate => self.saturate(device, pace),
        }
    }

    /// Frames at a fixed rate, whether or not there are descriptors for them.
    fn receive_arrived(&mut self, device: &mut Device, arrivals: Arrivals, now: Duration) {
        let mut probe = self.shared.probe();
        if let Some(probe) = &mut probe {
            for nth in 0..arrivals.count {
                probe.arrived(arrivals.due(nth), nanos(now));
            }
        }
        // In one go, if they are all alike.
        let first = self.generator.next_sequence(0);
        let (received, dropped) = device.receive_small(&mut self.generator, arrivals.count);
        let together = received + dropped;
        self.arrivals += together;
        if let Some(probe) = &mut probe {
            for nth in 0..received {
                probe.given(0, first + nth, arrivals.due(nth));
            }
            for nth in received..together {
                probe.dropped(arrivals.due(nth));
            }
        }
        for nth in together..arrivals.count {
            let queue = self.generator.next_queue(self.arrivals);
            self.arrivals += 1;
            device.counters.generated += 1;
            let (len, _) = self.generator.build(queue, &mut self.scratch);
            let sequence = self.generator.next_sequence(queue);
            let accepted = device.arrive(&self.scratch[..len]);
            if accepted {
                self.generator.accept(queue);
                device.counters.delivered_generated += 1;
            }
            match &mut probe {
                Some(probe) if accepted => probe.given(queue, sequence, arrivals.due(nth)),
                Some(probe) => probe.dropped(arrivals.due(nth)),
                None => {}
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
            let patience = patience(rx.len());
            let Some(count) = due(available, patience, pace, &mut self.rx_waits[queue]) else {
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

    fn transmit(&mut self, device: &mut Device, clock: Clock, pace: Pace) {
        if !device.running.tx {
            return;
        }
        for queue in device.tx_on.queues() {
            let Queue::On(tx) = &device.tx[queue] else {
                continue;
            };
            let available = tx.available(device.registers.get(r::TDT(queue as u32)));
            // Waiting for more would be measured, too.
            let patience = match self.measured {
                Some(_) => 0,
                None => patience(tx.len()),
            };
            let Some(count) = due(available, patience, pace, &mut self.tx_waits[queue]) else {
                continue;
            };
            let mut probe = self.measured.as_ref().and_then(|source| source.probe());
            let meter = probe.as_mut().map(|probe| Meter {
                probe,
                now: Duration::ZERO,
            });
            let verifier = self.verifier.as_mut().map(|(_, verifier)| verifier);
            let outbox = self.cable.map(|_| &mut self.outbox);
            device.drain(queue, verifier, meter, clock, outbox, count);
        }
    }
}

/// For how many descriptors of a ring of `len` to wait.
#[inline(always)]
fn patience(len: u32) -> u32 {
    PATIENCE.min(len / 8)
}

/// How many of the available descriptors to work on now, if any.
#[inline(always)]
fn due(available: u32, patience: u32, pace: Pace, waits: &mut u8) -> Option<u32> {
    if available == 0 {
        return None;
    }
    if pace != Pace::Running {
        return Some(available);
    }
    if available < patience && *waits < PATIENT_ROUNDS {
        *waits += 1;
        return None;
    }
    *waits = 0;
    Some(available.min(ROUND))
}

impl Device {
    /// Receives generated frames of 60 bytes into `count` descriptors, which must be available.
    /// Returns how many there were room for.
    fn fill_small(&mut self, queue: usize, generator: &mut Generator, count: u32) -> u64 {
        let Queue::On(rx) = &mut self.rx[queue] else {
            return 0;
        };
        let mut dma = Dma {
            table: &self.dma,
            faults: &mut self.faults,
        };
        let faults = dma.faults.count();
        let done = u64::from(rx.fill_small(&mut dma, generator, count));
        self.counters.dma_faults += dma.faults.count() - faults;
        if done == 0 {
            return 0;
        }
        let wire_len = MIN_FRAME as u64 + CRC_LEN;
        self.batch.seen(done, done * wire_len);
        self.batch
            .received(done, wire_len, crate::device::filter::Kind::Unicast);
        self.batch.delivered(queue, done, done * wire_len);
        self.counters.generated += done;
        self.counters.delivered += done;
        self.counters.delivered_bytes += done * wire_len;
        self.counters.delivered_generated += done;
        self.interrupts.queue_cause(&self.registers, queue, false);
        done
    }

    /// Receives `count` frames that arrive into queue 0, if they are all small: as many as there are
    /// descriptors for, and drops the others, if the driver wants that. Returns how many of each.
    fn receive_small(&mut self, generator: &mut Generator, count: u64) -> (u64, u64) {
        let Queue::On(rx) = &self.rx[0] else {
            return (0, 0);
        };
        let running = &self.running;
        let alike = generator.small_only().is_some()
            && rx.takes_small()
            && running.strip_crc
            && running.accepts_generated
            && running.rss.is_none()
            && self.held.is_empty();
        if !alike {
            return (0, 0);
        }
        let available = rx.available(self.registers.get(r::RDT(0)));
        let received = match count.min(u64::from(available)) as u32 {
            0 => 0,
            count => self.fill_small(0, generator, count),
        };
        let drop_enabled = self.registers.get(r::SRRCTL(0)) & r::SRRCTL_DROP_EN != 0;
        if received == count || !drop_enabled {
            return (received, 0);
        }
        let dropped = count - received;
        let wire_len = MIN_FRAME as u64 + CRC_LEN;
        self.batch.seen(dropped, dropped * wire_len);
        self.batch
            .received(dropped, wire_len, crate::device::filter::Kind::Unicast);
        self.batch.dropped(0, dropped);
        self.counters.generated += dropped;
        self.counters.dropped_no_descriptor += dropped;
        (received, dropped)
    }

    /// Takes a generated frame, for a queue that is known, unless there are too few descriptors.
    fn offer(&mut self, queue: usize, frame: &[u8], hash: Hash) -> bool {
        if !self.place(queue, frame, hash, &Verdict::GENERATED) {
            return false;
        }
        let wire_len = frame.len() as u64 + CRC_LEN;
        self.batch.seen(1, wire_len);
        self.batch
            .received(1, wire_len, crate::device::filter::Kind::Unicast);
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
        let packet = Packet::of(frame, self.running.filter.vlan_type());
        // A VLAN tag may come on top.
        let tag_len = packet.vlan.map_or(0, |_| TAG_LEN);
        if wire_len > (self.running.max_frame + tag_len) as u64 {
            self.batch.oversize();
            self.counters.dropped_filtered += 1;
            return false;
        }
        let kind = self.running.filter.accepts(*destination);
        let kind = kind.filter(|_| self.running.filter.accepts_tag(packet.vlan));
        let Some(kind) = kind else {
            self.counters.dropped_filtered += 1;
            return false;
        };
        self.batch.received(1, wire_len, kind);
        let (queue, hash) = match &self.running.rss {
            Some(rss) => rss.queue_of(frame, &packet),
            None => (0, Hash::default()),
        };
        let verdict = Verdict::of(frame, &packet);
        if self.held.is_empty() && self.place(queue, frame, hash, &verdict) {
            return true;
        }
        self.keep_or_drop(queue, frame, hash, verdict)
    }

    /// A frame for which there is no descriptor.
    fn keep_or_drop(&mut self, queue: usize, frame: &[u8], hash: Hash, verdict: Verdict) -> bool {
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
            verdict,
        });
        true
    }

    /// Hands out the frames that wait in the packet buffer, in order, as far as there are
    /// descriptors now.
    fn deliver_held(&mut self) {
        while let Some(held) = self.held.pop_front() {
            if self.place(held.queue, &held.frame, held.hash, &held.verdict) {
                self.held_bytes -= held.frame.len();
            } else {
                self.held.push_front(held);
                return;
            }
        }
    }

    /// Puts a frame into a queue's buffers, if it has enough.
    fn place(&mut self, queue: usize, frame: &[u8], hash: Hash, verdict: &Verdict) -> bool {
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
            rx.deliver(&mut dma, frame, hash, verdict, available)
        } else {
            let with_crc = [frame, &crc32(frame).to_le_bytes()].concat();
            rx.deliver(&mut dma, &with_crc, hash, verdict, available)
        };
        self.counters.dma_faults += dma.faults.count() - faults;
        if delivery != Delivery::Done {
            return false;
        }
        let wire_len = frame.len() as u64 + CRC_LEN;
        self.batch.delivered(queue, 1, wire_len);
        self.counters.delivered += 1;
        self.counters.delivered_bytes += wire_len;
        self.interrupts.queue_cause(&self.registers, queue, false);
        true
    }

    /// Sends what `count` descriptors describe, which must be available.
    fn drain(
        &mut self,
        queue: usize,
        verifier: Option<&mut Verifier>,
        meter: Option<Meter<'_>>,
        clock: Clock,
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
            meter,
            clock,
            captured,
            outbox,
            keep,
            frames: 0,
        };
        let bytes = self.batch.sent_bytes();
        let progress = tx.drain(
            &mut dma,
            &self.running.sending,
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
        if let Some(complaint) = progress.complaint {
            self.note(format!(
                "transmit queue {queue}: a frame was not sent: {complaint}"
            ));
        }
    }

    /// Writes back the transmit descriptors that wait for more to come, of queues whose vector may
    /// be signalled now: the end of its throttle is the end of their wait. Returns when the next
    /// such end is.
    fn write_back_overdue(&mut self) -> Option<Instant> {
        let mut next = None;
        for queue in self.tx_on.queues() {
            let Queue::On(tx) = &mut self.tx[queue] else {
                continue;
            };
            if !tx.has_unwritten() {
                continue;
            }
            match self.interrupts.throttle_of(&self.registers, queue) {
                None => {}
                Some(Some(end)) if Instant::now() < end => {
                    next = Some(next.map_or(end, |next: Instant| next.min(end)));
                }
                Some(_) => {
                    let mut dma = Dma {
                        table: &self.dma,
                        faults: &mut self.faults,
                    };
                    tx.flush(&mut dma);
                    self.interrupts.queue_cause(&self.registers, queue, true);
                }
            }
        }
        next
    }
}
