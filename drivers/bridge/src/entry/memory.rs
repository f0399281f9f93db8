//! The interposed functions for memory.

use crate::entry::next::{self, to_c};
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
    if let Some(result) = requests::mmap(request) {
        return to_c(result.map(|at| at as u64)) as *mut libc::c_void;
    }
    if flags & libc::MAP_FIXED != 0 {
        bars::remove(at as usize, (at as usize).saturating_add(len));
    }
    match next::mmap() {
        // SAFETY: the caller vouches for the arguments.
        Some(next) => unsafe { next(at, len, protection, flags, fd, offset) },
        None => {
            let numbers = [at as u64, len as u64, protection as u64, flags as u64];
            let [a, b, c, d] = numbers;
            // SAFETY: as above.
            let mapped =
                unsafe { sys::call(libc::SYS_mmap, [a, b, c, d, fd as u64, offset as u64]) };
            to_c(mapped) as *mut libc::c_void
        }
    }
}

#[no_mangle]
unsafe extern "C" fn mmap64(
    at: *mut libc::c_void,
    len: usize,
    protection: i32,
    flags: i32,
    fd: i32,
    offset: i64,
) -> *mut libc::c_void {
    // SAFETY: the caller vouches for the arguments.
    unsafe { mmap(at, len, protection, flags, fd, offset) }
}

#[no_mangle]
unsafe extern "C" fn munmap(at: *mut libc::c_void, len: usize) -> i32 {
    let had_registers = bars::remove(at as usize, (at as usize).saturating_add(len));
    let result = match next::munmap() {
        // SAFETY: the caller vouches for the range.
        Some(next) => unsafe { next(at, len) },
        None => {
            // SAFETY: as above.
            to_c(unsafe { sys::munmap(at as usize, len) }.map(|()| 0)) as i32
        }
    };
    if had_registers {
        requests::after_close();
    }
    result
}
