//! The tuned path: packets by exchange, four at a time.
#![forbid(unsafe_code)]

pub mod agent;
pub mod batch;
pub mod forward;
#[cfg(any(test, feature = "fuzzing"))]
#[path = "../../fuzz/hostile_paths.rs"]
pub mod fuzzing;
mod rx;
mod tx;
