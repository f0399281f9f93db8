//! The interposed functions for descriptors.

use std::ffi::CStr;

use crate::entry::next::{self, aliases, to_c};
use crate::ports::config;
use crate::requests;
use crate::sys::{self, Errno};
use crate::vfio::numbers::is_request;

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
            let arguments = [folder as u64, path as u64, flags as u64, u64::from(mode)];
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

aliases! {
    open(path: *const libc::c_char, flags: i32, mode: libc::mode_t) -> i32 = open_at(libc::AT_FDCWD, path, flags, mode);
    open64(path: *const libc::c_char, flags: i32, mode: libc::mode_t) -> i32 = open_at(libc::AT_FDCWD, path, flags, mode);
    openat(at: i32, path: *const libc::c_char, flags: i32, mode: libc::mode_t) -> i32 = open_at(at, path, flags, mode);
    openat64(at: i32, path: *const libc::c_char, flags: i32, mode: libc::mode_t) -> i32 = open_at(at, path, flags, mode);
    // What the C library's checked headers call instead.
    __open_2(path: *const libc::c_char, flags: i32) -> i32 = open_at(libc::AT_FDCWD, path, flags, 0);
    __open64_2(path: *const libc::c_char, flags: i32) -> i32 = open_at(libc::AT_FDCWD, path, flags, 0);
    __openat_2(at: i32, path: *const libc::c_char, flags: i32) -> i32 = open_at(at, path, flags, 0);
    __openat64_2(at: i32, path: *const libc::c_char, flags: i32) -> i32 = open_at(at, path, flags, 0);
    pread64(fd: i32, to: *mut libc::c_void, len: usize, offset: i64) -> isize = pread(fd, to, len, offset);
    pwrite64(fd: i32, from: *const libc::c_void, len: usize, offset: i64) -> isize = pwrite(fd, from, len, offset);
    __pread_chk(fd: i32, to: *mut libc::c_void, len: usize, offset: i64, room: usize) -> isize =
        checked_pread(fd, to, len, offset, room);
    __pread64_chk(fd: i32, to: *mut libc::c_void, len: usize, offset: i64, room: usize) -> isize =
        checked_pread(fd, to, len, offset, room);
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
            let closed = unsafe { sys::call(libc::SYS_close, [fd as u64]) };
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
    let arguments = [u64::from(first), u64::from(last), flags];
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
    let answer = match is_request(request) {
        true => requests::ioctl(fd, request, at as u64),
        false => None,
    };
    // SAFETY: the caller vouches for the arguments.
    let kernel = || unsafe { sys::call(libc::SYS_ioctl, [fd as u64, request, at as u64]) };
    to_c(answer.unwrap_or_else(kernel)) as i32
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
            let arguments = [fd as u64, to as u64, len as u64, offset as u64];
            // SAFETY: as above.
            to_c(unsafe { sys::call(libc::SYS_pread64, arguments) }) as isize
        }
    }
}

/// Reads as pread(2), but ends the program if the buffer is too small.
///
/// # Safety
///
/// The arguments must be what pread(2) takes.
unsafe fn checked_pread(
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
unsafe extern "C" fn pwrite(fd: i32, from: *const libc::c_void, len: usize, offset: i64) -> isize {
    if let Some(result) = requests::pwrite(fd, from as u64, len, offset as u64) {
        return to_c(result) as isize;
    }
    match next::pwrite() {
        // SAFETY: the caller vouches for the arguments.
        Some(next) => unsafe { next(fd, from, len, offset) },
        None => {
            let arguments = [fd as u64, from as u64, len as u64, offset as u64];
            // SAFETY: as above.
            to_c(unsafe { sys::call(libc::SYS_pwrite64, arguments) }) as isize
        }
    }
}
