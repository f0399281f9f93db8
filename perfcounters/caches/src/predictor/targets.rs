//! The targets of indirect branches and returns.

use super::history::{FoldId, History};
use crate::cpu::Branches;

/// Targets of indirect branches: by branch and history, and by branch alone.
#[derive(Clone, Debug)]
pub(super) struct Targets {
    with_history: Vec<Target>,
    alone: Vec<Target>,
    history: FoldId,
}

#[derive(Clone, Copy, Debug, Default)]
struct Target {
    address: u64,
    target: u64,
}

impl Targets {
    pub(super) fn new(branches: &Branches, history: &mut History) -> Self {
        let entries = branches.target_entries.max(1) as usize;
        Self {
            with_history: vec![Target::default(); entries],
            alone: vec![Target::default(); entries],
            history: history.add_fold(branches.shortest_history, 16),
        }
    }

    /// Predicts the target of the branch at `address`, then learns it. Returns whether the prediction was right.
    pub(super) fn predict_and_learn(
        &mut self,
        history: &History,
        address: u64,
        target: u64,
    ) -> bool {
        let hashed = address ^ u64::from(history.fold(self.history));
        let with_history = hashed as usize % self.with_history.len();
        let alone = address as usize % self.alone.len();
        let long = &mut self.with_history[with_history];
        let short = &mut self.alone[alone];
        let right = if long.address == address {
            long.target == target
        } else {
            short.address == address && short.target == target
        };
        *long = Target { address, target };
        *short = Target { address, target };
        right
    }
}

/// The return addresses of the latest calls.
#[derive(Clone, Debug)]
pub(super) struct ReturnStack {
    entries: Vec<u64>,
    most: usize,
}

impl ReturnStack {
    pub(super) fn new(entries: u32) -> Self {
        Self {
            entries: Vec::new(),
            most: entries.max(1) as usize,
        }
    }

    /// A call. The oldest address goes if the stack is full.
    pub(super) fn push(&mut self, address: u64) {
        if self.entries.len() == self.most {
            self.entries.remove(0);
        }
        self.entries.push(address);
    }

    /// A return.
    pub(super) fn pop(&mut self) -> Option<u64> {
        self.entries.pop()
    }
}
