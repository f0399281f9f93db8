//! A functional simulation of a named processor's caches and branch predictor.
//!
//! The input is the stream of instructions that a driver executed, with every memory access, and the
//! card's accesses to the driver's memory ([`stream`]). The result says which level served each load,
//! and which branches were predicted wrongly ([`evaluation::evaluate`]). There is no time in it: the
//! same stream and the same processor give the same result to the last digit.

mod array;
pub mod cpu;
pub mod evaluation;
mod frames;
pub mod hierarchy;
pub mod predictor;
pub mod stream;
