//! Physical addresses and the slices of the L3 cache.
//!
//! The trace has virtual addresses. Each page gets a frame when it is first used: the n-th page gets a frame number that is
//! a fixed, scrambled function of n. So the addresses within a page, and DMA memory within a huge page, are contiguous, the
//! frames are spread like those of a machine that has run for a while, and two runs have the same frames.

use std::collections::HashMap;

use crate::cpu::LINE;
use crate::stream::{region, PageSize, Region};

/// Bits of the number of a small frame: 4 GiB.
const SMALL_BITS: u32 = 20;
/// Bits of the number of a large frame: 4 GiB.
const LARGE_BITS: u32 = 11;
/// Bits of the number of a huge frame: 32 GiB.
const HUGE_BITS: u32 = 5;

/// Where the large frames begin.
const LARGE_BASE: u64 = 1 << 32;
/// Where the huge frames begin.
const HUGE_BASE: u64 = 1 << 35;

/// The physical address bits of each bit of the slice number, by Maurice et al. (RAID 2015), for 2, 4 and 8 slices.
const SLICE_BITS: [u64; 3] = [0x1b_5f57_5440, 0x2e_b5fa_a880, 0x3c_ccc9_3100];

/// An odd constant that spreads bits (2⁶⁴ divided by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Entries of the memory of recent translations, a power of two.
const RECENT: usize = 256;

/// A page of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// The virtual address of its first byte.
    start: u64,
    /// The physical address of its first byte.
    physical: u64,
}

impl Page {
    /// The physical line that holds a virtual address of this page.
    pub(super) fn line(&self, address: u64) -> u64 {
        (self.physical + (address - self.start)) / LINE
    }
}

/// The frames of the driver's pages.
///
/// The first page of a region starts with the region, also if the traced machine had only small pages there and the region
/// is not aligned. So both machines give the same physical addresses.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    regions: Vec<Region>,
    /// The numbers of the frames by the first address of the page. Only looked up, never iterated, so that its order cannot
    /// reach a result.
    pages: HashMap<u64, u64>,
    used: [u64; 3],
    recent: Vec<Option<(u64, Page)>>,
}

impl Frames {
    pub(super) fn new(regions: Vec<Region>) -> Self {
        Self {
            regions,
            pages: HashMap::new(),
            used: [0; 3],
            recent: vec![None; RECENT],
        }
    }

    /// The page that holds a virtual address.
    pub(super) fn page(&mut self, address: u64) -> Page {
        let small = address / PageSize::Small.bytes();
        let slot = small as usize % RECENT;
        if let Some((known, page)) = self.recent[slot] {
            if known == small {
                return page;
            }
        }
        let (base, size) = match region(&self.regions, address) {
            Some(region) => (region.start, region.page),
            None => (0, PageSize::Small),
        };
        let start = address - (address - base) % size.bytes();
        let used = &mut self.used[size as usize];
        let index = *self.pages.entry(start).or_insert_with(|| {
            *used += 1;
            *used - 1
        });
        let page = Page {
            start,
            physical: frame(size, index),
        };
        self.recent[slot] = Some((small, page));
        page
    }
}

/// The physical address of the `index`-th frame of this size.
fn frame(size: PageSize, index: u64) -> u64 {
    let (bits, base) = match size {
        PageSize::Small => (SMALL_BITS, 0),
        PageSize::Large => (LARGE_BITS, LARGE_BASE),
        PageSize::Huge => (HUGE_BITS, HUGE_BASE),
    };
    base + scramble(index, bits) * size.bytes()
}

/// A permutation of the numbers of `bits` bits. Each step can be undone, so no two inputs share an output.
fn scramble(index: u64, bits: u32) -> u64 {
    let mask = (1 << bits) - 1;
    let half = bits.div_ceil(2);
    let mut value = index & mask;
    for _ in 0..3 {
        value = value.wrapping_mul(SPREAD | 1) & mask;
        value ^= value >> half;
    }
    // Beyond the last frame the numbers repeat, which only shares sets.
    value
}

/// How lines are spread over the slices of an L3 cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slices {
    slices: u64,
    sets: u64,
}

impl Slices {
    /// `slices` slices of `sets` sets each, both at least 1.
    pub(super) fn new(slices: u32, sets: u64) -> Self {
        Self {
            slices: u64::from(slices.max(1)),
            sets: sets.max(1),
        }
    }

    /// The set of a physical line, counted over all slices.
    pub(super) fn set(&self, line: u64) -> u64 {
        self.slice(line) * self.sets + line % self.sets
    }

    /// With 1, 2, 4 or 8 slices, the published hash. No hash of other numbers of slices is published, so a fixed
    /// function spreads the lines evenly.
    fn slice(&self, line: u64) -> u64 {
        let address = line * LINE;
        let parity = |mask: u64| u64::from((address & mask).count_ones() % 2);
        match self.slices {
            1 => 0,
            2 => parity(SLICE_BITS[0]),
            4 => parity(SLICE_BITS[0]) | parity(SLICE_BITS[1]) << 1,
            8 => parity(SLICE_BITS[0]) | parity(SLICE_BITS[1]) << 1 | parity(SLICE_BITS[2]) << 2,
            slices => {
                let mixed = (line ^ line >> 17).wrapping_mul(SPREAD);
                ((u128::from(mixed) * u128::from(slices)) >> 64) as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_within_a_large_page_are_contiguous() {
        let region = Region {
            start: 0x4000_0000,
            end: 0x4040_0000,
            page: PageSize::Large,
        };
        let mut frames = Frames::new(vec![region]);
        let first = frames.page(0x4000_0000);
        let line = first.line(0x4000_0000);
        for offset in (0..0x20_0000).step_by(0x4_1040) {
            assert_eq!(
                frames.page(0x4000_0000 + offset).line(0x4000_0000 + offset),
                line + offset / LINE
            );
        }
        assert_ne!(frames.page(0x4020_0000).physical, first.physical);
    }

    #[test]
    fn regions_that_are_not_aligned_are_placed_as_if_they_were() {
        let region = |start| Region {
            start,
            end: start + (5 << 20),
            page: PageSize::Large,
        };
        let mut aligned = Frames::new(vec![region(0x4000_0000)]);
        let mut other = Frames::new(vec![region(0x4001_5000)]);
        for offset in [0, 0x1f_ffff, 0x20_0000, 0x4f_0040, 64] {
            let (one, two) = (0x4000_0000 + offset, 0x4001_5000 + offset);
            assert_eq!(aligned.page(one).line(one), other.page(two).line(two));
        }
    }

    #[test]
    fn frames_depend_on_the_order_of_use_and_not_on_the_address() {
        let mut one = Frames::new(Vec::new());
        let mut other = Frames::new(Vec::new());
        for index in [5, 9, 1, 5, 9] {
            let shifted = 0x7fff_0000_0000 + index * 4096;
            assert_eq!(
                one.page(index * 4096).physical,
                other.page(shifted).physical
            );
        }
    }

    #[test]
    fn no_two_frames_are_equal() {
        for (bits, count) in [
            (SMALL_BITS, 1 << SMALL_BITS),
            (LARGE_BITS, 1 << LARGE_BITS),
            (HUGE_BITS, 32),
        ] {
            let mut all: Vec<u64> = (0..count).map(|index| scramble(index, bits)).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count), "{bits}");
        }
    }

    #[test]
    fn every_slice_gets_its_share() {
        for slices in [1, 2, 4, 8, 10, 22, 56] {
            let placement = Slices::new(slices, 1024);
            let mut counts = vec![0_u32; slices as usize];
            let lines = 1 << 16;
            for line in 0..lines {
                counts[placement.slice(line) as usize] += 1;
            }
            let fair = lines as u32 / slices;
            assert!(
                counts.iter().all(|count| count.abs_diff(fair) < fair / 8),
                "{slices}: {counts:?}"
            );
        }
    }

    #[test]
    fn buffers_of_two_kib_share_few_sets() {
        let placement = Slices::new(4, 2048);
        let mut sets: Vec<u64> = (0..4096)
            .map(|index| placement.set((1 << 26) + index * 2048 / LINE))
            .collect();
        sets.sort_unstable();
        sets.dedup();
        assert_eq!(sets.len(), 8192 / 32);
    }
}
