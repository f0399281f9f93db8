//! The kernel's sockets in the place of a driver and its stack, to compare with.

mod tcp;
mod udp;

pub use tcp::KernelTcp;
pub use udp::{group_socket, serve as serve_udp};
