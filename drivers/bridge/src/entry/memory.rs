//! What the interposed functions for memory do, and trapped system calls for memory.

use crate::mmio::bars;
use crate::requests;
use crate::sys::{self, Errno, MapRequest};

/// Maps registers or huge pages, or passes the request on to the kernel.
///
/// # Safety
///
/// The arguments must be what mmap(2) takes.
pub(super) unsafe fn map(arguments: [u64; 6]) -> Result<u64, Errno> {
    let [at, len, protection, flags, fd, offset] = arguments;
    let request = MapRequest {
        at: at as usize,
        len: len as usize,
        protection: protection as i32,
        flags: flags as i32,
        fd: fd as i32,
        offset,
    };
    if let Some(answer) = requests::mmap(&request) {
        return answer.map(|at| at as u64);
    }
    if request.flags & libc::MAP_FIXED != 0 {
        bars::remove(request.at, request.at.saturating_add(request.len));
    }
    // SAFETY: the caller vouches for the arguments.
    unsafe { sys::call(libc::SYS_mmap, arguments) }
}

/// Unmaps memory, and forgets the registers there.
///
/// # Safety
///
/// The arguments must be what munmap(2) takes.
pub(super) unsafe fn unmap(at: usize, len: usize) -> Result<u64, Errno> {
    let had_registers = bars::remove(at, at.saturating_add(len));
    // SAFETY: the caller vouches for the range.
    let result = unsafe { sys::munmap(at, len) };
    if had_registers {
        requests::after_close();
    }
    result.map(|()| 0)
}
