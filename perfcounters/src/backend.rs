//! The interface of all backends: cells go in, an observer receives the samples.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use forwarder_library::PacketPath;
use record::{
    BackendName, Conditions, Failure, Implementation, Metric, RecordError, Sample, Series,
};
use serde::{Deserialize, Serialize};

use crate::process::ProcessError;

/// How the variants of the ladder to the limit begin.
const LIMIT_RUNG: &str = "limit-";

/// A cell of the matrix: one build of a driver under some conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The driver.
    pub implementation: Implementation,
    /// Name of the variant: of a build, as `default` or `overflow-checks`, or of a path, as `tuned`.
    pub variant: String,
    /// The compiler, in short.
    pub toolchain: String,
    /// The conditions of the measurement.
    pub conditions: Conditions,
    /// The driver's `ixgbe-fwd`.
    pub program: PathBuf,
    /// The driver's `libforwarder.so`; empty for a peer, which has none.
    pub library: PathBuf,
    /// How to run the program of a peer; `None` for the drivers of this repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<PeerProgram>,
}

/// How to run the program of a peer. [`Cell::program`] is its path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeerProgram {
    /// Program and first arguments of the launcher: `triptych with-card`.
    pub launcher: (PathBuf, Vec<String>),
    /// Arguments of the peer. `{port0}` and `{port1}` stand for the PCI addresses of the ports.
    pub arguments: Vec<String>,
    /// Environment variables of the peer, beside those of this process.
    pub environment: BTreeMap<String, String>,
    /// What the peer does to a frame: a value of the card's `--expect`.
    pub expect: String,
}

impl Cell {
    /// The conditions and the path that each driver of this repository takes as options.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let (batch, ring) = (self.conditions.batch, self.conditions.ring_size);
        let [batch, ring] = [batch, ring].map(|number| number.to_string());
        let mut arguments = vec!["--batch".into(), batch, "--ring-size".into(), ring];
        if self.path() != PacketPath::Default {
            arguments.extend(["--path", self.path().name()].map(String::from));
        }
        arguments
    }

    /// How the driver moves packets.
    pub fn path(&self) -> PacketPath {
        path_of(&self.variant)
    }

    /// The same driver under the same conditions, wherever DMA leaves lines.
    pub(crate) fn without_placement(&self) -> Self {
        let mut cell = self.clone();
        cell.conditions.placement = None;
        cell
    }

    /// Everything that `backend` measures of this cell.
    pub fn series(&self, backend: BackendName) -> Series {
        Series {
            implementation: self.implementation,
            variant: self.variant.clone(),
            conditions: self.conditions,
            backend,
        }
    }

    /// A measured value of this cell, the mean of `packets` packets.
    pub fn sample(
        &self,
        backend: BackendName,
        metric: Metric,
        value: f64,
        packets: u64,
        repeat: u32,
    ) -> Sample {
        Sample {
            implementation: self.implementation,
            variant: self.variant.clone(),
            toolchain: self.toolchain.clone(),
            conditions: self.conditions,
            backend,
            metric,
            value,
            unit: metric.unit().to_owned(),
            packets,
            process: 0,
            repeat,
            note: String::new(),
            cpu: String::new(),
        }
    }

    /// A failed measurement of this cell.
    pub fn failure(&self, backend: BackendName, cause: &dyn fmt::Display) -> Failure {
        Failure {
            series: self.series(backend),
            cause: cause.to_string(),
        }
    }
}

/// The path of a variant. Some variants are the build `default` by the path of that name. The rungs of the ladder to
/// the limit are builds of their own, of the tuned path.
pub fn path_of(variant: &str) -> PacketPath {
    match variant.starts_with(LIMIT_RUNG) {
        true => PacketPath::Tuned,
        false => PacketPath::named(variant).unwrap_or_default(),
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            implementation,
            variant,
            conditions,
            ..
        } = self;
        write!(f, "{implementation}/{variant} {conditions}")
    }
}

/// A measurement that gave no values.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A process of the measurement failed.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// A sample could not be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// A port got no link, in a sentence. Links take several attempts now and then.
    #[error("{0}")]
    Link(String),
    /// A driver's library failed.
    #[error(transparent)]
    Library(#[from] forwarder_library::Error),
    /// Anything else, in a sentence.
    #[error("{0}")]
    Other(String),
}

impl MeasureError {
    /// Whether the run cannot continue with other cells: the record cannot be written, or the user
    /// asked to stop.
    pub fn ends_the_run(&self) -> bool {
        matches!(
            self,
            Self::Interrupted | Self::Record(_) | Self::Process(ProcessError::Interrupted)
        )
    }
}

impl From<String> for MeasureError {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

/// How often a measurement without a link is tried again.
const LINK_RETRIES: usize = 2;

/// Receives the progress and the findings of a backend.
pub trait Observer {
    /// A backend begins and expects to take `steps` steps.
    fn begin(&mut self, backend: BackendName, steps: u64);
    /// A step begins.
    fn step(&mut self, what: &str);
    /// Whether this measurement is still to be made. An interrupted run that is resumed has made some
    /// already. Backends ask before each measurement.
    fn wanted(&self, cell: &Cell, backend: BackendName, repeat: u32) -> bool {
        let _ = (cell, backend, repeat);
        true
    }
    /// A measurement gave these values. One call takes all values of a cell, backend and repeat, so
    /// that a killed run records all of them or none.
    /// An error ends the run.
    fn measured(&mut self, samples: &[Sample]) -> Result<(), RecordError>;
    /// A cell could not be measured; the backend continues with the others.
    fn failure(&mut self, failure: Failure);
    /// Something may have disturbed the figures.
    fn warning(&mut self, text: &str);
    /// A setting for `run.json` that the backend learned only while it measured.
    fn setting(&mut self, backend: BackendName, name: &str, value: serde_json::Value) {
        let _ = (backend, name, value);
    }
}

/// Makes all wanted measurements: every cell once, then every cell once more, so that a slow minute
/// affects all cells alike. A measurement without a link is tried again. After a cell has failed, it is left out.
/// An error ends the whole run; see [`MeasureError::ends_the_run`].
pub fn measure_in_turn(
    backend: BackendName,
    cells: &[Cell],
    repeats: u32,
    observer: &mut dyn Observer,
    mut measure: impl FnMut(&Cell, u32, &mut dyn Observer) -> Result<Vec<Sample>, MeasureError>,
) -> Result<(), MeasureError> {
    let turns: Vec<(u32, usize)> = (0..repeats)
        .flat_map(|repeat| (0..cells.len()).map(move |cell| (repeat, cell)))
        .filter(|(repeat, cell)| observer.wanted(&cells[*cell], backend, *repeat))
        .collect();
    observer.begin(backend, turns.len() as u64);
    let mut failed = vec![false; cells.len()];
    for (repeat, index) in turns {
        let cell = &cells[index];
        if failed[index] {
            continue;
        }
        observer.step(&cell.to_string());
        let mut measured = measure(cell, repeat, observer);
        for _ in 0..LINK_RETRIES {
            let Err(MeasureError::Link(why)) = &measured else {
                break;
            };
            observer.warning(&format!("{cell}, {backend}, tried again: {why}"));
            measured = measure(cell, repeat, observer);
        }
        match measured {
            Ok(samples) => observer.measured(&samples)?,
            Err(error) if error.ends_the_run() => return Err(error),
            Err(error) => {
                observer.failure(cell.failure(backend, &error));
                failed[index] = true;
            }
        }
    }
    Ok(())
}

/// Measures every wanted cell once, `workers` of them side by side. It suits backends whose values do not
/// depend on what else runs. `measure` also receives the number of its worker. The observer receives the
/// values in the order of the cells.
/// An error ends the whole run; see [`MeasureError::ends_the_run`].
pub fn measure_side_by_side(
    backend: BackendName,
    cells: &[Cell],
    workers: usize,
    observer: &mut dyn Observer,
    measure: impl Fn(&Cell, usize) -> Result<Vec<Sample>, MeasureError> + Sync,
) -> Result<(), MeasureError> {
    let cells: Vec<&Cell> = cells
        .iter()
        .filter(|cell| observer.wanted(cell, backend, 0))
        .collect();
    observer.begin(backend, cells.len() as u64);
    let workers = workers.max(1);
    std::thread::scope(|scope| {
        let (cells, measure) = (&cells, &measure);
        let start = |worker| {
            let (sender, results) = mpsc::channel();
            scope.spawn(move || {
                let mut own = cells.iter().skip(worker).step_by(workers);
                // Without a receiver, an error has ended the run.
                own.all(|cell| sender.send(measure(cell, worker)).is_ok())
            });
            results
        };
        let results: Vec<_> = (0..workers).map(start).collect();
        for (cell, results) in cells.iter().zip(results.iter().cycle()) {
            observer.step(&cell.to_string());
            match results.recv() {
                Ok(Ok(samples)) => observer.measured(&samples)?,
                Ok(Err(error)) if error.ends_the_run() => return Err(error),
                Ok(Err(error)) => observer.failure(cell.failure(backend, &error)),
                // The worker panicked; the scope passes the panic on.
                Err(mpsc::RecvError) => {}
            }
        }
        Ok(())
    })
}

/// A way to count.
pub trait Backend {
    /// The name of the backend in records.
    fn name(&self) -> BackendName;

    /// The reason why this machine cannot count this way; `None` if it can.
    fn unavailable(&self) -> Option<String>;

    /// The cells that this backend measures for a cell of the matrix. They differ in conditions of its own,
    /// such as the placement.
    fn cells_of(&self, cell: &Cell) -> Vec<Cell> {
        vec![cell.clone()]
    }

    /// The reason why this backend cannot measure a peer; `None` if it can.
    fn unavailable_for_peers(&self) -> Option<String> {
        None
    }

    /// Repeat indices that identify a measurement; see [`Observer::wanted`].
    fn repeats(&self) -> Vec<u32> {
        vec![0]
    }

    /// About how long one measurement of `cell` takes.
    fn estimate(&self, cell: &Cell) -> Duration {
        let _ = cell;
        Duration::from_secs(2)
    }

    /// The settings of the backend, for `run.json`.
    fn settings(&self) -> BTreeMap<String, serde_json::Value>;

    /// Measures all cells in turn, so that a slow minute affects all alike. The observer receives the
    /// values and the failures.
    /// An error ends the whole run; see [`MeasureError::ends_the_run`].
    fn measure(&mut self, cells: &[Cell], observer: &mut dyn Observer) -> Result<(), MeasureError>;
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::common::{cell, Remember};

    /// Measures batches side by side: 2 fails, and 9 is interrupted. Returns what was seen, whether the run
    /// ended, and how many batches were begun.
    fn side_by_side(batches: &[u32], workers: usize) -> (Remember, bool, usize) {
        let with = |batch: &u32| {
            let mut cell = cell(Path::new(""), "c", Implementation::C);
            cell.conditions.batch = *batch;
            cell
        };
        let cells: Vec<_> = batches.iter().map(with).collect();
        let (mut seen, begun, name) =
            (Remember::default(), AtomicUsize::new(0), BackendName::Trace);
        let outcome = measure_side_by_side(name, &cells, workers, &mut seen, |cell, worker| {
            assert!(worker < workers);
            begun.fetch_add(1, Ordering::Relaxed);
            match cell.conditions.batch {
                2 => return Err("broken".to_owned().into()),
                9 => return Err(MeasureError::Interrupted),
                // The other worker finishes its cells meanwhile.
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
            Ok(vec![cell.sample(name, Metric::Loads, 1.0, 1, 0)])
        });
        let ended = outcome.is_err_and(|error| error.ends_the_run());
        (seen, ended, begun.into_inner())
    }

    #[test]
    fn the_variant_decides_the_path() {
        let arguments = |variant: &str| {
            let mut cell = cell(Path::new(""), "c", Implementation::C);
            cell.variant = variant.to_owned();
            cell.arguments().join(" ")
        };
        assert_eq!(arguments("no-lto"), "--batch 32 --ring-size 512");
        for (variant, path) in [
            ("stride", "stride"),
            ("agent", "agent"),
            ("limit-exchange", "tuned"),
        ] {
            assert!(arguments(variant).ends_with(&format!("--path {path}")));
        }
    }

    #[test]
    fn side_by_side_results_arrive_in_the_order_of_the_cells_until_an_interrupt() {
        let (seen, ended, _) = side_by_side(&[1, 2, 3], 2);
        assert!(!ended && seen.planned == 3 && seen.failures.len() == 1);
        assert!(seen.steps[1].contains("batch 2"), "{:?}", seen.steps);
        let batches = seen.samples.iter().map(|sample| sample.conditions.batch);
        assert!(batches.eq([1, 3]));
        // The worker may have begun one more cell before the error arrived.
        let (seen, ended, begun) = side_by_side(&[9, 1, 3, 4], 1);
        assert!(ended && begun <= 2 && seen.samples.is_empty());
    }
}
