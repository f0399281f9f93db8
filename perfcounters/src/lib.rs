//! Measures what a packet costs a forwarder, with several backends and in one record format.
//!
//! A *backend* is a way to count. [`valgrind`] counts instructions exactly by simulation, [`perf`]
//! reads the processor's own counters, [`lockstep`] counts time-stamp-counter cycles of the driver
//! alone, [`burst`] those of any driver program, [`trace`] executes driver and card in turns and
//! counts what they do, [`wall`] measures the throughput of whole processes, and [`latency`] the time
//! that packets take through them. All backends emit the same [`record::Sample`]s. A
//! [`record::RunFolder`] writes them to `results/<id>/samples.csv`, beside a `run.json` that says what was measured where.
//!
//! ```text
//! Cell (what to measure) -> Backend (how) -> Observer (samples, failures, progress)
//! ```
//!
//! A *peer* is a driver of another project. [`peer`] runs it unmodified on the software card, which
//! counts its packets.
//!
//! If a machine cannot measure something, the backend says why ([`Backend::unavailable`]). No
//! backend invents a figure.

#[cfg(test)]
extern crate self as perfcounters;

pub mod backend;
pub mod burst;
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
pub mod device;
mod files;
mod forwarder;
pub mod interrupt;
pub mod latency;
pub mod load;
pub mod lockstep;
pub mod peer;
pub mod perf;
pub mod placement;
pub mod process;
mod rounds;
mod sys;
pub mod temporary;
pub mod trace;
pub mod valgrind;
pub mod wall;

pub use backend::{Backend, Cell, MeasureError, Observer};
pub use interrupt::Interrupt;
