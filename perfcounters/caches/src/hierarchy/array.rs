//! A set-associative array: the tags of a cache, with its replacement policy.

use crate::cpu::{Policy, Qlru, Victim};

/// The tag of an empty way.
const EMPTY: u64 = u64::MAX;

/// The age of the oldest lines of a policy with ages.
const OLDEST: u64 = 3;

/// The ways of a set that an insertion may use, as a bit mask.
pub(super) type Ways = u32;

/// Tags in sets.
#[derive(Clone, Debug)]
pub(super) struct Array {
    sets: u64,
    ways: usize,
    policy: Policy,
    tags: Vec<u64>,
    /// One value per way: the time of the last use (LRU), or the age (QLRU).
    marks: Vec<u64>,
    /// One tree of bits per set (PLRU).
    trees: Vec<u32>,
    dirty: Vec<bool>,
    time: u64,
}

/// A line that an insertion replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evicted {
    pub(super) tag: u64,
    pub(super) dirty: bool,
}

impl Array {
    /// An empty array. `sets` and `ways` are at least 1; there are at most 32 ways.
    pub(super) fn new(sets: u64, ways: u32, policy: Policy) -> Self {
        let (sets, ways) = (sets.max(1), ways.clamp(1, 32) as usize);
        let entries = sets as usize * ways;
        let mark = if matches!(policy, Policy::Qlru(_)) {
            OLDEST
        } else {
            0
        };
        Self {
            sets,
            ways,
            policy,
            tags: vec![EMPTY; entries],
            marks: vec![mark; entries],
            trees: vec![0; sets as usize],
            dirty: vec![false; entries],
            time: 0,
        }
    }

    pub(super) fn sets(&self) -> u64 {
        self.sets
    }

    /// The mask of all ways.
    pub(super) fn all_ways(&self) -> Ways {
        Ways::MAX >> (32 - self.ways)
    }

    /// The mask of the last `count` ways.
    pub(super) fn last_ways(&self, count: u32) -> Ways {
        let first = self.ways - (count as usize).min(self.ways);
        self.all_ways() & Ways::MAX.checked_shl(first as u32).unwrap_or(0)
    }

    fn find(&self, set: u64, tag: u64) -> Option<usize> {
        let first = set as usize * self.ways;
        self.tags[first..first + self.ways]
            .iter()
            .position(|known| *known == tag)
    }

    /// Whether the set holds the tag.
    pub(super) fn contains(&self, set: u64, tag: u64) -> bool {
        self.find(set, tag).is_some()
    }

    /// Looks the tag up and marks it as used. Returns whether it is there.
    pub(super) fn hit(&mut self, set: u64, tag: u64) -> bool {
        match self.find(set, tag) {
            Some(way) => {
                self.used(set, way);
                true
            }
            None => false,
        }
    }

    /// Marks a line as changed, if it is there.
    pub(super) fn set_dirty(&mut self, set: u64, tag: u64) {
        if let Some(way) = self.find(set, tag) {
            self.dirty[set as usize * self.ways + way] = true;
        }
    }

    /// Drops a tag, if it is there.
    pub(super) fn remove(&mut self, set: u64, tag: u64) {
        if let Some(way) = self.find(set, tag) {
            let index = set as usize * self.ways + way;
            self.tags[index] = EMPTY;
            self.dirty[index] = false;
        }
    }

    /// Adds a tag that the set does not hold, in one of the `allowed` ways, and returns the tag that it replaced.
    pub(super) fn insert(&mut self, set: u64, tag: u64, allowed: Ways) -> Option<Evicted> {
        let first = set as usize * self.ways;
        let way = self
            .empty_way(first, allowed)
            .unwrap_or_else(|| self.victim(set, allowed));
        let index = first + way;
        let old = Evicted {
            tag: self.tags[index],
            dirty: self.dirty[index],
        };
        self.tags[index] = tag;
        self.dirty[index] = false;
        match self.policy {
            Policy::Qlru(qlru) => {
                self.marks[index] = u64::from(qlru.insert);
                self.update_ages(set, way, qlru);
            }
            _ => self.used(set, way),
        }
        (old.tag != EMPTY).then_some(old)
    }

    fn empty_way(&self, first: usize, allowed: Ways) -> Option<usize> {
        let empty = |way: &usize| allowed & (1 << way) != 0 && self.tags[first + way] == EMPTY;
        match self.policy {
            Policy::Qlru(Qlru {
                victim: Victim::Rightmost,
                ..
            }) => (0..self.ways).rev().find(empty),
            _ => (0..self.ways).find(empty),
        }
    }

    fn used(&mut self, set: u64, way: usize) {
        let first = set as usize * self.ways;
        match self.policy {
            Policy::Lru => {
                let time = self.now();
                self.marks[first + way] = time;
            }
            Policy::TreePlru => point_away(&mut self.trees[set as usize], way, self.ways),
            Policy::Lru3Plru4 => {
                let (tree, leaf) = (way / 4, way % 4);
                let mut bits = self.trees[set as usize] >> (8 * tree) & 0xff;
                point_away(&mut bits, leaf, 4);
                let kept = self.trees[set as usize] & !(0xff << (8 * tree));
                self.trees[set as usize] = kept | bits << (8 * tree);
                let time = self.now();
                self.marks[first + 4 * tree] = time;
            }
            Policy::Qlru(qlru) => {
                let mark = &mut self.marks[first + way];
                *mark = match *mark {
                    OLDEST => u64::from(qlru.hit_from_3),
                    2 => u64::from(qlru.hit_from_2),
                    _ => 0,
                };
                self.update_ages(set, way, qlru);
            }
        }
    }

    /// The time of this use.
    fn now(&mut self) -> u64 {
        self.time += 1;
        self.time
    }

    fn victim(&mut self, set: u64, allowed: Ways) -> usize {
        let first = set as usize * self.ways;
        let ways = (0..self.ways).filter(|way| allowed & (1 << way) != 0);
        match self.policy {
            Policy::Lru => ways.min_by_key(|way| self.marks[first + way]).unwrap_or(0),
            Policy::TreePlru => pointed_at(self.trees[set as usize], self.ways, allowed),
            Policy::Lru3Plru4 => {
                let trees = (0..self.ways / 4).filter(|tree| allowed >> (4 * tree) & 0xf != 0);
                let tree = trees
                    .min_by_key(|tree| self.marks[first + 4 * tree])
                    .unwrap_or(0);
                let bits = self.trees[set as usize] >> (8 * tree) & 0xff;
                4 * tree + pointed_at(bits, 4, allowed >> (4 * tree) & 0xf)
            }
            Policy::Qlru(qlru) => {
                let oldest = |way: &usize| self.marks[first + way] == OLDEST;
                let found = match qlru.victim {
                    Victim::Rightmost => ways.clone().rev().find(oldest),
                    Victim::Leftmost | Victim::LeftmostOrFirst => ways.clone().find(oldest),
                };
                let fallback = || match qlru.victim {
                    Victim::LeftmostOrFirst => ways.clone().next(),
                    // Only possible if the allowed ways are fewer than all: the oldest of them.
                    _ => ways.clone().rev().max_by_key(|way| self.marks[first + way]),
                };
                found.or_else(fallback).unwrap_or(0)
            }
        }
    }

    fn update_ages(&mut self, set: u64, accessed: usize, qlru: Qlru) {
        let first = set as usize * self.ways;
        let ages = &mut self.marks[first..first + self.ways];
        let spared = matches!(qlru.update, 1 | 3).then_some(accessed);
        let oldest = |except: Option<usize>, ages: &[u64]| {
            let others = ages
                .iter()
                .enumerate()
                .filter(|(way, _)| Some(*way) != except);
            others.map(|(_, age)| *age).max().unwrap_or(OLDEST)
        };
        let growth = match qlru.update {
            0 => OLDEST - oldest(None, ages),
            1 => OLDEST - oldest(spared, ages),
            _ => u64::from(oldest(None, ages) < OLDEST),
        };
        for (way, age) in ages.iter_mut().enumerate() {
            if Some(way) != spared {
                *age += growth;
            }
        }
    }
}

/// Makes the bits of a binary tree over `ways` leaves point away from `way`.
fn point_away(bits: &mut u32, way: usize, ways: usize) {
    let (mut low, mut high, mut node) = (0, ways, 1);
    while high - low > 1 {
        let middle = low + (high - low).div_ceil(2);
        if way < middle {
            *bits |= 1 << node;
            (high, node) = (middle, 2 * node);
        } else {
            *bits &= !(1 << node);
            (low, node) = (middle, 2 * node + 1);
        }
    }
}

/// The leaf that the bits of a tree point at, among the allowed leaves.
fn pointed_at(bits: u32, ways: usize, allowed: Ways) -> usize {
    let any = |low: usize, high: usize| (low..high).any(|way| allowed & (1 << way) != 0);
    let (mut low, mut high, mut node) = (0, ways, 1);
    while high - low > 1 {
        let middle = low + (high - low).div_ceil(2);
        let right = bits & (1 << node) != 0;
        if (right && any(middle, high)) || !any(low, middle) {
            (low, node) = (middle, 2 * node + 1);
        } else {
            (high, node) = (middle, 2 * node);
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn policy(name: &str) -> Policy {
        Policy::try_from(name.to_owned()).unwrap()
    }

    /// Accesses a line as a cache does. Returns whether it hit.
    fn access(array: &mut Array, tag: u64) -> bool {
        let set = tag % array.sets();
        let hit = array.hit(set, tag);
        if !hit {
            let all = array.all_ways();
            array.insert(set, tag, all);
        }
        hit
    }

    fn hits(policy_name: &str, ways: u32, tags: &[u64]) -> Vec<bool> {
        let mut array = Array::new(1, ways, policy(policy_name));
        tags.iter().map(|tag| access(&mut array, *tag)).collect()
    }

    /// LRU by lists: the most recently used line is the first of its set.
    fn reference(sets: u64, ways: usize, tags: &[u64]) -> Vec<bool> {
        let mut lists: Vec<Vec<u64>> = vec![Vec::new(); sets as usize];
        tags.iter()
            .map(|tag| {
                let list = &mut lists[(tag % sets) as usize];
                let hit = list.contains(tag);
                list.retain(|known| known != tag);
                list.insert(0, *tag);
                list.truncate(ways);
                hit
            })
            .collect()
    }

    proptest! {
        #[test]
        fn lru_equals_lists(
            sets in 1_u64..9,
            ways in 1_u32..13,
            tags in prop::collection::vec(0_u64..200, 1..600),
        ) {
            let mut array = Array::new(sets, ways, Policy::Lru);
            let own: Vec<bool> = tags.iter().map(|tag| access(&mut array, *tag)).collect();
            prop_assert_eq!(own, reference(sets, ways as usize, &tags));
        }

        #[test]
        fn more_ways_never_miss_more_with_lru(
            ways in 1_u32..8,
            tags in prop::collection::vec(0_u64..60, 1..600),
        ) {
            let count = |ways| hits("LRU", ways, &tags).into_iter().filter(|hit| *hit).count();
            prop_assert!(count(ways) <= count(ways + 1));
        }

        #[test]
        fn every_policy_keeps_the_line_used_last(
            name in prop::sample::select(vec![
                "LRU", "PLRU", "LRU3PLRU4", "QLRU_H11_M1_R1_U2", "QLRU_H11_M1_R0_U0", "QLRU_H00_M1_R2_U1",
            ]),
            tags in prop::collection::vec(0_u64..40, 1..400),
        ) {
            let mut array = Array::new(1, 12, policy(name));
            for tag in tags {
                access(&mut array, tag);
                prop_assert!(array.contains(0, tag));
            }
        }

        #[test]
        fn insertions_stay_in_the_allowed_ways(
            name in prop::sample::select(vec!["LRU", "PLRU", "QLRU_H11_M1_R1_U2", "QLRU_H11_M1_R0_U0"]),
            tags in prop::collection::vec(100_u64..140, 1..200),
        ) {
            let mut array = Array::new(1, 16, policy(name));
            for tag in 0..16 {
                access(&mut array, tag);
            }
            let allowed = array.last_ways(2);
            for tag in tags {
                if !array.hit(0, tag) {
                    array.insert(0, tag, allowed);
                }
            }
            let kept = (0..16).filter(|tag| array.contains(0, *tag)).count();
            prop_assert!(kept >= 14, "{kept}");
        }
    }

    #[test]
    fn tree_plru_follows_its_bits() {
        // After 0 1 2 3 the root points left and the left node points at 0. The hit on 0 makes 2 the victim.
        assert_eq!(
            hits("PLRU", 4, &[0, 1, 2, 3, 0, 9, 2, 0]),
            [false, false, false, false, true, false, false, true]
        );
    }

    #[test]
    fn a_loop_larger_than_an_lru_set_never_hits() {
        let tags: Vec<u64> = (0..50).map(|index| index % 5).collect();
        assert!(hits("LRU", 4, &tags).into_iter().all(|hit| !hit));
    }

    #[test]
    fn qlru_replaces_the_leftmost_oldest_line() {
        // Four insertions with age 1. U2 ages all by 1 whenever no line has age 3, and empty ways have age 3.
        let mut array = Array::new(1, 4, policy("QLRU_H11_M1_R1_U2"));
        for tag in 0..4 {
            access(&mut array, tag);
        }
        assert_eq!(array.marks, [2, 2, 2, 2]);
        access(&mut array, 2);
        assert_eq!(array.marks, [3, 3, 2, 3]);
        access(&mut array, 9);
        assert_eq!(array.tags, [9, 1, 2, 3]);
        assert_eq!(array.marks, [1, 3, 2, 3]);
    }

    #[test]
    fn the_last_ways_are_a_mask() {
        let array = Array::new(1, 16, Policy::Lru);
        assert_eq!(array.last_ways(2), 0xc000);
        assert_eq!(array.last_ways(0), 0);
        assert_eq!(array.last_ways(16), 0xffff);
        assert_eq!(Array::new(1, 32, Policy::Lru).last_ways(99), u32::MAX);
    }
}
