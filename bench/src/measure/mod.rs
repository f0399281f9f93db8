//! Measures built drivers, and writes what it measured.

pub mod ladder;
pub mod pktgen;
pub mod run;
pub(crate) mod settings;
