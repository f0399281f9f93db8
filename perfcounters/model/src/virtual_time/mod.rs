//! Virtual time: what a forwarder achieves on a wire, computed from what its calls cost.
//!
//! The pipeline model gives the cycles of one turn of the forwarding loop on one port, for each
//! number of frames that the turn finds. This module lets two ports deliver frames at a given load,
//! and lets the forwarder take its turns at its own pace. From that follow the throughput, the batch
//! sizes that occur, and the latency of every frame. Nothing here reads a clock, so two simulations
//! of the same costs give the same result.
//!
//! ```text
//! cycles of a turn by frames (cost) + wire and card (card) -> simulation -> outcome
//! ```
//!
//! What is not modelled: interrupts of the operating system, the statistics that a program prints
//! once a second, and flow control. So percentiles beyond 99.9 % are shorter than measured ones.

pub mod card;
pub mod cost;
pub mod simulation;

pub use card::Card;
pub use cost::{CostError, Turn, TurnCosts};
pub use simulation::{simulate, Load, Outcome, Setup, SetupError};

/// Picoseconds of a second.
pub const PICOSECONDS: u64 = 1_000_000_000_000;
