//! The 82599's register map and its generator.
//!
//! `registers.toml` is the one place where a register's address, its fields and its access rules
//! are written down. [`map`] reads it, [`check`] says what is wrong with it, [`emit`] turns it into
//! the C header, the Rust constants, the software NIC's table and the readable reference, and
//! [`outputs`] says which file holds what. The program `generate-registers` writes those files, or
//! tells which are stale.

pub mod check;
pub mod emit;
pub mod map;
pub mod outputs;
