//! Reads and writes the program's memory as a kernel does: a bad pointer is EFAULT, not a crash.

use std::mem::{size_of, MaybeUninit};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sys::{self, refuse_if, Errno};

/// Set if this system refuses process_vm_readv; then bad pointers end the program.
static REFUSED: AtomicBool = AtomicBool::new(false);

fn copy(number: i64, own: u64, theirs: u64, len: usize) -> Result<(), Errno> {
    if len == 0 {
        return Ok(());
    }
    if !REFUSED.load(Ordering::Relaxed) {
        let [local, remote] = [own, theirs].map(|at| [at, len as u64]);
        let places = [&local, &remote].map(|place| place.as_ptr() as u64);
        let arguments = [u64::from(std::process::id()), places[0], 1, places[1], 1];
        // SAFETY: `own` is valid for `len` bytes, and the kernel checks `theirs`. An iovec is an address and a length.
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
    refuse_if(theirs == 0, libc::EFAULT)?;
    // SAFETY: `own` is valid. The program vouches for `theirs`: no call here can check it.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, len) };
    Ok(())
}

/// Reads bytes.
pub(crate) fn read_bytes(at: u64, into: &mut [u8]) -> Result<(), Errno> {
    let own = into.as_mut_ptr() as u64;
    copy(libc::SYS_process_vm_readv, own, at, into.len())
}

/// Writes bytes.
pub(crate) fn write_bytes(at: u64, from: &[u8]) -> Result<(), Errno> {
    let own = from.as_ptr() as u64;
    copy(libc::SYS_process_vm_writev, own, at, from.len())
}

/// A structure of integers without padding, whose every bit pattern is a value.
///
/// # Safety
///
/// The type must be that.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: integers, and arrays of them.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Reads a structure.
pub(crate) fn read<T: Plain>(at: u64) -> Result<T, Errno> {
    let mut value = MaybeUninit::<T>::uninit();
    let own = value.as_mut_ptr() as u64;
    copy(libc::SYS_process_vm_readv, own, at, size_of::<T>())?;
    // SAFETY: the copy filled it, and every bit pattern is a value.
    Ok(unsafe { value.assume_init() })
}

/// Reads the words of a structure. EINVAL if its size, the first word, is smaller than `least`.
pub(crate) fn read_sized<const N: usize>(at: u64, least: u32) -> Result<[u32; N], Errno> {
    let words: [u32; N] = read(at)?;
    refuse_if(words[0] < least, libc::EINVAL)?;
    Ok(words)
}

/// Writes a structure.
pub(crate) fn write<T: Plain>(at: u64, value: T) -> Result<(), Errno> {
    let own = &raw const value as u64;
    copy(libc::SYS_process_vm_writev, own, at, size_of::<T>())
}

/// The name at an address, up to 63 bytes.
pub(crate) fn read_name(at: u64) -> Result<String, Errno> {
    let mut bytes = Vec::new();
    while bytes.len() < 64 {
        match read(at + bytes.len() as u64)? {
            0_u8 => return String::from_utf8(bytes).map_err(|_| Errno(libc::ENODEV)),
            byte => bytes.push(byte),
        }
    }
    Err(Errno(libc::ENODEV))
}
