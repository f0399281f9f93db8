//! The applications over the kernel's sockets, to compare with: the same services, and no driver.

mod tcp_server;

pub use tcp_server::serve as serve_tcp;
