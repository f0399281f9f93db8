use std::cell::Cell;
use std::process::Command;
use std::time::Duration;

use super::*;
use crate::callgrind::Totals;
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

fn judged(known_loop: KnownLoop, metric: Metric, count: f64) -> Option<Check> {
    let more = Value {
        event: 0,
        count,
        scaled: false,
    };
    Check::new(known_loop, &event(metric), N, more)
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

#[test]
fn valgrind_counts_what_the_loops_promise() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("callgrind.out");
    let ran = Command::new("valgrind")
        .args(["--tool=callgrind", "--cache-sim=yes", "--branch-sim=yes"])
        // Each call of a loop gives a file of its own. With equal patterns, callgrind ignores one.
        .args(["--toggle-collect=*::loop_code::*", "--dump-after=*loop_code*"])
        .arg(format!("--callgrind-out-file={}", output.display()))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "perf::known_loops::tests::all_loops"])
        .arg("--ignored")
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{message}");
    for (index, known_loop) in KnownLoop::ALL.into_iter().enumerate() {
        let part = format!("{}.{}", output.display(), index + 1);
        let totals = Totals::parse(&std::fs::read_to_string(part).unwrap()).unwrap();
        // Valgrind counts conditional branches only.
        let conditional = match known_loop {
            KnownLoop::Untaken => 3,
            KnownLoop::RandomBranches => 2,
            _ => 1,
        };
        let expected = |metric| known_loop.expected(metric, N).unwrap();
        for (counted, expected) in [
            (
                totals.get(Metric::Instructions),
                expected(Metric::Instructions),
            ),
            (totals.get(Metric::Loads), expected(Metric::Loads)),
            (totals.get(Metric::Stores), expected(Metric::Stores)),
            (totals.get(Metric::Branches), conditional * N),
        ] {
            // Entry and exit of the function, which a debug build does with the stack.
            let near = expected..expected + 40;
            assert!(near.contains(&counted), "{known_loop}: {counted}, {near:?}");
        }
        if known_loop == KnownLoop::RandomBranches {
            let share = totals.get(Metric::BranchMisses) as f64 / N as f64;
            assert!((share - 0.5).abs() < 0.05, "{share} mispredicts");
        }
    }
}
