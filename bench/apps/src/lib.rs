//! TCP/IP applications over the three drivers: the same application, and only the driver differs.
//!
//! Four layers, each with its own bytes:
//!
//! - [`driver`] lends packets: the bytes are those of the driver's pool.
//! - [`stack`] is smoltcp over a driver. It reads and writes those packets in place, and keeps the bytes of each
//!   connection in a socket's buffers. [`kernel`] is the same over the kernel's sockets, to compare with.
//! - [`tcp`] gives each connection its turns, over either of them.
//! - [`service`] is what an application does with the bytes of its connections: [`kv`], [`http`] and others.

pub mod balancer;
pub mod connection;
pub mod contain;
#[allow(unsafe_code)]
pub mod driver;
pub mod http;
pub mod kernel;
pub mod kv;
#[cfg(any(test, feature = "fuzzing"))]
#[allow(clippy::unwrap_used)] // for tests
pub mod laws;
pub mod node;
pub mod options;
pub mod run;
pub mod service;
pub mod stack;
pub mod statistics;
pub mod tcp;
