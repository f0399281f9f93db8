//! Errors of a NIC as a whole, and of its configuration.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::socket::SocketError;

/// A setting that makes no sense. The text names the setting and the valid values.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ConfigError(pub(crate) String);

impl ConfigError {
    /// For settings that are checked elsewhere. The text names the setting and the valid values.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// Returns a [`ConfigError`] with this text unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($text:tt)+) => {
        if !$holds {
            return Err($crate::error::ConfigError(format!($($text)+)));
        }
    };
}
pub(crate) use ensure;

/// Why a NIC cannot start, or cannot end properly. Mistakes of drivers are not errors of the NIC.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields
pub enum NicError {
    /// The configuration makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The directory for the sockets cannot be made.
    #[error("socket directory {path}: {reason}; choose a directory that you can write to")]
    SocketDir { path: PathBuf, reason: io::Error },
    /// Another user owns the directory for the sockets.
    #[error("socket directory {path}: it belongs to user {owner}, who could replace the sockets; choose a directory of your own")]
    SocketDirOwner { path: PathBuf, owner: u32 },
    /// All users may replace the sockets.
    #[error("socket directory {path}: all users may write to it and replace the sockets; take away that right (chmod o-w), or choose another directory")]
    SocketDirWritable { path: PathBuf },
    /// A socket cannot be listened on.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The operating system refuses memory or threads.
    #[error("{what}: {reason}")]
    Os {
        what: &'static str,
        reason: io::Error,
    },
    /// The TAP interface that is a port's wire cannot be used.
    #[error("TAP interface {name}: {what}: {reason}; {remedy}")]
    Tap {
        name: String,
        what: &'static str,
        reason: io::Error,
        remedy: String,
    },
    /// A file of recorded frames, which is a port's wire, cannot be used.
    #[error("pcap {path}: {what}; {remedy}")]
    Pcap {
        path: PathBuf,
        what: String,
        remedy: String,
    },
    /// The trace file cannot be written.
    #[error("trace {path}: {reason}")]
    Trace { path: PathBuf, reason: io::Error },
    /// The data plane is in use already.
    #[error("the data plane is in use already: a NIC has one, which either is stepped by hand or runs in its thread")]
    DataPlaneTaken,
    /// The ports are divided among several data planes.
    #[error("the NIC has several data planes, which only run in threads; step one by hand without data_plane_cpus")]
    SeveralDataPlanes,
}
