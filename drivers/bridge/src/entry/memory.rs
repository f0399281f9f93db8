//! The interposed functions for memory.

use crate::entry::next::{aliases, to_c};
use crate::mmio::bars;
use crate::requests::{self, MapRequest};
use crate::sys;

#[no_mangle]
unsafe extern "C" fn mmap(
    at: *mut libc::c_void,
    len: usize,
    protection: i32,
    flags: i32,
    fd: i32,
    offset: i64,
) -> *mut libc::c_void {
    let request = MapRequest {
        at: at as usize,
        len,
        protection,
        flags,
        fd,
        offset: offset as u64,
    };
    let answer = requests::mmap(request).map(|result| result.map(|at| at as u64));
    let kernel = || {
        if flags & libc::MAP_FIXED != 0 {
            bars::remove(at as usize, (at as usize).saturating_add(len));
        }
        // SAFETY: the caller vouches for the arguments.
        unsafe { sys::mmap(at as usize, len, protection, flags, fd, offset as u64) }
            .map(|at| at as u64)
    };
    to_c(answer.unwrap_or_else(kernel)) as *mut libc::c_void
}

aliases! {
    mmap64(at: *mut libc::c_void, len: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut libc::c_void =
        mmap(at, len, protection, flags, fd, offset);
}

#[no_mangle]
unsafe extern "C" fn munmap(at: *mut libc::c_void, len: usize) -> i32 {
    let had_registers = bars::remove(at as usize, (at as usize).saturating_add(len));
    // SAFETY: the caller vouches for the range.
    let result = to_c(unsafe { sys::munmap(at as usize, len) }.map(|()| 0)) as i32;
    if had_registers {
        requests::after_close();
    }
    result
}
