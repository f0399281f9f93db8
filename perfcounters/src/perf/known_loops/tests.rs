use std::cell::Cell;
use std::fs;
use std::process::Command;
use std::time::Duration;

use super::*;
use crate::perf::passes::{Group, Reading};

const N: u64 = 10_000;

fn event(metric: Metric) -> Event {
    Event {
        metric: Some(metric),
        name: metric.to_string(),
        kind: 4,
        config: 0,
        unit: None,
    }
}

fn judged(known_loop: KnownLoop, metric: Metric, difference: f64) -> Option<Check> {
    let scaled = false;
    Check::new(known_loop, &event(metric), N, Counts { difference, scaled })
}

#[test]
fn an_exact_count_passes_and_a_wrong_code_fails() {
    let loads = |count: u64| judged(KnownLoop::Loads, Metric::Loads, count as f64).unwrap();
    assert!(loads(4 * N).passed());
    // The codes of branches, instructions, and of loads and stores together.
    for wrong in [N, 6 * N, 0, 4 * N + 4 * N / 10] {
        assert!(!loads(wrong).passed(), "{wrong}");
    }
    let stores = |count: u64| judged(KnownLoop::Loads, Metric::Stores, count as f64).unwrap();
    assert!(stores(0).passed() && stores(3).passed());
    assert!(!stores(4 * N).passed());
    let text = stores(4 * N).to_string();
    assert!(
        text.contains("counted 4.000 an iteration, expected 0.000"),
        "{text}"
    );
}

#[test]
fn half_of_the_random_branches_must_be_mispredicted() {
    let misses = |each: f64| {
        judged(
            KnownLoop::RandomBranches,
            Metric::BranchMisses,
            each * N as f64,
        )
        .unwrap()
    };
    assert!(misses(0.5).passed() && misses(0.47).passed());
    assert!(!misses(0.0).passed() && !misses(0.9).passed() && !misses(2.0).passed());
    // The generator's bits are as good as those of a coin.
    let share = set_bits(100_000) as f64 / 100_000.0;
    assert!((share - 0.5).abs() < 0.01, "{share}");
}

#[test]
fn metrics_without_a_known_count_are_not_judged() {
    assert!(judged(KnownLoop::Loads, Metric::L3Misses, 1.0).is_none());
    assert!(judged(KnownLoop::Loads, Metric::CoreCycles, 1.0).is_none());
    KnownLoop::Loads.run(0);
}

/// Counters that count every event alike, and one that does not exist.
struct Fake(Cell<u64>);
struct FakeGroup<'a>(&'a Cell<u64>, usize);

impl<'a> Counters for &'a Fake {
    type Group = FakeGroup<'a>;
    fn open(&self, events: &[&Event]) -> Result<FakeGroup<'a>, String> {
        match events[0].name.as_str() {
            "missing" => Err("no such event".into()),
            _ => Ok(FakeGroup(&self.0, 1)),
        }
    }
}

impl Group for FakeGroup<'_> {
    fn size(&self) -> usize {
        self.1
    }
    fn count<R>(&mut self, work: impl FnOnce() -> R) -> std::io::Result<(R, Reading)> {
        // Each run of a loop counts a thousand more than the one before it.
        self.0.set(self.0.get() + 1000);
        let time = Duration::from_millis(1);
        let reading = Reading {
            enabled: time,
            running: time,
            counts: vec![self.0.get()],
        };
        Ok((work(), reading))
    }
}

#[test]
fn each_event_is_judged_by_its_difference_in_each_loop() {
    let missing = Event {
        name: "missing".into(),
        ..event(Metric::Stores)
    };
    let events = [event(Metric::Instructions), missing];
    let fake = Fake(Cell::new(0));
    let checked = check(&&fake, &events, 100).unwrap();
    assert_eq!(checked.checks.len(), KnownLoop::ALL.len());
    for check in &checked.checks {
        assert_eq!(
            (check.counted, check.metric),
            (1000.0, Metric::Instructions)
        );
        // 100 iterations of ten instructions.
        let right = matches!(
            check.known_loop,
            KnownLoop::Additions | KnownLoop::Multiplications
        );
        assert_eq!(check.passed(), right, "{check}");
    }
    assert_eq!(checked.absent, [("missing".into(), "no such event".into())]);
}

/// Not a test: valgrind runs it to count the loops.
#[test]
#[ignore = "valgrind_counts_what_the_loops_promise runs it"]
fn all_loops() {
    for known_loop in KnownLoop::ALL {
        known_loop.run(N);
    }
}

/// Sums the costs of one function in callgrind's output: Ir Dr Dw, and Bc in `events`' order.
fn costs(output: &str, function: &str) -> Vec<u64> {
    let mut sums = Vec::new();
    let (mut inside, mut called) = (false, false);
    for line in output.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            inside = name.ends_with(function);
        } else if line.starts_with("calls=") {
            called = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            if inside && !called {
                let costs = line
                    .split(' ')
                    .skip(1)
                    .map(|cost| cost.parse().unwrap_or(0));
                for (index, cost) in costs.enumerate() {
                    sums.resize(sums.len().max(index + 1), 0);
                    sums[index] += cost;
                }
            }
            called = false;
        }
    }
    sums
}

#[test]
fn valgrind_counts_what_the_loops_promise() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("callgrind.out");
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes"])
        .args(["--compress-strings=no", "--compress-pos=no"])
        .arg(format!("--callgrind-out-file={}", output.display()))
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "perf::known_loops::tests::all_loops",
            "--ignored",
        ])
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{message}");
    let text = fs::read_to_string(output).unwrap();
    // Callgrind leaves the last columns out where they are 0.
    let events = "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim";
    assert!(text.contains(events), "{text:.400}");
    let functions = [
        (KnownLoop::Additions, "additions", 1),
        (KnownLoop::Loads, "loads", 1),
        (KnownLoop::Stores, "stores", 1),
        // Valgrind counts conditional branches only.
        (KnownLoop::Jumps, "jumps", 1),
        (KnownLoop::Untaken, "untaken", 3),
        (KnownLoop::RandomBranches, "random_branches", 2),
        (KnownLoop::Multiplications, "multiplications", 1),
    ];
    for (known_loop, function, conditional) in functions {
        let costs = costs(&text, &format!("::code::{function}"));
        let near = |column: usize, expected: u64| {
            let counted = costs.get(column).copied().unwrap_or(0);
            // Entry and exit of the function, which a debug build does with the stack.
            assert!(
                (expected..expected + 40).contains(&counted),
                "{known_loop}, column {column}: {counted} instead of {expected}"
            );
        };
        let expected = |metric| known_loop.expected(metric, N).unwrap();
        near(0, expected(Metric::Instructions));
        near(1, expected(Metric::Loads));
        near(2, expected(Metric::Stores));
        near(9, conditional * N);
        if known_loop == KnownLoop::RandomBranches {
            let share = costs[10] as f64 / N as f64;
            assert!(
                (share - 0.5).abs() < 0.05,
                "{share} mispredicts an iteration"
            );
        }
    }
}
