//! `triptych run`: the whole matrix, into a results folder.

use std::path::Path;
use std::time::SystemTime;

use anyhow::{bail, Context, Result};
use perfcounters::placement;
use perfcounters::{Interrupt, Observer};
use record::{CpuClock, GitFacts, HostFacts, Placement, RunFolder, RunPeriod, RunRecord};

use crate::builds::artefacts;
use crate::usage::UsageError;
use arguments::RunArguments;
use backends::Surroundings;
use config::Config;
use measure::measure_all;
use recorder::Recorder;
use selection::configuration;
use stage::Stage;

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
mod stage;

/// Measures and records.
///
/// # Errors
/// If anything failed; what could be measured is recorded all the same.
pub fn run(arguments: &RunArguments, interrupt: &Interrupt) -> Result<()> {
    run_in(arguments, interrupt, |_| Ok(()))
}

/// As [`run`]; `begun` may put something into the run's folder before anything is measured.
///
/// # Errors
/// As [`run`], and those of `begun`.
pub fn run_in(
    arguments: &RunArguments,
    interrupt: &Interrupt,
    begun: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let (config, mut recorder, stage) = match &arguments.resume {
        None => begin(arguments)?,
        Some(id) => go_on(arguments, id.as_deref())?,
    };
    begun(recorder.folder.path())?;
    let surroundings = Surroundings {
        config: &config,
        build: &arguments.build_dir,
        placement: &stage.placement,
        interrupt,
    };
    for doubt in placement::doubts(&stage.placement) {
        recorder.warning(&doubt);
    }
    recorder.folder.save()?;
    let outcome = measure_all(&surroundings, &stage, &mut recorder);
    recorder.progress.finish();

    let record = &mut recorder.folder.record;
    record.complete = outcome.is_ok();
    if let Some(period) = record.periods.last_mut() {
        period.end = Some(now());
        period.clocks_after = clocks(&stage.placement);
    }
    let finished = recorder.folder.finish(SystemTime::now());
    let place = recorder.folder.path().display();
    println!("{} samples in {place}", recorder.folder.count());
    outcome.with_context(|| {
        format!(
            "the run is incomplete; what was measured is in {place}, and `triptych run --resume \
             {}` goes on",
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

/// A run from its beginning.
fn begin(arguments: &RunArguments) -> Result<(Config, Recorder, Stage)> {
    let config = configuration(arguments).map_err(UsageError::from)?;
    let stage = Stage::new(&config, &arguments.build_dir)?;
    for id in record::unfinished_runs(&arguments.results) {
        let same = record::read_run(&arguments.results.join(&id))
            .ok()
            .and_then(|record| serde_json::from_value::<Config>(record.plan).ok())
            .is_some_and(|plan| plan == config);
        if same {
            eprintln!(
                "note: {id} measures the same and is not complete; `triptych run --resume {id}` \
                 goes on with it"
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
            builds: stage.described(&arguments.build_dir),
            artefacts: artefacts::hashes(&arguments.build_dir, &stage.drivers()),
            plan: serde_json::to_value(&config).context("cannot write down the configuration")?,
            placement: stage.placement.clone(),
            periods: vec![period(&stage.placement)],
            ..RunRecord::default()
        },
    )?;
    Ok((config, Recorder::new(folder, &[]), stage))
}

/// A run that was interrupted.
fn go_on(arguments: &RunArguments, id: Option<&str>) -> Result<(Config, Recorder, Stage)> {
    let unfinished = resume::open(&arguments.results, id)?;
    let mut folder = unfinished.folder;
    let config = unfinished.config;
    if arguments.says_what() {
        let wanted = configuration(arguments).map_err(UsageError::from)?;
        resume::check_config(&folder.record.id, &config, &wanted)?;
    }
    let stage = Stage::new(&config, &arguments.build_dir)?;
    let hashes = artefacts::hashes(&arguments.build_dir, &stage.drivers());
    resume::check(&folder.record, &HostFacts::gather(), &hashes)?;
    folder.record.periods.push(period(&stage.placement));
    folder.record.end = None;
    eprintln!(
        "going on with {}, which has {} samples",
        folder.record.id,
        unfinished.samples.len()
    );
    let recorder = Recorder::new(folder, &unfinished.samples);
    Ok((config, recorder, stage))
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
