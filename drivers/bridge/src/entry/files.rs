//! The interposed functions for descriptors.

use std::ffi::CStr;

use crate::entry::next::{self, to_c};
use crate::ports::config;
use crate::requests;
use crate::sys::{self, Errno};

/// Opens a file as openat(2).
///
/// # Safety
///
/// `path` must be what openat(2) takes.
unsafe fn open_at(folder: i32, path: *const libc::c_char, flags: i32, mode: libc::mode_t) -> i32 {
    let open = |path: *const libc::c_char| match next::openat() {
        // SAFETY: the caller vouches for the path.
        Some(next) => unsafe { next(folder, path, flags, mode) },
        None => {
            let arguments = [
                folder as u64,
                path as u64,
                flags as u64,
                u64::from(mode),
                0,
                0,
            ];
            // SAFETY: as above.
            to_c(unsafe { sys::call(libc::SYS_openat, arguments) }) as i32
        }
    };
    if config().is_none() || path.is_null() {
        return open(path);
    }
    // SAFETY: the caller vouches for the path.
    let name = unsafe { CStr::from_ptr(path) }.to_bytes();
    if !name.starts_with(b"/dev/") {
        return open(path);
    }
    let Some(placeholder) = requests::placeholder_path(name) else {
        return open(path);
    };
    // Without the launcher's namespace, the nodes do not exist, or are the machine's own.
    let fd = open(placeholder.as_ptr());
    if fd < 0 {
        return fd;
    }
    match requests::opened(fd) {
        Ok(()) => fd,
        Err(error) => {
            sys::close(fd);
            to_c(Err(error)) as i32
        }
    }
}

#[no_mangle]
unsafe extern "C" fn open(path: *const libc::c_char, flags: i32, mode: libc::mode_t) -> i32 {
    // SAFETY: the caller vouches for the path.
    unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
}

#[no_mangle]
unsafe extern "C" fn open64(path: *const libc::c_char, flags: i32, mode: libc::mode_t) -> i32 {
    // SAFETY: the caller vouches for the path.
    unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
}

#[no_mangle]
unsafe extern "C" fn openat(
    folder: i32,
    path: *const libc::c_char,
    flags: i32,
    mode: libc::mode_t,
) -> i32 {
    // SAFETY: the caller vouches for the path.
    unsafe { open_at(folder, path, flags, mode) }
}

#[no_mangle]
unsafe extern "C" fn openat64(
    folder: i32,
    path: *const libc::c_char,
    flags: i32,
    mode: libc::mode_t,
) -> i32 {
    // SAFETY: the caller vouches for the path.
    unsafe { open_at(folder, path, flags, mode) }
}

/// What the C library's checked headers call instead of open.
#[no_mangle]
unsafe extern "C" fn __open_2(path: *const libc::c_char, flags: i32) -> i32 {
    // SAFETY: the caller vouches for the path.
    unsafe { open_at(libc::AT_FDCWD, path, flags, 0) }
}

#[no_mangle]
unsafe extern "C" fn __open64_2(path: *const libc::c_char, flags: i32) -> i32 {
    // SAFETY: the caller vouches for the path.
    unsafe { open_at(libc::AT_FDCWD, path, flags, 0) }
}

#[no_mangle]
unsafe extern "C" fn __openat_2(folder: i32, path: *const libc::c_char, flags: i32) -> i32 {
    // SAFETY: the caller vouches for the path.
    unsafe { open_at(folder, path, flags, 0) }
}

#[no_mangle]
unsafe extern "C" fn __openat64_2(folder: i32, path: *const libc::c_char, flags: i32) -> i32 {
    // SAFETY: the caller vouches for the path.
    unsafe { open_at(folder, path, flags, 0) }
}

/// A program that closes all its descriptors must not close the bridge's: for the program, they do
/// not exist.
#[no_mangle]
extern "C" fn close(fd: i32) -> i32 {
    if config().is_some() && sys::may_be_internal(fd) && requests::is_internal(fd) {
        return to_c(Err(Errno(libc::EBADF))) as i32;
    }
    let result = match next::close() {
        // SAFETY: the program owns the descriptor.
        Some(next) => unsafe { next(fd) },
        None => {
            // SAFETY: the arguments are numbers.
            let closed = unsafe { sys::call(libc::SYS_close, [fd as u64, 0, 0, 0, 0, 0]) };
            to_c(closed) as i32
        }
    };
    requests::after_close();
    result
}

fn close_descriptors(first: u32, last: u32, flags: u64) -> Result<u64, Errno> {
    let mut from = first;
    let internal = if config().is_some() {
        requests::internal_descriptors()
    } else {
        Vec::new()
    };
    for fd in internal
        .into_iter()
        .map(|fd| fd as u32)
        .filter(|fd| (first..=last).contains(fd))
    {
        if fd > from {
            close_span(from, fd - 1, flags)?;
        }
        from = fd + 1;
    }
    if from <= last {
        close_span(from, last, flags)?;
    }
    requests::after_close();
    Ok(0)
}

fn close_span(first: u32, last: u32, flags: u64) -> Result<u64, Errno> {
    let arguments = [u64::from(first), u64::from(last), flags, 0, 0, 0];
    // SAFETY: the arguments are numbers.
    unsafe { sys::call(libc::SYS_close_range, arguments) }
}

#[no_mangle]
extern "C" fn close_range(first: u32, last: u32, flags: i32) -> i32 {
    to_c(close_descriptors(first, last, flags as u64)) as i32
}

#[no_mangle]
extern "C" fn closefrom(first: i32) {
    let _ = close_descriptors(first.max(0) as u32, u32::MAX, 0);
}

#[no_mangle]
unsafe extern "C" fn ioctl(fd: i32, request: libc::c_ulong, at: usize) -> i32 {
    if crate::vfio::numbers::is_request(request) {
        if let Some(result) = requests::ioctl(fd, request, at as u64) {
            return to_c(result) as i32;
        }
        // SAFETY: the caller vouches for the arguments. The call bypasses the filter.
        let result =
            unsafe { sys::call(libc::SYS_ioctl, [fd as u64, request, at as u64, 0, 0, 0]) };
        return to_c(result) as i32;
    }
    match next::ioctl() {
        // SAFETY: the caller vouches for the arguments.
        Some(next) => unsafe { next(fd, request, at) },
        None => {
            // SAFETY: as above.
            let result =
                unsafe { sys::call(libc::SYS_ioctl, [fd as u64, request, at as u64, 0, 0, 0]) };
            to_c(result) as i32
        }
    }
}

#[no_mangle]
unsafe extern "C" fn pread(fd: i32, to: *mut libc::c_void, len: usize, offset: i64) -> isize {
    if let Some(result) = requests::pread(fd, to as u64, len, offset as u64) {
        return to_c(result) as isize;
    }
    match next::pread() {
        // SAFETY: the caller vouches for the arguments.
        Some(next) => unsafe { next(fd, to, len, offset) },
        None => {
            let arguments = [fd as u64, to as u64, len as u64, offset as u64, 0, 0];
            // SAFETY: as above.
            to_c(unsafe { sys::call(libc::SYS_pread64, arguments) }) as isize
        }
    }
}

#[no_mangle]
unsafe extern "C" fn pread64(fd: i32, to: *mut libc::c_void, len: usize, offset: i64) -> isize {
    // SAFETY: the caller vouches for the arguments.
    unsafe { pread(fd, to, len, offset) }
}

/// What the C library's checked headers call instead of pread.
#[no_mangle]
unsafe extern "C" fn __pread_chk(
    fd: i32,
    to: *mut libc::c_void,
    len: usize,
    offset: i64,
    room: usize,
) -> isize {
    if len > room {
        crate::say::warn(format_args!("pread of {len} bytes into a buffer of {room}"));
        std::process::abort();
    }
    // SAFETY: the caller vouches for the arguments.
    unsafe { pread(fd, to, len, offset) }
}

#[no_mangle]
unsafe extern "C" fn __pread64_chk(
    fd: i32,
    to: *mut libc::c_void,
    len: usize,
    offset: i64,
    room: usize,
) -> isize {
    // SAFETY: the caller vouches for the arguments.
    unsafe { __pread_chk(fd, to, len, offset, room) }
}

#[no_mangle]
unsafe extern "C" fn pwrite(fd: i32, from: *const libc::c_void, len: usize, offset: i64) -> isize {
    if let Some(result) = requests::pwrite(fd, from as u64, len, offset as u64) {
        return to_c(result) as isize;
    }
    match next::pwrite() {
        // SAFETY: the caller vouches for the arguments.
        Some(next) => unsafe { next(fd, from, len, offset) },
        None => {
            let arguments = [fd as u64, from as u64, len as u64, offset as u64, 0, 0];
            // SAFETY: as above.
            to_c(unsafe { sys::call(libc::SYS_pwrite64, arguments) }) as isize
        }
    }
}

#[no_mangle]
unsafe extern "C" fn pwrite64(
    fd: i32,
    from: *const libc::c_void,
    len: usize,
    offset: i64,
) -> isize {
    // SAFETY: the caller vouches for the arguments.
    unsafe { pwrite(fd, from, len, offset) }
}
