//! The 82599's register map and its generator.
//!
//! `registers.toml` is the only place that defines a register's address, fields and access rules.
//! [`map`] reads it, and [`check`] finds its errors. [`usage`] finds the constants that the drivers
//! use. [`emit`] writes the drivers' headers, the software card's table and the reference for
//! readers, and [`outputs`] keeps the headers current.

pub mod check;
pub mod emit;
pub mod map;
pub mod outputs;
pub mod usage;
