//! Reads and writes the program's memory as a kernel does: a bad pointer is EFAULT, not a crash.

use std::sync::atomic::{AtomicBool, Ordering};

use zerocopy::{FromBytes, Immutable, IntoBytes};

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

/// Reads a structure.
pub(crate) fn read<T: FromBytes + IntoBytes>(at: u64) -> Result<T, Errno> {
    let mut value = T::new_zeroed();
    read_bytes(at, value.as_mut_bytes())?;
    Ok(value)
}

/// Reads the words of a structure. EINVAL if it is smaller, as its first word says (argsz, or size).
pub(crate) fn read_sized<const N: usize>(at: u64) -> Result<[u32; N], Errno> {
    let words: [u32; N] = read(at)?;
    refuse_if((words[0] as usize) < 4 * N, libc::EINVAL)?;
    Ok(words)
}

/// The low and the high word of a number.
pub(crate) fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// The numbers of which these are the halves.
pub(crate) fn longs<const N: usize, const M: usize>(halves: [u32; M]) -> [u64; N] {
    const { assert!(M == 2 * N) };
    std::array::from_fn(|at| u64::from(halves[2 * at]) | u64::from(halves[2 * at + 1]) << 32)
}

/// Writes a structure.
pub(crate) fn write<T: IntoBytes + Immutable>(at: u64, value: T) -> Result<(), Errno> {
    write_bytes(at, value.as_bytes())
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
