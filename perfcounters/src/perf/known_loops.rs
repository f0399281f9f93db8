//! Loops whose counts are known, which show whether a processor's events count what their names say.
//!
//! [`KnownLoop::run`] runs a loop for a given number of iterations, and [`KnownLoop::expected`] says
//! how often a metric's event happens meanwhile. [`check`] runs each loop twice, for N and for 2N
//! iterations, under the counters of [`passes`]. Everything around the loop happens in both runs, so
//! the difference is that of the loop alone. Each loop has other ratios of loads, stores, branches
//! and instructions, so a wrong code does not count right by chance.
//!
//! ```text
//! EventSet::detect (which events) -> check(&Kernel, &set.events, ITERATIONS) -> Vec<Check>
//! ```
//!
//! The loops are in assembler, for x86-64 and AArch64. A test compares them with valgrind's counts.
//! No loop checks the events of the second- and third-level cache: sizes, prefetchers and replacement
//! differ, so no count is known.

mod loop_code;

use std::fmt;

use record::Metric;
use serde::Serialize;

use super::event::Event;
use super::passes::{self, Counters, Value};

/// Iterations of the shorter run. A loop of this length takes a few milliseconds.
pub const ITERATIONS: u64 = 1 << 20;
/// Runs of each length. The median counts, so that one interrupted run changes nothing.
const ROUNDS: usize = 3;
/// Start of the random numbers; any number but 0.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// A loop with known counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownLoop {
    /// 8 additions: 10 instructions, 1 branch.
    Additions,
    /// 4 loads of one word: 6 instructions, 1 branch.
    Loads,
    /// 3 stores to one word: 5 instructions, 1 branch.
    Stores,
    /// 2 unconditional jumps: 4 instructions, 3 branches.
    Jumps,
    /// 2 branches that are never taken: 5 instructions, 3 branches.
    Untaken,
    /// A branch that random numbers decide: 13 or 14 instructions, 2 branches, and a mispredict in
    /// half of the iterations.
    RandomBranches,
    /// 8 multiplications of the last result: 10 instructions, 1 branch; on x86-64, 24 cycles.
    Multiplications,
}

/// How often each event happens in an iteration.
struct Shape {
    instructions: u64,
    branches: u64,
    loads: u64,
    stores: u64,
}

impl KnownLoop {
    /// All loops.
    pub const ALL: [Self; 7] = [
        Self::Additions,
        Self::Loads,
        Self::Stores,
        Self::Jumps,
        Self::Untaken,
        Self::RandomBranches,
        Self::Multiplications,
    ];

    fn shape(self) -> Shape {
        let (instructions, branches, loads, stores) = match self {
            Self::Additions | Self::Multiplications => (10, 1, 0, 0),
            Self::Loads => (6, 1, 4, 0),
            Self::Stores => (5, 1, 0, 3),
            Self::Jumps => (4, 3, 0, 0),
            Self::Untaken => (5, 3, 0, 0),
            Self::RandomBranches => (13, 2, 0, 0),
        };
        Shape {
            instructions,
            branches,
            loads,
            stores,
        }
    }

    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Additions => "additions",
            Self::Loads => "loads",
            Self::Stores => "stores",
            Self::Jumps => "jumps",
            Self::Untaken => "branches not taken",
            Self::RandomBranches => "random branches",
            Self::Multiplications => "multiplications",
        }
    }

    /// Runs it. With 0 iterations it does nothing.
    pub fn run(self, iterations: u64) {
        if iterations == 0 {
            return;
        }
        match self {
            Self::Additions => loop_code::additions(iterations),
            Self::Loads => loop_code::loads(iterations),
            Self::Stores => loop_code::stores(iterations),
            Self::Jumps => loop_code::jumps(iterations),
            Self::Untaken => loop_code::untaken(iterations),
            Self::RandomBranches => loop_code::random_branches(iterations, SEED),
            Self::Multiplications => loop_code::multiplications(iterations),
        }
    }

    /// How often the event of `metric` happens in `iterations`, or `None` if that is not known.
    pub fn expected(self, metric: Metric, iterations: u64) -> Option<u64> {
        let shape = self.shape();
        let each = match metric {
            Metric::Instructions => shape.instructions,
            Metric::Branches => shape.branches,
            Metric::Loads => shape.loads,
            Metric::Stores => shape.stores,
            // All loads read the same word.
            Metric::L1Hits => shape.loads,
            Metric::BranchMisses if self == Self::RandomBranches => return Some(iterations / 2),
            Metric::BranchMisses => 0,
            Metric::CoreCycles if self == Self::Multiplications && cfg!(target_arch = "x86_64") => {
                24
            }
            _ => return None,
        };
        // The branch skips an instruction unless the bit is set.
        let executed = match (self, metric) {
            (Self::RandomBranches, Metric::Instructions) => set_bits(iterations),
            _ => 0,
        };
        Some(each * iterations + executed)
    }
}

impl fmt::Display for KnownLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The next number of the generator (Marsaglia's xorshift with 13, 7, 17). Its period is 2^64 - 1, so
/// no predictor learns it.
fn next_random(x: u64) -> u64 {
    let x = x ^ (x << 13);
    let x = x ^ (x >> 7);
    x ^ (x << 17)
}

/// In how many of the first `iterations` numbers bit 20 is set.
fn set_bits(iterations: u64) -> u64 {
    let mut x = SEED;
    let mut count = 0;
    for _ in 0..iterations {
        x = next_random(x);
        count += x >> 20 & 1;
    }
    count
}

/// How far a count may be from the expected one, as a share of it.
fn tolerance(metric: Metric) -> f64 {
    match metric {
        // Interrupts add an instruction or two each, and published errata some more.
        Metric::Instructions | Metric::Branches => 0.005,
        // Some processors count loads and stores at dispatch, also discarded ones.
        Metric::Loads | Metric::Stores => 0.02,
        // An interrupt empties a part of the cache.
        Metric::L1Hits => 0.02,
        // Random outcomes are guessed right half of the time, but not exactly.
        Metric::BranchMisses => 0.10,
        // The other thread of the core takes the multiplier now and then.
        _ => 0.10,
    }
}

/// Events per iteration that may happen where none is expected.
const STRAY: f64 = 0.01;

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
        let count = |iterations| known_loop.expected(metric, iterations);
        let expected = (count(2 * iterations)? - count(iterations)?) as f64;
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
    pub absent: Vec<(String, String)>,
}

/// Runs every loop under the counters, and compares. The calling thread does the counting; `iterations`
/// is [`ITERATIONS`] or another number above 0.
///
/// # Errors
/// If the counters cannot be read.
pub fn check<C: Counters>(
    counters: &C,
    events: &[Event],
    iterations: u64,
) -> Result<Checked, String> {
    let mut checked = Checked::default();
    for known_loop in KnownLoop::ALL {
        let mut rounds = vec![Vec::new(); events.len()];
        for _ in 0..ROUNDS {
            let mut counts = |iterations| {
                counts(
                    counters,
                    events,
                    known_loop,
                    iterations,
                    &mut checked.absent,
                )
            };
            let (short, long) = (counts(iterations)?, counts(2 * iterations)?);
            for (round, (short, long)) in rounds.iter_mut().zip(short.into_iter().zip(long)) {
                if let Some((short, long)) = short.zip(long) {
                    round.push(Value {
                        count: long.count - short.count,
                        scaled: long.scaled || short.scaled,
                        ..long
                    });
                }
            }
        }
        for (event, mut round) in events.iter().zip(rounds) {
            round.sort_by(|a, b| a.count.total_cmp(&b.count));
            if let Some(median) = round.get(round.len() / 2) {
                let check = Check::new(known_loop, event, iterations, *median);
                checked.checks.extend(check);
            }
        }
    }
    Ok(checked)
}

/// The count of each event in one run, or `None` if it could not be counted.
fn counts<C: Counters>(
    counters: &C,
    events: &[Event],
    known_loop: KnownLoop,
    iterations: u64,
    absent: &mut Vec<(String, String)>,
) -> Result<Vec<Option<Value>>, String> {
    let counted = passes::count(counters, events, || {
        known_loop.run(iterations);
        Ok(())
    })?;
    for (index, why) in counted.absent {
        let name = &events[index].name;
        if !absent.iter().any(|(known, _)| known == name) {
            absent.push((name.clone(), why));
        }
    }
    let mut counts = vec![None; events.len()];
    for value in counted.passes.iter().flat_map(|pass| &pass.values) {
        counts[value.event] = Some(*value);
    }
    Ok(counts)
}

#[cfg(test)]
mod tests;
