//! The vfio-user protocol: messages on a UNIX socket, and the server of one port.

pub(crate) mod protocol;
pub(crate) mod server;
pub(crate) mod session;

#[cfg(test)]
mod scratch_function;
