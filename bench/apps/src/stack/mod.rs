//! smoltcp over a driver.

mod device;
mod frame;
mod interface;
mod slot;
mod tcp;
mod udp;

pub use interface::{Address, PortOptions};
pub use tcp::{buffer_bytes, StackTcp};
pub use udp::serve as serve_udp;
