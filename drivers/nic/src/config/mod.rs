//! The configuration of a NIC: ports, traffic, checks, cables and faults.

mod bursts;
mod error;
mod faults;
mod hardware;
mod left_behind;
mod link;
mod nic;
mod parse;
mod placement;
mod settings;

pub use bursts::Bursts;
pub use error::ConfigError;
pub use faults::{Faults, ReceiveFault};
pub use hardware::Hardware;
pub use left_behind::LeftBehind;
pub use link::{LinkSettings, LinkSpeed};
pub use nic::{NicConfig, PortConfig, DEFAULT_DEVICE_ID, MAX_FLOWS, MAX_PORTS, MAX_WINDOW, QUEUES};
pub use placement::Placement;
pub use settings::{
    Cable, Expected, FrameSizes, MeasureLatency, MmioMode, Module, TraceTo, Traffic, VerifyMode,
    WireEnd, WireTo,
};
