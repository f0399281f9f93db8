//! A set-associative array of lines, which replaces the line that was used longest ago.

use crate::cpu::Cache;

/// Lines in sets.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    sets: u64,
    ways: usize,
    /// How many sets further a line belongs for each way of lines below it.
    shift: u64,
    entries: Vec<Entry>,
    time: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    line: u64,
    /// The time of the last use, from 1. 0: the way is empty.
    used: u64,
}

impl Array {
    /// An empty array. The first of each `sets` lines belongs `shift` sets further than that of those before.
    pub(crate) fn new(cache: Cache, shift: u64) -> Self {
        let (sets, ways) = (cache.sets(), cache.ways as usize);
        Self {
            sets,
            ways,
            shift,
            entries: vec![Entry::default(); sets as usize * ways],
            time: 0,
        }
    }

    /// The ways of the set to which a line belongs.
    fn set(&mut self, line: u64) -> &mut [Entry] {
        let index = line.wrapping_add((line / self.sets).wrapping_mul(self.shift));
        let first = (index % self.sets) as usize * self.ways;
        &mut self.entries[first..first + self.ways]
    }

    fn find(&mut self, line: u64) -> Option<&mut Entry> {
        let mut entries = self.set(line).iter_mut();
        entries.find(|entry| entry.used != 0 && entry.line == line)
    }

    /// Whether the array holds the line.
    pub(crate) fn contains(&mut self, line: u64) -> bool {
        self.find(line).is_some()
    }

    /// Looks the line up and marks it as used. Returns whether it is there.
    pub(crate) fn hit(&mut self, line: u64) -> bool {
        self.time += 1;
        let now = self.time;
        self.find(line).map(|entry| entry.used = now).is_some()
    }

    /// Drops a line, if it is there.
    pub(crate) fn remove(&mut self, line: u64) {
        if let Some(entry) = self.find(line) {
            *entry = Entry::default();
        }
    }

    /// Adds a line that the array does not hold, in one of the last `ways` ways. Returns the line that it replaced.
    pub(crate) fn insert(&mut self, line: u64, ways: usize) -> Option<u64> {
        self.time += 1;
        let (now, first) = (self.time, self.ways.saturating_sub(ways));
        let allowed = self.set(line).iter_mut().skip(first);
        let entry = allowed.min_by_key(|entry| entry.used)?;
        let old = std::mem::replace(entry, Entry { line, used: now });
        (old.used != 0).then_some(old.line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An array of `sets` sets, a multiple of 16.
    fn array(sets: u32, ways: u32) -> Array {
        let size_kib = sets * ways / 16;
        Array::new(Cache { size_kib, ways }, 0)
    }

    /// Accesses a line as a cache does. Returns whether it hit.
    fn access(array: &mut Array, line: u64) -> bool {
        let hit = array.hit(line);
        if !hit {
            array.insert(line, usize::MAX);
        }
        hit
    }

    proptest! {
        #[test]
        fn it_equals_lists_whose_first_line_was_used_last(
            ways in 1_u32..13,
            lines in prop::collection::vec(0_u64..200, 1..600),
        ) {
            let mut array = array(16, ways);
            let mut lists: Vec<Vec<u64>> = vec![Vec::new(); 16];
            for line in lines {
                let list = &mut lists[line as usize % 16];
                let known = list.contains(&line);
                list.retain(|other| *other != line);
                list.insert(0, line);
                list.truncate(ways as usize);
                prop_assert_eq!(access(&mut array, line), known);
            }
        }
    }

    #[test]
    fn insertions_stay_in_the_last_ways() {
        let mut array = array(16, 16);
        for index in 0..16 {
            assert_eq!(array.insert(index * 16, 16), None);
        }
        let replaced: Vec<_> = (16..20)
            .map(|index| array.insert(index * 16, 2).unwrap() / 16)
            .collect();
        assert_eq!(replaced, [14, 15, 16, 17]);
        array.remove(0);
        assert!(!array.contains(0) && array.contains(16));
    }
}
