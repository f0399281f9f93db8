//! Why a NIC cannot start or end as it should.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::config::ConfigError;

/// What goes wrong with a NIC as a whole. What drivers do wrong is not among it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NicError {
    /// The configuration makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The sockets' directory cannot be made.
    #[error("socket directory {path}: {reason}; name a directory that can be written to")]
    SocketDir {
        /// The directory.
        path: PathBuf,
        /// Why not.
        reason: io::Error,
    },
    /// Somebody listens on the socket already.
    #[error(
        "socket {path}: another server is listening there; stop it, or choose another directory"
    )]
    SocketInUse {
        /// The socket.
        path: PathBuf,
    },
    /// There is something at the socket's place that is no socket.
    #[error("socket {path}: there is a file of that name which is not a socket; remove it, or choose another directory")]
    NotASocket {
        /// The file.
        path: PathBuf,
    },
    /// The socket cannot be made.
    #[error("socket {path}: {reason}")]
    Socket {
        /// The socket.
        path: PathBuf,
        /// Why not.
        reason: io::Error,
    },
    /// Memory or threads are refused.
    #[error("{what}: {reason}")]
    Os {
        /// What was asked of the operating system.
        what: &'static str,
        /// What it said.
        reason: io::Error,
    },
    /// The trace file cannot be written.
    #[error("trace {path}: {reason}")]
    Trace {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: io::Error,
    },
    /// The data plane has been handed out before.
    #[error("the data plane is in use already: a NIC has one, either stepped by hand or running in its thread")]
    DataPlaneTaken,
}
