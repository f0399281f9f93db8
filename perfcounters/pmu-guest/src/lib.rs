//! The perf backend on a PMU that every machine can have: that of an emulated Arm processor.
//!
//! The program `pmu-checks` runs the [`checks`] in the guest. The test `tests/pmu.rs` boots each
//! [`Machine`] on the host. Errors are [`anyhow::Error`]: only the reader of a failed test handles them.

pub mod checks;
mod environment;
mod machine;

pub use environment::Environment;
pub use machine::Machine;
