//! The caches and prefetchers of a processor, and the card's accesses to them.
//!
//! [`Hierarchy`] takes a stream in order and says for each access which level served it. It simulates
//! one core: the driver's.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use crate::array::Array;
use crate::cpu::{Contents, Cpu, LINE};
use crate::frames::Frames;
use crate::stream::{Access, AccessKind};

/// Load instructions that the stride prefetcher knows, as Chen et al. measure it on Haswell and later (AfterImage,
/// ASPLOS 2023).
const STRIDE_INSTRUCTIONS: usize = 24;
/// The longest stride in bytes that it follows (Intel's Optimization Reference Manual, Sandy Bridge, data prefetching).
const LONGEST_STRIDE: u64 = 2048;
/// Bytes of a page, which it never leaves.
const PAGE: u64 = 4096;
/// Sets between neighbouring pieces of memory in L3: a fixed function instead of the unknown hash of its slices.
const SLICES: u64 = 0x9e37_79b9;
/// A line of the core goes to any way.
const ALL: usize = usize::MAX;

/// Where the card's writes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dma {
    /// To the main memory. No cache keeps the line.
    Memory,
    /// To L3, in the ways for cards if L3 does not hold the line yet.
    L3,
}

/// Who served an access, from the nearest to the furthest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The L1 cache.
    L1,
    /// The line was on its way to L1 for an earlier access.
    Underway,
    /// The L2 cache.
    L2,
    /// The L3 cache.
    L3,
    /// The main memory.
    Memory,
}

/// The latest request of each line: the number of the instruction, and who had the line.
///
/// Intel counts a load neither as an L1 hit nor as a hit of another level if its line is on its way already. The
/// caches see instructions and no time. So a line counts as on its way for as many instructions as the core holds at
/// a time: a later one enters only when the load is done.
type Requests = HashMap<u64, (u64, Level)>;

/// The caches of one core.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    contents: Contents,
    /// The ways of L3 that a write of the card may use; 0 if it goes to memory.
    device_ways: usize,
    adjacent_line: bool,
    frames: Frames,
    l1: Array,
    l2: Array,
    l3: Array,
    /// Instructions so far.
    now: u64,
    /// The address of the current instruction.
    instruction: u64,
    /// Instructions for which a line is on its way.
    window: u64,
    to_l1: Requests,
    /// What prefetchers have asked L2 for.
    to_l2: Requests,
    strides: Strides,
}

impl Hierarchy {
    /// Empty caches of `cpu`. `regions` are those of [`crate::stream::Stream::regions`].
    #[must_use]
    pub fn new(cpu: &Cpu, dma: Dma, regions: Vec<Range<u64>>) -> Self {
        Self {
            contents: cpu.l3_contents,
            device_ways: match dma {
                Dma::Memory => 0,
                Dma::L3 => cpu.ddio_ways as usize,
            },
            adjacent_line: cpu.adjacent_line,
            frames: Frames::new(regions),
            l1: Array::new(cpu.l1d, 0),
            l2: Array::new(cpu.l2, 0),
            l3: Array::new(cpu.l3, SLICES),
            now: 0,
            instruction: 0,
            window: u64::from(cpu.reorder_buffer),
            to_l1: Requests::new(),
            to_l2: Requests::new(),
            strides: Strides::default(),
        }
    }

    /// The next instruction begins, which is at `address`.
    pub fn step(&mut self, address: u64) {
        self.now += 1;
        self.instruction = address;
    }

    /// The card writes to the driver's memory. That takes a line away from L1 and L2, and puts it into L3 or leaves it in
    /// memory. What the card reads stays where it is.
    pub fn device_writes(&mut self, address: u64, bytes: u32) {
        for address in lines(address, bytes) {
            let line = self.frames.line(address);
            self.drop_inner(line);
            if self.device_ways == 0 {
                self.l3.remove(line);
            } else if !self.l3.hit(line) {
                let evicted = self.l3.insert(line, self.device_ways);
                self.left_l3(evicted);
            }
        }
    }

    /// Serves an access of the current instruction to memory. One that crosses a line counts at the slower of its two lines.
    pub fn access(&mut self, access: &Access) -> Level {
        let lines = lines(access.address, access.bytes.into());
        let levels = lines.map(|address| self.part(access.kind, address));
        levels.max().unwrap_or(Level::L1)
    }

    /// Serves the part of an access that lies in the line of `address`.
    fn part(&mut self, kind: AccessKind, address: u64) -> Level {
        let line = self.frames.line(address);
        let level = if !self.l1.hit(line) {
            self.fetch_l1(line)
        } else if self.underway(&self.to_l1, line).is_some() {
            Level::Underway
        } else {
            Level::L1
        };
        if kind == AccessKind::Load {
            let physical = line * LINE + address % LINE;
            let next = self.strides.load(self.instruction, physical);
            if let Some(next) = next.filter(|next| !self.l1.contains(*next)) {
                self.fetch_l1(next);
            }
        }
        level
    }

    /// Brings a line into L1 that it does not hold. Returns who had it.
    fn fetch_l1(&mut self, line: u64) -> Level {
        let level = if self.l2.hit(line) {
            // A request that waits for a prefetch of L2 has missed L2.
            self.underway(&self.to_l2, line).unwrap_or(Level::L2)
        } else {
            let level = self.fetch_l2(line);
            let pair = line ^ 1;
            if self.adjacent_line && !self.l2.contains(pair) {
                let level = self.fetch_l2(pair);
                self.to_l2.insert(pair, (self.now, level));
            }
            level
        };
        self.to_l1.insert(line, (self.now, level));
        self.l1.insert(line, ALL);
        level
    }

    /// Brings a line into L2 that it does not hold. Returns who had it.
    fn fetch_l2(&mut self, line: u64) -> Level {
        let level = match self.l3.hit(line) {
            true => Level::L3,
            false => Level::Memory,
        };
        match self.contents {
            Contents::Inclusive => {
                if level == Level::Memory {
                    let evicted = self.l3.insert(line, ALL);
                    self.left_l3(evicted);
                }
                self.l2.insert(line, ALL);
            }
            Contents::Victims => {
                self.l3.remove(line);
                let evicted = self.l2.insert(line, ALL);
                if let Some(evicted) = evicted.filter(|evicted| !self.l3.hit(*evicted)) {
                    self.l3.insert(evicted, ALL);
                }
            }
        }
        level
    }

    /// What an inclusive L3 drops leaves L1 and L2.
    fn left_l3(&mut self, evicted: Option<u64>) {
        if let (Contents::Inclusive, Some(line)) = (self.contents, evicted) {
            self.drop_inner(line);
        }
    }

    /// Who had the line, if it is on its way.
    fn underway(&self, requests: &Requests, line: u64) -> Option<Level> {
        let (at, origin) = requests.get(&line)?;
        (self.now < at + self.window).then_some(*origin)
    }

    fn drop_inner(&mut self, line: u64) {
        self.l1.remove(line);
        self.l2.remove(line);
        self.to_l1.remove(&line);
        self.to_l2.remove(&line);
    }
}

/// The first address of each line that an access of at least one byte touches; of the first line, the access's own.
fn lines(address: u64, bytes: u32) -> impl Iterator<Item = u64> {
    let last = address.saturating_add(u64::from(bytes.max(1)) - 1);
    (address / LINE..=last / LINE).map(move |line| address.max(line * LINE))
}

/// The L1 prefetcher that follows the strides of load instructions.
#[derive(Clone, Debug, Default)]
struct Strides {
    /// The instruction that loaded longest ago is the first.
    known: VecDeque<LatestLoad>,
}

/// The latest load of an instruction.
#[derive(Clone, Copy, Debug)]
struct LatestLoad {
    /// The low 8 bits of the instruction's address.
    key: u8,
    address: u64,
    /// The distance from the load before; 0 for the first load.
    stride: i64,
}

impl Strides {
    /// `instruction` loads from the physical `address`. Returns the line to fetch: after two equal strides, where the
    /// next one leads.
    fn load(&mut self, instruction: u64, address: u64) -> Option<u64> {
        let key = instruction as u8;
        let index = self.known.iter().position(|load| load.key == key);
        let before = index.and_then(|index| self.known.remove(index));
        if self.known.len() == STRIDE_INSTRUCTIONS {
            self.known.pop_front();
        }
        let stride = before.map_or(0, |load| address.wrapping_sub(load.address) as i64);
        self.known.push_back(LatestLoad {
            key,
            address,
            stride,
        });
        let next = address.wrapping_add_signed(stride);
        let follows = before?.stride == stride
            && stride.unsigned_abs() <= LONGEST_STRIDE
            && next / PAGE == address / PAGE
            && next / LINE != address / LINE;
        follows.then_some(next / LINE)
    }
}

#[cfg(test)]
mod tests;
