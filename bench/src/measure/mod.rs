//! Measures built drivers, and writes what it measured.

pub(crate) mod cell_file;
pub mod ladder;
pub mod pktgen;
pub mod run;
pub(crate) mod settings;
