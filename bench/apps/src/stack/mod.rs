//! The applications over smoltcp and a driver.

mod device;
mod frame;
mod interface;
mod tcp_server;
mod udp_server;

pub use interface::{Address, Stack};
pub use tcp_server::{serve as serve_tcp, Beside, TcpOptions};
pub use udp_server::{serve as serve_udp, UdpOptions};
