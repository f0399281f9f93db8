//! Load generators for forwarders that drive real cards. A generator runs on another machine, or on
//! other ports of this machine. It sends packets and counts those that return.
//!
//! A [`Generator`] runs DPDK's testpmd, dpdk-pktgen, MoonGen or another program over SSH, and exchanges
//! lines of text with it. A port has a link only while drivers run at both ends of its cable, so both
//! sides start before either waits for a link:
//!
//! ```text
//! let mut generator = Generator::launch(&Config::read(path)?, &interrupt)?;   // ports on, no frames
//! ...                             // start the forwarder
//! generator.wait_for_link(Duration::from_secs(60))?;
//! generator.start(Some(10.0))?;   // Mpps, both directions together
//! ...                             // measure the forwarder
//! let report = generator.stop()?; // packets sent and returned since `start` returned
//! ```

pub mod cli;
mod command;
pub mod command_line;
mod config;
mod dpdk_pktgen;
mod error;
mod generator;
mod line_protocol;
mod moongen;
mod protocol;
mod session;
mod testpmd;

pub use config::{Config, Mode, Tool};
pub use error::PktgenError;
pub use generator::{Generator, Report};
