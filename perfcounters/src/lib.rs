//! Measures what a packet costs a forwarder, with several backends and in one record format.
//!
//! A *backend* is a way to count. The README has a table of them, and each has a module here. All emit the same
//! [`record::Sample`]s.
//!
//! ```text
//! Cell (what to measure) -> Backend (how) -> Observer (samples, failures, progress)
//! ```
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
mod place;
pub mod placement;
pub mod process;
mod rounds;
mod sys;
pub mod temporary;
pub mod trace;
pub mod valgrind;
pub mod wall;

pub use backend::{path_of, Backend, Cell, MeasureError, Observer};
pub use interrupt::Interrupt;
