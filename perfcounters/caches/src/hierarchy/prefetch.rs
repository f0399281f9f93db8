//! The hardware prefetchers, as Intel's Optimization Reference Manual describes them.
//!
//! They work on physical lines and never leave a page of 4 KiB.

use crate::cpu::{Prefetchers, LINE};

/// Lines of a page of 4 KiB.
const PAGE_LINES: u64 = 4096 / LINE;

/// Repetitions of a stride after which the L1 prefetcher follows it.
const SURE: u8 = 2;

/// Requests in one direction after which the streamer follows it.
const STREAM: u8 = 2;

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

/// The L2 prefetcher that follows ascending and descending requests within a page.
#[derive(Clone, Debug)]
pub(super) struct Streamer {
    streams: Vec<Stream>,
    distance: u64,
    lines: u64,
    uses: u64,
}

#[derive(Clone, Copy, Debug)]
struct Stream {
    page: u64,
    last: u64,
    upward: bool,
    count: u8,
    /// The next line that was not fetched yet.
    next: u64,
    used: u64,
}

impl Streamer {
    pub(super) fn new(prefetchers: &Prefetchers) -> Self {
        let empty = Stream {
            page: u64::MAX,
            last: 0,
            upward: true,
            count: 0,
            next: 0,
            used: 0,
        };
        Self {
            streams: vec![empty; prefetchers.streams as usize],
            distance: u64::from(prefetchers.stream_distance),
            lines: u64::from(prefetchers.stream_lines),
            uses: 0,
        }
    }

    /// L1 requests `line` from L2. Adds the lines to fetch to `fetch`.
    pub(super) fn request(&mut self, line: u64, fetch: &mut Vec<u64>) {
        self.uses += 1;
        let page = line / PAGE_LINES;
        let known = self.streams.iter().position(|stream| stream.page == page);
        let oldest = || (0..self.streams.len()).min_by_key(|index| self.streams[*index].used);
        let Some(index) = known.or_else(oldest) else {
            return;
        };
        let (distance, lines, used) = (self.distance, self.lines, self.uses);
        let stream = &mut self.streams[index];
        if known.is_none() {
            *stream = Stream {
                page,
                last: line,
                upward: true,
                count: 0,
                next: line,
                used,
            };
            return;
        }
        stream.used = used;
        if line == stream.last {
            return;
        }
        let upward = line > stream.last;
        stream.last = line;
        if stream.count == 0 || upward != stream.upward {
            (stream.upward, stream.count, stream.next) = (upward, 1, line);
        } else {
            stream.count = (stream.count + 1).min(STREAM);
        }
        if stream.count < STREAM {
            return;
        }
        let (first, last) = (page * PAGE_LINES, (page + 1) * PAGE_LINES - 1);
        for _ in 0..lines {
            let next = if upward {
                Some(stream.next.max(line) + 1)
                    .filter(|next| *next <= last && next - line <= distance)
            } else {
                stream
                    .next
                    .min(line)
                    .checked_sub(1)
                    .filter(|next| *next >= first && line - next <= distance)
            };
            let Some(next) = next else { break };
            stream.next = next;
            fetch.push(next);
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

    #[test]
    fn the_streamer_runs_ahead_in_both_directions() {
        let mut streamer = Streamer::new(&prefetchers());
        let mut requests = |lines: &[u64]| {
            let mut fetch = Vec::new();
            for line in lines {
                streamer.request(*line, &mut fetch);
            }
            fetch
        };
        assert_eq!(requests(&[128, 129, 130]), [131, 132]);
        assert_eq!(requests(&[131]), [133, 134]);
        assert_eq!(
            requests(&[640 + 50, 640 + 49, 640 + 48]),
            [640 + 47, 640 + 46]
        );
        assert_eq!(requests(&[64 + 61, 64 + 62, 64 + 63]), []);
    }

    #[test]
    fn the_streamer_keeps_its_distance() {
        let mut streamer = Streamer::new(&prefetchers());
        let mut fetch = Vec::new();
        for line in 0..20 {
            streamer.request(line, &mut fetch);
        }
        let furthest = fetch.iter().max().copied();
        assert!(furthest <= Some(39), "{furthest:?}");
        assert!(fetch.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
