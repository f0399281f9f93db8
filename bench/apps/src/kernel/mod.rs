//! The applications over the kernel's sockets, to compare with: the same services, and no driver.

mod tcp_server;
mod udp_server;

pub use tcp_server::serve as serve_tcp;
pub use udp_server::{group_socket, serve as serve_udp};
