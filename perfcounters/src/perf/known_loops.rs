//! Loops whose counts are known, which show whether a processor's events count what their names say.
//!
//! [`check`] runs each loop twice, for N and for 2N iterations, under the counters of [`passes`].
//! Everything around the loop happens in both runs, so the difference is that of the loop alone. Each
//! loop has other ratios of loads, stores, branches and instructions, so a wrong code does not count
//! right by chance.
//!
//! The loops are in assembler, for x86-64 and AArch64. A test compares them with valgrind's counts.
//! No loop checks the events of the second- and third-level cache: sizes, prefetchers and replacement
//! differ, so no count is known.

mod loop_code;

use std::collections::BTreeMap;
use std::fmt;

use record::Metric;
use serde::Serialize;

use super::events::Event;
use super::passes::{self, Counters, Value};

/// Iterations of the shorter run. A loop of this length takes a few milliseconds.
pub const ITERATIONS: u64 = 1 << 20;
/// Events per iteration that may happen where none is expected.
const STRAY: f64 = 0.01;

/// A loop with known counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownLoop {
    /// 8 additions: 10 instructions, 1 branch; on x86-64, 8 cycles.
    Additions,
    /// 4 loads of one word: 6 instructions, 1 branch.
    Loads,
    /// 3 stores to one word: 5 instructions, 1 branch.
    Stores,
    /// A branch that random numbers decide, and a jump: 6 instructions, 3 branches, and a mispredict
    /// in half of the iterations.
    RandomBranches,
}

impl KnownLoop {
    /// All loops.
    pub const ALL: [Self; 4] = [
        Self::Additions,
        Self::Loads,
        Self::Stores,
        Self::RandomBranches,
    ];

    /// Runs it. With 0 iterations it does nothing.
    pub fn run(self, iterations: u64) {
        if iterations == 0 {
            return;
        }
        match self {
            Self::Additions => loop_code::additions(iterations),
            Self::Loads => loop_code::loads(iterations),
            Self::Stores => loop_code::stores(iterations),
            Self::RandomBranches => loop_code::random_branches(iterations),
        }
    }

    /// How often the event of `metric` happens in an iteration, or `None` if that is not known.
    pub fn expected(self, metric: Metric) -> Option<f64> {
        let (instructions, branches, loads, stores, misses) = match self {
            Self::Additions => (10.0, 1.0, 0.0, 0.0, 0.0),
            Self::Loads => (6.0, 1.0, 4.0, 0.0, 0.0),
            Self::Stores => (5.0, 1.0, 0.0, 3.0, 0.0),
            Self::RandomBranches => (6.0, 3.0, 0.0, 0.0, 0.5),
        };
        match metric {
            Metric::Instructions => Some(instructions),
            Metric::Branches => Some(branches),
            // All loads read the same word.
            Metric::Loads | Metric::L1Hits => Some(loads),
            Metric::Stores => Some(stores),
            Metric::BranchMisses => Some(misses),
            Metric::CoreCycles if self == Self::Additions && cfg!(target_arch = "x86_64") => {
                Some(8.0)
            }
            _ => None,
        }
    }
}

impl fmt::Display for KnownLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Additions => "additions",
            Self::Loads => "loads",
            Self::Stores => "stores",
            Self::RandomBranches => "random branches",
        })
    }
}

/// How far a count may be from the expected one, as a share of it.
fn tolerance(metric: Metric) -> f64 {
    match metric {
        // Interrupts add an instruction or two each, and published errata some more.
        Metric::Instructions | Metric::Branches => 0.005,
        // Some processors count loads and stores at dispatch, also discarded ones. An interrupt
        // empties a part of the cache.
        Metric::Loads | Metric::Stores | Metric::L1Hits => 0.02,
        // Random outcomes are guessed right half of the time, but not exactly. The other thread of
        // the core delays an addition now and then.
        _ => 0.10,
    }
}

/// A count beside the expected one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// The loop.
    pub known_loop: KnownLoop,
    /// The metric that the event gives.
    pub metric: Metric,
    /// Name of the event.
    pub event: String,
    /// How often it had to happen in [`Check::iterations`].
    pub expected: f64,
    /// How often it was counted.
    pub counted: f64,
    /// Largest accepted difference between the two.
    pub tolerance: f64,
    /// Iterations of the loop.
    pub iterations: u64,
    /// Whether the kernel scaled the count up, because too few counters were free.
    pub scaled: bool,
}

impl Check {
    /// Whether the count is near enough to the expected one.
    pub fn passed(&self) -> bool {
        (self.counted - self.expected).abs() <= self.tolerance
    }

    /// Judges what an event counted more in the longer run than in the shorter one. `None` if the
    /// loop's count is not known.
    fn new(known_loop: KnownLoop, event: &Event, iterations: u64, more: Value) -> Option<Self> {
        let metric = event.metric?;
        let expected = known_loop.expected(metric)? * iterations as f64;
        Some(Self {
            known_loop,
            metric,
            event: event.name.clone(),
            expected,
            counted: more.count,
            tolerance: (expected * tolerance(metric)).max(STRAY * iterations as f64),
            iterations,
            scaled: more.scaled,
        })
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = |count: f64| count / self.iterations as f64;
        write!(
            f,
            "{}: {} ({}) counted {:.3} an iteration, expected {:.3} +- {:.3}",
            self.known_loop,
            self.metric,
            self.event,
            each(self.counted),
            each(self.expected),
            each(self.tolerance),
        )
    }
}

/// The results of all loops.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Checked {
    /// One for each loop and event with a known count.
    pub checks: Vec<Check>,
    /// Events that could not be counted, with the reason.
    pub absent: BTreeMap<String, String>,
}

/// Runs every loop under the counters, and compares. The calling thread does the counting; `iterations`
/// is [`ITERATIONS`] or another number above 0.
pub fn check<C: Counters>(
    counters: &C,
    events: &[Event],
    iterations: u64,
) -> Result<Checked, String> {
    let mut checked = Checked::default();
    for known_loop in KnownLoop::ALL {
        let run = |iterations| {
            passes::count(counters, events, || {
                known_loop.run(iterations);
                Ok(())
            })
        };
        let (short, long) = (run(iterations)?, run(2 * iterations)?);
        for (index, why) in short.absent.iter().chain(&long.absent) {
            let name = events[*index].name.clone();
            checked.absent.entry(name).or_insert_with(|| why.clone());
        }
        for (index, event) in events.iter().enumerate() {
            if let Some((short, long)) = short.value(index).zip(long.value(index)) {
                let more = Value {
                    count: long.count - short.count,
                    scaled: long.scaled || short.scaled,
                    ..long
                };
                let check = Check::new(known_loop, event, iterations, more);
                checked.checks.extend(check);
            }
        }
    }
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::perf::fixtures::OneByOne;
    use crate::valgrind::parse_counts;

    const N: u64 = 10_000;

    fn event(metric: Metric) -> Event {
        Event {
            metric: Some(metric),
            name: metric.to_string(),
            ..Event::default()
        }
    }

    #[test]
    fn an_exact_count_passes_and_a_wrong_code_fails() {
        use KnownLoop::{Loads, RandomBranches};
        let judged = |known_loop, metric, each: f64| {
            let more = Value {
                event: 0,
                count: each * N as f64,
                scaled: false,
            };
            Check::new(known_loop, &event(metric), N, more)
        };
        for (known_loop, metric, right, wrong) in [
            // The codes of branches, of instructions, and of loads and stores together.
            (Loads, Metric::Loads, 4.0, &[1.0, 6.0, 0.0, 4.4][..]),
            (Loads, Metric::Stores, 0.001, &[4.0]),
            // A code that leaves out conditional branches, untaken branches, or jumps.
            (RandomBranches, Metric::Branches, 3.0, &[1.0, 2.5, 2.0]),
            (RandomBranches, Metric::BranchMisses, 0.47, &[0.0, 0.9, 2.0]),
        ] {
            for count in wrong.iter().chain([&right]) {
                let check = judged(known_loop, metric, *count).unwrap();
                assert_eq!(check.passed(), *count == right, "{check}");
            }
        }
        let text = judged(Loads, Metric::Stores, 4.0).unwrap().to_string();
        let expected = "counted 4.000 an iteration, expected 0.000";
        assert!(text.contains(expected), "{text}");
        assert!(judged(Loads, Metric::L3Misses, 1.0).is_none());
        Loads.run(0);
    }

    #[test]
    fn each_event_is_judged_by_its_difference_in_each_loop() {
        let missing = Event {
            name: "missing".into(),
            ..event(Metric::Stores)
        };
        let events = [event(Metric::Instructions), missing];
        let checked = check(&OneByOne::default(), &events, 100).unwrap();
        assert_eq!(checked.checks.len(), KnownLoop::ALL.len());
        for check in &checked.checks {
            assert_eq!(check.counted, 1000.0);
            // 100 iterations of ten instructions.
            assert_eq!(check.passed(), check.known_loop == KnownLoop::Additions);
        }
        assert_eq!(checked.absent["missing"], "no such event");
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
            let counts = parse_counts(&std::fs::read_to_string(part).unwrap()).unwrap();
            for metric in [
                Metric::Instructions,
                Metric::Loads,
                Metric::Stores,
                Metric::Branches,
                Metric::BranchMisses,
            ] {
                let mut expected = known_loop.expected(metric).unwrap();
                if metric == Metric::Branches && known_loop == KnownLoop::RandomBranches {
                    // Valgrind counts conditional branches only.
                    expected -= 1.0;
                }
                let counted = counts[&metric] as f64 / N as f64;
                // Entry and exit of the function, which a debug build does with the stack. Random
                // numbers have half of their bits set, but not exactly.
                let slack = match metric {
                    Metric::BranchMisses => 0.05,
                    _ => 40.0 / N as f64,
                };
                assert!(
                    (counted - expected).abs() <= slack,
                    "{known_loop}: {metric} {counted}, {expected}"
                );
            }
        }
    }
}
