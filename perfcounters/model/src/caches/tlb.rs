//! The TLBs for data.

use super::array::Array;
use super::placement::Page;
use crate::cpu::{Policy, Tlb};
use crate::stream::PageSize;

/// Which level translated an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Translation {
    /// The first level.
    First,
    /// The second level.
    Second,
    /// A walk through the page tables.
    Walk,
}

/// The two levels of TLBs.
#[derive(Clone, Debug)]
pub(super) struct Translations {
    first: [Array; 3],
    second: Array,
    second_holds_large: bool,
    last: [u64; 3],
}

impl Translations {
    pub(super) fn new(tlb: &Tlb) -> Self {
        let array = |entries: u32, ways: u32| {
            // Beyond 32 ways a TLB is as good as split: the model has no larger sets.
            let ways = ways.clamp(1, 32);
            Array::new(u64::from(entries / ways).max(1), ways, Policy::Lru)
        };
        Self {
            first: [
                array(tlb.small_entries, tlb.small_ways),
                array(tlb.large_entries, tlb.large_ways),
                array(tlb.huge_entries, tlb.huge_entries),
            ],
            second: array(tlb.second_entries, tlb.second_ways),
            second_holds_large: tlb.second_holds_large,
            last: [u64::MAX; 3],
        }
    }

    /// Translates an address of `page` and remembers the page.
    pub(super) fn translate(&mut self, page: Page) -> Translation {
        let level = page.size as usize;
        if self.last[level] == page.number {
            return Translation::First;
        }
        self.last[level] = page.number;
        if hit_or_insert(&mut self.first[level], page.number) {
            return Translation::First;
        }
        let held = match page.size {
            PageSize::Small => true,
            PageSize::Large => self.second_holds_large,
            PageSize::Huge => false,
        };
        // The size is part of the tag, because a small and a large page may have the same number.
        let tag = page.number << 2 | level as u64;
        if held && hit_or_insert_at(&mut self.second, page.number, tag) {
            Translation::Second
        } else {
            Translation::Walk
        }
    }
}

fn hit_or_insert(array: &mut Array, number: u64) -> bool {
    hit_or_insert_at(array, number, number)
}

fn hit_or_insert_at(array: &mut Array, number: u64, tag: u64) -> bool {
    let set = number % array.sets();
    let hit = array.hit(set, tag);
    if !hit {
        let all = array.all_ways();
        array.insert(set, tag, all);
    }
    hit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Cpu;

    fn page(number: u64, size: PageSize) -> Page {
        Page {
            number,
            size,
            start: 0,
            physical: 0,
        }
    }

    #[test]
    fn pages_fill_both_levels() {
        let mut tlb = Translations::new(&Cpu::named("haswell").unwrap().tlb);
        let mut pass = |count: u64| {
            let mut found = [0; 3];
            for number in 0..count {
                found[tlb.translate(page(number, PageSize::Small)) as usize] += 1;
            }
            found
        };
        assert_eq!(pass(64), [0, 0, 64]);
        assert_eq!(pass(64), [64, 0, 0]);
        assert_eq!(pass(1024), [64, 0, 960]);
        assert_eq!(pass(1024), [0, 1024, 0]);
        assert_eq!(pass(2048), [0, 1024, 1024]);
    }

    #[test]
    fn ivy_bridge_walks_for_large_pages_beyond_its_first_level() {
        let mut haswell = Translations::new(&Cpu::named("haswell").unwrap().tlb);
        let mut ivy = Translations::new(&Cpu::named("ivy-bridge").unwrap().tlb);
        for number in 0..64 {
            haswell.translate(page(number, PageSize::Large));
            ivy.translate(page(number, PageSize::Large));
        }
        assert_eq!(
            haswell.translate(page(0, PageSize::Large)),
            Translation::Second
        );
        assert_eq!(ivy.translate(page(0, PageSize::Large)), Translation::Walk);
    }
}
