//! How each backend measures: the sections `[perf]`, `[valgrind]`, `[lockstep]`, `[wall]` and `[latency]`.

use serde::{Deserialize, Serialize};

use super::values::{BoundedInteger, MeasurementSeconds, Repeats, WarmUpSeconds};

/// `[perf]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Perf {
    /// How long each pass over some of the events takes.
    pub seconds: MeasurementSeconds,
    /// How long the forwarder runs before that.
    pub warm_up: WarmUpSeconds,
    /// How often each cell is measured.
    pub repeats: Repeats,
}

/// `[valgrind]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Valgrind {
    /// Packets of the shorter run: the more, the less it matters that two runs vary (the line a
    /// second, a few empty polls).
    pub packets: BoundedInteger<1000, 1_000_000_000>,
    /// How often each cell is measured. The counts hardly vary.
    pub repeats: Repeats,
}

/// `[lockstep]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Lockstep {
    /// How many processes measure each cell, one after the other.
    pub sessions: Repeats,
    /// How many values each takes.
    pub rounds: Repeats,
}

/// `[wall]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wall {
    /// How long each cell is measured.
    pub seconds: MeasurementSeconds,
    /// How long it runs before that.
    pub warm_up: WarmUpSeconds,
    /// How often each cell is measured.
    pub repeats: Repeats,
}

/// `[latency]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Latency {
    /// How long each cell is measured.
    pub seconds: MeasurementSeconds,
    /// How long it runs before that.
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

// Chosen so that the tables of `make reproduce` take about two minutes on two cores.

impl Default for Valgrind {
    fn default() -> Self {
        Self {
            packets: BoundedInteger(409_600),
            repeats: BoundedInteger(1),
        }
    }
}

impl Default for Lockstep {
    fn default() -> Self {
        Self {
            sessions: BoundedInteger(10),
            rounds: BoundedInteger(40),
        }
    }
}

impl Default for Wall {
    fn default() -> Self {
        Self {
            seconds: MeasurementSeconds(1.0),
            warm_up: WarmUpSeconds(0.0),
            repeats: BoundedInteger(3),
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
