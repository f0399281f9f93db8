//! The file of a measured cell, `cells/NAME.json` in the folder of its run: one line of JSON that says everything of
//! one cell, so that runs merge by copying folders. perfcounters/README.md describes the fields.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use perfcounters::{Backend, Cell};
use record::{
    BackendName, Conditions, GitFacts, HostFacts, RecordError, RunRecord, Sample, Series,
};
use serde::Serialize;
use serde_json::{json, Value};

use crate::build::toolchain::identity::{file_hash, text_hash};
use crate::interval::{Interval, Rounds};

/// The format of the file. A change that old readers misread gives it another number.
const FORMAT: &str = "triptych-cell-1";

type Settings = BTreeMap<String, Value>;

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

#[derive(Debug, Serialize)]
struct Figure {
    unit: String,
    value: f64,
    low: f64,
    high: f64,
    count: usize,
}

#[derive(Debug, Serialize)]
struct Built {
    toolchain: String,
    compiler_sha256: Option<String>,
    program_sha256: Option<String>,
}

#[derive(Debug, Serialize)]
struct CellFile<'a> {
    format: &'static str,
    id: &'a str,
    machine: &'a str,
    run: &'a str,
    start: &'a str,
    seconds_per_cell: f64,
    cell: &'a CellKey,
    figures: BTreeMap<String, Figure>,
    samples: Vec<Value>,
    build: &'a Built,
    git: &'a Option<GitFacts>,
    host: &'a HostFacts,
    settings: &'a Settings,
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
        let settings = record.settings.get(&backend.name().to_string());
        let none = Settings::new();
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
            let file = CellFile {
                format: FORMAT,
                id: &id,
                machine: &record.machine,
                run: &record.id,
                start: record
                    .periods
                    .last()
                    .map_or(&record.start, |period| &period.start),
                seconds_per_cell: (seconds * 1000.0).round() / 1000.0,
                cell: &CellKey::of(cell, backend),
                figures: figures(samples),
                samples: samples.iter().map(|sample| row(sample)).collect(),
                build: &Built {
                    toolchain: cell.toolchain.clone(),
                    compiler_sha256: compiler_hash(cell),
                    program_sha256: self.hash(measured_file(cell, backend.name())),
                },
                git: &record.git,
                host: &record.host,
                settings: settings.unwrap_or(&none),
            };
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

/// The simulated processor and placement of a value; empty for what is counted or measured.
fn simulated(sample: &Sample) -> String {
    let placement = sample.conditions.placement;
    match (sample.cpu.as_str(), placement) {
        ("", _) => String::new(),
        (cpu, None) => cpu.to_owned(),
        (cpu, Some(placement)) => format!("{cpu}/{placement}"),
    }
}

fn row(sample: &Sample) -> Value {
    let mut row = vec![
        json!(sample.metric),
        json!(sample.value),
        json!(sample.unit),
        json!(sample.packets),
        json!(sample.repeat),
        json!(sample.process),
        json!(sample.note),
    ];
    if !sample.cpu.is_empty() {
        row.extend([json!(sample.cpu), json!(sample.conditions.placement)]);
    }
    Value::Array(row)
}

/// The medians with their intervals. A simulated figure is named `METRIC@CPU/PLACEMENT`.
fn figures(samples: &[&Sample]) -> BTreeMap<String, Figure> {
    let mut values: BTreeMap<String, (Rounds, &str)> = BTreeMap::new();
    for sample in samples {
        let name = match simulated(sample) {
            there if there.is_empty() => sample.metric.to_string(),
            there => format!("{}@{there}", sample.metric),
        };
        let (rounds, _) = values
            .entry(name)
            .or_insert_with(|| (Rounds::new(), &sample.unit));
        rounds.insert((sample.process, sample.repeat), sample.value);
    }
    let figure = |(name, (rounds, unit)): (String, (Rounds, &str))| {
        let found = Interval::of_rounds(&rounds)?;
        let figure = Figure {
            unit: unit.to_owned(),
            value: found.median,
            low: found.low,
            high: found.high,
            count: rounds.len(),
        };
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
