//! Errors in writing or reading a record.

use std::io;
use std::path::{Path, PathBuf};

/// A record that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A folder or file cannot be written. The usual causes: the disk is full, or the folder belongs to another user.
    #[error("cannot write {0}: {1}; {advice}", advice = write_advice(.1))]
    Write(PathBuf, io::Error),
    /// A file cannot be read.
    #[error("cannot read {0}: {1}")]
    Read(PathBuf, io::Error),
    /// Another process is writing to the folder.
    #[error("another triptych is writing to {0}: wait for it, or end it")]
    InUse(PathBuf),
    /// A file does not have the format of a record. The line counts from 1; it is 0 if it is not known.
    #[error("{0}: line {1}: {2}")]
    Malformed(PathBuf, u64, String),
}

impl RecordError {
    /// Makes an error of a failure to write.
    pub(crate) fn write(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |cause| Self::Write(path.to_owned(), cause)
    }

    /// Makes an error of a failure to read.
    pub(crate) fn read(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |cause| Self::Read(path.to_owned(), cause)
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
