//! Physical addresses.
//!
//! The trace has virtual addresses, which differ from machine to machine. Each page gets the next frame when it is
//! first used. So addresses within a page are contiguous, and two runs have the same frames.

use std::collections::HashMap;
use std::ops::Range;

use crate::cpu::LINE;

/// Bytes of a page.
const SMALL: u64 = 4 << 10;
/// Bytes of a page of the memory that the card can reach.
const LARGE: u64 = 2 << 20;
/// Where the frames of the large pages begin.
const LARGE_BASE: u64 = 1 << 40;

/// The frames of the driver's pages.
///
/// The first page of a region starts with the region, also if the traced machine had only small pages there and the
/// region is not aligned. So both machines give the same physical addresses.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    regions: Vec<Range<u64>>,
    /// The frames of small and of large pages, by the first address of each page.
    small: HashMap<u64, u64>,
    large: HashMap<u64, u64>,
}

impl Frames {
    /// `regions` are those of [`crate::stream::Stream::regions`].
    pub(crate) fn new(regions: Vec<Range<u64>>) -> Self {
        Self {
            regions,
            small: HashMap::new(),
            large: HashMap::new(),
        }
    }

    /// The physical line that holds a virtual address.
    pub(crate) fn line(&mut self, address: u64) -> u64 {
        let mut regions = self.regions.iter();
        let region = regions.find(|region| region.contains(&address));
        let (pages, bytes, base, from) = match region {
            Some(region) => (&mut self.large, LARGE, LARGE_BASE, region.start),
            None => (&mut self.small, SMALL, 0, 0),
        };
        let offset = (address - from) % bytes;
        let next = pages.len() as u64;
        let frame = *pages.entry(address - offset).or_insert(next);
        (base + frame * bytes + offset) / LINE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pages_are_contiguous_and_start_with_their_region() {
        let region = |start| start..start + (5 << 20);
        let mut aligned = Frames::new(vec![region(0x4000_0000)]);
        let mut other = Frames::new(vec![region(0x4001_5000)]);
        let first = aligned.line(0x4000_0000);
        assert_eq!(other.line(0x4001_5000), first);
        for offset in [0x1f_ffff, 0x40_0000, 0x20_0040, 64] {
            let one = aligned.line(0x4000_0000 + offset);
            assert_eq!(one, other.line(0x4001_5000 + offset));
            let contiguous = one == first + offset / LINE;
            assert_eq!(contiguous, offset < LARGE, "{offset:#x}");
        }
    }

    #[test]
    fn frames_depend_on_the_order_of_use_and_not_on_the_address() {
        let (mut one, mut other) = (Frames::new(Vec::new()), Frames::new(Vec::new()));
        for index in [5, 9, 1, 5, 9] {
            let line = one.line(index * SMALL + 64);
            assert_eq!(line, other.line(0x7fff_0000_0000 + index * SMALL + 64));
        }
        assert_ne!(one.line(5 * SMALL), one.line(9 * SMALL));
    }
}
