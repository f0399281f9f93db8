//! The 82599's register map and its generator.
//!
//! `registers.toml` is the only place that defines a register's address, fields and access rules.
//! [`map`] reads it, and [`check`] finds its errors. [`usage`] finds the registers that the drivers
//! use. [`emit`] writes the drivers' headers, the software card's table and the reference, and
//! [`outputs`] lists the files. The program `generate-registers` writes the files or lists the stale
//! ones.

pub mod check;
pub mod emit;
pub mod map;
pub mod outputs;
pub mod usage;
