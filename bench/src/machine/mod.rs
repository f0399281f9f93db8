//! Prepares and checks the machine: ports, clocks, card and cable.

pub mod clocks;
pub mod host;
pub mod selftest;
