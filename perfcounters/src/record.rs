//! The record of a run: `results/<id>/run.json` and `results/<id>/samples.csv`.
//!
//! `samples.csv` is tidy: one value a row, so that it can be read by any tool
//! without knowing this crate. Rows are appended one system call at a time: a run
//! that is killed leaves every sample taken until then.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumIter, EnumString, IntoStaticStr, VariantNames};

use crate::folder;
use crate::host::{CpuClock, HostFacts};
use crate::placement::Placement;

/// File in a run folder that holds the samples.
pub const SAMPLES_FILE: &str = "samples.csv";
/// File in a run folder that says what was run where.
pub const RUN_FILE: &str = "run.json";
/// File in a run folder that says, while the run is not complete, up to where `samples.csv` is whole:
/// its length after each measurement, a line each.
pub const JOURNAL_FILE: &str = "samples.journal";
/// Link in the results folder to the newest run.
pub const LATEST_LINK: &str = "latest";

/// What can go wrong when a record is written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder or file could not be written: most often a full disk or a folder of another user.
    #[error("cannot write {}: {cause}; {}", path.display(), write_advice(cause))]
    Write {
        /// What was being written.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file could not be read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// What was being read.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Another process is writing to the folder.
    #[error("{} is being written by another triptych: wait for it, or end it", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The file is not what this crate writes.
    #[error("{}: line {line}: {why}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1; 0 if it is not known.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
}

fn write_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "free some space, or choose a results folder on another disk",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a results folder that you may write to"
        }
        _ => "check that the folder exists and is on a working disk",
    }
}

/// One of the three drivers.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    EnumIter,
    IntoStaticStr,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Implementation {
    /// The idiomatic C driver.
    C,
    /// The safe Rust driver.
    Rust,
    /// The C driver, transpiled to unsafe Rust.
    RustUnsafe,
}

/// A way to count.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    EnumIter,
    IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum BackendName {
    /// The processor's own counters.
    Perf,
    /// Instructions, branches and caches simulated by valgrind.
    Valgrind,
    /// Driver and NIC model take turns in one thread; the driver's turns are timed.
    Lockstep,
    /// Whole processes, side by side.
    Wall,
}

/// Descriptors per ring, unless something else is said.
pub const DEFAULT_RING_SIZE: u32 = 512;
/// Bytes of a frame without its CRC, unless something else is said: the smallest that Ethernet allows.
pub const DEFAULT_FRAME_SIZE: u32 = 60;
/// Note of a value that was scaled up, because the processor had fewer counters than events.
pub const MULTIPLEXED: &str = "multiplexed";

/// What was counted. Cycles, instructions, branches, stores, loads, hits and misses are per packet.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    EnumIter,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Metric {
    /// Cycles: of the core for `perf`, of the time-stamp counter for `lockstep` and `wall`.
    Cycles,
    /// Instructions executed.
    Instructions,
    /// Instructions per cycle; only where one backend counts both.
    Ipc,
    /// Branches; `valgrind` counts conditional and indirect ones, no direct jumps, calls or returns.
    Branches,
    /// Branches that were predicted wrongly (by a simulated predictor for `valgrind`).
    BranchMisses,
    /// Stores.
    Stores,
    /// Loads.
    Loads,
    /// Loads that the first-level cache answered.
    L1Hits,
    /// Loads that the second-level cache answered.
    L2Hits,
    /// Loads that the last-level cache answered.
    L3Hits,
    /// Loads that no cache answered.
    L3Misses,
    /// Forwarded packets per microsecond, both directions together.
    Mpps,
    /// Share of the receive calls that returned as many packets as were asked for, 0 to 1.
    FullBatchRatio,
    /// Shortest time that a packet took through the driver, from its arrival to its departure.
    LatencyMinUs,
    /// Time within which half of the packets came through.
    LatencyP50Us,
    /// Time within which 90 % of the packets came through.
    LatencyP90Us,
    /// Time within which 99 % of the packets came through.
    LatencyP99Us,
    /// Time within which 99.9 % of the packets came through.
    #[serde(rename = "latency_p99_9_us")]
    #[strum(serialize = "latency_p99_9_us")]
    LatencyP99_9Us,
    /// Time within which 99.99 % of the packets came through.
    #[serde(rename = "latency_p99_99_us")]
    #[strum(serialize = "latency_p99_99_us")]
    LatencyP99_99Us,
    /// Time within which 99.999 % of the packets came through.
    #[serde(rename = "latency_p99_999_us")]
    #[strum(serialize = "latency_p99_999_us")]
    LatencyP99_999Us,
    /// Time within which 99.9999 % of the packets came through.
    #[serde(rename = "latency_p99_9999_us")]
    #[strum(serialize = "latency_p99_9999_us")]
    LatencyP99_9999Us,
    /// Longest time that a packet took.
    LatencyMaxUs,
    /// Share of the offered frames that did not come back, 0 to 1.
    LossRatio,
}

impl Metric {
    /// The percentiles of the latency, with the share of the packets that each is about, 0 to 1.
    pub const LATENCY_PERCENTILES: [(Self, f64); 7] = [
        (Self::LatencyP50Us, 0.5),
        (Self::LatencyP90Us, 0.9),
        (Self::LatencyP99Us, 0.99),
        (Self::LatencyP99_9Us, 0.999),
        (Self::LatencyP99_99Us, 0.9999),
        (Self::LatencyP99_999Us, 0.99999),
        (Self::LatencyP99_9999Us, 0.999999),
    ];

    /// The unit in which `backend` gives this metric.
    pub fn unit(self, backend: BackendName) -> &'static str {
        match (self, backend) {
            (Self::Cycles, BackendName::Perf) => "core cycles/packet",
            (Self::Cycles, _) => "tsc cycles/packet",
            (Self::Instructions, _) => "instructions/packet",
            (Self::Ipc, _) => "instructions/cycle",
            (Self::Branches | Self::BranchMisses, _) => "branches/packet",
            (Self::Stores, _) => "stores/packet",
            (Self::Loads | Self::L1Hits | Self::L2Hits | Self::L3Hits | Self::L3Misses, _) => {
                "loads/packet"
            }
            (Self::Mpps, _) => "Mpackets/s",
            (Self::FullBatchRatio | Self::LossRatio, _) => "ratio",
            (
                Self::LatencyMinUs
                | Self::LatencyP50Us
                | Self::LatencyP90Us
                | Self::LatencyP99Us
                | Self::LatencyP99_9Us
                | Self::LatencyP99_99Us
                | Self::LatencyP99_999Us
                | Self::LatencyP99_9999Us
                | Self::LatencyMaxUs,
                _,
            ) => "us",
        }
    }
}

/// One measured value: one row of `samples.csv`. The fields are its columns, in this order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Which driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// How it was built: `default`, `overflow-checks`, …
    pub variant: String,
    /// What it was built with, in short: `gcc 12.2.0`; the flags are in `run.json`.
    pub toolchain: String,
    /// Packets asked for per receive call, 1 to 512.
    pub batch: u32,
    /// How it was counted.
    pub backend: BackendName,
    /// What was counted.
    pub metric: Metric,
    /// The value, finite, in `unit`.
    pub value: f64,
    /// The unit; see [`Metric::unit`].
    pub unit: String,
    /// Packets that the value is the mean of, at least 1.
    pub packets: u64,
    /// Which repetition, counted from 0. Values of one repeat were taken in turn and can be paired.
    pub repeat: u32,
    /// Descriptors per ring, 64 to 4096. The columns from here on are missing in old files.
    #[serde(default = "default_ring_size")]
    pub ring_size: u32,
    /// Bytes of a frame without its CRC, 60 to 1514.
    #[serde(default = "default_frame_size")]
    pub frame_size: u32,
    /// Offered load, million packets per second, both directions together; `None` where frames
    /// arrived as fast as the driver took them.
    #[serde(default)]
    pub offered_mpps: Option<f64>,
    /// Empty, or what there is to know about the value: [`MULTIPLEXED`].
    #[serde(default)]
    pub note: String,
}

fn default_ring_size() -> u32 {
    DEFAULT_RING_SIZE
}

fn default_frame_size() -> u32 {
    DEFAULT_FRAME_SIZE
}

impl Sample {
    fn check(&self) -> Result<(), String> {
        if !self.value.is_finite() {
            return Err(format!(
                "the value of {} is {}, not a number",
                self.metric, self.value
            ));
        }
        if !(1..=512).contains(&self.batch) {
            return Err(format!("batch {} is not in 1 to 512", self.batch));
        }
        if self.packets == 0 {
            return Err(format!("{} was taken over no packets", self.metric));
        }
        if !(64..=4096).contains(&self.ring_size) {
            return Err(format!("ring size {} is not in 64 to 4096", self.ring_size));
        }
        if !(60..=1514).contains(&self.frame_size) {
            return Err(format!(
                "frame size {} is not in 60 to 1514",
                self.frame_size
            ));
        }
        if let Some(offered) = self.offered_mpps {
            if !(offered.is_finite() && offered > 0.0) {
                return Err(format!("an offered load of {offered} Mpps is none"));
            }
        }
        Ok(())
    }
}

const HEADER: &str = "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat,\
                      ring_size,frame_size,offered_mpps,note\n";

/// Appends samples to a file; those of one measurement in one write.
#[derive(Debug)]
pub struct SampleWriter {
    path: PathBuf,
    file: File,
    /// Length of the file after the last whole measurement.
    length: u64,
    /// Where that length is noted.
    journal: Option<File>,
}

impl SampleWriter {
    /// Creates `path` with the header row.
    ///
    /// # Errors
    /// [`RecordError::Write`] if the file exists or cannot be written.
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        let file = OpenOptions::new()
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(|cause| write_error(path, cause))?;
        Self::with_header(path, file)
    }

    fn with_header(path: &Path, file: File) -> Result<Self, RecordError> {
        let mut writer = Self {
            path: path.to_owned(),
            file,
            length: 0,
            journal: None,
        };
        writer.append(HEADER.as_bytes())?;
        Ok(writer)
    }

    /// Notes from now on in a file of its own up to where the samples are whole: a process that is
    /// killed while it writes may leave half of a measurement.
    ///
    /// # Errors
    /// [`RecordError::Write`].
    fn keep_journal(&mut self, path: &Path) -> Result<(), RecordError> {
        let fail = |cause| write_error(path, cause);
        let journal = OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .map_err(fail)?;
        self.journal = Some(journal);
        self.note_length().map_err(fail)
    }

    fn note_length(&mut self) -> io::Result<()> {
        match &mut self.journal {
            Some(journal) => journal.write_all(format!("{}\n", self.length).as_bytes()),
            None => Ok(()),
        }
    }

    /// Opens a file that a run has left behind, and cuts off what was not written to its end.
    ///
    /// # Errors
    /// [`RecordError::Read`], [`RecordError::Write`], [`RecordError::Malformed`] if the journal and
    /// the samples do not belong together.
    fn reopen(path: &Path, journal: &Path) -> Result<Self, RecordError> {
        let read = |path: &Path| {
            fs::read_to_string(path).map_err(|cause| RecordError::Read {
                path: path.to_owned(),
                cause,
            })
        };
        let samples = read(path)?;
        let noted = read(journal)?;
        // The last line may be half a line, of which nobody knows what it was going to be.
        let whole = noted.rfind('\n').map_or("", |end| &noted[..end]);
        let length = whole
            .lines()
            .filter_map(|line| line.parse().ok())
            .rfind(|length: &usize| *length <= samples.len())
            .filter(|length| samples.starts_with(HEADER) && samples[..*length].ends_with('\n'))
            .ok_or_else(|| RecordError::Malformed {
                path: journal.to_owned(),
                line: 0,
                why: format!("it does not belong to {}", path.display()),
            })?;
        let fail = |cause| write_error(path, cause);
        let file = OpenOptions::new().append(true).open(path).map_err(fail)?;
        file.set_len(length as u64).map_err(fail)?;
        if whole.len() + 1 != noted.len() {
            fs::write(journal, format!("{length}\n"))
                .map_err(|cause| write_error(journal, cause))?;
        }
        let mut writer = Self {
            path: path.to_owned(),
            file,
            length: length as u64,
            journal: None,
        };
        writer.keep_journal(journal)?;
        Ok(writer)
    }

    /// Appends the rows of one measurement: all of them or, whatever happens, none.
    ///
    /// # Errors
    /// [`RecordError::Malformed`] if one is no measurement (not finite, no packets);
    /// [`RecordError::Write`] if the disk is full: the file then ends as before.
    pub fn write(&mut self, measurement: &[Sample]) -> Result<(), RecordError> {
        let malformed = |why: String| RecordError::Malformed {
            path: self.path.clone(),
            line: 0,
            why,
        };
        let mut csv = csv::WriterBuilder::new()
            .has_headers(false)
            .from_writer(Vec::new());
        for sample in measurement {
            sample.check().map_err(malformed)?;
            csv.serialize(sample)
                .map_err(|error| malformed(error.to_string()))?;
        }
        let rows = csv
            .into_inner()
            .map_err(|error| malformed(error.to_string()))?;
        self.append(&rows)
    }

    fn append(&mut self, rows: &[u8]) -> Result<(), RecordError> {
        match self.file.write_all(rows) {
            Ok(()) => {
                self.length += rows.len() as u64;
                self.note_length()
                    .map_err(|cause| write_error(&self.path, cause))
            }
            Err(cause) => {
                // Half a row would make the whole file unreadable. If even this fails,
                // the error below is still the one that matters.
                let _ = self.file.set_len(self.length);
                Err(write_error(&self.path, cause))
            }
        }
    }

    /// Makes sure that the rows are on the disk, not only in the kernel's memory.
    ///
    /// # Errors
    /// [`RecordError::Write`]: some file systems report a full disk only here.
    pub fn sync(&mut self) -> Result<(), RecordError> {
        self.file
            .sync_all()
            .map_err(|cause| write_error(&self.path, cause))
    }
}

pub(crate) fn write_error(path: &Path, cause: io::Error) -> RecordError {
    RecordError::Write {
        path: path.to_owned(),
        cause,
    }
}

/// Reads all samples of a `samples.csv`.
///
/// # Errors
/// [`RecordError::Read`] if it cannot be opened, [`RecordError::Malformed`] with the line
/// for a row that is not a sample.
pub fn read_samples(path: &Path) -> Result<Vec<Sample>, RecordError> {
    let file = File::open(path).map_err(|cause| RecordError::Read {
        path: path.to_owned(),
        cause,
    })?;
    let mut samples = Vec::new();
    let mut reader = csv::Reader::from_reader(file);
    for row in reader.deserialize::<Sample>() {
        let malformed = |line, why| RecordError::Malformed {
            path: path.to_owned(),
            line,
            why,
        };
        let sample = row.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            malformed(line, error.to_string())
        })?;
        // The header is line 1.
        sample
            .check()
            .map_err(|why| malformed(samples.len() as u64 + 2, why))?;
        samples.push(sample);
    }
    Ok(samples)
}

/// A measurement that did not work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Which driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// How it was built.
    pub variant: String,
    /// Batch size, 1 to 512.
    pub batch: u32,
    /// Descriptors per ring.
    #[serde(default = "default_ring_size")]
    pub ring_size: u32,
    /// Bytes of a frame without its CRC.
    #[serde(default = "default_frame_size")]
    pub frame_size: u32,
    /// Offered load, Mpps; `None` for a saturating one.
    #[serde(default)]
    pub offered_mpps: Option<f64>,
    /// How it was to be counted.
    pub backend: BackendName,
    /// What went wrong, in a sentence or two.
    pub cause: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}/{} batch {}",
            self.implementation, self.variant, self.batch
        )?;
        write_conditions(f, self.ring_size, self.frame_size, self.offered_mpps)?;
        write!(f, ", {}: {}", self.backend, self.cause)
    }
}

/// Says what is not as usual about a measurement: `, ring 64`.
pub(crate) fn write_conditions(
    f: &mut std::fmt::Formatter<'_>,
    ring_size: u32,
    frame_size: u32,
    offered_mpps: Option<f64>,
) -> std::fmt::Result {
    if ring_size != DEFAULT_RING_SIZE {
        write!(f, ", ring {ring_size}")?;
    }
    if frame_size != DEFAULT_FRAME_SIZE {
        write!(f, ", {frame_size} B")?;
    }
    match offered_mpps {
        Some(offered) => write!(f, ", {offered} Mpps"),
        None => Ok(()),
    }
}

/// How one driver was built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// Which driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// How it was built.
    pub variant: String,
    /// The compiler in short, as in the `toolchain` column.
    pub toolchain: String,
    /// The compiler's version and its flags, as the build recorded them.
    pub flags: String,
    /// Conditional jumps to a panic or trap in the loops of the data path's machine code, by kind:
    /// `bounds`, `overflow`, `trap`, `other`. Empty if they were not counted.
    #[serde(default)]
    pub checks_in_loops: BTreeMap<String, usize>,
    /// Why they were not counted.
    #[serde(default)]
    pub checks_not_counted: Option<String>,
}

/// A stretch of time for which a run went on without an interruption.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// When it began, RFC 3339, UTC.
    pub start: String,
    /// When it ended; `null` while it goes on, or if it was killed.
    pub end: Option<String>,
    /// The command line, one word an entry.
    pub command: Vec<String>,
    /// The measuring CPUs' clocks when it began.
    pub clocks_before: Vec<CpuClock>,
    /// The same when it ended.
    pub clocks_after: Vec<CpuClock>,
}

/// What a driver carried at most, which shares of it were offered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// Batch size, 1 to 512.
    pub batch: u32,
    /// Descriptors per ring.
    pub ring_size: u32,
    /// Bytes of a frame without its CRC.
    pub frame_size: u32,
    /// Throughput of the slowest of the compared drivers under saturating load, median, Mpps.
    pub mpps: f64,
}

/// Contents of `run.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Name of the run folder.
    pub id: String,
    /// When it began, RFC 3339, UTC.
    pub start: String,
    /// When it ended; `null` while it runs, or if it was killed.
    pub end: Option<String>,
    /// Whether everything that was planned was measured or has failed. If not, it can be resumed.
    #[serde(default)]
    pub complete: bool,
    /// The command line, one word an entry.
    pub command: Vec<String>,
    /// Revision of this repository; `null` outside of one.
    pub git: Option<GitFacts>,
    /// The machine.
    pub host: HostFacts,
    /// The drivers and what they were built with.
    pub builds: Vec<Build>,
    /// SHA-256 of each program and library that was measured, by file.
    #[serde(default)]
    pub artefacts: BTreeMap<String, String>,
    /// What was to be measured: the configuration.
    #[serde(default)]
    pub plan: serde_json::Value,
    /// Which CPUs driver and NIC ran on.
    #[serde(default)]
    pub placement: Placement,
    /// The stretches that the run was made in: one, and one more for each time it was resumed.
    #[serde(default)]
    pub stretches: Vec<Stretch>,
    /// What offered loads that are shares of the capacity are shares of.
    #[serde(default)]
    pub capacities: Vec<Capacity>,
    /// What each backend was set to, by backend, then by setting.
    pub settings: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
    /// Backends that cannot work here, with the reason.
    pub not_measurable: BTreeMap<BackendName, String>,
    /// What was noticed and may have disturbed the figures.
    pub warnings: Vec<String>,
    /// Measurements that failed.
    pub failures: Vec<Failure>,
}

/// Which sources were measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitFacts {
    /// Full hash of the checked-out commit; `null` before the first one.
    pub revision: Option<String>,
    /// Whether files differ from that commit.
    pub dirty: bool,
}

/// A run folder that is being written.
#[derive(Debug)]
pub struct RunFolder {
    results: PathBuf,
    path: PathBuf,
    samples: SampleWriter,
    count: u64,
    /// The folder, locked for as long as it is written.
    _lock: File,
    /// What `run.json` will say; change it freely and call [`RunFolder::save`].
    pub record: RunRecord,
}

impl RunFolder {
    /// Creates `results/<id>/`, named after the time, with `run.json` and an empty `samples.csv`.
    ///
    /// # Errors
    /// [`RecordError::Write`] if the folder or one of the files cannot be created.
    pub fn create(
        results: &Path,
        now: SystemTime,
        mut record: RunRecord,
    ) -> Result<Self, RecordError> {
        let (id, path) = folder::create(results, now)?;
        record.id = id;
        record.start = humantime::format_rfc3339_seconds(now).to_string();
        record.end = None;
        let lock = lock(&path)?;
        let mut samples = SampleWriter::create(&path.join(SAMPLES_FILE))?;
        samples.keep_journal(&path.join(JOURNAL_FILE))?;
        let folder = Self {
            results: results.to_owned(),
            samples,
            path,
            count: 0,
            _lock: lock,
            record,
        };
        folder.save()?;
        Ok(folder)
    }

    /// Opens the folder of a run that was interrupted, to go on with it. A measurement that was
    /// being written then is gone. Gives the samples that are there, too.
    ///
    /// # Errors
    /// [`RecordError::InUse`] if the run still goes on; [`RecordError::Read`],
    /// [`RecordError::Malformed`] or [`RecordError::Write`] if the folder is not as it was left.
    pub fn reopen(results: &Path, id: &str) -> Result<(Self, Vec<Sample>), RecordError> {
        let path = results.join(id);
        let lock = lock(&path)?;
        let record = read_run(&path)?;
        let samples_path = path.join(SAMPLES_FILE);
        let writer = SampleWriter::reopen(&samples_path, &path.join(JOURNAL_FILE))?;
        let samples = read_samples(&samples_path)?;
        let folder = Self {
            results: results.to_owned(),
            samples: writer,
            path,
            count: samples.len() as u64,
            _lock: lock,
            record,
        };
        Ok((folder, samples))
    }

    /// The folder, `results/<id>`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many samples were written.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Appends the samples of one measurement, all or none.
    ///
    /// # Errors
    /// As [`SampleWriter::write`].
    pub fn write(&mut self, measurement: &[Sample]) -> Result<(), RecordError> {
        self.samples.write(measurement)?;
        self.count += measurement.len() as u64;
        Ok(())
    }

    /// Writes `run.json` anew; a reader sees the old or the new one, never half of it.
    ///
    /// # Errors
    /// [`RecordError::Write`].
    pub fn save(&self) -> Result<(), RecordError> {
        let path = self.path.join(RUN_FILE);
        let fail = |cause| write_error(&path, cause);
        let mut json =
            serde_json::to_vec_pretty(&self.record).map_err(|error| fail(error.into()))?;
        json.push(b'\n');
        let mut file = tempfile::Builder::new()
            .prefix(".run.json.")
            .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
            .tempfile_in(&self.path)
            .map_err(fail)?;
        file.write_all(&json).map_err(fail)?;
        file.as_file().sync_all().map_err(fail)?;
        file.persist(&path).map_err(|error| fail(error.error))?;
        Ok(())
    }

    /// Ends the run: notes the time, and makes `results/latest` point here if anything was measured.
    /// What is `complete` cannot be resumed.
    ///
    /// # Errors
    /// [`RecordError::Write`].
    pub fn finish(&mut self, now: SystemTime) -> Result<(), RecordError> {
        self.record.end = Some(humantime::format_rfc3339_seconds(now).to_string());
        self.samples.sync()?;
        self.save()?;
        if self.record.complete {
            let journal = self.path.join(JOURNAL_FILE);
            fs::remove_file(&journal).map_err(|cause| write_error(&journal, cause))?;
        }
        if self.count > 0 {
            folder::link(&self.results, LATEST_LINK, &self.record.id)?;
        }
        Ok(())
    }
}

/// Keeps other processes from writing to a run folder, until the result is dropped.
fn lock(folder: &Path) -> Result<File, RecordError> {
    let file = File::open(folder).map_err(|cause| RecordError::Read {
        path: folder.to_owned(),
        cause,
    })?;
    // A process that is being started has a copy of the lock for a moment, until it runs its program.
    for _ in 0..50 {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            Err(error) => return Err(write_error(folder, error.into())),
        }
    }
    Err(RecordError::InUse {
        path: folder.to_owned(),
    })
}

/// The runs in a results folder that were not completed and can be resumed, oldest first.
pub fn unfinished_runs(results: &Path) -> Vec<String> {
    let mut runs: Vec<String> = fs::read_dir(results)
        .into_iter()
        .flatten()
        .flatten()
        // `latest` is one of the others once more.
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| entry.path().join(JOURNAL_FILE).is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    runs.sort();
    runs
}

/// Reads the `run.json` of a run folder.
///
/// # Errors
/// [`RecordError::Read`], or [`RecordError::Malformed`] with the line.
pub fn read_run(folder: &Path) -> Result<RunRecord, RecordError> {
    let path = folder.join(RUN_FILE);
    let text = fs::read_to_string(&path).map_err(|cause| RecordError::Read {
        path: path.clone(),
        cause,
    })?;
    serde_json::from_str(&text).map_err(|error| RecordError::Malformed {
        path,
        line: error.line() as u64,
        why: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn sample() -> Sample {
        Sample {
            implementation: Implementation::RustUnsafe,
            variant: "overflow-checks".into(),
            toolchain: "rustc 1.95.0".into(),
            batch: 32,
            backend: BackendName::Valgrind,
            metric: Metric::BranchMisses,
            value: 0.125,
            unit: Metric::BranchMisses.unit(BackendName::Valgrind).into(),
            packets: 200_000,
            repeat: 2,
            ring_size: 1024,
            frame_size: 1514,
            offered_mpps: Some(12.5),
            note: MULTIPLEXED.into(),
        }
    }

    fn record() -> RunRecord {
        RunRecord {
            command: vec!["triptych".into(), "run".into()],
            not_measurable: BTreeMap::from([(BackendName::Perf, "no PMU".into())]),
            complete: true,
            ..RunRecord::default()
        }
    }

    #[test]
    fn header_and_rows_are_as_designed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(SAMPLES_FILE);
        let mut writer = SampleWriter::create(&path).unwrap();
        writer.write(&[sample()]).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat,\
             ring_size,frame_size,offered_mpps,note\n\
             rust-unsafe,overflow-checks,rustc 1.95.0,32,valgrind,branch_misses,0.125,branches/packet,200000,2,\
             1024,1514,12.5,multiplexed\n"
        );
        assert_eq!(read_samples(&path).unwrap(), [sample()]);
    }

    #[test]
    fn files_from_before_the_last_columns_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(SAMPLES_FILE);
        let old = "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat\n\
                   c,default,gcc,32,wall,mpps,1.5,Mpackets/s,100,0\n";
        fs::write(&path, old).unwrap();
        let read = read_samples(&path).unwrap().remove(0);
        assert_eq!((read.ring_size, read.frame_size), (512, 60));
        assert_eq!((read.offered_mpps, read.note.as_str()), (None, ""));
        // What is not set is an empty field.
        let path = folder.path().join("new.csv");
        SampleWriter::create(&path)
            .unwrap()
            .write(std::slice::from_ref(&read))
            .unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.ends_with(",100,0,512,60,,\n"), "{text}");
        assert_eq!(read_samples(&path).unwrap(), [read]);
    }

    #[test]
    fn the_metrics_are_called_the_same_everywhere() {
        use strum::IntoEnumIterator;
        for metric in Metric::iter() {
            let json = serde_json::to_string(&metric).unwrap();
            assert_eq!(json, format!("\"{metric}\""));
            assert_eq!(metric.to_string().parse(), Ok(metric));
        }
        let names: Vec<_> = Metric::LATENCY_PERCENTILES
            .iter()
            .map(|(metric, _)| metric.to_string())
            .collect();
        assert_eq!(names[2], "latency_p99_us");
        assert_eq!(names[3], "latency_p99_9_us");
        assert_eq!(names[6], "latency_p99_9999_us");
        assert_eq!(Metric::LatencyMaxUs.unit(BackendName::Wall), "us");
        assert_eq!(Metric::LossRatio.unit(BackendName::Wall), "ratio");
    }

    #[test]
    fn commas_in_a_field_survive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(SAMPLES_FILE);
        let odd = Sample {
            toolchain: "gcc \"12\", patched".into(),
            ..sample()
        };
        SampleWriter::create(&path)
            .unwrap()
            .write(std::slice::from_ref(&odd))
            .unwrap();
        assert_eq!(read_samples(&path).unwrap(), [odd]);
    }

    #[test]
    fn a_value_that_is_no_number_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(SAMPLES_FILE);
        let mut writer = SampleWriter::create(&path).unwrap();
        let bad = Sample {
            value: f64::NAN,
            ..sample()
        };
        let error = writer.write(&[sample(), bad]).unwrap_err().to_string();
        assert!(error.contains("branch_misses"), "{error}");
        assert_eq!(read_samples(&path).unwrap(), []);
    }

    #[test]
    fn a_full_disk_is_named() {
        let full = Path::new("/dev/full");
        let file = OpenOptions::new().append(true).open(full).unwrap();
        let error = SampleWriter::with_header(full, file)
            .unwrap_err()
            .to_string();
        assert!(error.contains("/dev/full"), "{error}");
        assert!(error.contains("free some space"), "{error}");
    }

    #[test]
    fn malformed_rows_are_named_by_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(SAMPLES_FILE);
        let header = "impl,variant,toolchain,batch,backend,metric,value,unit,packets,repeat\n";
        let good = "c,default,gcc,32,wall,mpps,1.5,Mpackets/s,100,0\n";
        for bad in [
            "c,default,gcc,32,wall,mpps,fast,Mpackets/s,100,0\n",
            "fortran,default,gcc,32,wall,mpps,1.5,Mpackets/s,100,0\n",
            "c,default,gcc,32,wall\n",
            "c,default,gcc,0,wall,mpps,1.5,Mpackets/s,100,0\n",
            "c,default,gcc,32,wall,mpps,inf,Mpackets/s,100,0\n",
        ] {
            fs::write(&path, format!("{header}{good}{bad}")).unwrap();
            let error = read_samples(&path).unwrap_err().to_string();
            assert!(error.contains("line 3"), "{bad}: {error}");
        }
        for (bad, why) in [
            ("32,60,,", "ring size 32"),
            ("512,9000,,", "frame size 9000"),
            ("512,60,-1,", "-1 Mpps"),
            ("512,60,lots,", "field 12"),
        ] {
            let row = format!("c,default,gcc,32,wall,mpps,1.5,Mpackets/s,100,0,{bad}\n");
            fs::write(&path, format!("{HEADER}{row}")).unwrap();
            let error = read_samples(&path).unwrap_err().to_string();
            assert!(
                error.contains("line 2") && error.contains(why),
                "{bad}: {error}"
            );
        }
    }

    #[test]
    fn a_run_folder_holds_its_record_and_latest_points_at_it() {
        let results = tempfile::tempdir().unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let mut first = RunFolder::create(results.path(), time, record()).unwrap();
        let mut second = RunFolder::create(results.path(), time, record()).unwrap();
        assert_eq!(first.record.id, "2023-11-14T22-13-20Z");
        assert_eq!(second.record.id, "2023-11-14T22-13-20Z-1");
        for folder in [&mut first, &mut second] {
            folder.write(&[sample()]).unwrap();
            folder.finish(time + Duration::from_secs(60)).unwrap();
            let latest = results.path().join(LATEST_LINK);
            assert_eq!(
                fs::read_link(&latest).unwrap(),
                Path::new(&folder.record.id)
            );
            assert_eq!(read_run(&latest).unwrap(), folder.record);
            assert_eq!(
                read_samples(&latest.join(SAMPLES_FILE)).unwrap(),
                [sample()]
            );
        }
        let left: Vec<_> = fs::read_dir(results.path()).unwrap().collect();
        assert_eq!(left.len(), 3, "no temporary files stay behind: {left:?}");
    }

    /// A measurement of some rows, and runs of which each ends somewhere else within the file.
    #[test]
    fn a_run_that_was_killed_anywhere_goes_on_after_its_last_whole_measurement() {
        let results = tempfile::tempdir().unwrap();
        let unfinished = RunRecord {
            complete: false,
            ..record()
        };
        let mut run =
            RunFolder::create(results.path(), SystemTime::UNIX_EPOCH, unfinished).unwrap();
        let measurement = |repeat| {
            (0..5)
                .map(|index| Sample {
                    repeat,
                    value: f64::from(index),
                    ..sample()
                })
                .collect::<Vec<_>>()
        };
        let mut ends = vec![HEADER.len()];
        let path = run.path().to_owned();
        for repeat in 0..3 {
            run.write(&measurement(repeat)).unwrap();
            ends.push(fs::read(path.join(SAMPLES_FILE)).unwrap().len());
        }
        let id = run.record.id.clone();
        let error = RunFolder::reopen(results.path(), &id).unwrap_err();
        assert!(error.to_string().contains("another triptych"), "{error}");
        drop(run);
        let whole = fs::read(path.join(SAMPLES_FILE)).unwrap();
        let journal = fs::read_to_string(path.join(JOURNAL_FILE)).unwrap();
        let noted = |count: usize| {
            let lines = journal.lines().take(count).map(|line| format!("{line}\n"));
            lines.collect::<String>()
        };
        // Every length near the end of a measurement, and some between.
        let near = |cut: &usize| ends.iter().any(|end| end.abs_diff(*cut) < 3) || cut % 41 == 0;
        for cut in (HEADER.len()..=whole.len()).filter(near) {
            let complete = ends.iter().filter(|end| **end <= cut).count();
            // Killed before or after the journal was written, or in its midst.
            for (journal, kept) in [
                (noted(complete), complete),
                (noted(complete - 1), complete - 1),
                (format!("{}1", noted(complete)), complete),
            ] {
                if kept == 0 {
                    continue;
                }
                fs::write(path.join(SAMPLES_FILE), &whole[..cut]).unwrap();
                fs::write(path.join(JOURNAL_FILE), journal).unwrap();
                let (mut run, samples) = RunFolder::reopen(results.path(), &id).unwrap();
                assert_eq!(samples.len(), 5 * (kept - 1), "cut at {cut}");
                for repeat in kept - 1..3 {
                    run.write(&measurement(repeat as u32)).unwrap();
                }
                assert_eq!(run.count(), 15);
                assert_eq!(fs::read(path.join(SAMPLES_FILE)).unwrap(), whole);
                drop(run);
                let (_, samples) = RunFolder::reopen(results.path(), &id).unwrap();
                assert_eq!(samples.len(), 15);
            }
        }
    }

    #[test]
    fn only_unfinished_runs_can_be_resumed() {
        let results = tempfile::tempdir().unwrap();
        assert!(unfinished_runs(&results.path().join("none")).is_empty());
        let mut ids = Vec::new();
        for complete in [false, true, false] {
            let now = SystemTime::UNIX_EPOCH + Duration::from_secs(ids.len() as u64);
            let record = RunRecord {
                complete,
                ..record()
            };
            let mut run = RunFolder::create(results.path(), now, record).unwrap();
            run.write(&[sample()]).unwrap();
            run.finish(now).unwrap();
            ids.push(run.record.id.clone());
        }
        assert_eq!(unfinished_runs(results.path()), [&ids[0][..], &ids[2]]);
        assert!(RunFolder::reopen(results.path(), &ids[0]).is_ok());
        assert!(RunFolder::reopen(results.path(), &ids[1]).is_err());
        // Somebody has tampered with it.
        fs::write(
            results.path().join(&ids[0]).join(SAMPLES_FILE),
            "other,columns\n",
        )
        .unwrap();
        let error = RunFolder::reopen(results.path(), &ids[0]).unwrap_err();
        assert!(error.to_string().contains("does not belong"), "{error}");
    }

    #[test]
    fn a_run_without_samples_is_not_the_latest() {
        let results = tempfile::tempdir().unwrap();
        let mut folder =
            RunFolder::create(results.path(), SystemTime::UNIX_EPOCH, record()).unwrap();
        folder.finish(SystemTime::UNIX_EPOCH).unwrap();
        assert!(!results.path().join(LATEST_LINK).exists());
    }

    #[test]
    fn a_results_folder_that_cannot_be_made_is_named() {
        let error = RunFolder::create(Path::new("/dev/null/results"), SystemTime::now(), record())
            .unwrap_err()
            .to_string();
        assert!(error.contains("/dev/null/results"), "{error}");
    }
}
