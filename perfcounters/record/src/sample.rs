//! One measured value, and `samples.csv`, which holds one in each row.

use std::fs::File;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::conditions::{
    Conditions, LinePlacement, Series, Waiting, DEFAULT_FRAME_SIZE, DEFAULT_QUEUES,
    DEFAULT_RING_SIZE,
};
use crate::error::RecordError;
use crate::metric::Metric;
use crate::names::{BackendName, Implementation};

/// Note of a value that the kernel scaled up, because the processor had fewer counters than events.
pub const MULTIPLEXED: &str = "multiplexed";

/// The first line of `samples.csv`: the fields of [`Row`].
pub(crate) const HEADER: &str =
    "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat,\
                                 ring_size,frame_size,offered_mpps,note,cpu,queues,waiting,placement,process\n";

/// One measured value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Row", try_from = "Row")]
pub struct Sample {
    /// The driver.
    pub implementation: Implementation,
    /// Name of the build variant: `default`, `overflow-checks`, …
    pub variant: String,
    /// The compiler in short: `gcc 12.2.0`; the flags are in `run.json`.
    pub toolchain: String,
    /// The conditions of the measurement.
    pub conditions: Conditions,
    /// The backend that counted.
    pub backend: BackendName,
    /// The metric, one of those that the backend gives.
    pub metric: Metric,
    /// The value, finite, in `unit`.
    pub value: f64,
    /// The unit: that of the metric, or of the event that was counted in its place.
    pub unit: String,
    /// Number of packets that the value is the mean of, at least 1.
    pub packets: u64,
    /// Index of the process that measured, from 0: addresses differ from process to process.
    pub process: u32,
    /// Index of the repetition in that process, from 0. The backend measures all drivers once per repetition, so
    /// that their values of one repetition can be paired.
    pub repeat: u32,
    /// Empty, or a remark on the value: [`MULTIPLEXED`].
    pub note: String,
    /// The processor whose caches and predictor [`BackendName::Trace`] simulated, by the name of its file:
    /// `haswell`. Empty for measured values, and for counts that are equal on every processor.
    pub cpu: String,
}

impl Sample {
    /// The series that it belongs to.
    pub fn series(&self) -> Series {
        Series {
            implementation: self.implementation,
            variant: self.variant.clone(),
            conditions: self.conditions,
            backend: self.backend,
        }
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let (metric, backend) = (self.metric, self.backend);
        let cpu = &self.cpu;
        if !metric.is_given_by(backend) {
            let backends: Vec<_> = metric.backends().iter().map(ToString::to_string).collect();
            return Err(format!(
                "{backend} does not give {metric}; the backends that do are {}",
                backends.join(", ")
            ));
        }
        if !self.value.is_finite() {
            let value = self.value;
            return Err(format!("the value of {metric} is {value}, not a number"));
        }
        if self.packets == 0 {
            return Err(format!("{metric} was taken over no packets"));
        }
        if backend != BackendName::Trace && !cpu.is_empty() {
            return Err(format!(
                "{metric} has the CPU {cpu:?}, but {backend} measures the machine; only trace names a CPU"
            ));
        }
        if backend == BackendName::Trace && cpu.is_empty() && metric.is_simulated_by(backend) {
            return Err(format!("{metric} of trace names no CPU"));
        }
        self.conditions.check()
    }
}

/// A row of `samples.csv`: the columns, in this order. Samples in JSON have the same fields.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(rename = "impl")]
    implementation: Implementation,
    variant: String,
    toolchain: String,
    batch: u32,
    backend: BackendName,
    metric: Metric,
    value: f64,
    unit: String,
    packets: u64,
    repeat: u32,
    // Old files lack the columns from here on.
    ring_size: Option<u32>,
    frame_size: Option<u32>,
    offered_mpps: Option<f64>,
    #[serde(default)]
    note: String,
    #[serde(default)]
    cpu: String,
    queues: Option<u32>,
    #[serde(default)]
    waiting: Waiting,
    placement: Option<LinePlacement>,
    #[serde(default)]
    process: u32,
}

impl From<Sample> for Row {
    fn from(sample: Sample) -> Self {
        let conditions = sample.conditions;
        Self {
            implementation: sample.implementation,
            variant: sample.variant,
            toolchain: sample.toolchain,
            batch: conditions.batch,
            backend: sample.backend,
            metric: sample.metric,
            value: sample.value,
            unit: sample.unit,
            packets: sample.packets,
            repeat: sample.repeat,
            ring_size: Some(conditions.ring_size),
            frame_size: Some(conditions.frame_size),
            offered_mpps: conditions.offered_mpps,
            note: sample.note,
            cpu: sample.cpu,
            queues: Some(conditions.queues),
            waiting: conditions.waiting,
            placement: conditions.placement,
            process: sample.process,
        }
    }
}

impl TryFrom<Row> for Sample {
    type Error = String;

    fn try_from(row: Row) -> Result<Self, String> {
        let sample = Self {
            implementation: row.implementation,
            variant: row.variant,
            toolchain: row.toolchain,
            conditions: Conditions {
                batch: row.batch,
                ring_size: row.ring_size.unwrap_or(DEFAULT_RING_SIZE),
                frame_size: row.frame_size.unwrap_or(DEFAULT_FRAME_SIZE),
                offered_mpps: row.offered_mpps,
                queues: row.queues.unwrap_or(DEFAULT_QUEUES),
                waiting: row.waiting,
                placement: row.placement,
            },
            backend: row.backend,
            metric: row.metric,
            value: row.value,
            unit: row.unit,
            packets: row.packets,
            process: row.process,
            repeat: row.repeat,
            note: row.note,
            cpu: row.cpu,
        };
        sample.check()?;
        Ok(sample)
    }
}

/// Reads all samples of a `samples.csv`. Columns that old files lack get their defaults.
///
/// # Errors
/// [`RecordError::Read`] if it cannot be opened, [`RecordError::Malformed`] with the line for a row
/// that is not a sample.
pub fn read_samples(path: &Path) -> Result<Vec<Sample>, RecordError> {
    let file = File::open(path).map_err(RecordError::read(path))?;
    csv::Reader::from_reader(file)
        .deserialize()
        .collect::<Result<_, _>>()
        .map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            RecordError::Malformed(path.to_owned(), line, error.to_string())
        })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;

    use super::*;

    const OLD_HEADER: &str =
        "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat\n";
    const OLD_ROW: &str = "c,default,gcc,32,wall,mpps,1.5,Mpackets/s,100,0";

    /// A sample in which no field has its default, apart from that which only `trace` fills.
    pub fn sample() -> Sample {
        Sample {
            implementation: Implementation::RustUnsafe,
            variant: "overflow-checks".into(),
            toolchain: "rustc 1.95.0".into(),
            conditions: Conditions {
                batch: 32,
                ring_size: 1024,
                frame_size: 1514,
                offered_mpps: Some(12.5),
                queues: 2,
                waiting: Waiting::Interrupts,
                placement: Some(LinePlacement::Memory),
            },
            backend: BackendName::Valgrind,
            metric: Metric::BranchMisses,
            value: 0.125,
            unit: Metric::BranchMisses.unit().into(),
            packets: 200_000,
            process: 3,
            repeat: 2,
            note: MULTIPLEXED.into(),
            cpu: String::new(),
        }
    }

    fn read(header: &str, row: &str) -> Result<Vec<Sample>, RecordError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, format!("{header}{row}\n")).unwrap();
        read_samples(file.path())
    }

    #[test]
    fn files_without_the_last_columns_get_the_defaults() {
        let read = read(OLD_HEADER, OLD_ROW).unwrap().remove(0);
        assert_eq!(read.conditions, Conditions::default());
        assert_eq!((read.note, read.cpu), (String::new(), String::new()));
    }

    #[test]
    fn malformed_rows_are_named_by_line() {
        let row = format!("{OLD_ROW},512,60,,,,1,poll,,0");
        for (from, to, why) in [
            ("1.5", "fast", "float"),
            ("1.5", "inf", "inf"),
            (
                "c,default",
                "fortran,default",
                "expected one of `c`, `rust`, `rust-unsafe`, `ixy`",
            ),
            ("wall", "abacus", "`valgrind`"),
            (",mpps,1.5", "", "record"),
            ("gcc,32", "gcc,0", "batch 0"),
            (
                "mpps",
                "mpss",
                "unknown variant `mpss`, expected one of `core_cycles`, `tsc_cycles`",
            ),
            (
                "wall,mpps",
                "valgrind,l2_hits",
                "valgrind does not give l2_hits; the backends that do are perf, trace",
            ),
            ("512,60,,,", "32,60,,,", "ring size 32"),
            ("512,60,,,", "512,9000,,,", "frame size 9000"),
            ("512,60,,,", "512,60,-1,,", "-1 Mpps"),
            ("512,60,,,", "512,60,lots,,", "field 12"),
            ("512,60,,,", "512,60,,,haswell", "only trace names a CPU"),
        ] {
            let bad = row.replacen(from, to, 1);
            let error = read(HEADER, &format!("{row}\n{bad}")).unwrap_err();
            let error = error.to_string();
            let named = error.contains("line 3") && error.contains(why);
            assert!(named, "{bad}: {error}");
        }
    }

    #[test]
    fn a_simulated_value_names_its_cpu() {
        let traced = |cpu: &str| Sample {
            backend: BackendName::Trace,
            note: String::new(),
            cpu: cpu.into(),
            ..sample()
        };
        assert_eq!(traced("haswell").check(), Ok(()));
        let error = traced("").check().unwrap_err();
        assert_eq!(error, "branch_misses of trace names no CPU");
        let count = Sample {
            metric: Metric::Instructions,
            ..traced("")
        };
        assert_eq!(count.check(), Ok(()));
    }

    #[test]
    fn a_series_names_its_driver_backend_and_unusual_conditions() {
        assert_eq!(Conditions::default().to_string(), "batch 32");
        assert_eq!(
            sample().series().to_string(),
            "rust-unsafe/overflow-checks batch 32, ring 1024, 1514 B, 2 queues, interrupts, memory, 12.5 Mpps, \
             valgrind"
        );
    }
}
