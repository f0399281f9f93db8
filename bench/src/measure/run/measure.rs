//! Measures the cells of a matrix, backend by backend.

use std::time::Duration;

use anyhow::Result;
use perfcounters::{Backend, Cell, Observer};
use record::BackendName;

use super::backends::BackendFactory;
use super::latency::{latency, loaded_cells, remaining_latency};
use super::peers::measurable;
use super::recorder::Recorder;
use super::setup::RunSetup;
use crate::build::builds::cells::missing;
use crate::progress::{rounded, Progress};

/// A backend and the cells that it measures.
struct BackendWork {
    backend: Box<dyn Backend>,
    cells: Vec<Cell>,
}

impl BackendWork {
    /// The number of remaining measurements, and an estimate of their time.
    fn remaining(&self, recorder: &Recorder) -> (usize, Duration) {
        let repeats = self.backend.repeats();
        let mut all = (0, Duration::ZERO);
        for cell in &self.cells {
            let wanted = repeats
                .iter()
                .filter(|repeat| recorder.wanted(cell, self.backend.name(), **repeat))
                .count();
            all.0 += wanted;
            all.1 += self.backend.estimate(cell) * u32::try_from(wanted).unwrap_or(u32::MAX);
        }
        all
    }
}

/// Measures everything that the record does not have yet.
///
/// # Errors
/// If the run was interrupted, or its folder cannot be written. Failures of cells are recorded.
pub(super) fn measure_all(
    backends: &BackendFactory<'_>,
    setup: &RunSetup,
    recorder: &mut Recorder,
) -> Result<()> {
    // All backends are created first, so that the record has their settings before any sample.
    let mut works = Vec::new();
    for (choice, groups) in &setup.matrix.saturating {
        let backend = backends.backend(*choice)?;
        recorder.note_settings(backend.as_ref());
        if let Some(why) = backend.unavailable() {
            recorder.not_measurable(backend.name(), &why);
            continue;
        }
        let cells = groups
            .iter()
            .flat_map(|(conditions, drivers)| setup.builds.cells(*conditions, drivers))
            .flat_map(|cell| backend.cells_of(&cell))
            .collect();
        let cells = measurable(backend.as_ref(), cells, recorder);
        let cells = built(backend.name(), cells, recorder);
        if !cells.is_empty() {
            works.push(BackendWork { backend, cells });
        }
    }
    let latency = latency(backends, setup, recorder);

    let mut plan: Vec<_> = works.iter().map(|work| work.remaining(recorder)).collect();
    if let Some(latency) = &latency {
        plan.push(remaining_latency(setup, latency.as_ref(), recorder));
    }
    let (count, time) = plan.iter().fold((0, Duration::ZERO), |all, part| {
        (all.0 + part.0, all.1 + part.1)
    });
    eprintln!("{count} measurements, about {}", rounded(time));
    recorder.progress = Progress::new(time);

    for mut work in works {
        recorder.estimate = work.remaining(recorder).1;
        work.backend.measure(&work.cells, recorder)?;
        recorder.folder.save()?;
    }
    if let Some(mut latency) = latency {
        let cells = loaded_cells(setup, recorder);
        let cells = built(latency.name(), cells, recorder);
        recorder.folder.save()?;
        recorder.estimate = remaining_latency(setup, latency.as_ref(), recorder).1;
        latency.measure(&cells, recorder)?;
        recorder.folder.save()?;
    }
    Ok(())
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
