//! The history of taken branches, and its hashes.

/// The branches that the history can remember, a power of two above the longest history.
const REMEMBERED: usize = 2 * crate::cpu::LONGEST_HISTORY as usize;

/// A hash of the last `length` taken branches in `bits` bits, kept up to date as branches are added.
#[derive(Clone, Debug)]
struct Fold {
    value: u32,
    length: usize,
    bits: u32,
}

/// Names a hash of a history.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoldId(usize);

/// The taken branches, newest last.
#[derive(Clone, Debug)]
pub(super) struct History {
    footprints: Vec<u32>,
    newest: usize,
    folds: Vec<Fold>,
}

impl History {
    pub(super) fn new() -> Self {
        Self {
            footprints: vec![0; REMEMBERED],
            newest: 0,
            folds: Vec::new(),
        }
    }

    /// Adds a hash of the last `length` branches in `bits` bits (1 to 31).
    pub(super) fn add_fold(&mut self, length: u32, bits: u32) -> FoldId {
        let length = (length as usize).min(REMEMBERED - 1);
        self.folds.push(Fold {
            value: 0,
            length,
            bits: bits.clamp(1, 31),
        });
        FoldId(self.folds.len() - 1)
    }

    /// The present value of a hash.
    pub(super) fn fold(&self, id: FoldId) -> u32 {
        self.folds[id.0].value
    }

    /// Adds a taken branch.
    pub(super) fn push(&mut self, address: u64, target: u64) {
        let footprint = footprint(address, target);
        self.newest = (self.newest + 1) % REMEMBERED;
        self.footprints[self.newest] = footprint;
        for fold in &mut self.folds {
            let old = self.footprints[(self.newest + REMEMBERED - fold.length) % REMEMBERED];
            let (bits, length) = (fold.bits, fold.length as u32);
            fold.value = rotate(fold.value, 1, bits)
                ^ narrow(footprint, bits)
                ^ rotate(narrow(old, bits), length % bits, bits);
        }
    }
}

/// What the history keeps of a branch.
fn footprint(address: u64, target: u64) -> u32 {
    let mixed = (address ^ target.rotate_left(23)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 40) as u32
}

/// Folds 24 bits into `bits`.
fn narrow(mut value: u32, bits: u32) -> u32 {
    let mut narrowed = 0;
    while value != 0 {
        narrowed ^= value & ((1 << bits) - 1);
        value >>= bits;
    }
    narrowed
}

/// Rotates a number of `bits` bits to the left.
fn rotate(value: u32, by: u32, bits: u32) -> u32 {
    let by = by % bits;
    if by == 0 {
        return value;
    }
    ((value << by) | (value >> (bits - by))) & ((1 << bits) - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_hash_depends_on_its_branches_only(
            before in prop::collection::vec(any::<u64>(), 0..80),
            last in prop::collection::vec(any::<u64>(), 40),
            length in 1_u32..40,
            bits in 1_u32..20,
        ) {
            let mut one = History::new();
            let mut other = History::new();
            let (first, second) = (one.add_fold(length, bits), other.add_fold(length, bits));
            before.iter().chain(&last).for_each(|address| one.push(*address, 7));
            last.iter().for_each(|address| other.push(*address, 7));
            prop_assert_eq!(one.fold(first), other.fold(second));
            prop_assert!(one.fold(first) < 1 << bits);
        }
    }

    #[test]
    fn a_hash_depends_on_the_order() {
        let mut one = History::new();
        let mut other = History::new();
        let (first, second) = (one.add_fold(8, 11), other.add_fold(8, 11));
        for (a, b) in [(1, 2), (2, 1), (3, 3)] {
            one.push(a, 0);
            other.push(b, 0);
        }
        assert_ne!(one.fold(first), other.fold(second));
    }
}
