//! A deterministic model of named processors.
//!
//! The input is the stream of instructions that a driver executed, with every memory access, and the card's accesses to the
//! driver's memory ([`stream`]). Nothing reads a clock: the same stream and the same processor give the same result to the
//! last digit.
//!
//! [`evaluation::Machine`] runs streams through caches, predictor and core. [`pipeline`] computes the cycles of a stream, with costs of instructions from LLVM.
//! [`virtual_time`] computes throughput and latency from the cycles of the turns.

pub mod caches;
pub mod cpu;
pub mod evaluation;
pub mod pipeline;
pub mod predictor;
pub mod stream;
pub mod virtual_time;

/// The version of the model. Every change that can change a result increases it.
pub const MODEL_VERSION: &str = "2";
