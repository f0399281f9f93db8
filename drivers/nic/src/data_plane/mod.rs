//! The thread that moves frames between the wires and the drivers' rings.

mod pace;
pub(crate) mod plane;
mod port;
mod receive;
mod transmit;
mod tuning;

pub use pace::Progress;
