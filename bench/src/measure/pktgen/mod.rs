//! Load generators for forwarders that drive real cards. A generator runs on another machine, or on
//! other ports of this machine. It sends packets and counts those that return.
//!
//! A [`Generator`] runs dpdk-pktgen, testpmd, MoonGen or another program, over SSH if it is elsewhere. All are driven in
//! one way: a [`session`] sends a line and waits for the answer. What they say differs, so a [`dialect`] is a table of
//! words and patterns. A port has a link only while drivers run at both ends of its cable, so both sides start before
//! either waits for a link:
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
mod config;
mod dialect;
mod generator;
mod launch;
mod session;

pub use config::Config;
pub use generator::Generator;
pub(crate) use launch::command_line;
