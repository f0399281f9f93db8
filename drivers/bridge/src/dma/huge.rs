//! Anonymous huge pages: they get a file when the program maps them.

use std::sync::atomic::AtomicBool;

use crate::dma::files::{keep, File, Origin};
use crate::say::warn_once;
use crate::sys::{self, Errno, MapRequest};

/// Bits of mmap's flags that hold the logarithm of the page size.
const SIZE_BITS: i32 = 63 << libc::MAP_HUGE_SHIFT;
const MFD_HUGETLB: u32 = 4;

/// Whether a request is for anonymous huge pages that may hold data.
pub(crate) fn is_huge(request: &MapRequest) -> bool {
    let wanted = libc::MAP_ANONYMOUS | libc::MAP_HUGETLB;
    request.flags & wanted == wanted && request.protection & libc::PROT_WRITE != 0
}

/// Maps anonymous huge pages. If none is free, maps ordinary memory of the same alignment.
pub(crate) fn map(request: &MapRequest) -> Result<usize, Errno> {
    static SAID: AtomicBool = AtomicBool::new(false);
    let MapRequest {
        at,
        protection,
        flags,
        ..
    } = *request;
    let page = match (flags & SIZE_BITS) >> libc::MAP_HUGE_SHIFT {
        0 => 2 << 20,
        bits => 1_usize << bits,
    };
    let size = request.len.checked_next_multiple_of(page);
    let size = size.ok_or(Errno(libc::ENOMEM))?;
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
    let is_fixed = flags & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE) != 0;
    let (to, flags) = match is_fixed {
        true => (at, flags),
        false => (reserve(at, size, page)?, flags | libc::MAP_FIXED),
    };
    // SAFETY: the program asked for this range, or it is new.
    let mapped = unsafe { sys::mmap(to, size, protection, flags, file.fd(), 0) };
    match mapped {
        Ok(_) => keep(file, origin),
        // SAFETY: the range was reserved above.
        Err(_) if !is_fixed => unsafe { sys::munmap(to, size)? },
        Err(_) => {}
    }
    mapped
}

/// Reserves an aligned range of addresses.
fn reserve(at: usize, size: usize, page: usize) -> Result<usize, Errno> {
    let room = size.checked_add(page).ok_or(Errno(libc::ENOMEM))?;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new range, of which the parts outside the aligned one are given back.
    unsafe {
        let start = sys::mmap(at, room, libc::PROT_NONE, flags, -1, 0)?;
        let aligned = start.next_multiple_of(page);
        if aligned > start {
            sys::munmap(start, aligned - start)?;
        }
        sys::munmap(aligned + size, start + page - aligned)?;
        Ok(aligned)
    }
}
