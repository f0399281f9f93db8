//! `triptych run`: measures a matrix and writes the results to a new folder.

use std::path::Path;
use std::time::SystemTime;

use anyhow::{bail, Context, Result};
use perfcounters::placement;
use perfcounters::{Interrupt, Observer};
use record::{CpuClock, GitFacts, HostFacts, Placement, RunFolder, RunPeriod, RunRecord};

use crate::build::builds::artefacts;
use crate::machine::host::system::System;
use crate::usage::{Outcome, UsageError};
use arguments::RunArguments;
use backends::BackendFactory;
use clock::RunClock;
use config::Config;
use measure::measure_all;
use recorder::Recorder;
use resume::UnfinishedRun;
use selection::configuration;
use setup::RunSetup;

pub mod arguments;
pub mod backends;
pub(crate) mod budget;
mod card;
mod clock;
pub mod config;
mod generator;
mod latency;
pub mod matrix;
mod measure;
pub mod peers;
mod plan;
pub mod recorder;
pub mod resume;
mod selection;
mod setup;

/// Measures and records, or prints the plan of `--dry-run`.
///
/// # Errors
/// If a measurement of this project's drivers failed, or nothing was measured. All other measurements are recorded.
pub fn run(arguments: &RunArguments, interrupt: &Interrupt) -> Result<Outcome> {
    if let Some(file) = &arguments.budget {
        return budget::run(file, &arguments.build_dir, interrupt);
    }
    if arguments.dry_run {
        plan::print(arguments, interrupt)?;
        return Ok(Outcome::Good);
    }
    run_in(arguments, interrupt, |_| Ok(()))
}

/// Like [`run`], but calls `prepare_folder` with each run's folder before the first measurement.
///
/// # Errors
/// Those of [`run`] and of `prepare_folder`.
pub fn run_in(
    arguments: &RunArguments,
    interrupt: &Interrupt,
    prepare_folder: impl Fn(&Path) -> Result<()>,
) -> Result<Outcome> {
    let mut session = Session {
        arguments,
        interrupt,
        runs: String::new(),
    };
    if let Some(id) = arguments
        .resume
        .as_ref()
        .or(arguments.retry_failed.as_ref())
    {
        let retry = arguments.retry_failed.is_some();
        let unfinished = resume::open(&arguments.results, id.as_deref(), retry)?;
        let config = unfinished.config.clone();
        card::check(&config, &System::here(), interrupt)?;
        session.measure(&config, Some(unfinished), &prepare_folder)?;
        return Ok(Outcome::Good);
    }
    let config = configuration(arguments).map_err(UsageError::from)?;
    card::check(&config, &System::here(), interrupt)?;
    let mut failures = Vec::new();
    for config in clock::one_run_each(&config) {
        match session.measure(&config, None, &prepare_folder) {
            Ok(()) => {}
            // The runs at other clocks do not depend on this one.
            Err(error) if !interrupt.is_set() && !error.is::<UsageError>() => failures.push(error),
            Err(error) => return Err(error),
        }
    }
    match failures.len() {
        0 | 1 => failures.pop().map_or(Ok(Outcome::Good), Err),
        _ => {
            let list: Vec<_> = failures.iter().map(|error| format!("{error:#}")).collect();
            bail!("{}", list.join("\n"))
        }
    }
}

/// The runs of one call of the program.
struct Session<'a> {
    arguments: &'a RunArguments,
    interrupt: &'a Interrupt,
    /// The folders of the runs so far, one per line.
    runs: String,
}

impl Session<'_> {
    /// Measures one matrix at one clock, and restores the clock.
    fn measure(
        &mut self,
        config: &Config,
        unfinished: Option<UnfinishedRun>,
        prepare_folder: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<()> {
        let arguments = self.arguments;
        let setup = RunSetup::new(config, &arguments.build_dir)?;
        if let Some(unfinished) = &unfinished {
            check_resumed(arguments, unfinished, &setup)?;
        }
        let clock = RunClock::fix(config, &arguments.clocks_root, setup.placement.driver)?;
        let outcome = match unfinished {
            None => start_run(arguments, config, &setup, &clock),
            Some(unfinished) => resume_run(unfinished, &setup, &clock),
        }
        .and_then(|recorder| self.measure_at(config, &setup, recorder, &clock, prepare_folder));
        let released = clock.release();
        outcome?;
        Ok(released?)
    }

    /// Measures what the record does not have yet.
    fn measure_at(
        &mut self,
        config: &Config,
        setup: &RunSetup,
        mut recorder: Recorder,
        clock: &RunClock,
        prepare_folder: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<()> {
        self.list(recorder.folder.path())?;
        prepare_folder(recorder.folder.path())?;
        let backends = BackendFactory {
            config,
            build: &self.arguments.build_dir,
            placement: &setup.placement,
            interrupt: self.interrupt,
        };
        let unlike = recorder.folder.record.host.unlike_published();
        let unlike = unlike.filter(|_| config.devices.is_some());
        for doubt in unlike
            .into_iter()
            .chain(placement::doubts(&setup.placement))
        {
            recorder.warning(&doubt);
        }
        recorder.folder.save()?;
        let outcome = measure_all(&backends, setup, &mut recorder);
        recorder.progress.finish();
        clock.finish(&mut recorder);
        finish(&mut recorder, setup, outcome)
    }

    /// Adds a run to the file of `--list-runs`.
    fn list(&mut self, folder: &Path) -> Result<()> {
        self.runs.push_str(&format!("{}\n", folder.display()));
        match &self.arguments.list_runs {
            Some(file) => std::fs::write(file, &self.runs)
                .with_context(|| format!("cannot write {}", file.display())),
            None => Ok(()),
        }
    }
}

/// Ends the record of a run, and reports what failed.
fn finish(recorder: &mut Recorder, setup: &RunSetup, outcome: Result<()>) -> Result<()> {
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

    let record = &recorder.folder.record;
    let missing = peers::missing(record);
    if !missing.is_empty() {
        let list = missing.join("\n  ");
        eprintln!("skipped drivers of other projects:\n  {list}");
    }
    let own = record
        .failures
        .iter()
        .filter(|failure| !failure.series.implementation.is_peer());
    let list: Vec<_> = own.map(ToString::to_string).collect();
    if !list.is_empty() {
        bail!(
            "{} measurements failed:\n  {}\n`triptych run --retry-failed {}` measures them again",
            list.len(),
            list.join("\n  "),
            record.id
        );
    }
    if recorder.folder.count() == 0 {
        let why = record.not_measurable.iter();
        let why: Vec<_> = why
            .map(|(backend, why)| format!("{backend}: {why}"))
            .collect();
        // A run that is resumed after its end measures nothing, and has no reason.
        let reasons = if why.is_empty() { missing } else { why };
        if !reasons.is_empty() {
            bail!(
                "nothing could be measured here:\n  {}",
                reasons.join("\n  ")
            );
        }
    }
    Ok(())
}

/// Starts a new run.
fn start_run(
    arguments: &RunArguments,
    config: &Config,
    setup: &RunSetup,
    clock: &RunClock,
) -> Result<Recorder> {
    for id in record::unfinished_runs(&arguments.results) {
        let same = record::read_run(&arguments.results.join(&id))
            .ok()
            .and_then(|record| Config::from_record(record.plan).ok())
            .is_some_and(|plan| plan == *config);
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
            artefacts: artefacts::hashes(&arguments.build_dir, &setup.builds.programs()),
            peers: setup.builds.peers(),
            skipped_peers: setup.matrix.skipped_peers.clone(),
            plan: config
                .to_record()
                .context("cannot record the configuration")?,
            placement: setup.placement.clone(),
            core_clock: Some(clock.record()),
            periods: vec![period(&setup.placement)],
            ..RunRecord::default()
        },
    )?;
    Ok(Recorder::new(folder, &[]))
}

/// Checks that an interrupted run may continue here and with these arguments.
fn check_resumed(
    arguments: &RunArguments,
    unfinished: &UnfinishedRun,
    setup: &RunSetup,
) -> Result<()> {
    let record = &unfinished.folder.record;
    if arguments.selects_measurements() {
        let wanted = configuration(arguments).map_err(UsageError::from)?;
        resume::check_config(&record.id, &unfinished.config, &wanted)?;
    }
    let hashes = artefacts::hashes(&arguments.build_dir, &setup.builds.programs());
    Ok(resume::check(record, &HostFacts::gather(), &hashes)?)
}

/// Continues an interrupted run, or one with failures. What failed is measured again.
fn resume_run(unfinished: UnfinishedRun, setup: &RunSetup, clock: &RunClock) -> Result<Recorder> {
    let mut folder = unfinished.folder;
    folder.forget_failures()?;
    folder.record.periods.push(period(&setup.placement));
    folder.record.end = None;
    let clocks = folder
        .record
        .core_clock
        .get_or_insert_with(Default::default);
    clocks.measured_ghz.extend(clock.record().measured_ghz);
    eprintln!(
        "continuing {}, which has {} samples",
        folder.record.id,
        unfinished.samples.len()
    );
    Ok(Recorder::new(folder, &unfinished.samples))
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
