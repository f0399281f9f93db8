//! The hardware prefetchers, as Intel's Optimization Reference Manual describes them.
//!
//! They work on physical lines and never leave a page of 4 KiB.

use crate::cpu::{Prefetchers, LINE};

/// Lines of a page of 4 KiB.
const PAGE_LINES: u64 = 4096 / LINE;

/// Repetitions of a stride after which the L1 prefetcher follows it.
const SURE: u8 = 2;

/// Whether two lines are in the same page of 4 KiB.
fn same_page(one: u64, other: u64) -> bool {
    one / PAGE_LINES == other / PAGE_LINES
}

/// The L1 prefetcher that follows the strides of load instructions.
#[derive(Clone, Debug)]
pub(super) struct Stride {
    entries: Vec<StrideEntry>,
    longest: u64,
    uses: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct StrideEntry {
    /// The low 8 bits of the instruction's address, plus 1. 0: the entry is empty.
    key: u16,
    last: u64,
    stride: i64,
    confidence: u8,
    used: u64,
}

impl Stride {
    pub(super) fn new(prefetchers: &Prefetchers) -> Self {
        let entries = vec![StrideEntry::default(); prefetchers.stride_entries as usize];
        Self {
            entries,
            longest: u64::from(prefetchers.longest_stride),
            uses: 0,
        }
    }

    /// A load at `instruction` reads the physical `address`. Returns the line to fetch.
    pub(super) fn load(&mut self, instruction: u64, address: u64) -> Option<u64> {
        if self.entries.is_empty() {
            return None;
        }
        self.uses += 1;
        let key = (instruction & 0xff) as u16 + 1;
        let known = self.entries.iter().position(|entry| entry.key == key);
        let index = known
            .or_else(|| (0..self.entries.len()).min_by_key(|index| self.entries[*index].used))?;
        let entry = &mut self.entries[index];
        entry.used = self.uses;
        if known.is_none() {
            *entry = StrideEntry {
                key,
                last: address,
                stride: 0,
                confidence: 0,
                used: self.uses,
            };
            return None;
        }
        let stride = address.wrapping_sub(entry.last) as i64;
        entry.last = address;
        if stride == 0 || stride.unsigned_abs() > self.longest {
            entry.confidence = 0;
            return None;
        }
        if stride == entry.stride {
            entry.confidence = (entry.confidence + 1).min(SURE + 1);
        } else {
            (entry.stride, entry.confidence) = (stride, 1);
        }
        let next = address.wrapping_add_signed(stride) / LINE;
        let line = address / LINE;
        (entry.confidence >= SURE && next != line && same_page(next, line)).then_some(next)
    }
}

/// The L1 prefetcher that fetches the next line after several ascending loads from a line that arrived recently.
#[derive(Clone, Debug)]
pub(super) struct NextLine {
    enabled: bool,
    recent: Vec<RecentLine>,
    oldest: usize,
}

#[derive(Clone, Copy, Debug)]
struct RecentLine {
    line: u64,
    offset: u64,
    asked: bool,
}

impl NextLine {
    /// `recent` is the number of lines that count as loaded recently.
    pub(super) fn new(prefetchers: &Prefetchers, recent: u32) -> Self {
        let empty = RecentLine {
            line: u64::MAX,
            offset: 0,
            asked: false,
        };
        Self {
            enabled: prefetchers.next_line,
            recent: vec![empty; recent.max(1) as usize],
            oldest: 0,
        }
    }

    /// A load reads the physical `address`; `missed`: not from L1. Returns the line to fetch.
    pub(super) fn load(&mut self, address: u64, missed: bool) -> Option<u64> {
        if !self.enabled {
            return None;
        }
        let (line, offset) = (address / LINE, address % LINE);
        match self.recent.iter_mut().find(|recent| recent.line == line) {
            Some(recent) => {
                let ascends = offset > recent.offset;
                recent.offset = offset;
                if ascends && !recent.asked && same_page(line, line + 1) {
                    recent.asked = true;
                    return Some(line + 1);
                }
            }
            None if missed => {
                self.recent[self.oldest] = RecentLine {
                    line,
                    offset,
                    asked: false,
                };
                self.oldest = (self.oldest + 1) % self.recent.len();
            }
            None => {}
        }
        None
    }

    /// The card took the line.
    pub(super) fn forget(&mut self, line: u64) {
        for recent in &mut self.recent {
            if recent.line == line {
                recent.line = u64::MAX;
            }
        }
    }
}

/// The other line of the aligned pair.
pub(super) fn adjacent(line: u64) -> u64 {
    line ^ 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Cpu;

    fn prefetchers() -> Prefetchers {
        Cpu::named("haswell").unwrap().prefetchers
    }

    #[test]
    fn a_stride_is_followed_after_two_repetitions() {
        let mut stride = Stride::new(&prefetchers());
        let base = 0x10_0000;
        let fetched: Vec<_> = (0..5)
            .map(|index| stride.load(0x401000, base + index * 256))
            .collect();
        let line = base / LINE;
        assert_eq!(
            fetched,
            [
                None,
                None,
                Some(line + 12),
                Some(line + 16),
                Some(line + 20)
            ]
        );
        assert_eq!(stride.load(0x401000, base + 64), None);
    }

    #[test]
    fn strides_end_at_the_page_and_at_the_longest_one() {
        let mut stride = Stride::new(&prefetchers());
        let base = 0x10_0000;
        for (index, fetched) in [None, None, Some(base / LINE + 48), None]
            .into_iter()
            .enumerate()
        {
            assert_eq!(stride.load(1, base + index as u64 * 1024), fetched);
        }
        for index in 0..8 {
            assert_eq!(stride.load(2, base + index * 2112), None);
        }
    }

    #[test]
    fn the_oldest_instruction_leaves_the_table() {
        let mut stride = Stride::new(&prefetchers());
        for index in 0..4 {
            stride.load(0, 0x1000 + index * 128);
        }
        for instruction in 1..=24 {
            stride.load(instruction, 0x2000);
        }
        assert_eq!(stride.load(0, 0x1000 + 4 * 128), None);
    }

    #[test]
    fn ascending_loads_of_a_recent_line_fetch_the_next_one_once() {
        let mut next = NextLine::new(&prefetchers(), 10);
        assert_eq!(next.load(0x1000, true), None);
        assert_eq!(next.load(0x1008, false), Some(0x1040 / LINE));
        assert_eq!(next.load(0x1010, false), None);
        assert_eq!(next.load(0x2010, true), None);
        assert_eq!(next.load(0x2000, false), None);
        assert_eq!(next.load(0x3000, false), None);
        assert_eq!(next.load(0x3008, false), None);
        assert_eq!(next.load(0x4fc0, true), None);
        assert_eq!(next.load(0x4fc8, false), None);
    }
}
