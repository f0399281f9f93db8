//! The directions of conditional branches.

use super::history::{FoldId, History};
use crate::cpu::Branches;

/// The largest and the smallest counter of a tagged entry: three bits with sign.
const STRONG: i8 = 3;
const STRONG_NOT: i8 = -4;

/// The largest usefulness of a tagged entry: two bits.
const USEFUL: u8 = 3;

/// Branches after which all entries lose one level of usefulness, so that the tables can learn new code.
const AGEING: u64 = 1 << 18;

/// Tagged tables and a table without history.
#[derive(Clone, Debug)]
pub(super) struct Tage {
    base: Vec<i8>,
    tables: Vec<Table>,
    /// Above or equal 0: the prediction of a new entry is worse than that of the next shorter history.
    distrust_new: i8,
    branches: u64,
}

#[derive(Clone, Debug)]
struct Table {
    entries: Vec<Entry>,
    index: FoldId,
    tag: FoldId,
    second_tag: FoldId,
    tag_mask: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// 0: the entry is empty. Tags are stored plus 1.
    tag: u32,
    counter: i8,
    useful: u8,
}

/// An entry that knows a branch.
#[derive(Clone, Copy, Debug)]
struct Found {
    table: usize,
    index: usize,
}

impl Table {
    fn slot(&self, history: &History, address: u64) -> (usize, u32) {
        let mixed = address ^ address >> 11;
        let index = (mixed as u32 ^ history.fold(self.index)) as usize & (self.entries.len() - 1);
        let tag = (address as u32 ^ history.fold(self.tag) ^ history.fold(self.second_tag) << 1)
            & self.tag_mask;
        (index, tag + 1)
    }
}

impl Tage {
    /// Untrained tables. They add their hashes to `history`.
    pub(super) fn new(branches: &Branches, history: &mut History) -> Self {
        let entries = branches.table_entries.next_power_of_two();
        let lengths = geometric(
            branches.shortest_history,
            branches.longest_history,
            branches.tables,
        );
        let tables = lengths.into_iter().map(|length| Table {
            entries: vec![Entry::default(); entries as usize],
            index: history.add_fold(length, entries.trailing_zeros().max(1)),
            tag: history.add_fold(length, branches.tag_bits),
            second_tag: history.add_fold(length, branches.tag_bits - 1),
            tag_mask: (1 << branches.tag_bits) - 1,
        });
        Self {
            base: vec![0; branches.base_entries.next_power_of_two() as usize],
            tables: tables.collect(),
            distrust_new: 0,
            branches: 0,
        }
    }

    /// Predicts a conditional branch, then learns that it went in the direction `taken`. Returns the prediction.
    pub(super) fn predict_and_learn(
        &mut self,
        history: &History,
        address: u64,
        taken: bool,
    ) -> bool {
        self.branches += 1;
        if self.branches % AGEING == 0 {
            for entry in self.tables.iter_mut().flat_map(|table| &mut table.entries) {
                entry.useful /= 2;
            }
        }
        let (provider, alternative) = self.find(history, address);
        let base = address as usize & (self.base.len() - 1);
        let base_says = self.base[base] >= 0;
        let says =
            |found: Option<Found>| found.map_or(base_says, |found| self.entry(found).counter >= 0);
        let (provider_says, alternative_says) = (says(provider), says(alternative));
        let new = provider.is_some_and(|found| {
            let entry = self.entry(found);
            entry.useful == 0 && matches!(entry.counter, -1 | 0)
        });
        let prediction = if new && self.distrust_new >= 0 {
            alternative_says
        } else {
            provider_says
        };

        if new && provider_says != alternative_says {
            let step = if alternative_says == taken { 1 } else { -1 };
            self.distrust_new = (self.distrust_new + step).clamp(-8, 7);
        }
        match provider {
            Some(found) => {
                let entry = &mut self.tables[found.table].entries[found.index];
                entry.counter = moved(entry.counter, taken, STRONG_NOT, STRONG);
                if provider_says != alternative_says {
                    let useful = entry.useful;
                    entry.useful = if provider_says == taken {
                        (useful + 1).min(USEFUL)
                    } else {
                        useful.saturating_sub(1)
                    };
                }
            }
            None => self.base[base] = moved(self.base[base], taken, -2, 1),
        }
        if prediction != taken {
            let first = provider.map_or(0, |found| found.table + 1);
            self.allocate(history, address, taken, first);
        }
        prediction
    }

    fn entry(&self, found: Found) -> Entry {
        self.tables[found.table].entries[found.index]
    }

    /// The entries with the longest and the second longest history that know the branch.
    fn find(&self, history: &History, address: u64) -> (Option<Found>, Option<Found>) {
        let mut known = self
            .tables
            .iter()
            .enumerate()
            .rev()
            .filter_map(|(number, table)| {
                let (index, tag) = table.slot(history, address);
                (table.entries[index].tag == tag).then_some(Found {
                    table: number,
                    index,
                })
            });
        (known.next(), known.next())
    }

    /// Gives the branch an entry in the first table from `first` on whose entry is of no use.
    fn allocate(&mut self, history: &History, address: u64, taken: bool, first: usize) {
        let mut candidates = Vec::with_capacity(self.tables.len());
        for (number, table) in self.tables.iter().enumerate().skip(first) {
            let (index, tag) = table.slot(history, address);
            candidates.push((number, index, tag));
        }
        let free = candidates
            .iter()
            .find(|(table, index, _)| self.tables[*table].entries[*index].useful == 0);
        if let Some((table, index, tag)) = free {
            let counter = if taken { 0 } else { -1 };
            self.tables[*table].entries[*index] = Entry {
                tag: *tag,
                counter,
                useful: 0,
            };
        } else {
            for (table, index, _) in candidates {
                let entry = &mut self.tables[table].entries[index];
                entry.useful = entry.useful.saturating_sub(1);
            }
        }
    }
}

/// A saturating counter after one more outcome.
fn moved(counter: i8, up: bool, least: i8, most: i8) -> i8 {
    if up {
        (counter + 1).min(most)
    } else {
        (counter - 1).max(least)
    }
}

/// `count` lengths from `shortest` to `longest`, each the same factor longer than the one before.
fn geometric(shortest: u32, longest: u32, count: u32) -> Vec<u32> {
    let factor = f64::from(longest) / f64::from(shortest);
    let steps = f64::from(count.max(2) - 1);
    let length = |step: u32| {
        let length = f64::from(shortest) * factor.powf(f64::from(step) / steps);
        // Rounding errors of a power must not take a branch away.
        (length + 1e-6) as u32
    };
    (0..count).map(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_form_a_geometric_series() {
        assert_eq!(geometric(7, 29, 3), [7, 14, 29]);
        assert_eq!(geometric(1, 16, 5), [1, 2, 4, 8, 16]);
        assert_eq!(geometric(5, 640, 8), [5, 10, 20, 40, 80, 160, 320, 640]);
        assert_eq!(geometric(4, 64, 1), [4]);
    }
}
