//! Anonymous huge pages: they get a file when the program maps them.

use std::sync::atomic::AtomicBool;

use crate::dma::files::{keep, File, Origin};
use crate::say::warn_once;
use crate::sys::{self, Errno};

/// Bits of mmap's flags that hold the logarithm of the page size.
const SIZE_BITS: i32 = 63 << libc::MAP_HUGE_SHIFT;
const MFD_HUGETLB: u32 = 4;

/// Whether a request is for anonymous huge pages that may hold data.
pub(crate) fn is_huge(protection: i32, flags: i32) -> bool {
    let wanted = libc::MAP_ANONYMOUS | libc::MAP_HUGETLB;
    flags & wanted == wanted && protection & libc::PROT_WRITE != 0
}

/// Maps anonymous huge pages. If none is free, maps ordinary memory of the same alignment.
pub(crate) fn map(at: usize, len: usize, protection: i32, flags: i32) -> Result<usize, Errno> {
    static SAID: AtomicBool = AtomicBool::new(false);
    let page = match (flags & SIZE_BITS) >> libc::MAP_HUGE_SHIFT {
        0 => 2 << 20,
        bits => 1_usize << bits,
    };
    let size = len
        .checked_next_multiple_of(page)
        .ok_or(Errno(libc::ENOMEM))?;
    let origin = match flags & libc::MAP_TYPE {
        libc::MAP_PRIVATE => Origin::PrivateHuge,
        _ => Origin::Shared,
    };
    let kind = libc::MAP_ANONYMOUS | libc::MAP_TYPE | libc::MAP_HUGETLB | SIZE_BITS;
    let rest = flags & !kind | libc::MAP_SHARED;
    let huge = MFD_HUGETLB | (flags & SIZE_BITS) as u32;
    let mapped = sys::memory_file(size as u64, huge)
        .and_then(File::take)
        .and_then(|file| {
            // SAFETY: the program asked for this range.
            let mapped = unsafe { sys::mmap(at, size, protection, rest, file.fd(), 0)? };
            keep(file, origin);
            Ok(mapped)
        });
    match mapped {
        Err(Errno(error @ (libc::ENOMEM | libc::ENOENT | libc::EPERM | libc::ENODEV))) => {
            warn_once(&SAID, format_args!(
                "no free huge page of {} KiB ({:?}): ordinary memory of the same alignment takes its place",
                page / 1024,
                Errno(error)
            ));
            map_ordinary(at, size, page, protection, rest, origin)
        }
        other => other,
    }
}

fn map_ordinary(
    at: usize,
    size: usize,
    page: usize,
    protection: i32,
    flags: i32,
    origin: Origin,
) -> Result<usize, Errno> {
    let file = File::take(sys::memory_file(size as u64, 0)?)?;
    if flags & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE) != 0 {
        // SAFETY: the program asked for this range.
        let mapped = unsafe { sys::mmap(at, size, protection, flags, file.fd(), 0)? };
        keep(file, origin);
        return Ok(mapped);
    }
    let room = size.checked_add(page).ok_or(Errno(libc::ENOMEM))?;
    let reserve = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new range, of which the parts outside the aligned one are given back.
    unsafe {
        let start = sys::mmap(at, room, libc::PROT_NONE, reserve, -1, 0)?;
        let aligned = start.next_multiple_of(page);
        let flags = flags | libc::MAP_FIXED;
        if let Err(error) = sys::mmap(aligned, size, protection, flags, file.fd(), 0) {
            sys::munmap(start, room)?;
            return Err(error);
        }
        if aligned > start {
            sys::munmap(start, aligned - start)?;
        }
        if start + room > aligned + size {
            sys::munmap(aligned + size, start + room - aligned - size)?;
        }
        keep(file, origin);
        Ok(aligned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dma::backing::back;

    #[test]
    fn huge_memory_is_aligned_and_has_a_file() {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_HUGETLB;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        assert!(is_huge(protection, flags));
        assert!(!is_huge(protection, flags & !libc::MAP_HUGETLB));
        let at = map(0, 3 << 20, protection, flags).unwrap();
        assert_eq!(at % (2 << 20), 0);
        // SAFETY: `map` rounds the length up to whole pages of 2 MiB.
        unsafe { *((at + (4 << 20) - 1) as *mut u8) = 1 };
        let parts = back(at, at + (4 << 20), true).unwrap();
        assert_eq!(
            (parts.len(), parts[0].offset, parts[0].len),
            (1, 0, 4 << 20)
        );
    }
}
