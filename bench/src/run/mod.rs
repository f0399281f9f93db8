//! `triptych run`: measures a matrix and writes the results to a new folder.

use std::path::Path;
use std::time::SystemTime;

use anyhow::{bail, Context, Result};
use perfcounters::placement;
use perfcounters::{Interrupt, Observer};
use record::{CpuClock, GitFacts, HostFacts, Placement, RunFolder, RunPeriod, RunRecord};

use crate::builds::artefacts;
use crate::usage::UsageError;
use arguments::RunArguments;
use backends::BackendFactory;
use config::Config;
use measure::measure_all;
use recorder::Recorder;
use selection::configuration;
use setup::RunSetup;

pub mod arguments;
pub mod backends;
pub mod config;
mod generator;
mod latency;
pub mod matrix;
mod measure;
pub mod recorder;
pub mod resume;
mod selection;
mod setup;

/// Measures and records.
///
/// # Errors
/// If a measurement failed. All other measurements are recorded.
pub fn run(arguments: &RunArguments, interrupt: &Interrupt) -> Result<()> {
    run_in(arguments, interrupt, |_| Ok(()))
}

/// Like [`run`], but calls `prepare_folder` with the run's folder before the first measurement.
///
/// # Errors
/// Those of [`run`] and of `prepare_folder`.
pub fn run_in(
    arguments: &RunArguments,
    interrupt: &Interrupt,
    prepare_folder: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let (config, mut recorder, setup) = match &arguments.resume {
        None => start_run(arguments)?,
        Some(id) => resume_run(arguments, id.as_deref())?,
    };
    prepare_folder(recorder.folder.path())?;
    let backends = BackendFactory {
        config: &config,
        build: &arguments.build_dir,
        placement: &setup.placement,
        interrupt,
    };
    for doubt in placement::doubts(&setup.placement) {
        recorder.warning(&doubt);
    }
    recorder.folder.save()?;
    let outcome = measure_all(&backends, &setup, &mut recorder);
    recorder.progress.finish();

    let record = &mut recorder.folder.record;
    record.complete = outcome.is_ok();
    if let Some(period) = record.periods.last_mut() {
        period.end = Some(now());
        period.clocks_after = clocks(&setup.placement);
    }
    let finished = recorder.folder.finish(SystemTime::now());
    let place = recorder.folder.path().display();
    println!("{} samples in {place}", recorder.folder.count());
    outcome.with_context(|| {
        format!(
            "the run is incomplete; {place} has its samples so far, and `triptych run --resume \
             {}` continues it",
            recorder.folder.record.id
        )
    })?;
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

/// Starts a new run.
fn start_run(arguments: &RunArguments) -> Result<(Config, Recorder, RunSetup)> {
    let config = configuration(arguments).map_err(UsageError::from)?;
    let setup = RunSetup::new(&config, &arguments.build_dir)?;
    for id in record::unfinished_runs(&arguments.results) {
        let same = record::read_run(&arguments.results.join(&id))
            .ok()
            .and_then(|record| serde_json::from_value::<Config>(record.plan).ok())
            .is_some_and(|plan| plan == config);
        if same {
            eprintln!(
                "note: {id} measures the same and is incomplete; `triptych run --resume {id}` \
                 continues it"
            );
        }
    }
    let folder = RunFolder::create(
        &arguments.results,
        SystemTime::now(),
        RunRecord {
            command: std::env::args().collect(),
            git: GitFacts::of(Path::new(".")),
            host: HostFacts::gather(),
            builds: setup.described(&arguments.build_dir),
            artefacts: artefacts::hashes(&arguments.build_dir, &setup.drivers()),
            plan: serde_json::to_value(&config).context("cannot record the configuration")?,
            placement: setup.placement.clone(),
            periods: vec![period(&setup.placement)],
            ..RunRecord::default()
        },
    )?;
    Ok((config, Recorder::new(folder, &[]), setup))
}

/// Continues an interrupted run.
fn resume_run(arguments: &RunArguments, id: Option<&str>) -> Result<(Config, Recorder, RunSetup)> {
    let unfinished = resume::open(&arguments.results, id)?;
    let mut folder = unfinished.folder;
    let config = unfinished.config;
    if arguments.selects_measurements() {
        let wanted = configuration(arguments).map_err(UsageError::from)?;
        resume::check_config(&folder.record.id, &config, &wanted)?;
    }
    let setup = RunSetup::new(&config, &arguments.build_dir)?;
    let hashes = artefacts::hashes(&arguments.build_dir, &setup.drivers());
    resume::check(&folder.record, &HostFacts::gather(), &hashes)?;
    folder.record.periods.push(period(&setup.placement));
    folder.record.end = None;
    eprintln!(
        "continuing {}, which has {} samples",
        folder.record.id,
        unfinished.samples.len()
    );
    let recorder = Recorder::new(folder, &unfinished.samples);
    Ok((config, recorder, setup))
}

fn period(placement: &Placement) -> RunPeriod {
    RunPeriod {
        start: now(),
        end: None,
        command: std::env::args().collect(),
        clocks_before: clocks(placement),
        clocks_after: Vec::new(),
    }
}

fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

fn clocks(placement: &Placement) -> Vec<CpuClock> {
    placement.cpus().into_iter().map(CpuClock::now).collect()
}
