//! A hostile server against the three drivers, and a hostile client against the software 82599.
//!
//! A scenario is a row of a table in [`server_rows`] or [`client_rows`]: its name, what the liar does,
//! and what must happen. [`lie`] tells the lies of both sides. [`proxy`] is the server between a driver
//! and an honest card, and [`attack`] has the steps of a client. [`server`] and [`client`] run a row and
//! judge it, [`suite`] runs rows side by side, and [`program`] watches a program for everything that it
//! must not do: outlive its time, end by a signal, keep descriptors, stay silent about a failure.
//!
//! Errors are [`anyhow::Error`]: only the reader of a failed run handles them.

pub mod attack;
pub mod builds;
pub mod card;
pub mod client;
pub mod client_rows;
pub mod descriptors;
pub mod honest;
pub mod lie;
pub mod program;
pub mod proxy;
pub mod row;
pub mod server;
pub mod server_rows;
pub mod suite;
pub mod tamper;
