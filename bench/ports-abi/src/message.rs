//! Errors as the messages of a C interface.

use std::ffi::{c_char, c_int};

use ixgbe::error::Result;

/// Writes a message with its NUL to `error`, truncated to `size` bytes.
///
/// # Safety
/// `error` is valid for writes of `size` bytes.
pub(crate) unsafe fn report(message: &str, error: *mut c_char, size: usize) {
    let Some(room) = size.checked_sub(1) else {
        return;
    };
    let length = message.len().min(room);
    // SAFETY: `length + 1 <= size`, and the caller guarantees `size` bytes.
    unsafe {
        error.copy_from_nonoverlapping(message.as_ptr().cast(), length);
        error.add(length).write(0);
    }
}

/// Returns 0, or -1 with the reason.
///
/// # Safety
/// `error` is valid for writes of `size` bytes.
pub(crate) unsafe fn status(result: Result<()>, error: *mut c_char, size: usize) -> c_int {
    match result {
        Ok(()) => 0,
        Err(reason) => {
            // SAFETY: the caller guarantees it.
            unsafe { report(&reason.to_string(), error, size) };
            -1
        }
    }
}
