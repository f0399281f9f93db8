//! `triptych run`: the whole matrix, into a results folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{bail, Context, Result};
use perfcounters::device::{self, NicProgram};
use perfcounters::host::{self, HostFacts};
use perfcounters::lockstep::Lockstep;
use perfcounters::perf::resolve::EventSet;
use perfcounters::perf::{Devices, Perf};
use perfcounters::record::{
    BackendName, Build, Failure, RecordError, RunFolder, RunRecord, Sample,
};
use perfcounters::valgrind::Valgrind;
use perfcounters::wall::Wall;
use perfcounters::{Backend, Cell, Interrupt, Observer};

use crate::cli::{BackendChoice, RunArguments};
use crate::matrix;
use crate::progress::Progress;

/// How long each backend takes its time. Chosen so that the whole matrix takes about two minutes
/// on two cores, and a quick run a few seconds a backend.
struct Pace {
    /// Packets of each of perf's windows.
    perf_packets: u64,
    perf_repeats: u32,
    /// Packets of valgrind's shorter run: enough that what varies between two runs (the line a
    /// second, a few empty polls) is below 0.05 instructions per packet.
    valgrind_packets: u64,
    lockstep_sessions: u32,
    lockstep_rounds: u32,
    wall_seconds: u64,
    wall_repeats: u32,
}

const FULL: Pace = Pace {
    perf_packets: 10_000_000,
    perf_repeats: 5,
    valgrind_packets: 409_600,
    lockstep_sessions: 10,
    lockstep_rounds: 40,
    wall_seconds: 1,
    wall_repeats: 3,
};
const QUICK: Pace = Pace {
    perf_packets: 1_000_000,
    perf_repeats: 1,
    valgrind_packets: 20_480,
    lockstep_sessions: 1,
    lockstep_rounds: 30,
    wall_seconds: 1,
    wall_repeats: 1,
};

/// What an empty matrix is: an error of the command line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Measures and records.
///
/// # Errors
/// If anything failed; what could be measured is recorded all the same.
pub fn run(arguments: &RunArguments, interrupt: &Interrupt) -> Result<()> {
    let build = &arguments.build_dir;
    let rows = matrix::rows(&arguments.implementations, &arguments.variants);
    if rows.is_empty() {
        return Err(UsageError(
            "nothing to measure: C has no variant with overflow checks".to_owned(),
        )
        .into());
    }
    let builds: Vec<Build> = rows
        .iter()
        .map(|(implementation, variant)| matrix::describe_build(build, *implementation, variant))
        .collect();
    let mut batches = Vec::new();
    for batch in &arguments.batch {
        if !batches.contains(batch) {
            batches.push(*batch);
        }
    }
    let cells: Vec<Cell> = batches
        .iter()
        .flat_map(|batch| {
            builds
                .iter()
                .flat_map(move |row| matrix::cells(build, row, &[*batch]))
        })
        .collect();

    let mut backends = backends(arguments, interrupt)?;
    let folder = RunFolder::create(
        &arguments.results,
        SystemTime::now(),
        RunRecord {
            id: String::new(),
            start: String::new(),
            end: None,
            command: std::env::args().collect(),
            git: host::git(Path::new(".")),
            host: HostFacts::gather(),
            builds,
            settings: backends
                .iter()
                .map(|backend| (backend.name().to_string(), backend.settings()))
                .collect(),
            not_measurable: BTreeMap::new(),
            warnings: Vec::new(),
            failures: Vec::new(),
        },
    )?;
    let mut recorder = Recorder {
        folder,
        progress: Progress::new(),
    };

    let mut outcome = Ok(());
    for backend in &mut backends {
        outcome = measure(backend.as_mut(), &cells, &mut recorder);
        if outcome.is_err() {
            break;
        }
    }
    recorder.progress.finish();
    let finished = recorder.folder.finish(SystemTime::now());
    let place = recorder.folder.path().display();
    println!("{} samples in {place}", recorder.folder.count());
    outcome.with_context(|| format!("the run is incomplete; what was measured is in {place}"))?;
    finished?;

    let failures = &recorder.folder.record.failures;
    match failures.as_slice() {
        [] => Ok(()),
        some => {
            let list: Vec<_> = some.iter().map(|failure| format!("  {failure}")).collect();
            bail!("{} measurements failed:\n{}", some.len(), list.join("\n"))
        }
    }
}

/// The chosen backends, ready to measure.
fn backends(arguments: &RunArguments, interrupt: &Interrupt) -> Result<Vec<Box<dyn Backend>>> {
    let pace = if arguments.quick { QUICK } else { FULL };
    let nic = NicProgram::new(arguments.build_dir.join("bin/nic"));
    let mut chosen: Vec<Box<dyn Backend>> = Vec::new();
    for choice in &arguments.backends {
        if chosen.iter().any(|backend| backend.name() == name(*choice)) {
            continue;
        }
        chosen.push(match choice {
            BackendChoice::Perf => Box::new(Perf {
                devices: Devices::Software(nic.clone()),
                worker: worker("perf-worker")?,
                packets: pace.perf_packets,
                repeats: arguments.repeats.unwrap_or(pace.perf_repeats),
                events: EventSet::detect(device::two_cpus().0),
                interrupt: interrupt.clone(),
            }),
            BackendChoice::Valgrind => Box::new(Valgrind {
                nic: nic.clone(),
                packets: pace.valgrind_packets,
                repeats: arguments.repeats.unwrap_or(1),
                interrupt: interrupt.clone(),
            }),
            BackendChoice::Lockstep => Box::new(Lockstep {
                worker: worker("lockstep-worker")?,
                sessions: pace.lockstep_sessions,
                rounds: pace.lockstep_rounds,
                interrupt: interrupt.clone(),
            }),
            BackendChoice::Wall => Box::new(Wall {
                nic: nic.clone(),
                duration: Duration::from_secs(pace.wall_seconds),
                repeats: arguments.repeats.unwrap_or(pace.wall_repeats),
                interrupt: interrupt.clone(),
            }),
        });
    }
    Ok(chosen)
}

fn name(choice: BackendChoice) -> BackendName {
    match choice {
        BackendChoice::Perf => BackendName::Perf,
        BackendChoice::Valgrind => BackendName::Valgrind,
        BackendChoice::Lockstep => BackendName::Lockstep,
        BackendChoice::Wall => BackendName::Wall,
    }
}

/// This program, as a worker.
fn worker(command: &str) -> Result<(PathBuf, Vec<String>)> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    Ok((program, vec![command.to_owned()]))
}

fn measure(backend: &mut dyn Backend, cells: &[Cell], recorder: &mut Recorder) -> Result<()> {
    if let Some(why) = backend.unavailable() {
        recorder
            .progress
            .say(&format!("{}: not measurable here: {why}", backend.name()));
        recorder
            .folder
            .record
            .not_measurable
            .insert(backend.name(), why);
        return Ok(recorder.folder.save()?);
    }
    let mut built = Vec::new();
    for cell in cells {
        let library = matches!(backend.name(), BackendName::Lockstep | BackendName::Perf);
        match matrix::missing(cell, library) {
            None => built.push(cell.clone()),
            Some(why) => recorder.failure(cell.failure(backend.name(), &why)),
        }
    }
    if !built.is_empty() {
        backend.measure(&built, recorder)?;
    }
    Ok(recorder.folder.save()?)
}

/// Writes down what the backends find, and shows how far they are.
struct Recorder {
    folder: RunFolder,
    progress: Progress,
}

impl Observer for Recorder {
    fn begin(&mut self, backend: BackendName, steps: u64) {
        self.progress.begin(&backend.to_string(), steps);
    }

    fn step(&mut self, what: &str) {
        self.progress.step(what);
    }

    fn measured(&mut self, samples: &[Sample]) -> Result<(), RecordError> {
        self.folder.write(samples)
    }

    fn failure(&mut self, failure: Failure) {
        self.progress.say(&format!("error: {failure}"));
        self.folder.record.failures.push(failure);
    }

    fn warning(&mut self, text: &str) {
        self.progress.say(&format!("warning: {text}"));
        self.folder.record.warnings.push(text.to_owned());
    }

    fn setting(&mut self, backend: BackendName, name: &str, value: serde_json::Value) {
        let settings = &mut self.folder.record.settings;
        settings
            .entry(backend.to_string())
            .or_default()
            .insert(name.to_owned(), value);
    }
}
