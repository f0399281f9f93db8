//! What the interposed functions for descriptors do.

use std::ffi::{c_char, CStr};

use crate::entry::next;
use crate::ports::config;
use crate::requests;
use crate::say::warn;
use crate::sys::{self, Errno};
use crate::vfio::numbers::is_request;

/// Opens a node of VFIO. `None` if the path is not one's.
///
/// # Safety
///
/// `path` must be what open(2) takes.
pub(super) unsafe fn open(
    path: *const c_char,
    flags: i32,
    mode: libc::mode_t,
) -> Option<Result<u64, Errno>> {
    config()?;
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller vouches for the path.
    let name = unsafe { CStr::from_ptr(path) }.to_bytes();
    // Without the launcher's namespace, the nodes do not exist, or are the machine's own.
    let placeholder = requests::placeholder_path(name)?;
    let at = placeholder.as_ptr() as u64;
    let arguments = [libc::AT_FDCWD as u64, at, flags as u64, u64::from(mode)];
    // SAFETY: the path ends with NUL.
    let opened = unsafe { sys::call(libc::SYS_openat, arguments) };
    Some(opened.and_then(|fd| {
        requests::opened(fd as i32)
            .inspect_err(|_| sys::close(fd as i32))
            .map(|()| fd)
    }))
}

/// A program that closes all its descriptors must not close the bridge's: for the program, they do
/// not exist.
pub(super) fn close(fd: i32) -> i32 {
    if config().is_some() && sys::may_be_internal(fd) && requests::is_internal(fd) {
        // SAFETY: the kernel refuses this number, and errno then says EBADF.
        return unsafe { next::close(-1) };
    }
    // SAFETY: the program owns the descriptor.
    let result = unsafe { next::close(fd) };
    requests::after_close();
    result
}

/// Closes all descriptors in a range but the bridge's.
pub(super) fn close_range(first: u32, last: u32, flags: u64) -> Result<u64, Errno> {
    let close_span = |first: u32, last: u32| {
        let arguments = [u64::from(first), u64::from(last), flags];
        // SAFETY: the arguments are numbers.
        unsafe { sys::call(libc::SYS_close_range, arguments) }
    };
    let internal = config().map_or_else(Vec::new, |_| requests::internal_descriptors());
    let internal = internal.into_iter().map(|fd| fd as u32);
    let mut from = first;
    for fd in internal.filter(|fd| (first..=last).contains(fd)) {
        if fd > from {
            close_span(from, fd - 1)?;
        }
        from = fd + 1;
    }
    if from <= last {
        close_span(from, last)?;
    }
    requests::after_close();
    Ok(0)
}

/// Answers a request of VFIO, and passes others to the kernel.
///
/// # Safety
///
/// The arguments must be what ioctl(2) takes.
pub(super) unsafe fn ioctl(fd: i32, request: u64, at: u64) -> Result<u64, Errno> {
    let answer = is_request(request).then(|| requests::ioctl(fd, request, at));
    answer.flatten().unwrap_or_else(|| {
        // SAFETY: the caller vouches for the arguments.
        unsafe { sys::call(libc::SYS_ioctl, [fd as u64, request, at]) }
    })
}

/// Reads as pread(2), but ends the program if the buffer is too small.
pub(super) fn checked_pread(
    fd: i32,
    to: u64,
    len: usize,
    offset: u64,
    room: usize,
) -> Option<Result<u64, Errno>> {
    if len > room {
        warn(format_args!("pread of {len} bytes into a buffer of {room}"));
        std::process::abort();
    }
    requests::pread(fd, to, len, offset)
}
