//! How each backend measures: the sections `[perf]`, `[trace]`, `[valgrind]`, `[lockstep]`, `[burst]`, `[wall]` and `[latency]`.

use caches::cpu::Cpu;
use serde::{Deserialize, Serialize};

use super::values::{BoundedInteger, CpuName, MeasurementSeconds, Repeats, WarmUpSeconds};

/// `[perf]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Perf {
    /// Length of each pass. A pass counts some of the events.
    pub seconds: MeasurementSeconds,
    /// Time for which the forwarder runs before the first pass.
    pub warm_up: WarmUpSeconds,
    /// How often each cell is measured.
    pub repeats: Repeats,
}

/// `[trace]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Trace {
    /// The processors whose caches and predictor are simulated, by the names of their CPU files.
    pub cpus: Vec<CpuName>,
}

/// `[valgrind]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Valgrind {
    /// Packets of the shorter run. With more packets, the differences between two runs (a line of
    /// output each second, a few empty polls) matter less.
    pub packets: BoundedInteger<1000, 1_000_000_000>,
    /// How often each cell is measured. The counts hardly vary, so once is enough.
    pub repeats: Repeats,
}

/// `[lockstep]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Lockstep {
    /// Number of processes that measure each cell, one after another.
    pub processes: Repeats,
    /// Number of values that each process takes.
    pub rounds: Repeats,
}

/// `[burst]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Burst {
    /// Number of processes that measure each program, one after another.
    pub processes: Repeats,
    /// Number of values that each process takes at each placement.
    pub rounds: Repeats,
    /// Number of bursts from which a value comes.
    pub bursts: BoundedInteger<100, 100_000>,
}

/// `[wall]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wall {
    /// Length of each measurement.
    pub seconds: MeasurementSeconds,
    /// Time for which the forwarder runs before a measurement.
    pub warm_up: WarmUpSeconds,
    /// How often each cell is measured.
    pub repeats: Repeats,
}

/// `[latency]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Latency {
    /// Length of each measurement.
    pub seconds: MeasurementSeconds,
    /// Time for which the forwarder runs before a measurement.
    pub warm_up: WarmUpSeconds,
    /// How often each cell is measured.
    pub repeats: Repeats,
}

impl Default for Perf {
    fn default() -> Self {
        Self {
            seconds: MeasurementSeconds(2.0),
            warm_up: WarmUpSeconds(1.0),
            repeats: BoundedInteger(3),
        }
    }
}

// With these defaults, the tables of `make reproduce` take about a minute and a half on two cores. The throughput
// beside the software card only shows that the card sets the pace, so one repeat is enough.

impl Default for Trace {
    /// The processor of the published counters.
    fn default() -> Self {
        Self {
            cpus: Cpu::named("haswell").map(CpuName).into_iter().collect(),
        }
    }
}

impl Default for Valgrind {
    fn default() -> Self {
        Self {
            packets: BoundedInteger(51_200),
            repeats: BoundedInteger(1),
        }
    }
}

impl Default for Lockstep {
    fn default() -> Self {
        Self {
            processes: BoundedInteger(8),
            rounds: BoundedInteger(20),
        }
    }
}

impl Default for Burst {
    fn default() -> Self {
        Self {
            processes: BoundedInteger(4),
            rounds: BoundedInteger(2),
            bursts: BoundedInteger(400),
        }
    }
}

impl Default for Wall {
    fn default() -> Self {
        Self {
            seconds: MeasurementSeconds(0.3),
            warm_up: WarmUpSeconds(0.0),
            repeats: BoundedInteger(1),
        }
    }
}

impl Default for Latency {
    fn default() -> Self {
        Self {
            seconds: MeasurementSeconds(10.0),
            warm_up: WarmUpSeconds(1.0),
            repeats: BoundedInteger(1),
        }
    }
}
