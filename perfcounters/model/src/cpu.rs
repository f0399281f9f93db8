//! The description of a processor, read from a CPU file.
//!
//! A CPU file is TOML. Each section has parameters of the form `key = { value = …, source = "key of [sources]: section" }`.
//! A parameter that no document gives has `assumption = "reason"` in place of `source`. The reader accepts no other keys.

mod description;
mod file;
mod policy;

pub use description::{
    Basis, Branches, Cache, Contents, Core, Cpu, Ddio, Identity, LastLevel, Latencies, MainMemory,
    Parameter, Prefetchers, Tlb, LINE, LONGEST_HISTORY,
};
pub use file::CpuError;
pub use policy::{InvalidPolicy, Policy, Qlru, Victim};
