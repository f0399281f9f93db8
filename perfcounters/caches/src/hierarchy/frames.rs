//! Physical addresses and the slices of the L3 cache.
//!
//! The trace has virtual addresses. Each page gets a frame when it is first used: the n-th page gets a frame number that is
//! a fixed, scrambled function of n. So the addresses within a page, and DMA memory within a huge page, are contiguous, the
//! frames are spread like those of a machine that has run for a while, and two runs have the same frames.

use std::collections::HashMap;

use crate::cpu::LINE;
use crate::stream::Region;

/// Bytes of a small page, and bits of the number of its frame: 4 GiB.
const SMALL: (u64, u32) = (4 << 10, 20);
/// Bytes of a page of the memory that the card can reach, and bits of the number of its frame: 4 GiB.
const LARGE: (u64, u32) = (2 << 20, 11);

/// Where the large frames begin.
const LARGE_BASE: u64 = 1 << 32;

/// The physical address bits of each bit of the slice number, by Maurice et al. (RAID 2015), for 2, 4 and 8 slices.
const SLICE_BITS: [u64; 3] = [0x1b_5f57_5440, 0x2e_b5fa_a880, 0x3c_ccc9_3100];

/// An odd constant that spreads bits (2⁶⁴ divided by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The frames of the driver's pages.
///
/// The first page of a region starts with the region, also if the traced machine had only small pages there and the region
/// is not aligned. So both machines give the same physical addresses.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    regions: Vec<Region>,
    /// The physical addresses of the pages by the first address of each.
    pages: HashMap<u64, u64>,
    /// Frames in use: small ones, and large ones.
    used: [u64; 2],
}

impl Frames {
    pub(super) fn new(regions: Vec<Region>) -> Self {
        Self {
            regions,
            pages: HashMap::new(),
            used: [0; 2],
        }
    }

    /// The physical line that holds a virtual address.
    pub(super) fn line(&mut self, address: u64) -> u64 {
        let after = self
            .regions
            .partition_point(|region| region.start <= address);
        let before = after.checked_sub(1).and_then(|at| self.regions.get(at));
        let region = before.filter(|region| address < region.end);
        let ((bytes, bits), from, base, used) = match region {
            Some(region) => (LARGE, region.start, LARGE_BASE, &mut self.used[1]),
            None => (SMALL, 0, 0, &mut self.used[0]),
        };
        let offset = (address - from) % bytes;
        let page = self.pages.entry(address - offset).or_insert_with(|| {
            *used += 1;
            base + scramble(*used - 1, bits) * bytes
        });
        (*page + offset) / LINE
    }
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
        };
        let mut frames = Frames::new(vec![region]);
        let first = frames.line(0x4000_0000);
        for offset in (0..0x20_0000).step_by(0x4_1040) {
            assert_eq!(frames.line(0x4000_0000 + offset), first + offset / LINE);
        }
        assert_ne!(frames.line(0x4020_0000), first + (2 << 20) / LINE);
    }

    #[test]
    fn regions_that_are_not_aligned_are_placed_as_if_they_were() {
        let region = |start| Region {
            start,
            end: start + (5 << 20),
        };
        let mut aligned = Frames::new(vec![region(0x4000_0000)]);
        let mut other = Frames::new(vec![region(0x4001_5000)]);
        for offset in [0, 0x1f_ffff, 0x20_0000, 0x4f_0040, 64] {
            let (one, two) = (0x4000_0000 + offset, 0x4001_5000 + offset);
            assert_eq!(aligned.line(one), other.line(two));
        }
    }

    #[test]
    fn frames_depend_on_the_order_of_use_and_not_on_the_address() {
        let mut one = Frames::new(Vec::new());
        let mut other = Frames::new(Vec::new());
        for index in [5, 9, 1, 5, 9] {
            let shifted = 0x7fff_0000_0000 + index * 4096;
            assert_eq!(one.line(index * 4096), other.line(shifted));
        }
    }

    #[test]
    fn no_two_frames_are_equal() {
        for bits in [SMALL.1, LARGE.1] {
            let count = 1 << bits;
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
