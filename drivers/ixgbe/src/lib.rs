//! The 82599's register map and its generator.
//!
//! `registers.toml` is the one place where a register's address, its fields and its access rules
//! are written down. [`map`] reads it, [`check`] says what is wrong with it, [`usage`] finds the
//! registers that the drivers use, [`emit`] writes the drivers' headers, the software NIC's table
//! and the readable reference, and [`outputs`] lists the files. The program `generate-registers`
//! writes those files, or names the stale ones.

pub mod check;
pub mod emit;
pub mod map;
pub mod outputs;
pub mod usage;
