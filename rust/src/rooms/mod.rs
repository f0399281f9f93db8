//! What a driver may leave out: several queues, interrupts, the PHY, statistics, threads, and the forwarder that the
//! measurements use.

pub mod forwarder;
pub mod health;
pub mod interrupts;
pub mod lane;
mod packet_bytes;
mod phy;
pub mod pipeline;
mod ports;
mod remote;
mod rss;
mod start;
mod stats;
mod takeover;
