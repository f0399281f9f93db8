//! The names that every record uses: drivers and backends.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumIter, EnumString, IntoStaticStr, VariantNames};

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

/// A way to count, in the order in which a run uses them.
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
pub enum BackendName {
    /// The processor's own counters.
    Perf,
    /// Valgrind: exact instruction counts, simulated branch predictor and caches.
    Valgrind,
    /// Driver and NIC model take turns in one thread; a clock times the driver's turns.
    Lockstep,
    /// Whole processes, side by side.
    Wall,
}
