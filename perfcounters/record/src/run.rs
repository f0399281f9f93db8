//! The contents of `run.json`, which describes a run.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::conditions::{Conditions, Series};
use crate::error::RecordError;
use crate::host::{CpuClock, HostFacts};
use crate::names::{BackendName, Implementation};
use crate::tools::GitFacts;

/// File in a run folder that describes the run.
pub const RUN_FILE: &str = "run.json";

/// A measurement that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The measurement that failed.
    #[serde(flatten)]
    pub series: Series,
    /// The error, in a sentence or two.
    pub cause: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.series, self.cause)
    }
}

/// The build of a driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// Name of the build variant: `default`, `overflow-checks`, …
    pub variant: String,
    /// The compiler in short, as in the `toolchain` column of `samples.csv`.
    pub toolchain: String,
    /// The compiler's version and its flags, as the build recorded them.
    pub flags: String,
    /// Conditional jumps to a panic or trap in the loops of the data path's machine code, by kind:
    /// `bounds`, `overflow`, `trap`, `other`. Empty if they were not counted.
    #[serde(default)]
    pub checks_in_loops: BTreeMap<String, usize>,
    /// The reason why they were not counted.
    #[serde(default)]
    pub checks_not_counted: Option<String>,
}

/// A driver of another project that a run measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// The driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// Whose flags it was built with, or how it forwards: `default`, `own-flags`, `mac`.
    pub variant: String,
    /// The commit of its sources, or the version of its package.
    pub commit: String,
    /// How it came to the machine: `repository`, `bundle` or `system`.
    pub from: String,
    /// Its compiler and flags.
    pub toolchain: String,
}

/// A driver of another project that a run should have measured and could not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedPeer {
    /// The driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The variant.
    pub variant: String,
    /// Why it is not there, and what to do about it.
    pub reason: String,
}

/// The CPUs of driver and NIC model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// The driver's CPU; `None` if there is no choice.
    pub driver: Option<usize>,
    /// The NIC model's CPU; `None` if only the driver's is left.
    pub nic: Option<usize>,
    /// NUMA node of the driver; `None` on a machine with one node.
    pub node: Option<u32>,
    /// Whether the two CPUs are threads of one core, because there are no others.
    pub shared_core: bool,
}

impl Placement {
    /// The CPUs of driver and NIC model.
    pub fn cpus(&self) -> Vec<usize> {
        self.driver.into_iter().chain(self.nic).collect()
    }
}

/// A period in which a run was not interrupted: one, and one more for each time it was resumed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunPeriod {
    /// When it began, RFC 3339, UTC.
    pub start: String,
    /// When it ended; `null` while it lasts, or if the process was killed.
    pub end: Option<String>,
    /// The command line, one word an entry.
    pub command: Vec<String>,
    /// Clocks of the measuring CPUs at the start.
    pub clocks_before: Vec<CpuClock>,
    /// Clocks of the measuring CPUs at the end.
    pub clocks_after: Vec<CpuClock>,
}

/// The clock of the driver's core, measured without the processor's counters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CoreClock {
    /// The clock that the run fixed, GHz; `null` if it kept the machine's settings.
    pub fixed_ghz: Option<f64>,
    /// The clock under load, GHz: before the first measurement of each period, and after the last one.
    pub measured_ghz: Vec<f64>,
}

/// Throughput of the slowest of the compared drivers. Some offered loads are shares of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// The conditions, with a load that saturates the driver.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// Median throughput, Mpps.
    pub mpps: f64,
}

/// Contents of `run.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Name of the run folder.
    pub id: String,
    /// Name of the machine, whose folder the run lies in. Empty in old records, which lie in `results/` itself.
    #[serde(default)]
    pub machine: String,
    /// When the run began, RFC 3339, UTC.
    pub start: String,
    /// When it ended; `null` while it lasts, or if the process was killed.
    pub end: Option<String>,
    /// Whether everything planned was measured or has failed. If not, the run can be resumed.
    #[serde(default)]
    pub complete: bool,
    /// The command line, one word an entry.
    pub command: Vec<String>,
    /// Revision of this repository; `null` outside of one.
    pub git: Option<GitFacts>,
    /// The machine.
    pub host: HostFacts,
    /// The drivers and their compilers.
    pub builds: Vec<Build>,
    /// The measured drivers of other projects; old records have none.
    #[serde(default)]
    pub peers: Vec<Peer>,
    /// The drivers of other projects that could not be measured, with the reason.
    #[serde(default)]
    pub skipped_peers: Vec<SkippedPeer>,
    /// SHA-256 of each measured program and library, by file.
    #[serde(default)]
    pub artefacts: BTreeMap<String, String>,
    /// The configuration of the measurements.
    #[serde(default)]
    pub plan: serde_json::Value,
    /// The CPUs of driver and NIC model.
    #[serde(default)]
    pub placement: Placement,
    /// The clock of the driver's core; old records do not have it.
    #[serde(default)]
    pub core_clock: Option<CoreClock>,
    /// The periods of the run. Old records call them stretches.
    #[serde(default, alias = "stretches")]
    pub periods: Vec<RunPeriod>,
    /// The capacities that offered loads are shares of.
    #[serde(default)]
    pub capacities: Vec<Capacity>,
    /// The settings of each backend, by backend, then by setting.
    pub settings: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
    /// Backends that cannot work on this machine, with the reason.
    pub not_measurable: BTreeMap<BackendName, String>,
    /// Disturbances that may have changed the figures.
    pub warnings: Vec<String>,
    /// Measurements that failed.
    pub failures: Vec<Failure>,
}

/// Reads the `run.json` of a run folder.
///
/// # Errors
/// [`RecordError::Read`], or [`RecordError::Malformed`] with the line.
pub fn read_run(folder: &Path) -> Result<RunRecord, RecordError> {
    let path = folder.join(RUN_FILE);
    let text = read_text(&path)?;
    serde_json::from_str(&text)
        .map_err(|error| RecordError::Malformed(path, error.line() as u64, error.to_string()))
}

/// The text of a file.
pub(crate) fn read_text(path: &Path) -> Result<String, RecordError> {
    fs::read_to_string(path).map_err(RecordError::read(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_flat_in_json() {
        let failure = Failure {
            series: crate::sample::tests::sample().series(),
            cause: "no link".into(),
        };
        let json = serde_json::to_string(&failure).unwrap();
        assert_eq!(
            json,
            "{\"impl\":\"rust-unsafe\",\"variant\":\"overflow-checks\",\"batch\":32,\"ring_size\":1024,\
             \"frame_size\":1514,\"offered_mpps\":12.5,\"queues\":2,\"waiting\":\"interrupts\",\
             \"placement\":\"memory\",\"backend\":\"valgrind\",\"cause\":\"no link\"}"
        );
        assert_eq!(serde_json::from_str::<Failure>(&json).unwrap(), failure);
    }
}
