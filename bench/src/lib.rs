//! `triptych`: measures the three drivers and writes the results to `results/`.
//!
//! [`build`] builds drivers, [`measure`] measures them, `compare` compares builds, `code` reads machine code,
//! `machine` prepares the machine, and `with_card` runs a program with the software card. [`cli`] calls
//! the commands.

// Only the tests of this crate use it from outside.
#[doc(hidden)]
pub mod build;
pub mod cli;
mod code;
mod compare;
mod interval;
mod lab;
mod machine;
pub mod measure;
mod progress;
mod usage;
mod with_card;
