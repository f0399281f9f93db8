//! Measures the cells of a matrix, backend by backend, and latency at last.

use std::time::{Duration, Instant};

use anyhow::Result;
use perfcounters::{Backend, Cell, Observer};
use record::{BackendName, Capacity, Conditions};

use super::matrix::Load;
use super::peers::measurable;
use super::recorder::Recorder;
use super::setup::RunSetup;
use crate::build::builds::cells::missing;
use crate::build::builds::variants::Driver;
use crate::progress::{rounded, Progress};

/// Stands for a capacity, Mpps, that is measured only later. Nothing is measured at such a load.
const UNKNOWN: f64 = 1e6;

pub(crate) struct BackendWork {
    pub backend: Box<dyn Backend>,
    pub cells: Vec<Cell>,
}

impl BackendWork {
    /// The number of remaining measurements, and an estimate of their time.
    fn remaining(&self, recorder: &Recorder) -> (usize, Duration) {
        let (name, repeats) = (self.backend.name(), self.backend.repeats());
        let mut all = (0, Duration::ZERO);
        for cell in &self.cells {
            let wanted = |repeat: &&u32| recorder.wanted(cell, name, **repeat);
            let wanted = repeats.iter().filter(wanted).count();
            all.0 += wanted;
            all.1 += self.backend.estimate(cell) * u32::try_from(wanted).unwrap_or(u32::MAX);
        }
        all
    }

    /// Measures the cells, and writes their files.
    pub(crate) fn measure(&mut self, recorder: &mut Recorder) -> Result<()> {
        let (count, estimate) = self.remaining(recorder);
        recorder.estimate = estimate;
        let start = Instant::now();
        self.backend.measure(&self.cells, recorder)?;
        let mut seconds = start.elapsed().as_secs_f64();
        if self.backend.name() == BackendName::Trace {
            // It measures some cells side by side.
            let cpus = recorder.folder.record.placement.cpus().len();
            seconds *= cpus.clamp(1, count.max(1)) as f64;
        }
        let repeats = self.backend.repeats().len();
        let each = (count > 0).then(|| seconds * repeats as f64 / count as f64);
        recorder.write_cells(&self.cells, self.backend.as_ref(), each)?;
        Ok(recorder.folder.save()?)
    }
}

/// Measures everything that the record does not have yet.
///
/// # Errors
/// If the run was interrupted, or its folder cannot be written. Failures of cells are recorded.
pub(super) fn measure_all(setup: &RunSetup<'_>, recorder: &mut Recorder) -> Result<()> {
    // All backends are created first, so that the record has their settings before any sample.
    let mut works = Vec::new();
    for (name, groups) in &setup.matrix.saturating {
        let backend = setup.backends.backend(*name)?;
        if !works_here(backend.as_ref(), recorder) {
            continue;
        }
        let cells = setup.cells(backend.as_ref(), groups);
        let cells = measurable(backend.as_ref(), cells, recorder);
        let cells = built(*name, cells, recorder);
        if !cells.is_empty() {
            works.push(BackendWork { backend, cells });
        }
    }
    let latency = latency(setup, recorder);

    let (mut count, mut time) = (0, Duration::ZERO);
    for work in works.iter().chain(&latency) {
        let remaining = work.remaining(recorder);
        count += remaining.0;
        time += remaining.1;
    }
    eprintln!("{count} measurements, about {}", rounded(time));
    recorder.progress = Progress::new(time);

    for mut work in works {
        work.measure(recorder)?;
    }
    if let Some(mut work) = latency {
        work.cells = loaded_cells(setup, |conditions, drivers| {
            capacity(setup, recorder, conditions, drivers)
        });
        work.cells = built(work.backend.name(), work.cells, recorder);
        recorder.folder.save()?;
        work.measure(recorder)?;
    }
    Ok(())
}

/// Records the settings of a backend, and whether it can measure on this machine.
fn works_here(backend: &dyn Backend, recorder: &mut Recorder) -> bool {
    recorder.note_settings(backend);
    let why = backend.unavailable();
    if let Some(why) = &why {
        recorder.not_measurable(backend.name(), why);
    }
    why.is_none()
}

/// The cells whose drivers are built. Records a failure for the others.
fn built(backend: BackendName, cells: Vec<Cell>, recorder: &mut Recorder) -> Vec<Cell> {
    let mut built = Vec::new();
    for cell in cells {
        let library =
            cell.peer.is_none() && matches!(backend, BackendName::Lockstep | BackendName::Perf);
        match missing(&cell, library) {
            None => built.push(cell),
            Some(why) if !recorder.has_failed(&cell, backend) => {
                recorder.failure(cell.failure(backend, &why));
            }
            Some(_) => {}
        }
    }
    built
}

/// The backend that measures latency, with the cells as far as they are known; `None` if the matrix has no loads or
/// this machine cannot.
fn latency(setup: &RunSetup<'_>, recorder: &mut Recorder) -> Option<BackendWork> {
    if setup.matrix.loaded.is_empty() {
        return None;
    }
    let backend = match setup.backends.latency() {
        Ok(latency) => latency,
        Err(why) => {
            recorder.warning(&why);
            return None;
        }
    };
    works_here(backend.as_ref(), recorder).then(|| BackendWork {
        backend,
        cells: loaded_cells(setup, |conditions, _| {
            known_capacity(recorder, conditions).or(Some(UNKNOWN))
        }),
    })
}

/// The cells under given loads. `capacity` turns shares of the capacity into loads.
fn loaded_cells(
    setup: &RunSetup<'_>,
    mut capacity: impl FnMut(Conditions, &[Driver]) -> Option<f64>,
) -> Vec<Cell> {
    let mut cells = Vec::new();
    for ((conditions, load), drivers) in &setup.matrix.loaded {
        let load = match load {
            Load::Mpps(mpps) => Some(*mpps),
            Load::Fraction(share) => capacity(*conditions, drivers).map(|all| offered(all, *share)),
        };
        let Some(mpps) = load else {
            continue;
        };
        let conditions = Conditions {
            offered_mpps: Some(mpps),
            ..*conditions
        };
        for cell in setup.builds.cells(conditions, drivers) {
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
    }
    cells
}

/// The share of a capacity as a load, to three significant digits.
fn offered(capacity: f64, share: f64) -> f64 {
    let load = capacity * share;
    format!("{load:.2e}").parse().unwrap_or(load)
}

/// The capacity that the run has recorded. A resumed run keeps it.
fn known_capacity(recorder: &Recorder, conditions: Conditions) -> Option<f64> {
    let mut capacities = recorder.folder.record.capacities.iter();
    let known = capacities.find(|capacity| capacity.conditions == conditions);
    known.map(|capacity| capacity.mpps)
}

/// The throughput of the slowest driver, Mpps. `None`, with a warning, if none was measured.
fn capacity(
    setup: &RunSetup<'_>,
    recorder: &mut Recorder,
    conditions: Conditions,
    drivers: &[Driver],
) -> Option<f64> {
    if let Some(known) = known_capacity(recorder, conditions) {
        return Some(known);
    }
    let slowest = setup
        .builds
        .cells(conditions, drivers)
        .iter()
        .filter_map(|cell| recorder.median_throughput(cell))
        .min_by(f64::total_cmp);
    let capacity = slowest.map(|mpps| Capacity { conditions, mpps });
    if capacity.is_none() {
        recorder.warning(
            "latency was not measured at shares of the capacity, because no throughput was measured",
        );
    }
    recorder.folder.record.capacities.extend(capacity);
    slowest
}
