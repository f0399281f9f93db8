//! Loops that always run the same number of iterations.

/// Equal runs of a loop after which its number of iterations predicts.
const SURE: u8 = 3;

/// A predictor of loop ends.
#[derive(Clone, Debug)]
pub(super) struct Loops {
    entries: Vec<Loop>,
    uses: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Loop {
    /// The address of the branch. 0: the entry is empty.
    address: u64,
    /// The direction of the branch while the loop continues.
    body: bool,
    iterations: u32,
    current: u32,
    confidence: u8,
    used: u64,
}

impl Loops {
    /// A predictor for `entries` loops. With 0 it predicts nothing.
    pub(super) fn new(entries: u32) -> Self {
        Self {
            entries: vec![Loop::default(); entries as usize],
            uses: 0,
        }
    }

    /// The direction of the branch, if its loop is known well enough.
    pub(super) fn predict(&self, address: u64) -> Option<bool> {
        let entry = self.entries.iter().find(|entry| entry.address == address)?;
        (entry.confidence >= SURE).then_some(entry.body == (entry.current < entry.iterations))
    }

    /// The branch went in the direction `taken`; `missed`: the other tables predicted it wrongly.
    pub(super) fn learn(&mut self, address: u64, taken: bool, missed: bool) {
        self.uses += 1;
        let Some(index) = self
            .entries
            .iter()
            .position(|entry| entry.address == address)
        else {
            if missed {
                self.allocate(address, taken);
            }
            return;
        };
        let entry = &mut self.entries[index];
        entry.used = self.uses;
        if taken == entry.body {
            entry.current = entry.current.saturating_add(1);
            if entry.confidence >= SURE && entry.current > entry.iterations {
                entry.confidence = 0;
            }
            return;
        }
        if entry.current == entry.iterations {
            entry.confidence = (entry.confidence + 1).min(SURE);
        } else {
            (entry.iterations, entry.confidence) = (entry.current, 0);
        }
        entry.current = 0;
    }

    fn allocate(&mut self, address: u64, taken: bool) {
        if let Some(entry) = self.entries.iter_mut().min_by_key(|entry| entry.used) {
            // A missed branch is the end of its loop, so that the body goes the other way.
            *entry = Loop {
                address,
                body: !taken,
                used: self.uses,
                ..Loop::default()
            };
        }
    }
}
