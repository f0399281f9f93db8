//! `triptych`: measures the three drivers and writes what it finds to `results/`.
//!
//! The program itself is in `main.rs`; here is what it is made of.

pub mod artefacts;
pub mod asm;
pub mod backends;
pub mod budget;
pub mod cli;
pub mod compare;
pub mod config;
pub mod host;
pub mod ladder;
pub mod matrix;
pub mod pktgen;
pub mod progress;
pub mod recorder;
pub mod resume;
pub mod run;
