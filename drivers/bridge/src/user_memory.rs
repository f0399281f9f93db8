//! Reads and writes the program's memory as a kernel does: a bad pointer is EFAULT, not a crash.

use std::mem::{size_of, MaybeUninit};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sys::{self, Errno};

/// Set if this system refuses process_vm_readv; then bad pointers end the program.
static REFUSED: AtomicBool = AtomicBool::new(false);

fn copy(number: i64, own: u64, theirs: u64, len: usize) -> Result<(), Errno> {
    if len == 0 {
        return Ok(());
    }
    if !REFUSED.load(Ordering::Relaxed) {
        let local = libc::iovec {
            iov_base: own as *mut _,
            iov_len: len,
        };
        let remote = libc::iovec {
            iov_base: theirs as *mut _,
            iov_len: len,
        };
        let arguments = [
            sys::process_id() as u64,
            &raw const local as u64,
            1,
            &raw const remote as u64,
            1,
        ];
        // SAFETY: `own` is valid for `len` bytes, and the kernel checks `theirs`.
        match unsafe { sys::call(number, arguments) } {
            Ok(count) if count as usize == len => return Ok(()),
            Ok(_) | Err(Errno(libc::EFAULT)) => return Err(Errno(libc::EFAULT)),
            Err(_) => REFUSED.store(true, Ordering::Relaxed),
        }
    }
    let (from, to) = match number {
        libc::SYS_process_vm_readv => (theirs, own),
        _ => (own, theirs),
    };
    if theirs == 0 {
        return Err(Errno(libc::EFAULT));
    }
    // SAFETY: `own` is valid. The program vouches for `theirs`: no call here can check it.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, len) };
    Ok(())
}

/// Reads bytes.
pub(crate) fn read_bytes(at: u64, into: &mut [u8]) -> Result<(), Errno> {
    copy(
        libc::SYS_process_vm_readv,
        into.as_mut_ptr() as u64,
        at,
        into.len(),
    )
}

/// Writes bytes.
pub(crate) fn write_bytes(at: u64, from: &[u8]) -> Result<(), Errno> {
    copy(
        libc::SYS_process_vm_writev,
        from.as_ptr() as u64,
        at,
        from.len(),
    )
}

/// A structure of integers without padding, whose every bit pattern is a value.
///
/// # Safety
///
/// The type must be that.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: integers.
unsafe impl Plain for u32 {}
// SAFETY: integers.
unsafe impl Plain for i32 {}

/// Reads a structure.
pub(crate) fn read<T: Plain>(at: u64) -> Result<T, Errno> {
    let mut value = MaybeUninit::<T>::uninit();
    copy(
        libc::SYS_process_vm_readv,
        value.as_mut_ptr() as u64,
        at,
        size_of::<T>(),
    )?;
    // SAFETY: the copy filled it, and every bit pattern is a value.
    Ok(unsafe { value.assume_init() })
}

/// Writes a structure.
pub(crate) fn write<T: Plain>(at: u64, value: &T) -> Result<(), Errno> {
    copy(
        libc::SYS_process_vm_writev,
        std::ptr::from_ref(value) as u64,
        at,
        size_of::<T>(),
    )
}

/// The name at an address, up to 63 bytes.
pub(crate) fn read_name(at: u64) -> Result<String, Errno> {
    let mut bytes = Vec::new();
    while bytes.len() < 64 {
        let mut byte = [0];
        read_bytes(at + bytes.len() as u64, &mut byte)?;
        if byte == [0] {
            return String::from_utf8(bytes).map_err(|_| Errno(libc::ENODEV));
        }
        bytes.push(byte[0]);
    }
    Err(Errno(libc::ENODEV))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_pointer_is_an_error() {
        assert_eq!(read::<u32>(16), Err(Errno(libc::EFAULT)));
        assert_eq!(write::<u32>(16, &1), Err(Errno(libc::EFAULT)));
        let value = 77_u32;
        assert_eq!(read::<u32>(&raw const value as u64), Ok(77));
    }
}
