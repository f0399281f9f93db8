//! Load from outside, for forwarders that drive real cards: another machine, or other ports of
//! this one, sends and counts what comes back.
//!
//! A [`Generator`] is DPDK's testpmd or dpdk-pktgen, run over SSH and spoken to line by line. The
//! forwarder is started by whoever uses it, before [`Generator::start`]:
//!
//! ```text
//! let mut generator = Generator::launch(&Config::read(path)?, &interrupt)?;
//! generator.start(Some(10.0))?;   // Mpps, both directions together
//! ...                             // the forwarder runs; measure it
//! let report = generator.stop()?; // what was offered and what came back since `start` returned
//! ```

pub mod cli;
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
