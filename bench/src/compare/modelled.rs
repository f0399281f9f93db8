//! Cycles on modelled processors: of one build, and of two builds divided.

use model::MODEL_VERSION;
use perfcounters::model::processor::Processors;
use serde::{Deserialize, Serialize};

/// The cycles of a build on a modelled processor. They are the same in every run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Modelled {
    /// The processor, by the name of its CPU file.
    pub cpu: String,
    /// Its clock, GHz.
    pub clock_ghz: f64,
    /// The version of the model, and of LLVM, which schedules instructions: `1, LLVM 22.1.8`.
    pub model: String,
    /// Core cycles per packet.
    pub cycles: f64,
}

impl Modelled {
    /// Whether two values are those of one processor, by one version of the model.
    pub fn is_comparable(&self, other: &Self) -> bool {
        (&self.cpu, &self.model) == (&other.cpu, &other.model) && self.clock_ghz == other.clock_ghz
    }

    /// The heading of a column.
    pub fn heading(&self) -> String {
        format!("cycles (modelled, {} at {} GHz)", self.cpu, self.clock_ghz)
    }
}

/// The modelled cycles of two builds, divided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelledRatio {
    /// The processor.
    pub cpu: String,
    /// Its clock, GHz.
    pub clock_ghz: f64,
    /// The cycles divided by those of the other build.
    pub ratio: f64,
}

/// The version of the model as [`Modelled::model`] names it.
pub fn version(processors: &Processors) -> String {
    match &processors.llvm {
        Some(llvm) => format!("{MODEL_VERSION}, LLVM {}", llvm.version()),
        None => MODEL_VERSION.to_owned(),
    }
}
