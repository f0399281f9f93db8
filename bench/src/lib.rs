//! `triptych`: measures the three drivers and writes the results to `results/`.
//!
//! The commands stand at the top: [`run`], [`budget`], [`compare`], [`asm`], [`ladder`], [`peers`],
//! [`host`] (doctor, bind, unbind), [`verdict`], [`clocks`], [`selftest`], [`pktgen`], [`share`] (merge,
//! anonymise) and [`with_card`]. [`reproducer`] belongs to [`compare`]. They share [`builds`], [`machine_code`],
//! [`sides`], [`toolchain`], [`settings`], [`interval`], [`progress`] and [`usage`], which import no command. [`cli`]
//! joins the commands' arguments, and `main.rs` calls the commands.

pub mod asm;
pub mod budget;
pub mod builds;
pub mod cli;
pub mod clocks;
pub mod compare;
pub mod host;
pub mod interval;
pub mod ladder;
pub mod machine_code;
pub mod peers;
pub mod pktgen;
pub mod progress;
pub mod reproducer;
pub mod run;
pub mod selftest;
pub mod settings;
pub mod share;
pub mod sides;
pub mod toolchain;
pub mod usage;
pub mod verdict;
pub mod with_card;
