//! `triptych run`: measures a matrix and writes the results to a new folder.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{bail, Context, Result};
use perfcounters::placement;
use perfcounters::{Interrupt, Observer};
use record::{RunFolder, RunRecord};

use crate::machine::host::system::System;
use crate::usage::{Outcome, UsageError};
use arguments::RunArguments;
use clock::RunClock;
use config::Config;
use measure::measure_all;
use recorder::Recorder;
use resume::UnfinishedRun;
use selection::configuration;
use setup::{clocks, now, period, RunSetup};

pub(crate) mod arguments;
pub(crate) mod budget;
mod card;
mod clock;
pub(crate) mod config;
mod generator;
pub(crate) mod job;
mod matrix;
pub(crate) mod measure;
pub(crate) mod peers;
mod plan;
pub(crate) mod recorder;
mod resume;
mod selection;
pub(crate) mod setup;

/// Measures and records, judges a budget, or prints the plan of `--dry-run`.
pub fn run(arguments: &RunArguments, interrupt: &Interrupt) -> Result<Outcome> {
    if let Some(file) = &arguments.budget {
        budget::run(file, &arguments.build_dir, interrupt)?;
    } else if arguments.list_cells {
        job::list(arguments, interrupt)?;
    } else if let (Some(job), Some(run)) = (&arguments.cell, &arguments.id) {
        job::measure(arguments, job, run, interrupt)?;
    } else if arguments.dry_run {
        plan::print(arguments, interrupt)?;
    } else {
        record_runs(arguments, interrupt)?;
    }
    Ok(Outcome::Good)
}

/// Measures, and returns the folders of the runs, one for each clock.
/// A failure of this project's drivers is an error, but all other measurements are recorded.
pub(crate) fn record_runs(arguments: &RunArguments, interrupt: &Interrupt) -> Result<Vec<PathBuf>> {
    let mut session = Session {
        arguments,
        interrupt,
        runs: Vec::new(),
    };
    let retry = arguments.retry_failed.is_some();
    if let Some(id) = arguments
        .resume
        .as_ref()
        .or(arguments.retry_failed.as_ref())
    {
        let unfinished = resume::open(&arguments.results, id.as_deref(), retry)?;
        let config = unfinished.config.clone();
        card::check(&config, &System::here(), interrupt)?;
        session.measure(&config, Some(unfinished))?;
        return Ok(session.runs);
    }
    let config = configuration(arguments)?;
    card::check(&config, &System::here(), interrupt)?;
    let mut failures = Vec::new();
    for config in clock::one_run_each(&config) {
        match session.measure(&config, None) {
            Ok(()) => {}
            // The runs at other clocks do not depend on this one.
            Err(error) if !interrupt.is_set() && !error.is::<UsageError>() => failures.push(error),
            Err(error) => return Err(error),
        }
    }
    if failures.len() < 2 {
        return failures.pop().map_or(Ok(session.runs), Err);
    }
    let list: Vec<_> = failures.iter().map(|error| format!("{error:#}")).collect();
    bail!("{}", list.join("\n"))
}

struct Session<'a> {
    arguments: &'a RunArguments,
    interrupt: &'a Interrupt,
    runs: Vec<PathBuf>,
}

impl Session<'_> {
    /// Measures one matrix at one clock, and restores the clock.
    fn measure(&mut self, config: &Config, unfinished: Option<UnfinishedRun>) -> Result<()> {
        let arguments = self.arguments;
        let setup = RunSetup::new(config, &arguments.build_dir, self.interrupt)?;
        if let Some(unfinished) = &unfinished {
            resume::check(arguments, unfinished, &setup)?;
        }
        let cpu = setup.backends.placement.driver;
        let clock = RunClock::fix(config, &arguments.clocks_root, cpu)?;
        let recorder = match unfinished {
            None => start_run(arguments, &setup, &clock),
            Some(unfinished) => resume_run(unfinished, &setup, &clock),
        };
        let outcome = recorder.and_then(|recorder| self.measure_at(&setup, recorder, &clock));
        let released = clock.release();
        outcome?;
        released
    }

    /// Measures what the record does not have yet.
    fn measure_at(
        &mut self,
        setup: &RunSetup<'_>,
        mut recorder: Recorder,
        clock: &RunClock,
    ) -> Result<()> {
        self.note(recorder.folder.path())?;
        let unlike = recorder.folder.record.host.unlike_published();
        let unlike = unlike.filter(|_| setup.backends.config.devices.is_some());
        let doubts = placement::doubts(&setup.backends.placement);
        for doubt in unlike.into_iter().chain(doubts) {
            recorder.warning(&doubt);
        }
        recorder.folder.save()?;
        let outcome = measure_all(setup, &mut recorder);
        recorder.progress.finish();
        clock.finish(&mut recorder);
        finish(&mut recorder, setup, outcome)
    }

    /// Writes the folder of a run to the file of `--list-runs`, and the attached file to the folder.
    fn note(&mut self, folder: &Path) -> Result<()> {
        let write = |file: &Path, text: &str| {
            std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
        };
        self.runs.push(folder.to_owned());
        if let Some(list) = &self.arguments.list_runs {
            let runs = self.runs.iter().map(|run| format!("{}\n", run.display()));
            write(list, &runs.collect::<String>())?;
        }
        if let Some((name, text)) = &self.arguments.attached {
            write(&folder.join(name), text)?;
        }
        Ok(())
    }
}

/// Ends the record of a run, and reports what failed.
fn finish(recorder: &mut Recorder, setup: &RunSetup<'_>, outcome: Result<()>) -> Result<()> {
    let record = &mut recorder.folder.record;
    record.complete = outcome.is_ok();
    if let Some(period) = record.periods.last_mut() {
        period.end = Some(now());
        period.clocks_after = clocks(&setup.backends.placement);
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
    let failures = record.failures.iter();
    let own = failures.filter(|failure| !failure.series.implementation.is_peer());
    let list: Vec<_> = own.map(ToString::to_string).collect();
    if !list.is_empty() {
        bail!(
            "{} measurements failed:\n  {}\n`triptych run --retry-failed {}` measures them again",
            list.len(),
            list.join("\n  "),
            record.id
        );
    }
    let why = record.not_measurable.iter();
    let why: Vec<_> = why
        .map(|(backend, why)| format!("{backend}: {why}"))
        .collect();
    // A run that is resumed after its end measures nothing, and has no reason.
    let reasons = if why.is_empty() { missing } else { why };
    if recorder.folder.count() == 0 && !reasons.is_empty() {
        let list = reasons.join("\n  ");
        bail!("nothing could be measured here:\n  {list}");
    }
    Ok(())
}

fn start_run(arguments: &RunArguments, setup: &RunSetup<'_>, clock: &RunClock) -> Result<Recorder> {
    let record = RunRecord {
        core_clock: Some(clock.record()),
        ..setup.record(arguments)?
    };
    let folder = RunFolder::create(&arguments.results, SystemTime::now(), record)?;
    Ok(Recorder::new(folder, &[]))
}

/// Continues an interrupted run, or one with failures. What failed is measured again.
fn resume_run(
    unfinished: UnfinishedRun,
    setup: &RunSetup<'_>,
    clock: &RunClock,
) -> Result<Recorder> {
    let mut folder = unfinished.folder;
    folder.forget_failures()?;
    let record = &mut folder.record;
    record.periods.push(period(&setup.backends.placement));
    record.end = None;
    let clocks = record.core_clock.get_or_insert_with(Default::default);
    clocks.measured_ghz.extend(clock.record().measured_ghz);
    eprintln!(
        "continuing {}, which has {} samples",
        folder.record.id,
        unfinished.samples.len()
    );
    Ok(Recorder::new(folder, &unfinished.samples))
}
