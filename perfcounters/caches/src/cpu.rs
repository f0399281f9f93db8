//! The description of a processor's caches and branch predictor, read from a CPU file.
//!
//! A CPU file is TOML. Each parameter has the form `{ value = …, source = "key of [sources]: section" }`.
//! A parameter that no document gives has `assumption = "reason"` in place of `source`. The reader
//! accepts no other keys.

mod description;
mod file;
mod policy;

pub use description::{
    Branches, Cache, Contents, Core, Cpu, Ddio, LastLevel, Prefetchers, LINE, LONGEST_HISTORY,
};
pub use file::CpuError;
pub use policy::{InvalidPolicy, Policy, Qlru, Victim};
