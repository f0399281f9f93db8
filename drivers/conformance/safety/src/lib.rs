//! The safety lab: provokes the same hazards in each driver, observes what happens, and compares with the record.
//!
//! Knowledge flows one way. [`scenario`] provokes a hazard, [`testbed`] runs driver and NIC and
//! gathers [`evidence`]. The outcome follows from the evidence alone. Only then does the lab look
//! at the [`catalogue`] (`hazards.toml`), to compare with the recorded outcome.

pub mod builds;
pub mod canaries;
pub mod catalogue;
mod compile_fail;
pub mod evidence;
pub mod false_sharing;
mod frames;
pub mod outcome;
pub mod results;
pub mod scenario;
pub mod testbed;
