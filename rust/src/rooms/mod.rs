//! What a driver may leave out: several queues, interrupts, the PHY, statistics, threads, and the forwarder that the
//! measurements use.

pub mod forwarder;
pub mod interrupts;
pub mod lane;
pub(crate) mod phy;
pub mod pipeline;
mod rss;
mod stats;
