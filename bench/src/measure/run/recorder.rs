//! Records the samples of the backends, and shows their progress.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

use perfcounters::{Backend, Cell, Observer};
use record::{BackendName, Failure, Metric, RecordError, RunFolder, Sample, CELLS_FOLDER};

use crate::interval::median;
use crate::measure::cell_file::CellFiles;
use crate::progress::Progress;

/// The record of a run in progress, with the samples of the run before it was interrupted.
#[derive(Debug)]
pub struct Recorder {
    pub folder: RunFolder,
    pub progress: Progress,
    /// The estimated time of the backend that measures now.
    pub estimate: Duration,
    /// The folder that receives a file for each cell.
    pub cells: PathBuf,
    /// The number of these files.
    pub written: usize,
    pub files: CellFiles,
    samples: Vec<Sample>,
    // Each by the text of its series.
    done: HashSet<(String, u32)>,
    failed: HashSet<String>,
    throughput: HashMap<String, Vec<f64>>,
}

impl Recorder {
    pub fn new(folder: RunFolder, samples: &[Sample]) -> Self {
        let mut recorder = Self {
            progress: Progress::new(Duration::ZERO),
            estimate: Duration::ZERO,
            cells: folder.path().join(CELLS_FOLDER),
            written: 0,
            files: CellFiles::default(),
            samples: Vec::new(),
            done: HashSet::new(),
            failed: HashSet::new(),
            throughput: HashMap::new(),
            folder,
        };
        recorder.remember(samples);
        let failures = recorder.folder.record.failures.iter();
        recorder.failed = failures.map(|failure| failure.series.to_string()).collect();
        recorder
    }

    /// Writes the files of the cells that a backend has measured wholly. `seconds` is the time of each, if it was
    /// measured now.
    pub fn write_cells(
        &mut self,
        cells: &[Cell],
        backend: &dyn Backend,
        seconds: Option<f64>,
    ) -> Result<(), RecordError> {
        let mut cells = cells.to_vec();
        cells.retain(|cell| !self.has_failed(cell, backend.name()));
        let record = &self.folder.record;
        let (samples, measured) = (&self.samples, (&*cells, backend));
        self.written += (self.files).write(&self.cells, measured, seconds, samples, record)?;
        Ok(())
    }

    fn remember(&mut self, samples: &[Sample]) {
        self.samples.extend_from_slice(samples);
        for sample in samples {
            let series = sample.series().to_string();
            if sample.metric == Metric::Mpps {
                let values = self.throughput.entry(series.clone()).or_default();
                values.push(sample.value);
            }
            // A process of `lockstep` measures all its rounds or none.
            let measurement = match sample.backend {
                BackendName::Lockstep => sample.process,
                _ => sample.repeat,
            };
            self.done.insert((series, measurement));
        }
    }

    pub fn has_failed(&self, cell: &Cell, backend: BackendName) -> bool {
        self.failed.contains(&cell.series(backend).to_string())
    }

    /// Median throughput of a cell under saturating load, Mpps; `None` if it was not measured.
    pub fn median_throughput(&self, cell: &Cell) -> Option<f64> {
        let series = cell.series(BackendName::Wall).to_string();
        median(self.throughput.get(&series)?.clone())
    }

    pub fn note_settings(&mut self, backend: &dyn Backend) {
        let settings = &mut self.folder.record.settings;
        let of_backend = settings.entry(backend.name().to_string()).or_default();
        of_backend.extend(backend.settings());
    }

    /// Records and shows why a backend cannot measure on this machine.
    pub fn not_measurable(&mut self, backend: BackendName, why: &str) {
        self.progress
            .say(&format!("{backend}: not measurable here: {why}"));
        let record = &mut self.folder.record;
        record.not_measurable.insert(backend, why.to_owned());
    }
}

impl Observer for Recorder {
    fn begin(&mut self, backend: BackendName, steps: u64) {
        self.progress
            .begin(&backend.to_string(), steps, self.estimate);
    }

    fn step(&mut self, what: &str) {
        self.progress.step(what);
    }

    fn wanted(&self, cell: &Cell, backend: BackendName, repeat: u32) -> bool {
        let series = cell.series(backend).to_string();
        !self.failed.contains(&series) && !self.done.contains(&(series, repeat))
    }

    fn measured(&mut self, samples: &[Sample]) -> Result<(), RecordError> {
        self.folder.write(samples)?;
        self.remember(samples);
        Ok(())
    }

    fn failure(&mut self, failure: Failure) {
        // The end of the run names the peers that failed.
        if !failure.series.implementation.is_peer() {
            self.progress.say(&format!("error: {failure}"));
        }
        self.failed.insert(failure.series.to_string());
        self.folder.record.failures.push(failure);
        // If saving fails, the next save will write the failure. If the run is killed before that,
        // the resumed run tries the cell again.
        let _ = self.folder.save();
    }

    /// Shows a warning and records it, unless the record has it already.
    fn warning(&mut self, text: &str) {
        let warnings = &mut self.folder.record.warnings;
        if !warnings.iter().any(|known| known == text) {
            warnings.push(text.to_owned());
            self.progress.say(&format!("warning: {text}"));
        }
    }

    fn setting(&mut self, backend: BackendName, name: &str, value: serde_json::Value) {
        let settings = &mut self.folder.record.settings;
        let of_backend = settings.entry(backend.to_string()).or_default();
        of_backend.insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use record::{Conditions, Implementation, RunRecord};

    use super::*;

    #[test]
    fn what_is_measured_or_has_failed_is_not_measured_again() {
        let cell = |implementation| Cell {
            implementation,
            variant: "default".into(),
            toolchain: "cc 1.0".into(),
            conditions: Conditions::with_batch(32),
            program: "x".into(),
            library: "y".into(),
            peer: None,
        };
        let [c, rust] = [Implementation::C, Implementation::Rust].map(cell);
        let sample = |backend, value, process, repeat| {
            let sample = c.sample(backend, Metric::Mpps, value, 1, repeat);
            Sample { process, ..sample }
        };
        let results = tempfile::tempdir().unwrap();
        let (now, record) = (SystemTime::UNIX_EPOCH, RunRecord::default());
        let folder = RunFolder::create(results.path(), now, record).unwrap();
        let before = [
            sample(BackendName::Wall, 2.0, 0, 0),
            sample(BackendName::Lockstep, 1.0, 3, 0),
        ];
        let mut recorder = Recorder::new(folder, &before);
        assert_eq!(recorder.median_throughput(&c), Some(2.0));
        let new = sample(BackendName::Wall, 5.0, 0, 1);
        recorder.measured(&[new]).unwrap();
        recorder.failure(rust.failure(BackendName::Wall, &"it broke"));
        assert!(recorder.has_failed(&rust, BackendName::Wall));
        assert!(!recorder.has_failed(&c, BackendName::Wall));
        for (cell, backend, repeat, wanted) in [
            (&c, BackendName::Wall, 0, false),
            (&c, BackendName::Wall, 1, false),
            (&c, BackendName::Wall, 2, true),
            // Lockstep counts processes.
            (&c, BackendName::Lockstep, 0, true),
            (&c, BackendName::Lockstep, 3, false),
            (&rust, BackendName::Wall, 0, false),
            (&rust, BackendName::Valgrind, 0, true),
        ] {
            assert_eq!(recorder.wanted(cell, backend, repeat), wanted, "{cell}");
        }
        assert_eq!(recorder.median_throughput(&c), Some(3.5));
        assert_eq!(recorder.median_throughput(&rust), None);
    }
}
