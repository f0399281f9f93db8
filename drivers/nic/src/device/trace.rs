//! A trace of the drivers' register accesses.
//!
//! Each access is one line: port, `R` or `W`, register, value. Lines have no times, so the traces of
//! two runs can be compared.
//!
//! ```text
//! 0 W CTRL 0x04000008
//! 0 R RDRXCTL 0x00100008
//! 0 W RDT(0) 0x000001ff
//! 0 W PCI(0x004) 0x0006
//! ```
//!
//! The trace includes accesses to the PCI configuration space, with two digits a byte. It omits
//! accesses to memory that the card shares with the driver: the queue registers in shared mode.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::config::TraceTo;
use crate::error::NicError;

/// One access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// Number of the port.
    pub port: usize,
    /// Whether it was a write.
    pub write: bool,
    /// Name of the register, with the index of an array's entry: `RDT(0)`. An address without a
    /// register is a number.
    pub register: String,
    /// Address in the register space, with aliases resolved; the offset in the configuration space
    /// for `PCI(...)`.
    pub address: u32,
    /// The value read or written.
    pub value: u32,
    /// Bytes of the access: 4, or fewer in the configuration space.
    pub size: usize,
}

impl fmt::Display for TraceEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.write { 'W' } else { 'R' };
        let width = 2 + 2 * self.size;
        write!(
            f,
            "{} {direction} {} {:#0width$x}",
            self.port, self.register, self.value
        )
    }
}

#[derive(Debug)]
enum Sink {
    Memory(Vec<TraceEntry>),
    File {
        path: PathBuf,
        file: BufWriter<File>,
        failed: Option<io::Error>,
    },
}

/// The trace, which all ports share.
#[derive(Debug)]
pub(crate) struct Trace(Mutex<Sink>);

impl Trace {
    pub(crate) fn new(to: &TraceTo) -> Result<Self, NicError> {
        Ok(Self(Mutex::new(match to {
            TraceTo::Memory => Sink::Memory(Vec::new()),
            TraceTo::File(path) => Sink::File {
                path: path.clone(),
                file: BufWriter::new(File::create(path).map_err(|error| failed(path, error))?),
                failed: None,
            },
        })))
    }

    fn sink(&self) -> MutexGuard<'_, Sink> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn record(&self, entry: TraceEntry) {
        match &mut *self.sink() {
            Sink::Memory(entries) => entries.push(entry),
            Sink::File { file, failed, .. } => {
                if let (Err(error), None) = (writeln!(file, "{entry}"), &failed) {
                    *failed = Some(error);
                }
            }
        }
    }

    /// Takes the entries in memory since the last call.
    pub(crate) fn take(&self) -> Vec<TraceEntry> {
        match &mut *self.sink() {
            Sink::Memory(entries) => std::mem::take(entries),
            Sink::File { .. } => Vec::new(),
        }
    }

    /// Flushes the file.
    ///
    /// # Errors
    /// The first error of any write.
    pub(crate) fn flush(&self) -> Result<(), NicError> {
        match &mut *self.sink() {
            Sink::Memory(_) => Ok(()),
            Sink::File {
                path,
                file,
                failed: before,
            } => {
                let flushed = file.flush();
                let result = before.take().map_or(flushed, Err);
                result.map_err(|error| failed(path, error))
            }
        }
    }
}

fn failed(path: &Path, error: io::Error) -> NicError {
    NicError::unusable(
        "trace",
        path,
        error,
        "choose a file that you can write to, on a disk with room",
    )
}
