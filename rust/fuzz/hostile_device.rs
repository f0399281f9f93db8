//! A hostile device. The input is a program: it decides what the device writes into rings, buffers
//! and registers, and when the application calls the driver. After each step, the test counts the
//! packets and compares the effect of a call with a model of it: none is lost, doubled or late.
//!
//! This file is a module of the driver, because it reads the private state of the queues. Only tests and
//! fuzzing compile it. The inputs are random, those in `corpus/`, and those that `make test ONLY=fuzz` finds.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)] // for tests

use std::rc::Rc;
use std::time::Duration;

use fuzz_input::Input;

use crate::clock::Instant;
use crate::driver::descriptor::Descriptor;
use crate::driver::device::{Config, Device, Stats};
use crate::driver::device_ids::Family;
use crate::driver::mempool::{Mempool, Packet, MAX_SIZE};
use crate::driver::register_access::{Registers, Tail};
use crate::driver::registers::{
    field64_get, RXD_DD, RXD_EOP, RXD_LENGTH, TXD_DD, TXD_DTALEN, TXD_EOP, TXD_PAYLEN,
};
use crate::driver::reset::set_bus_master;
use crate::sys::dma::Ring;
use crate::test_queues::{pool, FakeTail, Queues, RING_SIZE};
use crate::vfio::fake::Answers;
use crate::vfio::{Container, VfioDevice};

const MASK: usize = RING_SIZE - 1;

/// The limit of the answers to one call. A call that polls a register sleeps between reads.
const MAX_ANSWERS: usize = 24;

/// The limit of the answers to a starting driver: enough for the longest wait, that for the link, to time out.
const MAX_START_ANSWERS: usize = if cfg!(miri) { 1500 } else { 10_000 };

/// The limits of starting and stopping, by the clock of the waits. Most of it is the wait for the link.
const LONGEST_START: Duration = Duration::from_secs(20);
const LONGEST_STOP: Duration = Duration::from_secs(10);

/// A call byte of at least this value restarts the driver.
const RESTART: u8 = 0xe0;

/// The bytes at each end of a packet that carry its mark.
const MARKED: usize = 8;

/// A number below `end`, or 0.
fn below(input: &mut Input<'_>, end: usize) -> usize {
    usize::from(input.u16()) % end.max(1)
}

/// A packet that the application holds, and the mark that it wrote into the packet.
struct Held<'p> {
    packet: Packet<'p>,
    mark: u8,
}

impl<'p> Held<'p> {
    fn new(packet: Packet<'p>, mark: u8) -> Self {
        let mut held = Self { packet, mark };
        held.write(mark);
        held
    }

    /// Marks both ends of the packet.
    fn write(&mut self, mark: u8) {
        self.mark = mark;
        let marks = &[mark; MARKED][..MARKED.min(self.packet.size())];
        for offset in [0, self.packet.size() - marks.len()] {
            assert!(self.packet.write_at(offset, marks));
        }
    }

    fn is_untouched(&self) -> bool {
        let marked = &mut [0; MARKED][..MARKED.min(self.packet.size())];
        let mut ends = [0, self.packet.size() - marked.len()].into_iter();
        ends.all(|offset| {
            assert!(self.packet.read_at(offset, marked));
            marked.iter().all(|byte| *byte == self.mark)
        })
    }
}

/// The expected effect of a call of `rx_batch`.
#[derive(Debug, PartialEq, Eq)]
struct Received {
    /// In the order of the ring.
    packets: Vec<(u64, usize)>,
    discarded: u64,
    pool_empty: u64,
    discarding: bool,
    index: usize,
}

struct Lab<'p> {
    device: Device<'p>,
    answers: Rc<Answers>,
    tails: [FakeTail; 2],
    pool: &'p Mempool,
    held: Vec<Held<'p>>,
    /// The next descriptors of an honest device.
    next_rx: usize,
    next_tx: usize,
    mark: u8,
    last: Stats,
}

/// The address and the length of each packet.
fn places(packets: &[Packet<'_>]) -> Vec<(u64, usize)> {
    packets.iter().map(|p| (p.iova(), p.size())).collect()
}

fn descriptors_of<T>(ring: &mut Ring<T>) -> Vec<Descriptor> {
    (0..RING_SIZE)
        .map(|i| ring.entry(i).descriptor.load())
        .collect()
}

impl<'p> Lab<'p> {
    fn new(pool: &'p Mempool, container: &Rc<Container>) -> Self {
        let queues = Queues::new(pool);
        let answers = Rc::new(Answers::default());
        let vfio = VfioDevice::fake(container, &answers);
        Self {
            device: Device {
                registers: Registers { vfio },
                family: Family::Intel82599,
                config: Config {
                    rx_ring_size: RING_SIZE as u32,
                    tx_ring_size: RING_SIZE as u32,
                    ..Config::default()
                },
                pools: std::slice::from_ref(pool),
                running: false,
                mac: [0; 6],
                stats: Stats::default(),
                queue_stats: Default::default(),
                interrupts: Default::default(),
                rx: vec![queues.rx],
                tx: vec![queues.tx],
            },
            answers,
            tails: [queues.rdt, queues.tdt],
            pool,
            held: Vec::new(),
            next_rx: 0,
            next_tx: 0,
            mark: 0,
            last: Stats::default(),
        }
    }

    fn hold(&mut self, packet: Packet<'p>) {
        self.mark = self.mark.wrapping_add(1);
        self.held.push(Held::new(packet, self.mark));
    }

    fn rx_write(&mut self, index: usize, descriptor: Descriptor) {
        let entry = self.device.rx[0].ring.entry(index);
        entry.descriptor.store(descriptor);
    }

    /// Writes back the next descriptor, as an honest device does.
    fn rx_write_next(&mut self, upper: u64) {
        self.rx_write(self.next_rx, Descriptor { lower: 0, upper });
        self.next_rx += 1;
    }

    fn tx_write(&mut self, index: usize, descriptor: Descriptor) {
        let entry = self.device.tx[0].ring.entry(index);
        entry.descriptor.store(descriptor);
    }

    fn rx_slots(&mut self) -> Vec<u64> {
        let ring = &mut self.device.rx[0].ring;
        (0..RING_SIZE).map(|i| ring.entry(i).slot.iova()).collect()
    }

    fn tx_slots(&mut self) -> Vec<Option<u64>> {
        let ring = &mut self.device.tx[0].ring;
        let slot = |i| ring.entry(i).slot.as_ref().map(|buffer| buffer.iova());
        (0..RING_SIZE).map(slot).collect()
    }

    /// The state after a call that received these packets.
    fn received(&self, packets: &[Packet<'p>]) -> Received {
        let rx = &self.device.rx[0];
        Received {
            packets: places(packets),
            discarded: rx.discard.discarded,
            pool_empty: rx.pool_empty,
            discarding: rx.discard.discarding,
            index: rx.index,
        }
    }

    /// The expected effect of a call for `count` packets, from the datasheet and the description of `rx_batch`.
    fn model_rx(&mut self, count: usize) -> Received {
        let slots = self.rx_slots();
        let descriptors = descriptors_of(&mut self.device.rx[0].ring);
        let mut status: Vec<_> = descriptors.iter().map(|d| d.upper).collect();
        let mut free = self.pool.free_count();
        let mut model = self.received(&[]);
        let mut room = count;
        loop {
            let now = status[model.index];
            // Each descriptor reads 0 after its use, so a ring without EOP ends the loop after one round.
            if room == 0 && !model.discarding || now & RXD_DD == 0 {
                break;
            }
            if !model.discarding && free == 0 {
                model.pool_empty += 1;
                break;
            }
            if model.discarding || now & RXD_EOP == 0 {
                if !model.discarding {
                    room -= 1;
                }
                model.discarding = now & RXD_EOP == 0;
                model.discarded += u64::from(!model.discarding);
            } else {
                let size = field64_get(RXD_LENGTH, now) as usize;
                if (1..=MAX_SIZE).contains(&size) {
                    model.packets.push((slots[model.index], size));
                    free -= 1;
                    room -= 1;
                } else {
                    model.discarded += 1;
                    room = 0;
                }
            }
            status[model.index] = 0;
            model.index = (model.index + 1) & MASK;
        }
        model
    }

    fn receive(&mut self, count: usize) {
        let model = self.model_rx(count);
        let before = self.device.rx[0].index;
        let descriptors = descriptors_of(&mut self.device.rx[0].ring);
        let all_done = descriptors.iter().all(|d| d.upper & RXD_DD != 0);
        let mut packets = Vec::new();
        let received = self.device.rx_batch(0, &mut packets, count).unwrap();
        assert_eq!(received, packets.len());
        let real = self.received(&packets);
        assert_eq!(real, model);

        // The driver refilled each consumed descriptor with the packet in its slot, and moved RDT.
        let mut consumed = real.index.wrapping_sub(before) & MASK;
        let (slots, descriptors) = (self.rx_slots(), descriptors_of(&mut self.device.rx[0].ring));
        if consumed == 0 && all_done && descriptors[before].upper == 0 {
            consumed = RING_SIZE;
        }
        for i in (before..before + consumed).map(|i| i & MASK) {
            assert_eq!((descriptors[i].lower, descriptors[i].upper), (slots[i], 0));
        }
        if consumed % RING_SIZE > 0 {
            let last = real.index.wrapping_sub(1) & MASK;
            assert_eq!(self.tails[0].get() as usize, last);
        }
        for packet in packets {
            self.hold(packet);
        }
    }

    fn send(&mut self, count: usize) {
        let descriptors = descriptors_of(&mut self.device.tx[0].ring);
        let tx = &self.device.tx[0];
        let (start, mut clean) = (tx.index, tx.clean_index);
        while start.wrapping_sub(clean) & MASK >= 32
            && descriptors[(clean + 31) & MASK].upper & TXD_DD != 0
        {
            clean = (clean + 32) & MASK;
        }
        let space = clean.wrapping_sub(start).wrapping_sub(1) & MASK;
        let count = count.min(self.held.len());
        let held = self
            .held
            .drain(..count)
            .map(|held| (held.packet, held.mark));
        let (mut packets, marks): (Vec<_>, Vec<_>) = held.unzip();
        let offered = places(&packets);
        let sent = self.device.tx_batch(0, &mut packets).unwrap();
        assert_eq!(sent, space.min(offered.len()));
        assert_eq!(places(&packets), offered[sent..]);

        let (slots, descriptors) = (self.tx_slots(), descriptors_of(&mut self.device.tx[0].ring));
        for (i, &(iova, size)) in offered[..sent].iter().enumerate() {
            let at = (start + i) & MASK;
            let Descriptor { lower, upper } = descriptors[at];
            assert_eq!((slots[at], lower), (Some(iova), iova));
            assert_eq!(field64_get(TXD_DTALEN, upper), size as u64);
            assert_eq!(field64_get(TXD_PAYLEN, upper), size as u64);
            assert_eq!(upper & (TXD_EOP | TXD_DD), TXD_EOP);
        }
        let tx = &self.device.tx[0];
        assert_eq!(tx.index, (start + sent) & MASK);
        assert_eq!(tx.clean_index, clean);
        if sent > 0 {
            assert_eq!(self.tails[1].get() as usize, tx.index);
        }
        let left = packets.into_iter().zip(marks.into_iter().skip(sent));
        let left = left.map(|(packet, mark)| Held { packet, mark });
        self.held.splice(0..0, left);
    }

    fn reclaim(&mut self) {
        let descriptors = descriptors_of(&mut self.device.tx[0].ring);
        let tx = &mut self.device.tx[0];
        let mut clean = tx.clean_index;
        while clean != tx.index && descriptors[clean].upper & TXD_DD != 0 {
            clean = (clean + 1) & MASK;
        }
        tx.tx_reclaim();
        assert_eq!(tx.clean_index, clean);
    }

    /// Calls that read registers. A lying device causes wrong results or errors, but nothing else.
    fn registers(&mut self, call: u8, answers: Vec<u32>) {
        self.device.registers.vfio.revive();
        self.answers.set(answers.iter().copied());
        match call % 6 {
            0 => {
                // STATUS comes last, behind three counters of the device and seven of the queue.
                let gone = answers.get(10).is_none_or(|&status| status == u32::MAX);
                match self.device.stats_read() {
                    Ok(stats) => {
                        assert!(!gone && stats.rx_packets >= self.last.rx_packets);
                        let bytes = stats.tx_bytes.checked_sub(self.last.tx_bytes);
                        assert!(bytes.is_some_and(|bytes| bytes < 1 << 36));
                    }
                    // A running device may also lie about its place in the ring.
                    Err(_) => assert!(gone || self.device.running),
                }
            }
            1 => {
                let _ = self.device.stats_clear();
            }
            2 => assert_eq!(self.device.mac_read().is_ok(), answers.len() >= 2),
            3 => {
                if let Ok(speed) = self.device.link_speed() {
                    assert!([0, 100, 1000, 10_000].contains(&speed));
                }
            }
            4 => {
                let _ = self.device.promiscuous_set(answers.len() % 2 == 0);
            }
            _ => self.stop(),
        }
        self.last = self.device.stats;
    }

    fn stop(&mut self) {
        let start = Instant::now();
        let _ = self.device.stop_queues();
        assert!(!self.device.running);
        assert!(Instant::now() <= start + LONGEST_STOP);
    }

    /// Stops the device, and turns its access to memory off, so that its packets return to the pool.
    fn end_access(&mut self) {
        if self.device.running {
            self.stop();
        }
        self.device.registers.vfio.revive();
        self.answers.set([0; 4]);
        assert!(set_bus_master(&self.device.registers, false).is_ok());
    }

    /// Restarts the device. If it does not start, it gets queues all the same.
    fn restart(&mut self, answers: impl Iterator<Item = u32>) {
        self.device.registers.vfio.revive();
        self.answers.set(answers);
        if self.device.running {
            self.stop();
        }
        self.device.rx.clear();
        self.device.tx.clear();
        let start = Instant::now();
        let started = self.device.start_all().is_ok();
        assert!(Instant::now() <= start + LONGEST_START);
        assert_eq!(self.device.running, started);
        let count = (self.device.rx.len(), self.device.tx.len());
        assert!(count == (1, 1) || !started && count < (1, 1));
        if !started {
            self.device.rx.clear();
            self.device.tx.clear();
            let queues = Queues::new(self.pool);
            self.device.rx.push(queues.rx);
            self.device.tx.push(queues.tx);
        }
        let [rdt, tdt] = &self.tails;
        rdt.set(RING_SIZE as u32 - 1);
        tdt.set(0);
        self.device.rx[0].tail = Tail::Fake(rdt.clone());
        self.device.tx[0].tail = Tail::Fake(tdt.clone());
        (self.next_rx, self.next_tx) = (0, 0);
        self.last = self.device.stats;
    }

    /// Every packet is in exactly one place.
    fn check(&mut self) {
        let mut all = self.rx_slots();
        let tx = self.tx_slots();
        let (start, clean) = (self.device.tx[0].index, self.device.tx[0].clean_index);
        let pending = start.wrapping_sub(clean) & MASK;
        for (i, slot) in tx.iter().enumerate() {
            assert_eq!(slot.is_some(), i.wrapping_sub(clean) & MASK < pending);
        }
        all.extend(tx.into_iter().flatten());
        all.extend(self.held.iter().map(|held| held.packet.iova()));
        assert_eq!(all.len() + self.pool.free_count(), self.pool.capacity());
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len() + self.pool.free_count(), self.pool.capacity());
        for held in &self.held {
            assert!(held.packet.size() <= MAX_SIZE);
            assert!(held.is_untouched(), "a packet was written to");
        }
    }

    fn step(&mut self, input: &mut Input<'_>) {
        match input.u8() % 17 {
            kind @ 0..=9 => self.device_step(kind, input),
            kind => self.application_step(kind, input),
        }
        self.check();
    }

    /// The device writes descriptors or bytes.
    fn device_step(&mut self, kind: u8, input: &mut Input<'_>) {
        match kind {
            // A correct frame.
            0 | 1 => {
                let size = below(input, 1600) as u64;
                self.rx_write_next(size << 32 | RXD_DD | RXD_EOP);
            }
            // A part of a frame, or a wrong length.
            2 => {
                let length = input.u64() & RXD_LENGTH;
                let eop = u64::from(input.u8() & 1) * RXD_EOP;
                self.rx_write_next(length | RXD_DD | eop);
            }
            // Any words, in any descriptor or in all, of the RX ring (3, 5) or the TX ring (4, 6).
            3..=6 => {
                let one = (kind < 5).then(|| below(input, RING_SIZE));
                let (lower, upper) = (input.u64(), input.u64());
                let indexes = one.map_or(0..RING_SIZE, |index| index..index + 1);
                for index in indexes {
                    match kind % 2 {
                        1 => self.rx_write(index, Descriptor { lower, upper }),
                        _ => self.tx_write(index, Descriptor { lower, upper }),
                    }
                }
            }
            // DD for packets, whether sent or not.
            7 | 8 => {
                for _ in 0..input.u8() % 40 {
                    let upper = TXD_DD;
                    self.tx_write(self.next_tx, Descriptor { lower: 0, upper });
                    self.next_tx += 1;
                }
            }
            // Bytes into a buffer that the device has.
            _ => {
                let index = below(input, RING_SIZE);
                let byte = input.u8();
                self.device.rx[0].ring.entry(index).slot.device_fill(byte);
                self.write_late(byte);
            }
        }
    }

    /// Writes to buffers that the device gave back. Only a private copy keeps its bytes then.
    fn write_late(&mut self, byte: u8) {
        let untrusted = |_: &&mut Held<'p>| cfg!(not(feature = "trusted-device"));
        for held in self.held.iter_mut().filter(untrusted) {
            held.packet.device_fill(byte);
            let copied = cfg!(feature = "untrusted-device-copy");
            held.mark = if copied { held.mark } else { byte };
        }
    }

    /// The application calls the driver.
    fn application_step(&mut self, kind: u8, input: &mut Input<'_>) {
        match kind {
            10 | 11 => {
                let count = usize::from(input.u8());
                self.receive(count);
            }
            12 => {
                let count = usize::from(input.u8());
                self.send(count);
            }
            13 => {
                let index = below(input, self.held.len());
                if index < self.held.len() {
                    self.held.remove(index);
                }
            }
            14 => {
                let (index, size) = (below(input, self.held.len()), below(input, 3000));
                if let Some(held) = self.held.get_mut(index) {
                    let before = held.packet.size();
                    let fits = held.packet.set_size(size);
                    assert_eq!(fits, size <= MAX_SIZE);
                    assert_eq!(held.packet.size(), if fits { size } else { before });
                    held.write(held.mark);
                }
                if let Some(packet) = self.pool.alloc() {
                    self.hold(packet);
                }
            }
            15 => match input.u8() % 4 {
                0 => {
                    let nothing = self.device.rx_batch(1, &mut Vec::new(), 1);
                    assert!(nothing.is_err());
                    assert!(self.device.tx_batch(1, &mut Vec::new()).is_err());
                }
                1 => self.held.clear(),
                _ => self.reclaim(),
            },
            _ => {
                let call = input.u8();
                let pattern = input.u8();
                let count = usize::from(pattern) % MAX_ANSWERS;
                let answer = |nth| match (pattern >> 6, nth % 2) {
                    (0, _) => u32::MAX,
                    (1, _) => 0,
                    (_, 1) if call >= RESTART => u32::MAX >> 1,
                    _ => input.u32(),
                };
                let answers: Vec<_> = (0..count).map(answer).collect();
                if call >= RESTART {
                    // The answers repeat, so every wait ends, or none does.
                    let count = below(input, MAX_START_ANSWERS);
                    self.restart(answers.into_iter().cycle().take(count));
                } else {
                    self.registers(call, answers);
                }
            }
        }
    }
}

/// Plays `input`.
///
/// # Panics
/// If the driver loses or doubles a packet, or does anything else that the model does not.
pub fn hostile_device(input: &[u8]) {
    let mut input = Input(input);
    let capacity = RING_SIZE + usize::from(input.u8());
    let pool = pool(capacity as u32);
    let container = Container::new();
    let mut lab = Lab::new(&pool, &container);
    lab.check();
    while !input.0.is_empty() {
        lab.step(&mut input);
    }
    lab.end_access();
    let Lab { device, held, .. } = lab;
    drop(device);
    assert_eq!(pool.free_count() + held.len(), capacity);
    assert!(held.iter().all(Held::is_untouched));
    drop(held);
    assert_eq!(pool.free_count(), capacity);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_queues::cases;
    use proptest::prelude::*;
    use std::path::Path;

    #[test]
    #[cfg_attr(miri, ignore = "the corpus would take hours")]
    fn the_corpus_and_similar_inputs_break_no_rule() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/hostile_device");
        fuzz_input::run(&folder, cases(0).into(), hostile_device).unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(3)))]

        #[test]
        fn no_device_breaks_the_rules(
            input in prop::collection::vec(any::<u8>(), 0..if cfg!(miri) { 60 } else { 600 })
        ) {
            hostile_device(&input);
        }
    }

    /// Answers that end every wait.
    fn willing(count: usize) -> impl Iterator<Item = u32> {
        [0, u32::MAX >> 1].into_iter().cycle().take(count)
    }

    /// A device that ends every wait starts, and then receives. A device that ends no wait, or that gives too few
    /// answers, causes an error in time.
    #[test]
    fn a_device_starts_if_it_ends_every_wait() {
        let pool = pool(RING_SIZE as u32 + 8);
        let container = Container::new();
        let mut lab = Lab::new(&pool, &container);
        for _ in 0..2 {
            lab.restart(willing(MAX_START_ANSWERS));
            assert!(lab.device.running);
            lab.check();
            lab.rx_write_next(60 << 32 | RXD_DD | RXD_EOP);
            lab.receive(4);
            assert_eq!(lab.held.len(), 1);
            lab.held.clear();
        }
        for answers in [0, 1, 10, 40] {
            lab.restart(willing(answers));
            assert!(!lab.device.running, "{answers}");
            lab.check();
        }
        for stubborn in [0, u32::MAX >> 1, u32::MAX] {
            lab.restart(std::iter::repeat_n(stubborn, MAX_START_ANSWERS));
            assert!(!lab.device.running, "{stubborn:#x}");
            lab.check();
        }
    }

    /// A device that still runs may write to the packets in its RX ring.
    #[test]
    fn the_pool_does_not_get_packets_back_that_a_device_may_write_to() {
        let pool = pool(RING_SIZE as u32 + 8);
        let container = Container::new();
        let mut lab = Lab::new(&pool, &container);
        lab.restart(willing(MAX_START_ANSWERS));
        assert!(lab.device.running && pool.free_count() == 8);
        // The device no longer answers.
        lab.answers.set([]);
        drop(lab);
        assert_eq!(pool.free_count(), 8);
    }

    /// Nor does a start that fails give packets back, if the device can access memory by then.
    #[test]
    fn a_failed_start_gives_packets_back_unless_the_device_may_write_to_them() {
        for answers in (0..40).map(|count| count * 250) {
            let pool = pool(2 * RING_SIZE as u32);
            let container = Container::new();
            let mut lab = Lab::new(&pool, &container);
            lab.device.rx.clear();
            lab.device.tx.clear();
            lab.answers.set(willing(answers));
            let started = lab.device.start_all().is_ok();
            lab.answers.set([]);
            let queues = lab.device.rx.len();
            let master = lab.device.registers.vfio.is_bus_master();
            assert!(!started || master);
            drop(lab);
            let lost = if master { queues * RING_SIZE } else { 0 };
            assert_eq!(pool.free_count(), pool.capacity() - lost, "{answers}");
        }
    }

    /// Drivers in different threads share nothing.
    #[test]
    fn each_thread_has_its_own_driver() {
        std::thread::scope(|scope| {
            for start in 0..4u8 {
                let length = if cfg!(miri) { 40 } else { 2000 };
                let bytes = move |i: usize| (i.wrapping_mul(31) >> 2) as u8 ^ start;
                let input: Vec<u8> = (0..length).map(bytes).collect();
                scope.spawn(move || hostile_device(&input));
            }
        });
    }
}
