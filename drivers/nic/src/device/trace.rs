//! A record of what drivers do to the registers.
//!
//! One line per access, without times, so that two runs can be compared: port, `R` or `W`,
//! register, value.
//!
//! ```text
//! 0 W CTRL 0x04000008
//! 0 R RDRXCTL 0x00100008
//! 0 W RDT(0) 0x000001ff
//! 0 W PCI(0x004) 0x0006
//! ```
//!
//! Accesses to the PCI configuration space are recorded too, with as many digits as bytes. Accesses
//! to memory that is shared with the driver (the queue registers in shared mode) are not seen, and
//! not recorded.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// One access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// Number of the port.
    pub port: usize,
    /// Whether it was a write.
    pub write: bool,
    /// Name of the register, with its index if it is one of several: `RDT(0)`. A number where there
    /// is no register.
    pub register: String,
    /// Address in the register space, aliases resolved; offset in the configuration space for
    /// `PCI(...)`.
    pub address: u32,
    /// What was read or written.
    pub value: u32,
    /// Bytes accessed: 4, or less in the configuration space.
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

/// Where accesses are recorded; shared by all ports.
#[derive(Debug)]
pub(crate) struct Trace(Mutex<Sink>);

impl Trace {
    pub(crate) fn in_memory() -> Self {
        Self(Mutex::new(Sink::Memory(Vec::new())))
    }

    pub(crate) fn to_file(path: &Path) -> io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        Ok(Self(Mutex::new(Sink::File {
            path: path.to_owned(),
            file,
            failed: None,
        })))
    }

    pub(crate) fn record(&self, entry: TraceEntry) {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Sink::Memory(entries) => entries.push(entry),
            Sink::File { file, failed, .. } => {
                if let (Err(error), None) = (writeln!(file, "{entry}"), &failed) {
                    *failed = Some(error);
                }
            }
        }
    }

    /// What was recorded in memory since the last time.
    pub(crate) fn take(&self) -> Vec<TraceEntry> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Sink::Memory(entries) => std::mem::take(entries),
            Sink::File { .. } => Vec::new(),
        }
    }

    /// Writes the file out; an error if any of it could not be written, with the file's path.
    pub(crate) fn flush(&self) -> Result<(), (PathBuf, io::Error)> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Sink::Memory(_) => Ok(()),
            Sink::File { path, file, failed } => {
                let flushed = file.flush();
                match failed.take() {
                    Some(error) => Err((path.clone(), error)),
                    None => flushed.map_err(|error| (path.clone(), error)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_documented() {
        let mut entry = TraceEntry {
            port: 0,
            write: true,
            register: "RDT(0)".to_owned(),
            address: 0x1018,
            value: 0x1ff,
            size: 4,
        };
        assert_eq!(entry.to_string(), "0 W RDT(0) 0x000001ff");
        entry = TraceEntry {
            port: 1,
            write: false,
            register: "PCI(0x004)".to_owned(),
            address: 4,
            value: 6,
            size: 2,
        };
        assert_eq!(entry.to_string(), "1 R PCI(0x004) 0x0006");
    }
}
