//! The memory of a traced process.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use nix::sys::ptrace;
use nix::unistd::Pid;

use crate::error::TraceError;

/// Opens the memory of a process to read and write.
fn open_to_write(pid: Pid) -> Result<File, TraceError> {
    let path = PathBuf::from(format!("/proc/{pid}/mem"));
    let opened = File::options().read(true).write(true).open(&path);
    opened.map_err(|cause| TraceError::File { path, cause })
}

/// Reads a file about a process.
pub(crate) fn text(pid: Pid, name: &str) -> Result<String, TraceError> {
    let path = PathBuf::from(format!("/proc/{pid}/{name}"));
    std::fs::read_to_string(&path).map_err(|cause| TraceError::File { path, cause })
}

/// The memory, open to read and write.
#[derive(Debug)]
pub(crate) struct Memory {
    pid: Pid,
    file: File,
}

impl Memory {
    pub(crate) fn open(pid: Pid) -> Result<Self, TraceError> {
        Ok(Self {
            pid,
            file: open_to_write(pid)?,
        })
    }

    /// Reads as many of the bytes at `address` as there are, and returns their number.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < into.len() {
            match self.file.read_at(&mut into[done..], address + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(_) if done > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    /// Writes bytes. Returns whether all are written.
    pub(crate) fn write(&self, address: u64, bytes: &[u8]) -> bool {
        self.file.write_all_at(bytes, address).is_ok()
    }

    /// Reads a word.
    pub(crate) fn word(&self, address: u64) -> Result<u64, TraceError> {
        let mut bytes = [0; 8];
        let failed = |cause| TraceError::File {
            path: PathBuf::from(format!("/proc/{}/mem", self.pid)),
            cause,
        };
        match self.read(address, &mut bytes).map_err(failed)? {
            8 => Ok(u64::from_ne_bytes(bytes)),
            _ => Err(failed(io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// Writes a word, also to memory that the process may not write. `pid` must be stopped.
pub(crate) fn write_word(pid: Pid, address: u64, word: u64) -> Result<(), TraceError> {
    ptrace::write(pid, address as ptrace::AddressType, word as libc::c_long)
        .map_err(TraceError::ptrace("write the memory"))
}
