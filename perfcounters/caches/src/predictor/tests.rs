use proptest::prelude::*;

use super::*;
use crate::stream::Accesses;

fn predictor(name: &str) -> Predictor {
    Predictor::new(&Cpu::named(name).unwrap())
}

fn step(address: u64, taken: Option<bool>, target: u64) -> Step {
    Step {
        address,
        accesses: Accesses::new(),
        taken,
        target,
    }
}

/// Executes a conditional branch of two bytes. Returns whether it was mispredicted.
fn conditional(predictor: &mut Predictor, address: u64, taken: bool) -> bool {
    let target = if taken { address + 100 } else { address + 2 };
    predictor.branch(Branch::Conditional, 2, &step(address, Some(taken), target))
}

/// The mispredictions of the second half of a sequence of outcomes of one branch.
fn misses(predictor: &mut Predictor, outcomes: &[bool]) -> usize {
    let half = outcomes.len() / 2;
    let mut missed = 0;
    for (index, taken) in outcomes.iter().enumerate() {
        // A taken jump that surrounds the branch, as a loop has it.
        predictor.branch(Branch::Jump, 2, &step(0x2000, None, 0x1000));
        missed += usize::from(conditional(predictor, 0x1000, *taken) && index >= half);
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
fn a_branch_that_never_changes_is_always_predicted() {
    for name in Cpu::names() {
        for direction in [false, true] {
            assert_eq!(misses(&mut predictor(name), &[direction; 200]), 0, "{name}");
        }
    }
}

#[test]
fn short_patterns_are_learnt() {
    for name in Cpu::names() {
        for period in 2..7 {
            let outcomes: Vec<bool> = (0..4000).map(|index| index % period == 0).collect();
            assert_eq!(
                misses(&mut predictor(name), &outcomes),
                0,
                "{name}, period {period}"
            );
        }
    }
}

#[test]
fn random_branches_cost_half() {
    for name in Cpu::names() {
        let missed = misses(&mut predictor(name), &random(20_000));
        assert!((4_400..5_600).contains(&missed), "{name}: {missed}");
    }
}

/// The mispredictions of 100 runs of a loop with `iterations`, after 100 runs that train.
fn loop_misses(predictor: &mut Predictor, iterations: u32) -> u32 {
    let mut missed = 0;
    for run in 0..200 {
        for iteration in 1..=iterations {
            let back = iteration < iterations;
            let target = if back { 0x1000 } else { 0x1012 };
            let wrong = predictor.branch(Branch::Conditional, 2, &step(0x1010, Some(back), target));
            missed += u32::from(wrong && run >= 100);
        }
        predictor.branch(Branch::Jump, 5, &step(0x1012, None, 0x1000));
    }
    missed
}

#[test]
fn the_end_of_a_loop_is_known_within_the_history() {
    for name in ["haswell", "ivy-bridge"] {
        assert_eq!(loop_misses(&mut predictor(name), 8), 0, "{name}");
        assert_eq!(loop_misses(&mut predictor(name), 24), 0, "{name}");
        // Beyond the history of 29 taken branches every run misses its end once.
        assert_eq!(loop_misses(&mut predictor(name), 64), 100, "{name}");
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
        predictor.branch(Branch::Jump, 2, &step(0x4000, None, 0x1000));
        missed += u32::from(wrong && index >= 4000);
    }
    assert!(missed < 200, "{missed}");
}

#[test]
fn returns_go_back_to_their_calls() {
    let mut predictor = predictor("haswell");
    for depth in 0..16 {
        assert!(!predictor.branch(Branch::Call, 5, &step(0x1000 + depth * 16, None, 0x9000)));
    }
    for depth in (0..16).rev() {
        assert!(!predictor.branch(Branch::Return, 1, &step(0x9000, None, 0x1005 + depth * 16)));
    }
    assert!(predictor.branch(Branch::Return, 1, &step(0x9000, None, 0x1005)));
    assert_eq!(predictor.counts().returns_mispredicted, 1);
}

#[test]
fn calls_deeper_than_the_return_stack_lose_the_oldest() {
    let mut predictor = predictor("haswell");
    for depth in 0..20 {
        predictor.branch(Branch::Call, 5, &step(0x1000 + depth * 16, None, 0x9000));
    }
    let wrong = (0..20)
        .rev()
        .filter(|depth| {
            predictor.branch(Branch::Return, 1, &step(0x9000, None, 0x1005 + depth * 16))
        })
        .count();
    assert_eq!(wrong, 4);
}

#[test]
fn indirect_calls_are_predicted_by_their_history() {
    let mut predictor = predictor("haswell");
    let mut missed = 0;
    for round in 0..200 {
        for target in [0x9000, 0x9000, 0xa000] {
            let wrong = predictor.branch(Branch::IndirectCall, 3, &step(0x1000, None, target));
            predictor.branch(Branch::Return, 1, &step(target, None, 0x1003));
            missed += u32::from(wrong && round >= 100);
        }
    }
    assert_eq!(missed, 0);
}

#[test]
fn direct_jumps_and_calls_are_never_mispredicted() {
    let mut predictor = predictor("haswell");
    for address in (0..4096).map(|index| index * 64) {
        assert!(!predictor.branch(Branch::Jump, 5, &step(address, None, 1)));
        assert!(!predictor.branch(Branch::Call, 5, &step(address, None, 1)));
    }
    assert_eq!(
        predictor.counts(),
        BranchCounts {
            all: 8192,
            ..BranchCounts::default()
        }
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn two_predictors_agree_and_count_every_branch(
        branches in prop::collection::vec((0_u64..50, any::<bool>()), 1..400),
    ) {
        let (mut one, mut other) = (predictor("haswell"), predictor("haswell"));
        let mut missed = 0;
        for (address, taken) in &branches {
            let wrong = conditional(&mut one, address * 16, *taken);
            prop_assert_eq!(wrong, conditional(&mut other, address * 16, *taken));
            missed += u64::from(wrong);
        }
        prop_assert_eq!(one.counts().conditional, branches.len() as u64);
        prop_assert_eq!(one.counts().mispredicted(), missed);
    }
}
