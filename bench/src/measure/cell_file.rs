//! The file of a measured cell, `cells/NAME.json` in the folder of its run: one line of JSON that says everything of
//! one cell, so that runs merge by copying folders. perfcounters/README.md describes the fields.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use perfcounters::{Backend, Cell};
use record::{BackendName, Conditions, RecordError, RunRecord, Sample, Series};
use serde::Serialize;
use serde_json::{json, Value};

use crate::build::toolchain::identity::{file_hash, text_hash};
use crate::interval::{Interval, Rounds};

/// The format of the file. A change that old readers misread gives it another number.
const FORMAT: &str = "triptych-cell-1";

/// What is measured: a driver under its conditions, by a backend.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellKey {
    #[serde(flatten)]
    series: Series,
    /// The processors that `trace` simulates; empty for other backends.
    cpu: String,
}

impl CellKey {
    pub fn of(cell: &Cell, backend: &dyn Backend) -> Self {
        let cpus = backend.settings().remove("cpus").unwrap_or_default();
        let cpus = cpus.as_array().into_iter().flatten();
        let cpus: Vec<_> = cpus.filter_map(Value::as_str).collect();
        Self {
            series: cell.series(backend.name()),
            cpu: cpus.join(","),
        }
    }

    /// Driver and conditions: `trace-c-default-b32-r512-f60`.
    pub fn name(&self) -> String {
        let (driver, backend) = (self.series.implementation, self.series.backend);
        let conditions = conditions_name(&self.series.conditions);
        format!("{backend}-{driver}-{}-{conditions}", self.series.variant)
    }
}

/// Conditions in the name of a file: `b32-r512-f60`, and what is not usual.
pub fn conditions_name(conditions: &Conditions) -> String {
    let usual = Conditions::default();
    let (batch, ring, frame) = (
        conditions.batch,
        conditions.ring_size,
        conditions.frame_size,
    );
    let mut name = format!("b{batch}-r{ring}-f{frame}");
    if let Some(placement) = conditions.placement {
        name += &format!("-{placement}");
    }
    if let Some(load) = conditions.offered_mpps {
        name += &format!("-l{load}");
    }
    if conditions.queues != usual.queues {
        name += &format!("-q{}", conditions.queues);
    }
    if conditions.waiting != usual.waiting {
        name += "-interrupts";
    }
    name
}

/// Writes the files of cells. It hashes each program once.
#[derive(Debug, Default)]
pub struct CellFiles {
    hashes: HashMap<PathBuf, Option<String>>,
}

impl CellFiles {
    /// The name of a cell's file. The same cell, program and settings give the same name.
    pub fn id(&mut self, cell: &Cell, backend: &dyn Backend) -> String {
        let key = CellKey::of(cell, backend);
        let mut settings = backend.settings();
        // A scheduler may choose other CPUs for the same work.
        settings.retain(|name, _| !name.ends_with("cpu"));
        let program = self.hash(measured_file(cell, backend.name()));
        let all = json!({"cell": key, "program": program, "settings": settings});
        format!("{}-{}", key.name(), &text_hash(&all.to_string())[..8])
    }

    fn hash(&mut self, file: &Path) -> Option<String> {
        let hash = || file_hash(file).ok();
        let known = self.hashes.entry(file.to_owned());
        known.or_insert_with(hash).clone()
    }

    /// Writes the file of each cell that has samples into the folder `cells`. Returns their number.
    /// Without a time, nothing was measured now, and only missing files are written.
    pub fn write(
        &mut self,
        cells: &Path,
        measured: (&[Cell], &dyn Backend),
        seconds_per_cell: Option<f64>,
        samples: &[Sample],
        record: &RunRecord,
    ) -> Result<usize, RecordError> {
        let (measured, backend) = measured;
        let unusable = |cause| RecordError::Write(cells.to_owned(), cause);
        std::fs::create_dir_all(cells).map_err(unusable)?;
        let mut by_series: HashMap<String, Vec<&Sample>> = HashMap::new();
        for sample in samples
            .iter()
            .filter(|sample| sample.backend == backend.name())
        {
            let series = series_of(sample).to_string();
            by_series.entry(series).or_default().push(sample);
        }
        let mut count = 0;
        for cell in measured {
            let series = cell.series(backend.name()).to_string();
            let Some(samples) = by_series.get(&series) else {
                continue;
            };
            let id = self.id(cell, backend);
            let path = cells.join(format!("{id}.json"));
            if seconds_per_cell.is_none() && path.is_file() {
                continue;
            }
            let repeats = backend.repeats().len() as f64;
            let estimate = || backend.estimate(cell).as_secs_f64() * repeats;
            let seconds = seconds_per_cell.unwrap_or_else(estimate);
            let program = self.hash(measured_file(cell, backend.name()));
            let period = record.periods.last();
            let file = json!({
                "format": FORMAT,
                "id": id,
                "machine": record.machine,
                "run": record.id,
                "start": period.map_or(&record.start, |period| &period.start),
                "seconds_per_cell": (seconds * 1000.0).round() / 1000.0,
                "cell": CellKey::of(cell, backend),
                "figures": figures(samples),
                "samples": samples.iter().copied().map(row).collect::<Vec<_>>(),
                "build": {
                    "toolchain": cell.toolchain,
                    "compiler_sha256": compiler_hash(cell),
                    "program_sha256": program,
                },
                "git": record.git,
                "host": record.host,
                "settings": record.settings.get(&backend.name().to_string()),
                "warnings": record.warnings,
            });
            let line = record::to_line(&file);
            let line = line.map_err(|error| RecordError::Write(path.clone(), error.into()))?;
            record::write_whole(&path, &line)?;
            count += 1;
        }
        Ok(count)
    }
}

/// The file that runs: some backends call the driver's library.
fn measured_file(cell: &Cell, backend: BackendName) -> &Path {
    let library = matches!(backend, BackendName::Lockstep | BackendName::Perf);
    match library && cell.peer.is_none() {
        true => &cell.library,
        false => &cell.program,
    }
}

/// `trace` simulates the placements of one recording, which is one cell.
fn series_of(sample: &Sample) -> Series {
    let mut series = sample.series();
    if sample.backend == BackendName::Trace {
        series.conditions.placement = None;
    }
    series
}

fn row(sample: &Sample) -> Value {
    let Sample {
        metric,
        value,
        unit,
        packets,
        repeat,
        process,
        note,
        cpu,
        ..
    } = sample;
    match (cpu.as_str(), sample.conditions.placement) {
        ("", _) => json!([metric, value, unit, packets, repeat, process, note]),
        (cpu, at) => json!([metric, value, unit, packets, repeat, process, note, cpu, at]),
    }
}

/// The medians with their intervals. A simulated figure is named `METRIC@CPU/PLACEMENT`.
fn figures(samples: &[&Sample]) -> BTreeMap<String, Value> {
    let mut values: BTreeMap<String, (Rounds, &str)> = BTreeMap::new();
    for sample in samples {
        let mut name = sample.metric.to_string();
        if let (BackendName::Trace, Some(placement)) = (sample.backend, sample.conditions.placement)
        {
            name += &format!("@{}/{placement}", sample.cpu);
        }
        let (rounds, _) = values.entry(name).or_insert((Rounds::new(), &sample.unit));
        rounds.insert((sample.process, sample.repeat), sample.value);
    }
    let figure = |(name, (rounds, unit)): (String, (Rounds, &str))| {
        let Interval { low, median, high } = Interval::of_rounds(&rounds)?;
        let count = rounds.len();
        let figure =
            json!({"unit": unit, "value": median, "low": low, "high": high, "count": count});
        Some((name, figure))
    };
    values.into_iter().filter_map(figure).collect()
}

/// The hash of the compiler, which the build noted.
fn compiler_hash(cell: &Cell) -> Option<String> {
    let noted = cell.program.parent()?.join("toolchain.txt");
    let text = std::fs::read_to_string(noted).ok()?;
    let hash = text.lines().find_map(|line| line.strip_prefix("compiler "));
    hash.map(|hash| hash.trim().to_owned())
}
