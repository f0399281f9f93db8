//! The configuration of a NIC: ports, traffic, checks, cables and faults.

mod bursts;
mod check;
mod faults;
mod hardware;
mod link;
mod nic;
mod settings;
mod wires;

pub use bursts::{Bursts, Placement};
pub use faults::{Faults, ReceiveFault};
pub use hardware::Hardware;
pub use link::{seconds, LeftBehind, LinkSettings, LinkSpeed, Module};
pub use nic::{NicConfig, PortConfig, DEFAULT_DEVICE_ID, MAX_FLOWS, MAX_PORTS, MAX_WINDOW, QUEUES};
pub use settings::{Expected, FrameSizes, MeasureLatency, MmioMode, TraceTo, Traffic, VerifyMode};
pub use wires::{Cable, WireEnd, WireTo};
