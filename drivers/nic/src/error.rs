//! Why a NIC cannot start or end as it should.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::config::ConfigError;
use crate::socket::SocketError;

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
    /// A socket cannot be listened on.
    #[error(transparent)]
    Socket(#[from] SocketError),
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
