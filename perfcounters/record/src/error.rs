//! Errors in writing or reading a record.

use std::io;
use std::path::{Path, PathBuf};

/// A record that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A folder or file cannot be written. The usual causes: the disk is full, or the folder
    /// belongs to another user.
    #[error("cannot write {}: {cause}; {}", path.display(), write_advice(cause))]
    Write {
        /// The folder or file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// Another process is writing to the folder.
    #[error("another triptych is writing to {}: wait for it, or end it", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The file does not have the format of a record.
    #[error("{}: line {line}: {why}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1; 0 if it is not known.
        line: u64,
        /// The error.
        why: String,
    },
}

impl RecordError {
    pub(crate) fn write(path: &Path, cause: io::Error) -> Self {
        Self::Write {
            path: path.to_owned(),
            cause,
        }
    }

    pub(crate) fn read(path: &Path, cause: io::Error) -> Self {
        Self::Read {
            path: path.to_owned(),
            cause,
        }
    }

    pub(crate) fn malformed(path: &Path, line: u64, why: impl Into<String>) -> Self {
        Self::Malformed {
            path: path.to_owned(),
            line,
            why: why.into(),
        }
    }
}

fn write_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => "free some space, or choose a results folder on another disk",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a results folder that you may write to"
        }
        _ => "check that the folder exists and that its disk works",
    }
}
