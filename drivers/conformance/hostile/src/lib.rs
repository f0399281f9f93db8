//! A hostile server against the three drivers, and a hostile client against the software 82599.
//!
//! A scenario is a row of a table. [`server`] holds those against the drivers, [`client`] those
//! against the card. [`suite`] runs rows side by side, and [`program`] watches a program for
//! everything that it must not do: outlive its time, end by a signal, keep descriptors, stay
//! silent about a failure.
//!
//! Errors are [`anyhow::Error`]: only the reader of a failed run handles them.

pub mod builds;
pub mod client;
pub mod descriptors;
pub mod memory;
pub mod message;
pub mod program;
pub mod server;
pub mod suite;
