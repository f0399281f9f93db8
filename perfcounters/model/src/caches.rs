//! Caches, TLBs and prefetchers of a processor, and the card's accesses to them.
//!
//! [`Hierarchy`] takes a stream in order and says for each access which level served it. It models one core: the driver's.

mod array;
mod counts;
mod flight;
mod placement;
mod prefetch;
mod tlb;

use smallvec::SmallVec;

use crate::cpu::{Contents, Cpu, Latencies, LINE};
use crate::stream::{Access, AccessKind, DeviceAccess, DeviceAccessKind, Memory, Region, Step};
use array::{Array, Ways};
use flight::{Buffers, Clock, Slots};
use placement::{Frames, Slices};
use prefetch::{NextLine, Streamer, Stride};
use tlb::Translations;

pub use counts::Counts;
pub use tlb::Translation;

/// Who served an access, from the fastest to the slowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The L1 cache. For a load, also the store buffer.
    L1,
    /// A fill buffer: the line was on its way to L1 for an earlier access.
    FillBuffer,
    /// The L2 cache.
    L2,
    /// The L3 cache.
    L3,
    /// The main memory.
    Memory,
    /// A register of the card.
    Uncached,
}

/// How an access was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// Who served it.
    pub level: Level,
    /// Cycles from the address to the data, or for a store to the ownership of the line.
    ///
    /// They contain the wait for a free fill buffer, and for a line that is on its way only the rest of that way. They do
    /// not contain [`Self::translation_cycles`].
    pub cycles: u32,
    /// Who translated the address.
    pub translation: Translation,
    /// Cycles that the translation added.
    pub translation_cycles: u32,
}

/// The accesses of one instruction, each with its service, in the order of [`Step::accesses`].
pub type Services = SmallVec<[Served; 2]>;

/// The memory system around one core.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    latencies: Latencies,
    store_forwarding: u32,
    contents: Contents,
    device_ways: Ways,
    adjacent_line: bool,
    second_latency: u32,
    walk: u32,
    frames: Frames,
    slices: Slices,
    translations: Translations,
    l1: Array,
    l2: Array,
    l3: Array,
    clock: Clock,
    fills: Buffers<()>,
    superqueue: Buffers<Level>,
    stores: RecentStores,
    stride: Stride,
    next_line: NextLine,
    streamer: Streamer,
    fetch: Vec<u64>,
    counts: Counts,
}

impl Hierarchy {
    /// Empty caches of `cpu` at its nominal clock, for a driver whose pages all have 4 KiB.
    pub fn new(cpu: &Cpu) -> Self {
        Self::with(cpu, cpu.core.clock_mhz, Vec::new())
    }

    /// Empty caches of `cpu` at a clock of `mhz`. `regions` are those of [`crate::stream::Stream::regions`].
    pub fn with(cpu: &Cpu, mhz: u32, regions: Vec<Region>) -> Self {
        let sets = |kib: u32, ways: u32, slices: u32| {
            (u64::from(kib) * 1024 / LINE / u64::from(ways.max(1)) / u64::from(slices.max(1)))
                .max(1)
        };
        let l3_sets = sets(cpu.l3.size_kib, cpu.l3.ways, cpu.l3.slices);
        let l3 = Array::new(
            l3_sets * u64::from(cpu.l3.slices.max(1)),
            cpu.l3.ways,
            cpu.l3.policy,
        );
        Self {
            latencies: cpu.latencies(mhz),
            store_forwarding: cpu.core.store_forwarding,
            contents: cpu.l3.contents,
            device_ways: l3.last_ways(cpu.ddio.ways),
            adjacent_line: cpu.prefetchers.adjacent_line,
            second_latency: cpu.tlb.second_latency,
            walk: cpu.tlb.walk,
            frames: Frames::new(regions),
            slices: Slices::new(cpu.l3.slices, l3_sets),
            translations: Translations::new(&cpu.tlb),
            l1: Array::new(
                sets(cpu.l1d.size_kib, cpu.l1d.ways, 1),
                cpu.l1d.ways,
                cpu.l1d.policy,
            ),
            l2: Array::new(
                sets(cpu.l2.size_kib, cpu.l2.ways, 1),
                cpu.l2.ways,
                cpu.l2.policy,
            ),
            l3,
            clock: Clock::new(cpu.core.width, cpu.core.reorder_buffer),
            fills: Buffers::new(cpu.core.fill_buffers, ()),
            superqueue: Buffers::new(cpu.core.superqueue, Level::L3),
            stores: RecentStores::new(cpu.core.store_buffer),
            stride: Stride::new(&cpu.prefetchers),
            next_line: NextLine::new(&cpu.prefetchers, cpu.core.fill_buffers),
            streamer: Streamer::new(&cpu.prefetchers),
            fetch: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// The sums so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Sets all sums to 0 and leaves the caches as they are, after a warm-up.
    pub fn reset_counts(&mut self) {
        self.counts = Counts::default();
    }

    /// Executes one instruction.
    pub fn step(&mut self, step: &Step) -> Services {
        self.clock.step();
        self.counts.steps += 1;
        step.accesses
            .iter()
            .map(|access| self.access(step.address, access))
            .collect()
    }

    /// The card accesses the driver's memory.
    ///
    /// A read leaves all lines where they are. A write takes the lines away from L1 and L2 and puts them into L3, in the
    /// ways for cards if L3 does not hold them yet. Without such ways it goes to memory.
    pub fn device(&mut self, access: &DeviceAccess) {
        let end = access
            .address
            .saturating_add(u64::from(access.bytes.max(1)));
        let mut address = access.address;
        while address < end {
            let line = self.frames.page(address).line(address);
            match access.kind {
                DeviceAccessKind::Read => self.counts.device_reads += 1,
                DeviceAccessKind::Write => self.device_write(line),
            }
            address = (address / LINE + 1) * LINE;
        }
    }

    fn device_write(&mut self, line: u64) {
        self.counts.device_writes += 1;
        self.fills.cancel(line);
        self.superqueue.cancel(line);
        self.next_line.forget(line);
        let in_l1 = self.l1.remove(line % self.l1.sets(), line);
        let in_l2 = self.l2.remove(line % self.l2.sets(), line);
        self.counts.device_taken += u64::from(in_l1 || in_l2);
        let set = self.slices.set(line);
        if self.device_ways == 0 {
            self.l3.remove(set, line);
        } else if self.l3.hit(set, line) {
            self.counts.device_write_hits += 1;
        } else {
            self.insert_l3(line, self.device_ways);
        }
    }

    fn access(&mut self, instruction: u64, access: &Access) -> Served {
        if access.memory == Memory::Uncached {
            return self.uncached(access.kind);
        }
        let last = access
            .address
            .saturating_add(u64::from(access.bytes.max(1)) - 1);
        let mut served = self.part(instruction, access, access.address);
        if last / LINE != access.address / LINE {
            let second = self.part(instruction, access, last / LINE * LINE);
            served = Served {
                level: served.level.max(second.level),
                cycles: served.cycles.max(second.cycles),
                translation: served.translation.max(second.translation),
                translation_cycles: served.translation_cycles.max(second.translation_cycles),
            };
        }
        self.count(access.kind, served);
        served
    }

    fn uncached(&mut self, kind: AccessKind) -> Served {
        let cycles = match kind {
            AccessKind::Load => {
                self.counts.loads += 1;
                self.counts.load_uncached += 1;
                self.clock
                    .block(self.clock.now() + self.clock.slots(self.latencies.uncached_load));
                self.latencies.uncached_load
            }
            AccessKind::Store => {
                self.counts.stores += 1;
                self.counts.store_uncached += 1;
                self.latencies.uncached_store
            }
            AccessKind::Prefetch => 0,
        };
        Served {
            level: Level::Uncached,
            cycles,
            translation: Translation::First,
            translation_cycles: 0,
        }
    }

    /// Serves the part of an access that lies in the line of `address`.
    fn part(&mut self, instruction: u64, access: &Access, address: u64) -> Served {
        let page = self.frames.page(address);
        let line = page.line(address);
        let translation = self.translations.translate(page);
        let translation_cycles = match translation {
            Translation::First => 0,
            Translation::Second => self.second_latency,
            Translation::Walk => self.walk,
        };
        let (level, ready) = self.line(line);
        let mut served = Served {
            level,
            cycles: self.clock.cycles_to(ready),
            translation,
            translation_cycles,
        };
        match access.kind {
            AccessKind::Load => {
                if level == Level::FillBuffer && self.stores.forwards(access) {
                    (served.level, served.cycles) = (Level::L1, self.store_forwarding);
                } else {
                    self.clock
                        .block(ready + self.clock.slots(translation_cycles));
                }
                self.l1_prefetchers(instruction, line * LINE + address % LINE, level);
            }
            AccessKind::Store => {
                self.stores.add(access);
                self.l1.set_dirty(line % self.l1.sets(), line);
            }
            AccessKind::Prefetch => {}
        }
        served
    }

    /// Brings a line into L1. Returns who had it, and when it is there.
    fn line(&mut self, line: u64) -> (Level, Slots) {
        let now = self.clock.now();
        if self.l1.hit(line % self.l1.sets(), line) {
            return match self.fills.arrival(line, now) {
                Some((ready, ())) => (Level::FillBuffer, ready),
                None => (Level::L1, now + self.clock.slots(self.latencies.l1)),
            };
        }
        let (level, latency) = self.below_l1(line, true);
        let ready = self.fills.request(line, now, latency, ());
        self.insert_l1(line);
        (level, ready)
    }

    /// Brings a line into L2 for L1. Returns who had it, and how long it takes to L1.
    ///
    /// Only requests of instructions are `demanded`: they train the prefetchers.
    fn below_l1(&mut self, line: u64, demanded: bool) -> (Level, Slots) {
        let now = self.clock.now();
        let served = if self.l2.hit(line % self.l2.sets(), line) {
            let latency = self.clock.slots(self.latencies.l2);
            match self.superqueue.arrival(line, now) {
                // A request that waits for a prefetch of L2 has missed L2.
                Some((ready, origin)) if ready - now > latency => (origin, ready - now),
                _ => (Level::L2, latency),
            }
        } else {
            let (level, latency) = self.below_l2(line);
            self.superqueue.request(line, now, latency, level);
            self.insert_l2(line);
            if self.adjacent_line {
                self.fetch_l2(prefetch::adjacent(line));
            }
            (level, latency)
        };
        if demanded {
            let mut fetch = std::mem::take(&mut self.fetch);
            self.streamer.request(line, &mut fetch);
            for line in fetch.drain(..) {
                self.fetch_l2(line);
            }
            self.fetch = fetch;
        }
        served
    }

    /// Takes a line from L3 or from memory.
    fn below_l2(&mut self, line: u64) -> (Level, Slots) {
        let set = self.slices.set(line);
        if self.l3.hit(set, line) {
            if self.contents == Contents::Victims {
                self.l3.remove(set, line);
            }
            return (Level::L3, self.clock.slots(self.latencies.l3));
        }
        if self.contents == Contents::Inclusive {
            self.insert_l3(line, self.l3.all_ways());
        }
        (Level::Memory, self.clock.slots(self.latencies.memory))
    }

    /// An L2 prefetcher asks for a line. It gives way if the superqueue is full.
    fn fetch_l2(&mut self, line: u64) {
        let now = self.clock.now();
        if self.l2.contains(line % self.l2.sets(), line) || !self.superqueue.free(now) {
            return;
        }
        let (level, latency) = self.below_l2(line);
        self.superqueue.request(line, now, latency, level);
        self.insert_l2(line);
        self.counts.hardware_l2 += 1;
    }

    fn l1_prefetchers(&mut self, instruction: u64, address: u64, level: Level) {
        let stride = self.stride.load(instruction, address);
        let next = self.next_line.load(address, level > Level::FillBuffer);
        for line in [stride, next].into_iter().flatten() {
            let now = self.clock.now();
            if self.l1.contains(line % self.l1.sets(), line) || !self.fills.free(now) {
                continue;
            }
            let (_, latency) = self.below_l1(line, false);
            self.fills.request(line, now, latency, ());
            self.insert_l1(line);
            self.counts.hardware_l1 += 1;
        }
    }

    fn insert_l1(&mut self, line: u64) {
        let all = self.l1.all_ways();
        let evicted = self.l1.insert(line % self.l1.sets(), line, all);
        if let Some(evicted) = evicted.filter(|evicted| evicted.dirty) {
            let set = evicted.tag % self.l2.sets();
            if !self.l2.hit(set, evicted.tag) {
                self.insert_l2(evicted.tag);
            }
        }
    }

    fn insert_l2(&mut self, line: u64) {
        let all = self.l2.all_ways();
        let evicted = self.l2.insert(line % self.l2.sets(), line, all);
        if let (Some(evicted), Contents::Victims) = (evicted, self.contents) {
            if !self.l3.hit(self.slices.set(evicted.tag), evicted.tag) {
                self.insert_l3(evicted.tag, self.l3.all_ways());
            }
        }
    }

    fn insert_l3(&mut self, line: u64, ways: Ways) {
        let evicted = self.l3.insert(self.slices.set(line), line, ways);
        if let (Some(evicted), Contents::Inclusive) = (evicted, self.contents) {
            self.l1.remove(evicted.tag % self.l1.sets(), evicted.tag);
            self.l2.remove(evicted.tag % self.l2.sets(), evicted.tag);
            self.fills.cancel(evicted.tag);
            self.superqueue.cancel(evicted.tag);
        }
    }

    fn count(&mut self, kind: AccessKind, served: Served) {
        let counts = &mut self.counts;
        if kind != AccessKind::Prefetch {
            counts.tlb_second += u64::from(served.translation == Translation::Second);
            counts.tlb_walks += u64::from(served.translation == Translation::Walk);
        }
        let missed = u64::from(served.level > Level::FillBuffer);
        match kind {
            AccessKind::Load => {
                counts.loads += 1;
                *match served.level {
                    Level::L1 => &mut counts.load_l1,
                    Level::FillBuffer => &mut counts.load_fill_buffer,
                    Level::L2 => &mut counts.load_l2,
                    Level::L3 => &mut counts.load_l3,
                    Level::Memory => &mut counts.load_memory,
                    Level::Uncached => &mut counts.load_uncached,
                } += 1;
            }
            AccessKind::Store => {
                counts.stores += 1;
                counts.stores_missing += missed;
                counts.store_l2 += u64::from(served.level == Level::L2);
                counts.store_l3 += u64::from(served.level == Level::L3);
                counts.store_memory += u64::from(served.level == Level::Memory);
            }
            AccessKind::Prefetch => {
                counts.prefetches += 1;
                counts.prefetches_missing += missed;
            }
        }
    }
}

/// The addresses of the stores that may still be in the store buffer.
#[derive(Clone, Debug)]
struct RecentStores {
    stores: Vec<(u64, u64)>,
    oldest: usize,
}

impl RecentStores {
    fn new(count: u32) -> Self {
        Self {
            stores: vec![(u64::MAX, u64::MAX); count.max(1) as usize],
            oldest: 0,
        }
    }

    fn add(&mut self, access: &Access) {
        let end = access.address.saturating_add(u64::from(access.bytes));
        self.stores[self.oldest] = (access.address, end);
        self.oldest = (self.oldest + 1) % self.stores.len();
    }

    /// Whether one store contains all bytes of a load.
    fn forwards(&self, access: &Access) -> bool {
        let end = access.address.saturating_add(u64::from(access.bytes));
        self.stores
            .iter()
            .any(|(start, stop)| *start <= access.address && end <= *stop)
    }
}

#[cfg(test)]
mod tests;
