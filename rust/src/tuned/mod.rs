//! The tuned path: packets by exchange, four at a time.
#![forbid(unsafe_code)]

pub mod batch;
pub mod forward;
mod rx;
mod tx;
