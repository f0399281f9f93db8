//! A run as jobs, for several machines at once: `--list-cells` lists them, and `--cell` measures one.
//!
//! Counts are exact anywhere, so a counted cell is a job of its own. Times are compared, so the drivers under the same
//! conditions are one job, which measures them in turn.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{bail, Context, Result};
use perfcounters::temporary::TemporaryFolder;
use perfcounters::{placement, Backend, Cell, Interrupt, Observer};
use record::{BackendName, Implementation, RunFolder, RunRecord, CELLS_FOLDER, LATEST_LINK};
use serde_json::{json, Value};

use super::arguments::RunArguments;
use super::card::{self, VFIO_USER};
use super::clock::RunClock;
use super::config::Config;
use super::matrix::{add, Load, Matrix};
use super::measure::measure_all;
use super::recorder::Recorder;
use super::selection::configuration;
use super::setup::RunSetup;
use crate::build::builds::variants::{build_folder, Driver, DEFAULT};
use crate::machine::host::system::System;
use crate::measure::cell_file::{conditions_name, CellKey};
use crate::usage::UsageError;

/// A part of a matrix that one command measures.
#[derive(Debug)]
struct Job {
    name: String,
    backend: BackendName,
    matrix: Matrix,
}

fn is_exact(backend: BackendName) -> bool {
    matches!(backend, BackendName::Trace | BackendName::Valgrind)
}

fn jobs(matrix: &Matrix) -> Vec<Job> {
    let mut saturating = matrix.saturating.clone();
    for ((conditions, _), _) in &matrix.loaded {
        // `wall` measures the loads, too: shares of the capacity need the capacity.
        add(
            saturating.entry(BackendName::Wall).or_default(),
            *conditions,
            &[],
        );
    }
    let mut jobs = Vec::new();
    for (backend, groups) in saturating {
        for (conditions, drivers) in groups {
            let parts: Vec<&[Driver]> = match is_exact(backend) {
                true => drivers.chunks(1).collect(),
                false => vec![&drivers],
            };
            let mut loaded = matrix.loaded.clone();
            loaded.retain(|at| backend == BackendName::Wall && at.0 .0 == conditions);
            jobs.extend(parts.into_iter().map(|drivers| Job {
                name: match drivers {
                    [driver] if is_exact(backend) => {
                        format!("{backend}-{}-{}-", driver.0, driver.1)
                    }
                    _ => format!("{backend}-"),
                } + &conditions_name(&conditions),
                backend,
                matrix: Matrix {
                    saturating: [(backend, vec![(conditions, drivers.to_vec())])].into(),
                    loaded: loaded.clone(),
                    ..Matrix::default()
                },
            }));
        }
    }
    jobs
}

/// The configuration and what it needs. All cells of a run are measured at one clock.
fn prepared(arguments: &RunArguments) -> Result<Config> {
    let config = configuration(arguments)?;
    if config.clocks_ghz.len() > 1 {
        let why =
            "cells of several clocks need a run for each: name one with --clock, or --keep-clock";
        bail!(UsageError(why.to_owned()));
    }
    Ok(config)
}

/// Prints one line of JSON for each job.
pub(super) fn list(arguments: &RunArguments, interrupt: &Interrupt) -> Result<()> {
    let config = prepared(arguments)?;
    let setup = RunSetup::new(&config, &arguments.build_dir, interrupt)?;
    let lines = jobs(&setup.matrix);
    let lines = lines.iter().map(|job| described(job, &setup));
    for line in lines.collect::<Result<Vec<_>>>()?.into_iter().flatten() {
        println!("{line}");
    }
    Ok(())
}

/// A job for other programs; `None` if its backend measures none of its drivers.
fn described(job: &Job, setup: &RunSetup<'_>) -> Result<Option<Value>> {
    let backend = setup.backends.backend(job.backend)?;
    let backend = backend.as_ref();
    let groups = &job.matrix.saturating[&job.backend];
    let mut cells = setup.cells(backend, groups);
    cells.retain(|cell| measures(backend, cell));
    let mut keys: Vec<_> = cells
        .iter()
        .map(|cell| json!(CellKey::of(cell, backend)))
        .collect();
    let mut seconds = estimate(backend, &cells);
    for ((conditions, load), drivers) in &job.matrix.loaded {
        let Ok(latency) = setup.backends.latency() else {
            break;
        };
        let loaded = setup.builds.cells(*conditions, drivers);
        seconds += estimate(latency.as_ref(), &loaded);
        for cell in &loaded {
            let mut key = json!(CellKey::of(cell, backend));
            match load {
                Load::Mpps(mpps) => key["offered_mpps"] = json!(mpps),
                Load::Fraction(share) => key["offered_share"] = json!(share),
            }
            keys.push(key);
        }
        cells.extend(loaded);
    }
    let builds: BTreeSet<_> = cells.iter().map(build_name).collect();
    let mut ports = setup.backends.config.devices.iter().flatten();
    let mut features = Vec::new();
    features.extend((job.backend == BackendName::Perf).then_some("pmu"));
    features.extend(
        ports
            .any(|port| !port.starts_with(VFIO_USER))
            .then_some("nic"),
    );
    let job = json!({
        "job": job.name,
        "exact": is_exact(job.backend),
        "backend": job.backend,
        "cells": keys,
        "builds": builds,
        "features": features,
        "seconds": (seconds * 10.0).round() / 10.0,
    });
    Ok((!cells.is_empty()).then_some(job))
}

fn estimate(backend: &dyn Backend, cells: &[Cell]) -> f64 {
    let once: Duration = cells.iter().map(|cell| backend.estimate(cell)).sum();
    once.as_secs_f64() * backend.repeats().len() as f64
}

/// The build that a cell needs: some variants are paths of the build `default`.
fn build_name(cell: &Cell) -> String {
    let folder = build_folder(Path::new(""), cell.implementation, &cell.variant);
    let default = folder.starts_with("bin");
    let variant = if default { DEFAULT } else { &cell.variant };
    format!("{}/{variant}", cell.implementation)
}

/// Whether a backend measures this driver on any machine.
fn measures(backend: &dyn Backend, cell: &Cell) -> bool {
    let scalar = cell.implementation == Implementation::DpdkScalar;
    let left_out = scalar && backend.name() == BackendName::Trace;
    !left_out && (cell.peer.is_none() || backend.unavailable_for_peers().is_none())
}

/// Measures the job `name`, and writes the files of its cells into the folder of the run `id`, over those of an earlier
/// attempt.
pub(super) fn measure(
    arguments: &RunArguments,
    name: &str,
    id: &str,
    interrupt: &Interrupt,
) -> Result<()> {
    let config = prepared(arguments)?;
    let mut setup = RunSetup::new(&config, &arguments.build_dir, interrupt)?;
    let mut all = jobs(&setup.matrix).into_iter();
    let job = all.find(|job| job.name == name).ok_or_else(|| {
        UsageError(format!(
            "--cell {name}: this matrix has no such job; `triptych run --list-cells` with the same options \
             lists its jobs"
        ))
    })?;
    setup.matrix = job.matrix;
    let mut record = setup.record(arguments)?;
    record.id = id.to_owned();
    let run = arguments.results.join(&record.machine).join(id);
    let cells = run.join(CELLS_FOLDER);
    card::check(&config, &System::here(), interrupt)?;
    let clock = RunClock::fix(
        &config,
        &arguments.clocks_root,
        setup.backends.placement.driver,
    )?;
    record.core_clock = Some(clock.record());
    let path = format!("{}/{id}", record.machine);
    let begun = record::begin_run(&run, &record)
        .and_then(|()| record::link(&arguments.results, LATEST_LINK, &path));
    let measured = begun.map_err(Into::into).and_then(|()| {
        into_cells(&cells, record, |recorder| {
            for doubt in placement::doubts(&setup.backends.placement) {
                recorder.warning(&doubt);
            }
            let outcome = measure_all(&setup, recorder);
            clock.finish(recorder);
            outcome
        })
    });
    let released = clock.release();
    let count = measured.with_context(|| format!("{name} is not measured"))?;
    released?;
    println!("{name}: {count} cells in {}", cells.display());
    Ok(())
}

/// Measures beside the run's folder, which receives whole cells only. Returns their number.
pub(crate) fn into_cells(
    cells: &Path,
    record: RunRecord,
    measure: impl FnOnce(&mut Recorder) -> Result<()>,
) -> Result<usize> {
    let work = TemporaryFolder::create()?;
    let id = record.id.clone();
    let mut folder = RunFolder::create(work.path(), SystemTime::now(), record)?;
    folder.record.id = id;
    let mut recorder = Recorder::new(folder, &[]);
    cells.clone_into(&mut recorder.cells);
    let outcome = measure(&mut recorder);
    recorder.progress.finish();
    outcome?;
    let record = &recorder.folder.record;
    let failures = record.failures.iter().map(ToString::to_string);
    let reasons = record.not_measurable.iter();
    let reasons = reasons.map(|(backend, why)| format!("{backend}: not measurable here: {why}"));
    let list: Vec<_> = failures.chain(reasons).collect();
    if !list.is_empty() {
        bail!("{}", list.join("\n  "));
    }
    Ok(recorder.written)
}

#[cfg(test)]
mod tests {
    use record::{Conditions, Implementation};

    use super::*;

    #[test]
    fn counted_cells_are_alone_and_timed_ones_together() {
        let drivers = Implementation::OURS.map(|driver| (driver, DEFAULT.to_owned()));
        let groups = [32, 8].map(|batch| (Conditions::with_batch(batch), drivers.to_vec()));
        let backends = [BackendName::Trace, BackendName::Burst];
        let load = |mpps| ((groups[1].0, Load::Mpps(mpps)), drivers.to_vec());
        let matrix = Matrix {
            saturating: backends.map(|name| (name, groups.to_vec())).into(),
            loaded: [1.0, 2.0].map(load).to_vec(),
            ..Matrix::default()
        };
        let jobs = jobs(&matrix);
        let names: Vec<_> = jobs.iter().map(|job| &*job.name).collect();
        let counted = ["c", "rust", "rust-unsafe"];
        let counted = ["b32", "b8"]
            .map(|batch| counted.map(|driver| format!("trace-{driver}-default-{batch}-r512-f60")));
        let timed = [
            "burst-b32-r512-f60",
            "burst-b8-r512-f60",
            "wall-b8-r512-f60",
        ];
        assert_eq!(
            names,
            [
                &counted
                    .concat()
                    .iter()
                    .map(|name| &**name)
                    .collect::<Vec<_>>()[..],
                &timed
            ]
            .concat()
        );
        assert_eq!(jobs[8].matrix.loaded.len(), 2);
        assert!(jobs[..8].iter().all(|job| job.matrix.loaded.is_empty()));
    }
}
