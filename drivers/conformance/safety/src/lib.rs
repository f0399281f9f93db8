//! The safety lab: the same hazards against each driver, and what was seen to happen.
//!
//! `hazards.toml` says what there is and what was recorded; everything here is about finding out
//! anew. Knowledge flows one way: [`scenario`] provokes, [`stage`] runs driver and NIC and gathers
//! [`evidence`], from which alone the outcome follows; only then [`catalogue`] is looked at, to
//! compare.

pub mod builds;
pub mod canaries;
pub mod catalogue;
pub mod compile;
pub mod evidence;
pub mod frames;
pub mod outcome;
pub mod record;
pub mod scenario;
pub mod stage;

use std::path::PathBuf;

/// The repository's root.
pub fn root() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..");
    path.canonicalize().unwrap_or(path)
}

/// The lab's own folder.
pub fn lab() -> PathBuf {
    root().join("drivers/conformance/safety")
}
