//! `triptych`: measures the three drivers and writes the results to `results/`.
//!
//! [`build`] builds drivers, [`measure`] measures them, [`compare`] compares builds, [`code`] reads machine code,
//! [`machine`] prepares the machine, and [`with_card`] runs a program with the software card. [`cli`] joins the
//! commands' arguments, and `main.rs` calls the commands.

pub mod build;
pub mod cli;
pub mod code;
pub mod compare;
pub mod interval;
pub mod machine;
pub mod measure;
pub mod progress;
pub mod usage;
pub mod with_card;
