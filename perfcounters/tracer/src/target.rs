//! The memory of a traced process, and its preparation: no clock without a system call, no randomness.

use std::io::{IoSlice, IoSliceMut};

use nix::sys::ptrace;
use nix::sys::uio::{process_vm_readv, process_vm_writev, RemoteIoVec};
use nix::unistd::Pid;

use crate::error::TraceError;

/// Reads a file about a process.
pub(crate) fn text(pid: Pid, name: &str) -> Result<String, TraceError> {
    let path = format!("/proc/{pid}/{name}");
    std::fs::read_to_string(&path).map_err(TraceError::system(format!("read {path}")))
}

/// Reads a word. `pid` must be stopped.
pub(crate) fn word(pid: Pid, address: u64) -> Result<u64, TraceError> {
    ptrace::read(pid, address as ptrace::AddressType)
        .map(|word| word as u64)
        .map_err(TraceError::ptrace("read the memory"))
}

/// Writes a word, also to memory that the process may not write. `pid` must be stopped.
pub(crate) fn write_word(pid: Pid, address: u64, word: u64) -> Result<(), TraceError> {
    ptrace::write(pid, address as ptrace::AddressType, word as libc::c_long)
        .map_err(TraceError::ptrace("write the memory"))
}

/// Reads 1 to 8 bytes that the process may read.
pub(crate) fn load(pid: Pid, address: u64, size: usize) -> Option<u64> {
    let mut bytes = [0; 8];
    let mut into = [IoSliceMut::new(bytes.get_mut(..size)?)];
    let read = process_vm_readv(pid, &mut into, &[remote(address, size)]);
    (read == Ok(size)).then_some(u64::from_le_bytes(bytes))
}

/// Writes 1 to 8 bytes. Returns false if the process may not write them.
pub(crate) fn store(pid: Pid, address: u64, size: usize, value: u64) -> bool {
    let bytes = value.to_le_bytes();
    let from = [IoSlice::new(&bytes[..size])];
    process_vm_writev(pid, &from, &[remote(address, size)]) == Ok(size)
}

fn remote(address: u64, len: usize) -> RemoteIoVec {
    RemoteIoVec {
        base: address as usize,
        len,
    }
}

/// The bytes of an instruction and of what follows it. `pid` must be stopped.
pub(crate) fn code(pid: Pid, address: u64) -> Vec<u8> {
    // Aligned words do not reach into a page that is not mapped. The longest instruction is in three.
    let start = address & !7;
    let words = (0..3).map_while(|nth| word(pid, start + 8 * nth).ok());
    let bytes = words.flat_map(u64::to_le_bytes);
    bytes.skip((address - start) as usize).collect()
}

/// Prepares a process, which must be stopped at the end of `execve`.
///
/// - The program does not find the vDSO. It asks the kernel for the time, where the tracer answers.
/// - The 16 random bytes that the kernel gives to programs are fixed.
pub(crate) fn prepare(pid: Pid) -> Result<(), TraceError> {
    let registers = ptrace::getregs(pid).map_err(TraceError::ptrace("read the registers"))?;
    let mut at = registers.rsp;
    // The stack holds argc, the arguments and the variables, each list with a 0 behind it.
    at += 8 * (word(pid, at)? + 2);
    while word(pid, at)? != 0 {
        at += 8;
    }
    at += 8;
    loop {
        match word(pid, at)? {
            libc::AT_NULL => return Ok(()),
            libc::AT_SYSINFO_EHDR => write_word(pid, at, libc::AT_IGNORE)?,
            libc::AT_RANDOM => {
                let place = word(pid, at + 8)?;
                write_word(pid, place, 0x0123_4567_89ab_cdef)?;
                write_word(pid, place + 8, 0xfedc_ba98_7654_3210)?;
            }
            _ => {}
        }
        at += 16;
    }
}
