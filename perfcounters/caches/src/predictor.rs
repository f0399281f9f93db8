//! A branch predictor of the TAGE class.
//!
//! A conditional branch has one counter without history, and more counters with histories of increasing length. The
//! counter with the longest history that knows the branch predicts (Seznec and Michaud, A case for (partially) tagged
//! geometric history length branch prediction, JILP 2006). The history consists of taken branches, as on Intel's
//! processors (Yavarzadeh et al., Half&Half, S&P 2023). The tables have no limit: a driver has too few branches to
//! fill those of a processor.
//!
//! Indirect branches use a table of targets by branch and history, and returns use a stack.

use std::collections::{HashMap, VecDeque};

use iced_x86::FlowControl as Flow;

use crate::cpu::Cpu;
use crate::stream::Step;

/// Entries of the return stack. Processors have 16 or more, and the calls of drivers nest less deep.
const RETURN_STACK: usize = 16;

/// The least and the most of a counter of three bits. It predicts a taken branch from 0 on.
const COUNTER: (i8, i8) = (-4, 3);

/// The branch predictor of a core.
#[derive(Clone, Debug)]
pub struct Predictor {
    /// Hashes of the latest taken branches, the newest first.
    history: VecDeque<u64>,
    /// The shortest history first, which is empty.
    tables: Vec<Table>,
    /// The latest target of an indirect branch, by address and history, and by address alone.
    targets: HashMap<u64, u64>,
    returns: VecDeque<u64>,
}

/// Counters by the hash of the branch and its history.
#[derive(Clone, Debug)]
struct Table {
    history: usize,
    counters: HashMap<u64, i8>,
}

impl Predictor {
    /// An untrained predictor of `cpu`.
    pub fn new(cpu: &Cpu) -> Self {
        let table = |history: &u32| Table {
            history: *history as usize,
            counters: HashMap::new(),
        };
        let histories = std::iter::once(&0).chain(&cpu.histories);
        Self {
            history: VecDeque::new(),
            tables: histories.map(table).collect(),
            targets: HashMap::new(),
            returns: VecDeque::new(),
        }
    }

    /// Predicts one executed instruction and learns from it. Returns whether it was a mispredicted branch.
    ///
    /// Direct jumps and calls are always predicted correctly: their targets are part of the code.
    pub(crate) fn misses(&mut self, step: &Step) -> bool {
        let Some(kind) = step.branch else {
            return false;
        };
        let mut taken = true;
        let wrong = match kind {
            Flow::ConditionalBranch => {
                taken = step.target != step.next;
                self.direction(step.address, taken) != taken
            }
            Flow::IndirectBranch | Flow::IndirectCall => {
                self.target(step.address, step.target) != Some(step.target)
            }
            Flow::Return => self.returns.pop_back() != Some(step.target),
            _ => false,
        };
        if matches!(kind, Flow::Call | Flow::IndirectCall) {
            self.returns.push_back(step.next);
            if self.returns.len() > RETURN_STACK {
                self.returns.pop_front();
            }
        }
        if taken {
            let longest = self.tables.last().map_or(0, |table| table.history);
            self.history.push_front(hash(step.address, step.target));
            self.history.truncate(longest);
        }
        wrong
    }

    /// The hash of a branch and the last `length` taken branches, which differs from the address also without any.
    fn context(&self, address: u64, length: usize) -> u64 {
        let latest = self.history.iter().take(length);
        latest.fold(hash(address, length as u64), |context, branch| {
            hash(context, *branch)
        })
    }

    /// The predicted direction of a conditional branch. Learns that it went in the direction `taken`.
    fn direction(&mut self, address: u64, taken: bool) -> bool {
        let tables = self.tables.iter();
        let contexts: Vec<_> = tables
            .map(|table| self.context(address, table.history))
            .collect();
        // The table without history knows each branch.
        let knows = |(table, context): (&Table, _)| table.counters.contains_key(context);
        let known = self.tables.iter().zip(&contexts).rposition(knows);
        let known = known.unwrap_or(0);
        let counters = &mut self.tables[known].counters;
        let counter = counters.entry(contexts[known]).or_default();
        let predicted = *counter >= 0;
        let step = if taken { 1 } else { -1 };
        *counter = (*counter + step).clamp(COUNTER.0, COUNTER.1);
        if predicted != taken {
            // The next longer history learns the branch, with a weak counter.
            let longer = self.tables.iter_mut().zip(contexts).nth(known + 1);
            if let Some((table, context)) = longer {
                table.counters.insert(context, if taken { 0 } else { -1 });
            }
        }
        predicted
    }

    /// The predicted target of an indirect branch. Learns that it went to `target`.
    fn target(&mut self, address: u64, target: u64) -> Option<u64> {
        let shortest = self.tables.get(1).map_or(0, |table| table.history);
        let with_history = self.targets.insert(self.context(address, shortest), target);
        let alone = self.targets.insert(address, target);
        with_history.or(alone)
    }
}

/// Mixes two numbers, so that each bit of the result depends on all bits of both.
fn hash(one: u64, other: u64) -> u64 {
    let mixed = (one.rotate_left(23) ^ other).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predictor(name: &str) -> Predictor {
        Predictor::new(&Cpu::named(name).unwrap())
    }

    fn execute(
        predictor: &mut Predictor,
        kind: Flow,
        address: u64,
        next: u64,
        target: u64,
    ) -> bool {
        predictor.misses(&Step {
            address,
            next,
            branch: Some(kind),
            target,
            ..Step::default()
        })
    }

    /// Executes a branch that is no conditional one. Returns whether it was mispredicted.
    fn branch(predictor: &mut Predictor, kind: Flow, address: u64, target: u64) -> bool {
        execute(predictor, kind, address, address + 5, target)
    }

    /// Executes a conditional branch of two bytes. Returns whether it was mispredicted.
    fn conditional(predictor: &mut Predictor, address: u64, taken: bool) -> bool {
        let next = address + 2;
        let target = if taken { address - 16 } else { next };
        execute(predictor, Flow::ConditionalBranch, address, next, target)
    }

    /// The mispredictions of the second half of a sequence of outcomes of one branch in a loop.
    fn misses(predictor: &mut Predictor, outcomes: &[bool]) -> usize {
        let mut missed = 0;
        for (index, taken) in outcomes.iter().enumerate() {
            branch(predictor, Flow::UnconditionalBranch, 0x2000, 0x1000);
            let wrong = conditional(predictor, 0x1000, *taken);
            missed += usize::from(wrong && index >= outcomes.len() / 2);
        }
        missed
    }

    /// A fixed sequence of random bits.
    fn random(count: usize) -> Vec<bool> {
        let mut state = 0x1234_5678_9abc_def1_u64;
        let bits = (0..count).map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state & 1 == 1
        });
        bits.collect()
    }

    #[test]
    fn patterns_are_learnt_and_random_branches_cost_half() {
        for name in Cpu::names() {
            for period in 1..7 {
                let outcomes: Vec<bool> = (0..4000).map(|index| index % period == 0).collect();
                let missed = misses(&mut predictor(name), &outcomes);
                assert_eq!(missed, 0, "{name}, period {period}");
            }
            let missed = misses(&mut predictor(name), &random(20_000));
            assert!((4_400..5_600).contains(&missed), "{name}: {missed}");
        }
    }

    #[test]
    fn the_end_of_a_loop_is_known_within_the_history() {
        // Haswell remembers 29 taken branches. Beyond them, each of the 100 runs of the loop misses its end once.
        for (iterations, expected) in [(8, 0), (24, 0), (64, 100)] {
            let mut outcomes = vec![true; iterations];
            outcomes[iterations - 1] = false;
            let mut predictor = predictor("haswell");
            let mut missed = 0;
            for run in 0..200 {
                for taken in &outcomes {
                    let wrong = conditional(&mut predictor, 0x1010, *taken);
                    missed += u32::from(wrong && run >= 100);
                }
                branch(&mut predictor, Flow::UnconditionalBranch, 0x1012, 0x1000);
            }
            assert_eq!(missed, expected, "{iterations}");
        }
    }

    #[test]
    fn a_branch_that_follows_another_is_learnt() {
        let mut predictor = predictor("haswell");
        let mut missed = 0;
        for (index, first) in random(8000).into_iter().enumerate() {
            conditional(&mut predictor, 0x1000, first);
            let wrong = conditional(&mut predictor, 0x3000, !first);
            // The history has taken branches only. The jump marks the round, as the end of a loop does.
            branch(&mut predictor, Flow::UnconditionalBranch, 0x4000, 0x1000);
            missed += u32::from(wrong && index >= 4000);
        }
        assert!(missed < 200, "{missed}");
    }

    #[test]
    fn returns_go_back_to_the_last_sixteen_calls() {
        let mut predictor = predictor("haswell");
        let calls = || (0..20).map(|depth| (depth, 0x1000 + depth * 16));
        for (_, address) in calls() {
            assert!(!branch(&mut predictor, Flow::Call, address, 0x9000));
        }
        for (depth, address) in calls().rev() {
            let wrong = branch(&mut predictor, Flow::Return, 0x9000, address + 5);
            assert_eq!(wrong, depth < 4, "{depth}");
        }
    }

    #[test]
    fn indirect_calls_are_predicted_by_their_history() {
        let mut predictor = predictor("haswell");
        for round in 0..200 {
            for target in [0x9000, 0x9000, 0xa000] {
                let wrong = branch(&mut predictor, Flow::IndirectCall, 0x1000, target);
                assert!(!wrong || round < 100, "{round}");
                assert!(!branch(&mut predictor, Flow::Return, target, 0x1005));
            }
        }
    }
}
