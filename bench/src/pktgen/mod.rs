//! Load generators for forwarders that drive real cards. A generator runs on another machine, or on
//! other ports of this machine. It sends packets and counts those that return.
//!
//! A [`Generator`] runs DPDK's testpmd or dpdk-pktgen over SSH, and exchanges lines of text with it.
//! The caller starts the forwarder before [`Generator::start`]:
//!
//! ```text
//! let mut generator = Generator::launch(&Config::read(path)?, &interrupt)?;
//! generator.start(Some(10.0))?;   // Mpps, both directions together
//! ...                             // the forwarder runs; measure it
//! let report = generator.stop()?; // packets sent and returned since `start` returned
//! ```

pub mod cli;
pub mod command_line;
mod config;
mod dpdk_pktgen;
mod error;
mod generator;
mod protocol;
mod session;
mod testpmd;

pub use config::{Config, Mode, Tool};
pub use error::PktgenError;
pub use generator::{Generator, Report};
