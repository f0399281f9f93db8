//! Records the samples of the backends, and shows their progress.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use perfcounters::{Backend, Cell, Observer};
use record::{BackendName, Failure, Metric, RecordError, RunFolder, Sample};

use crate::progress::Progress;

/// The record of a run in progress, with the samples of the run before it was interrupted.
#[derive(Debug)]
pub struct Recorder {
    /// The folder of the run.
    pub folder: RunFolder,
    /// The progress that the user sees.
    pub progress: Progress,
    /// The estimated time of the backend that measures now.
    pub estimate: Duration,
    // Each by the text of its series.
    done: HashSet<(String, u32)>,
    failed: HashSet<String>,
    throughput: HashMap<String, Vec<f64>>,
}

impl Recorder {
    /// A recorder for `folder`, which already has `samples`.
    pub fn new(folder: RunFolder, samples: &[Sample]) -> Self {
        let mut recorder = Self {
            progress: Progress::new(Duration::ZERO),
            estimate: Duration::ZERO,
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

    fn remember(&mut self, samples: &[Sample]) {
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

    /// Whether a measurement of this cell has failed.
    pub fn has_failed(&self, cell: &Cell, backend: BackendName) -> bool {
        self.failed.contains(&cell.series(backend).to_string())
    }

    /// Median throughput of a cell under saturating load, Mpps; `None` if it was not measured.
    pub fn median_throughput(&self, cell: &Cell) -> Option<f64> {
        let mut values = self
            .throughput
            .get(&cell.series(BackendName::Wall).to_string())?
            .clone();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        match values.len() % 2 {
            1 => values.get(middle).copied(),
            _ => Some((values.get(middle.checked_sub(1)?)? + values.get(middle)?) / 2.0),
        }
    }

    /// Records the settings of a backend.
    pub fn note_settings(&mut self, backend: &dyn Backend) {
        self.folder
            .record
            .settings
            .entry(backend.name().to_string())
            .or_default()
            .extend(backend.settings());
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
        settings
            .entry(backend.to_string())
            .or_default()
            .insert(name.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::SystemTime;

    use perfcounters::backend::measure_in_turn;
    use perfcounters::MeasureError;
    use proptest::prelude::*;
    use record::{read_samples, Conditions, Implementation, RunRecord, JOURNAL_FILE, SAMPLES_FILE};

    use super::*;

    const REPEATS: u32 = 3;

    fn cells() -> Vec<Cell> {
        let cell = |implementation, batch, offered_mpps| Cell {
            implementation,
            variant: "default".into(),
            toolchain: "cc 1.0".into(),
            conditions: Conditions {
                offered_mpps,
                ..Conditions::with_batch(batch)
            },
            program: "x".into(),
            library: "y".into(),
            peer: None,
        };
        vec![
            cell(Implementation::C, 32, None),
            cell(Implementation::Rust, 32, None),
            cell(Implementation::C, 8, None),
            cell(Implementation::C, 8, Some(1.1)),
        ]
    }

    /// Measures everything that is missing. Returns the number of measurements.
    fn measure(recorder: &mut Recorder) -> Result<usize, MeasureError> {
        let mut made = 0;
        let cells = cells();
        measure_in_turn(
            BackendName::Wall,
            &cells,
            REPEATS,
            recorder,
            |cell, repeat, _| {
                made += 1;
                if cell.implementation == Implementation::Rust && repeat == 1 {
                    return Err(MeasureError::Other("it broke".into()));
                }
                let value = f64::from(cell.conditions.batch + repeat);
                Ok([Metric::Mpps, Metric::TscCycles, Metric::FullBatchRatio]
                    .map(|metric| cell.sample(BackendName::Wall, metric, value, 1, repeat))
                    .to_vec())
            },
        )?;
        Ok(made)
    }

    fn new_run(results: &Path) -> Recorder {
        let folder =
            RunFolder::create(results, SystemTime::UNIX_EPOCH, RunRecord::default()).unwrap();
        Recorder::new(folder, &[])
    }

    /// All rows, sorted.
    fn rows(folder: &Path) -> Vec<String> {
        let samples = read_samples(&folder.join(SAMPLES_FILE)).unwrap();
        let mut rows: Vec<_> = samples.iter().map(|sample| format!("{sample:?}")).collect();
        rows.sort();
        rows
    }

    #[test]
    fn failures_and_throughput_are_remembered() {
        let results = tempfile::tempdir().unwrap();
        let mut recorder = new_run(results.path());
        assert_eq!(measure(&mut recorder).unwrap(), 11);
        assert!(recorder.has_failed(&cells()[1], BackendName::Wall));
        assert!(!recorder.has_failed(&cells()[0], BackendName::Wall));
        assert_eq!(recorder.median_throughput(&cells()[0]), Some(33.0));
        assert_eq!(recorder.median_throughput(&cells()[1]), Some(32.0));
        // Nothing is missing any more.
        assert_eq!(measure(&mut recorder).unwrap(), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// A resumed run has the samples of an uninterrupted run, each once, wherever it was killed.
        #[test]
        fn a_run_can_be_resumed_from_any_point(cut in 0.0..=1.0f64, behind in 0usize..3) {
            let results = tempfile::tempdir().unwrap();
            let mut recorder = new_run(results.path());
            measure(&mut recorder).unwrap();
            let path = recorder.folder.path().to_owned();
            let id = recorder.folder.record.id.clone();
            let whole = rows(&path);
            drop(recorder);

            let samples = fs::read(path.join(SAMPLES_FILE)).unwrap();
            let journal = fs::read_to_string(path.join(JOURNAL_FILE)).unwrap();
            let header = journal.lines().next().unwrap().parse::<usize>().unwrap();
            let length = header + ((samples.len() - header) as f64 * cut) as usize;
            let noted: Vec<_> = journal
                .lines()
                .filter(|line| line.parse::<usize>().unwrap() <= length)
                .collect();
            let noted = &noted[..noted.len().saturating_sub(behind).max(1)];
            fs::write(path.join(SAMPLES_FILE), &samples[..length]).unwrap();
            fs::write(path.join(JOURNAL_FILE), noted.join("\n") + "\n").unwrap();

            let (mut folder, kept) = RunFolder::reopen(results.path(), &id).unwrap();
            folder.forget_failures().unwrap();
            prop_assert_eq!(kept.len(), 3 * (noted.len() - 1));
            let mut recorder = Recorder::new(folder, &kept);
            measure(&mut recorder).unwrap();
            prop_assert_eq!(rows(&path), whole);
        }
    }
}
