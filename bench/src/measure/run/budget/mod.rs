//! `triptych run --budget`: fails if a driver needs more instructions per packet than recorded, and warns if
//! its cycles relative to another driver are not the recorded ones.
//!
//! The tracer counts the same in every run. A slower data path therefore shows within a minute on any
//! machine. Time depends on the machine, so cycles only warn.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use perfcounters::{Backend, Cell, Interrupt, Observer};
use record::{BackendName, Conditions, Failure, LinePlacement, Metric, RecordError, Sample};

use super::config::{Config, COUNTING};
use super::setup::Backends;
use crate::build::builds::cells::{cell, describe_build, missing};
use crate::build::builds::variants::{build_folder, DEFAULT};
use crate::code::checks::Panic;
use crate::code::data_path::checks_in_loops;
use crate::measure::settings::{Lockstep, Trace, Valgrind};
use crate::progress::Progress;
use figures::{Budget, Key};
use verdict::{Measured, Verdict};

mod figures;
mod verdict;

/// Measures every driver, compares, and prints the comparison.
pub(super) fn run(file: &Path, build: &Path, interrupt: &Interrupt) -> Result<()> {
    let budget = Budget::read(file)?;
    let mut verdict = Verdict::of(&budget, &count_all(&budget, build, interrupt)?);
    for rule in &budget.bounds_checks_hot {
        let folder = build_folder(build, rule.implementation, DEFAULT);
        match checks_in_loops(&folder.join("ixgbe-fwd")) {
            Ok(counts) => {
                let count = counts.get(&Panic::Bounds);
                verdict.judge_checks(rule, count.copied().unwrap_or_default());
            }
            Err(error) => verdict.violations.push(format!("{error:#}")),
        }
    }
    match time_all(&budget, build, interrupt) {
        Ok(samples) => verdict.judge_cycles(&budget.cycles, &samples),
        Err(error) if interrupt.is_set() => return Err(error),
        Err(error) => verdict
            .warnings
            .push(format!("cycles are not compared: {error:#}")),
    }
    println!("{}", verdict.lines.join("\n"));
    for (kind, texts) in [("note", &verdict.savings), ("warning", &verdict.warnings)] {
        for text in texts {
            println!("{kind}: {text}");
        }
    }
    match verdict.violations.as_slice() {
        [] => Ok(()),
        some => bail!("the budget is exceeded:\n  {}", some.join("\n  ")),
    }
}

fn cell_of(build: &Path, (implementation, variant, batch): &Key) -> Cell {
    let described = describe_build(build, *implementation, variant);
    cell(build, &described, Conditions::with_batch(*batch))
}

fn count_all(budget: &Budget, build: &Path, interrupt: &Interrupt) -> Result<Measured> {
    let keys: BTreeSet<Key> = budget.instructions.iter().map(|it| it.key()).collect();
    let mut counter = Counter::new(build, interrupt)?;
    let estimate = Duration::from_secs(3) * u32::try_from(keys.len()).unwrap_or(u32::MAX);
    let mut progress = Progress::new(estimate);
    progress.begin("budget", keys.len() as u64, estimate);
    let mut measured = Measured::new();
    for key in keys {
        let cell = cell_of(build, &key);
        progress.step(&cell.to_string());
        let instructions = match counter.measure(&cell) {
            Err(error) if interrupt.is_set() => return Err(error),
            other => other.map_err(|error| format!("{cell}: {error:#}")),
        };
        measured.insert(key, (cell.toolchain, instructions));
    }
    progress.finish();
    Ok(measured)
}

/// Times the drivers of all ratios of cycles in turn, each once at each batch size.
fn time_all(budget: &Budget, build: &Path, interrupt: &Interrupt) -> Result<Vec<Sample>> {
    let keys: BTreeSet<Key> = budget.cycles.iter().flat_map(|it| it.keys()).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let mut lockstep = backend(BackendName::Lockstep, build, interrupt)?;
    let cells = keys.iter().map(|key| cell_of(build, key));
    let cells: Vec<_> = cells.flat_map(|cell| lockstep.cells_of(&cell)).collect();
    if cells.is_empty() {
        bail!("this processor cannot place lines in memory");
    }
    let mut collector = Collector::default();
    lockstep.measure(&cells, &mut collector)?;
    match collector.failure {
        Some(why) => bail!(why),
        None => Ok(collector.samples),
    }
}

/// A backend that measures for some seconds, which is enough to see what a driver gains or loses.
fn backend(name: BackendName, build: &Path, interrupt: &Interrupt) -> Result<Box<dyn Backend>> {
    let config = Config {
        placements: vec![LinePlacement::Memory],
        trace: Trace { cpus: Vec::new() },
        valgrind: Valgrind {
            packets: 409_600,
            repeats: 1,
        },
        lockstep: Lockstep {
            processes: 6,
            rounds: 20,
        },
        ..Config::default()
    };
    let backend = Backends::new(&config, build, interrupt).backend(name)?;
    match backend.unavailable() {
        Some(why) => bail!("{name} is not measurable here: {why}"),
        None => Ok(backend),
    }
}

/// Counts the instructions that a packet costs drivers of one build folder.
pub(crate) struct Counter(Box<dyn Backend>);

impl Counter {
    pub(crate) fn new(build: &Path, interrupt: &Interrupt) -> Result<Self> {
        backend(COUNTING, build, interrupt).map(Self)
    }

    /// Instructions per packet of one driver.
    /// A disturbance under valgrind is an error.
    pub(crate) fn measure(&mut self, cell: &Cell) -> Result<f64> {
        if let Some(why) = missing(cell, false) {
            bail!(why);
        }
        let mut collector = Collector::default();
        self.0.measure(std::slice::from_ref(cell), &mut collector)?;
        if let Some(why) = collector.failure.or(collector.warning) {
            bail!(why);
        }
        let mut samples = collector.samples.iter();
        let counted = samples.find(|sample| sample.metric == Metric::Instructions);
        Ok(counted.context("no instructions were counted")?.value)
    }
}

/// Keeps the values of a backend, or why there are none.
#[derive(Debug, Default)]
struct Collector {
    samples: Vec<Sample>,
    failure: Option<String>,
    warning: Option<String>,
}

impl Observer for Collector {
    fn begin(&mut self, _backend: BackendName, _steps: u64) {}
    fn step(&mut self, _what: &str) {}
    fn measured(&mut self, samples: &[Sample]) -> Result<(), RecordError> {
        self.samples.extend_from_slice(samples);
        Ok(())
    }

    fn failure(&mut self, failure: Failure) {
        self.failure = Some(failure.cause);
    }

    fn warning(&mut self, text: &str) {
        eprintln!("{text}");
        self.warning = Some(text.to_owned());
    }
}
