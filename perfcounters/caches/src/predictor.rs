//! A branch predictor of the TAGE class.
//!
//! A conditional branch is looked up in a table without history and in several tagged tables, whose histories form a
//! geometric series; the longest history that knows the branch predicts (Seznec and Michaud, A case for (partially) tagged
//! geometric history length branch prediction, JILP 2006). The history consists of taken branches, as on Intel's processors
//! (Yavarzadeh et al., Half&Half, S&P 2023). Indirect branches use a table of targets with the same history, and returns use
//! a stack.

mod history;
mod tage;
mod targets;

use crate::cpu::Cpu;
use crate::stream::{Branch, Step};
use history::History;
use tage::Tage;
use targets::{ReturnStack, Targets};

/// The branches that a predictor saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchCounts {
    /// Conditional branches.
    pub conditional: u64,
    /// All branches: conditional ones, jumps, calls and returns.
    pub all: u64,
    /// Conditional branches that were predicted wrongly.
    pub conditional_mispredicted: u64,
    /// Indirect jumps and calls whose target was predicted wrongly.
    pub indirect_mispredicted: u64,
    /// Returns whose target was predicted wrongly.
    pub returns_mispredicted: u64,
}

impl BranchCounts {
    /// All branches that were predicted wrongly.
    pub fn mispredicted(&self) -> u64 {
        self.conditional_mispredicted + self.indirect_mispredicted + self.returns_mispredicted
    }
}

/// The branch predictor of a core.
#[derive(Clone, Debug)]
pub struct Predictor {
    history: History,
    tage: Tage,
    targets: Targets,
    returns: ReturnStack,
    counts: BranchCounts,
}

impl Predictor {
    /// An untrained predictor of `cpu`.
    pub fn new(cpu: &Cpu) -> Self {
        let mut history = History::new();
        let tage = Tage::new(&cpu.branches, &mut history);
        let targets = Targets::new(&cpu.branches, &mut history);
        let returns = ReturnStack::new(cpu.branches.return_stack);
        Self {
            history,
            tage,
            targets,
            returns,
            counts: BranchCounts::default(),
        }
    }

    /// The sums so far.
    pub fn counts(&self) -> BranchCounts {
        self.counts
    }

    /// Sets all sums to 0 and keeps what the predictor learned, after a warm-up.
    pub fn reset_counts(&mut self) {
        self.counts = BranchCounts::default();
    }

    /// Predicts one executed branch of `length` bytes and learns from it. Returns whether it was mispredicted.
    ///
    /// Direct jumps and calls are always predicted correctly: their targets are part of the code.
    pub fn branch(&mut self, kind: Branch, length: usize, step: &Step) -> bool {
        self.counts.all += 1;
        let next = step.address.wrapping_add(length as u64);
        let wrong = match kind {
            Branch::Conditional => {
                // Without a recorded direction, the next address tells it.
                let taken = step.taken.unwrap_or(step.target != next);
                let wrong = self
                    .tage
                    .predict_and_learn(&self.history, step.address, taken)
                    != taken;
                self.counts.conditional += 1;
                self.counts.conditional_mispredicted += u64::from(wrong);
                if taken {
                    self.history.push(step.address, step.target);
                }
                return wrong;
            }
            Branch::Jump => false,
            Branch::Call => {
                self.returns.push(next);
                false
            }
            Branch::IndirectJump | Branch::IndirectCall => {
                if kind == Branch::IndirectCall {
                    self.returns.push(next);
                }
                let wrong =
                    !self
                        .targets
                        .predict_and_learn(&self.history, step.address, step.target);
                self.counts.indirect_mispredicted += u64::from(wrong);
                wrong
            }
            Branch::Return => {
                let wrong = self.returns.pop() != Some(step.target);
                self.counts.returns_mispredicted += u64::from(wrong);
                wrong
            }
        };
        self.history.push(step.address, step.target);
        wrong
    }
}

#[cfg(test)]
mod tests;
