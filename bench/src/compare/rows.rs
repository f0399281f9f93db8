//! The measured builds, as the result stores them and comparisons read them.

use std::collections::BTreeMap;

use record::{BackendName, Implementation, Metric};
use serde::{Deserialize, Serialize};

use super::analysis::{Row, SHOWN};
use crate::build::toolchain::compiler::Family;
use crate::build::toolchain::recipe::BuildRecipe;
use crate::interval::Interval;

/// A metric of a build, per packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Median and 95 % interval.
    #[serde(flatten)]
    pub interval: Interval,
    /// Number of values.
    pub repeats: usize,
    /// The unit of the values.
    pub unit: String,
    /// The backend that counted.
    pub backend: BackendName,
}

/// A driver, built by a compiler with some flags, measured at a batch size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultRow {
    /// The driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// Packets asked for per receive call.
    pub batch: u32,
    /// The label of the compiler.
    pub compiler: String,
    /// Its family.
    pub family: Family,
    /// Its version.
    pub version: String,
    /// Canonical path of its program.
    pub path: String,
    /// SHA-256 of its contents.
    pub sha256: String,
    /// The flags in short, such as `-O2 no LTO`.
    pub flags: String,
    /// Whether only the compiler differs from `make build`.
    pub default_flags: bool,
    /// The name of the build in `samples.csv`.
    pub variant: String,
    /// The compiler's version line and all flags, as the build recorded them.
    pub command: String,
    /// What was measured.
    pub metrics: BTreeMap<Metric, Measured>,
}

impl ResultRow {
    /// A measured row, with the line that its build recorded.
    pub fn new(row: &Row, batch: u32, command: String) -> Self {
        let BuildRecipe {
            variant,
            toolchain,
            default_flags,
            ..
        } = &row.recipe;
        let measured = SHOWN.iter().filter_map(|metric| {
            let (interval, repeats) = (row.interval(*metric)?, row.repeats(*metric));
            let measured = Measured {
                interval,
                repeats,
                unit: metric.unit().to_owned(),
                backend: row.backend(*metric),
            };
            Some((*metric, measured))
        });
        Self {
            implementation: row.implementation,
            batch,
            compiler: toolchain.label.clone(),
            family: toolchain.family,
            version: toolchain.version.clone(),
            path: toolchain.identity.path.clone(),
            sha256: toolchain.identity.sha256.clone(),
            flags: row.recipe.flags(),
            default_flags: *default_flags,
            variant: variant.clone(),
            command,
            metrics: measured.collect(),
        }
    }

    /// Family and version.
    pub fn name(&self) -> String {
        format!("{} {}", self.family, self.version)
    }
}
