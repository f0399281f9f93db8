//! A vfio-user server: it listens on a UNIX socket and serves one PCI function to one client at a
//! time.

pub(crate) mod protocol;
pub(crate) mod server;
pub(crate) mod session;
