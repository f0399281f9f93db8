//! The thread that moves frames between the wires and the drivers' rings.

pub(crate) mod burst;
pub(crate) mod burst_report;
mod pace;
mod placing;
pub(crate) mod plane;
mod port;
mod tuning;
mod window;
mod wire;

pub use pace::Progress;
