//! A run as jobs, for several machines at once: `--list-cells` lists them, and `--cell` measures one.
//!
//! Counts are exact anywhere, so a counted cell is a job of its own. Times are compared, so the drivers under the same
//! conditions are one job, which measures them in turn.

use std::path::Path;
use std::time::SystemTime;

use anyhow::{bail, Context, Result};
use perfcounters::temporary::TemporaryFolder;
use perfcounters::{placement, Backend, Cell, Interrupt, Observer};
use record::{BackendName, Implementation, RunFolder, RunRecord, CELLS_FOLDER, LATEST_LINK};
use serde_json::{json, Value};

use super::arguments::RunArguments;
use super::card::{self, VFIO_USER};
use super::clock::RunClock;
use super::config::Config;
use super::matrix::{Load, Matrix};
use super::measure::measure_all;
use super::recorder::Recorder;
use super::selection::configuration;
use super::setup::RunSetup;
use crate::build::builds::variants::{build_folder, DEFAULT};
use crate::machine::host::system::System;
use crate::measure::cell_file::{conditions_name, CellFiles, CellKey};
use crate::usage::UsageError;

/// A part of a matrix that one command measures.
#[derive(Debug)]
struct Job {
    name: String,
    /// The backend; `None` for latency alone.
    backend: Option<BackendName>,
    matrix: Matrix,
}

fn is_exact(backend: BackendName) -> bool {
    matches!(backend, BackendName::Trace | BackendName::Valgrind)
}

fn jobs(matrix: &Matrix) -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut loaded = matrix.loaded.clone();
    for (backend, groups) in &matrix.saturating {
        let mut add = |name: String, part: Matrix| {
            jobs.push(Job {
                name: format!("{backend}-{name}"),
                backend: Some(*backend),
                matrix: part,
            });
        };
        for (conditions, drivers) in groups {
            let part = |drivers: &[_]| Matrix {
                saturating: [(*backend, vec![(*conditions, drivers.to_vec())])].into(),
                ..Matrix::default()
            };
            let name = conditions_name(conditions);
            if is_exact(*backend) {
                for driver in drivers {
                    let part = part(std::slice::from_ref(driver));
                    add(format!("{}-{}-{name}", driver.0, driver.1), part);
                }
                continue;
            }
            let mut part = part(drivers);
            if *backend == BackendName::Wall {
                // Shares of the capacity need it.
                let (same, others) = loaded.into_iter().partition(|it| it.0 .0 == *conditions);
                (part.loaded, loaded) = (same, others);
            }
            add(name, part);
        }
    }
    while let Some(((conditions, _), _)) = loaded.first() {
        let conditions = *conditions;
        let (same, others) = loaded.into_iter().partition(|it| it.0 .0 == conditions);
        loaded = others;
        jobs.push(Job {
            name: format!("latency-{}", conditions_name(&conditions)),
            backend: None,
            matrix: Matrix {
                loaded: same,
                ..Matrix::default()
            },
        });
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
    for job in jobs(&setup.matrix) {
        let line = described(&job, &setup)?;
        if line["cells"]
            .as_array()
            .is_some_and(|cells| !cells.is_empty())
        {
            println!("{line}");
        }
    }
    Ok(())
}

fn described(job: &Job, setup: &RunSetup<'_>) -> Result<Value> {
    let (mut seconds, mut cells, mut builds) = (0.0, Vec::new(), Vec::new());
    let mut add = |cell: &Cell, backend: &dyn Backend, share: Option<f64>| -> Result<()> {
        let mut key = serde_json::to_value(CellKey::of(cell, backend))?;
        if let Some(share) = share {
            key["offered_share"] = json!(share);
        }
        let folder = build_folder(Path::new(""), cell.implementation, &cell.variant);
        let variant = match folder.starts_with("bin") {
            true => DEFAULT,
            false => &cell.variant,
        };
        let build = format!("{}/{variant}", cell.implementation);
        if !builds.contains(&build) {
            builds.push(build);
        }
        cells.push(key);
        seconds += backend.estimate(cell).as_secs_f64() * backend.repeats().len() as f64;
        Ok(())
    };
    for (name, groups) in &job.matrix.saturating {
        let backend = setup.backends.backend(*name)?;
        for cell in setup.cells(backend.as_ref(), groups) {
            if measures(backend.as_ref(), &cell) {
                add(&cell, backend.as_ref(), None)?;
            }
        }
    }
    if let (Ok(backend), false) = (setup.backends.latency(), job.matrix.loaded.is_empty()) {
        for ((conditions, load), drivers) in &job.matrix.loaded {
            let (load, share) = match load {
                Load::Mpps(mpps) => (Some(*mpps), None),
                Load::Fraction(share) => (None, Some(*share)),
            };
            for mut cell in setup.builds.cells(*conditions, drivers) {
                cell.conditions.offered_mpps = load;
                add(&cell, backend.as_ref(), share)?;
            }
        }
    }
    let mut features = Vec::new();
    if job.backend == Some(BackendName::Perf) {
        features.push("pmu");
    }
    let ports = setup.backends.config.devices.iter().flatten();
    if ports.into_iter().any(|port| !port.starts_with(VFIO_USER)) {
        features.push("nic");
    }
    Ok(json!({
        "job": job.name,
        "exact": job.backend.is_some_and(is_exact),
        "backend": job.backend.unwrap_or(BackendName::Wall),
        "cells": cells,
        "builds": builds,
        "features": features,
        "seconds": (seconds * 10.0).round() / 10.0,
    }))
}

/// Whether a backend measures this driver on any machine.
fn measures(backend: &dyn Backend, cell: &Cell) -> bool {
    let scalar = cell.implementation == Implementation::DpdkScalar;
    let left_out = scalar && backend.name() == BackendName::Trace;
    !left_out && (cell.peer.is_none() || backend.unavailable_for_peers().is_none())
}

/// Measures the job `name`, and writes the files of its cells into the folder of the run `id`. If the folder has them
/// already, measures nothing.
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
    let mut record = super::record(arguments, &config, &setup)?;
    record.id = id.to_owned();
    let run = arguments.results.join(&record.machine).join(id);
    let cells = run.join(CELLS_FOLDER);
    if is_measured(&setup, &cells)? {
        println!(
            "{name} is measured already: {} has its cells",
            cells.display()
        );
        return Ok(());
    }
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

/// Whether each cell has its file. Loads that depend on a measurement are not known before it.
fn is_measured(setup: &RunSetup<'_>, folder: &Path) -> Result<bool> {
    if !setup.matrix.loaded.is_empty() || !folder.is_dir() {
        return Ok(false);
    }
    let mut files = CellFiles::default();
    for (name, groups) in &setup.matrix.saturating {
        let backend = setup.backends.backend(*name)?;
        let mut cells = setup.cells(backend.as_ref(), groups);
        cells.retain(|cell| measures(backend.as_ref(), cell));
        let there = |cell: &Cell| {
            let id = files.id(cell, backend.as_ref());
            folder.join(format!("{id}.json")).is_file()
        };
        if !cells.iter().all(there) {
            return Ok(false);
        }
    }
    Ok(true)
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
