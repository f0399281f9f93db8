//! The perf backend on a PMU that every machine can have: that of an emulated Arm processor.
//!
//! QEMU emulates processors with Arm's PMUv3. With `-icount` it counts retired instructions exactly,
//! and lets a fixed number of cycles pass for each. Linux in the guest drives that PMU as it drives
//! a real one. So the collector's own code can be held against loops of known length.
//!
//! The program `pmu-checks` runs the [`checks`] in the guest. The test `tests/pmu.rs` boots each
//! [`Machine`] on the host, and reports each check as a test.
//!
//! Errors are [`anyhow::Error`]: only the reader of a failed test handles them.

pub mod checks;
mod environment;
mod guest;
mod image;
mod machine;

pub use environment::Environment;
pub use guest::{boot, Outcome};
pub use image::{repository, Image};
pub use machine::Machine;
