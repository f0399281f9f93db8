//! The thread that moves frames between the wires and the drivers' rings.

pub(crate) mod burst;
pub(crate) mod burst_report;
mod checked_sink;
mod pace;
mod placing;
pub(crate) mod plane;
mod port_plane;
mod tuning;
mod window;

pub use pace::Progress;
