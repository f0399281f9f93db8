//! The caches and prefetchers of a processor, and the card's accesses to them.
//!
//! [`Hierarchy`] takes a stream in order and says for each access which level served it. It simulates
//! one core: the driver's.

mod array;
mod counts;
mod frames;
mod level;
mod prefetch;
mod underway;

use smallvec::SmallVec;

use crate::cpu::{Contents, Cpu, LINE};
use crate::stream::{Access, AccessKind, DeviceAccess, DeviceAccessKind, Memory, Region, Step};
use array::{Array, Ways};
use frames::{Frames, Slices};
use prefetch::{NextLine, Stride};
use underway::Underway;

pub use counts::Counts;
pub use level::Level;

/// Where the card's writes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dma {
    /// To the main memory. No cache keeps the line.
    Memory,
    /// To L3, in the ways for cards if L3 does not hold the line yet.
    L3,
}

/// Who served the accesses of an instruction, in their order.
pub type Levels = SmallVec<[Level; 2]>;

/// The caches of one core.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    contents: Contents,
    /// The ways of L3 that a write of the card may use; 0 if it goes to memory.
    device_ways: Ways,
    adjacent_line: bool,
    frames: Frames,
    slices: Slices,
    l1: Array,
    l2: Array,
    l3: Array,
    /// Instructions so far.
    now: u64,
    /// Lines on their way to L1, and those that prefetchers have asked L2 for.
    to_l1: Underway,
    to_l2: Underway,
    stride: Stride,
    next_line: NextLine,
    counts: Counts,
}

impl Hierarchy {
    /// Empty caches of `cpu`. `regions` are those of [`crate::stream::Stream::regions`].
    #[must_use]
    pub fn new(cpu: &Cpu, dma: Dma, regions: Vec<Region>) -> Self {
        let sets = |kib: u32, ways: u32, slices: u32| {
            (u64::from(kib) * 1024 / LINE / u64::from(ways) / u64::from(slices)).max(1)
        };
        let inner = |cache: &crate::cpu::Cache| {
            Array::new(
                sets(cache.size_kib, cache.ways, 1),
                cache.ways,
                cache.policy,
            )
        };
        let l3_sets = sets(cpu.l3.size_kib, cpu.l3.ways, cpu.l3.slices);
        let all_sets = l3_sets * u64::from(cpu.l3.slices);
        let l3 = Array::new(all_sets, cpu.l3.ways, cpu.l3.policy);
        let window = cpu.core.reorder_buffer;
        Self {
            contents: cpu.l3.contents,
            device_ways: match dma {
                Dma::Memory => 0,
                Dma::L3 => l3.last_ways(cpu.ddio.ways),
            },
            adjacent_line: cpu.prefetchers.adjacent_line,
            frames: Frames::new(regions),
            slices: Slices::new(cpu.l3.slices, l3_sets),
            l1: inner(&cpu.l1d),
            l2: inner(&cpu.l2),
            l3,
            now: 0,
            to_l1: Underway::new(window),
            to_l2: Underway::new(window),
            stride: Stride::new(&cpu.prefetchers),
            next_line: NextLine::new(&cpu.prefetchers, cpu.core.fill_buffers),
            counts: Counts::default(),
        }
    }

    /// The sums so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Sets all sums to 0 and leaves the caches as they are, after a warm-up.
    pub fn reset_counts(&mut self) {
        self.counts = Counts::default();
    }

    /// Executes one instruction.
    pub fn step(&mut self, step: &Step) -> Levels {
        self.now += 1;
        self.to_l1.step(self.now);
        self.to_l2.step(self.now);
        let accesses = step.accesses.iter();
        accesses
            .map(|access| self.access(step.address, access))
            .collect()
    }

    /// The card accesses the driver's memory. A read leaves all lines where they are.
    pub fn device(&mut self, access: &DeviceAccess) {
        if access.kind == DeviceAccessKind::Read {
            return;
        }
        let bytes = u64::from(access.bytes.max(1));
        let end = access.address.saturating_add(bytes);
        let mut address = access.address;
        while address < end {
            let line = self.frames.line(address);
            self.device_write(line);
            address = (address / LINE + 1) * LINE;
        }
    }

    /// Takes a line away from L1 and L2, and puts it into L3 or leaves it in memory.
    fn device_write(&mut self, line: u64) {
        self.to_l1.cancel(line);
        self.to_l2.cancel(line);
        self.next_line.forget(line);
        self.l1.remove(line % self.l1.sets(), line);
        self.l2.remove(line % self.l2.sets(), line);
        let set = self.slices.set(line);
        if self.device_ways == 0 {
            self.l3.remove(set, line);
        } else if !self.l3.hit(set, line) {
            self.insert_l3(line, self.device_ways);
        }
    }

    fn access(&mut self, instruction: u64, access: &Access) -> Level {
        let level = match access.memory {
            Memory::Uncached => Level::Register,
            Memory::WriteBack => {
                let bytes = u64::from(access.bytes.max(1));
                let last = access.address.saturating_add(bytes - 1);
                let level = self.part(instruction, access, access.address);
                match last / LINE == access.address / LINE {
                    true => level,
                    false => level.max(self.part(instruction, access, last / LINE * LINE)),
                }
            }
        };
        if access.kind == AccessKind::Load {
            self.count(level);
        }
        level
    }

    /// Serves the part of an access that lies in the line of `address`.
    fn part(&mut self, instruction: u64, access: &Access, address: u64) -> Level {
        let line = self.frames.line(address);
        let level = self.line(line);
        match access.kind {
            AccessKind::Load => {
                self.l1_prefetchers(instruction, line * LINE + address % LINE, level);
            }
            AccessKind::Store => self.l1.set_dirty(line % self.l1.sets(), line),
            AccessKind::Prefetch => {}
        }
        level
    }

    /// Brings a line into L1. Returns who had it.
    fn line(&mut self, line: u64) -> Level {
        if self.l1.hit(line % self.l1.sets(), line) {
            return match self.to_l1.origin(line) {
                Some(_) => Level::Underway,
                None => Level::L1,
            };
        }
        let level = self.below_l1(line);
        self.to_l1.request(self.now, line, level);
        self.insert_l1(line);
        level
    }

    /// Brings a line into L2 for L1. Returns who had it.
    fn below_l1(&mut self, line: u64) -> Level {
        if self.l2.hit(line % self.l2.sets(), line) {
            // A request that waits for a prefetch of L2 has missed L2.
            self.to_l2.origin(line).unwrap_or(Level::L2)
        } else {
            let level = self.below_l2(line);
            self.insert_l2(line);
            if self.adjacent_line {
                self.fetch_l2(prefetch::adjacent(line));
            }
            level
        }
    }

    /// Takes a line from L3 or from memory.
    fn below_l2(&mut self, line: u64) -> Level {
        let set = self.slices.set(line);
        if self.l3.hit(set, line) {
            if self.contents == Contents::Victims {
                self.l3.remove(set, line);
            }
            return Level::L3;
        }
        if self.contents == Contents::Inclusive {
            self.insert_l3(line, self.l3.all_ways());
        }
        Level::Memory
    }

    /// An L2 prefetcher asks for a line.
    fn fetch_l2(&mut self, line: u64) {
        if self.l2.contains(line % self.l2.sets(), line) {
            return;
        }
        let level = self.below_l2(line);
        self.to_l2.request(self.now, line, level);
        self.insert_l2(line);
    }

    fn l1_prefetchers(&mut self, instruction: u64, address: u64, level: Level) {
        let stride = self.stride.load(instruction, address);
        let next = self.next_line.load(address, level > Level::Underway);
        for line in [stride, next].into_iter().flatten() {
            if self.l1.contains(line % self.l1.sets(), line) {
                continue;
            }
            let level = self.below_l1(line);
            self.to_l1.request(self.now, line, level);
            self.insert_l1(line);
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
            self.to_l1.cancel(evicted.tag);
            self.to_l2.cancel(evicted.tag);
        }
    }

    fn count(&mut self, level: Level) {
        self.counts.loads += 1;
        *match level {
            Level::L1 => &mut self.counts.l1,
            Level::Underway => &mut self.counts.underway,
            Level::L2 => &mut self.counts.l2,
            Level::L3 => &mut self.counts.l3,
            Level::Memory => &mut self.counts.memory,
            Level::Register => &mut self.counts.registers,
        } += 1;
    }
}

#[cfg(test)]
mod tests;
