//! Private memory with a file behind it: it becomes anonymous again, and a child gets a copy.

use crate::dma::areas::{self, Area};
use crate::dma::files::{self, File};
use crate::dma::freeze::Frozen;
use crate::lock::Lock;
use crate::say::warn;
use crate::sys::{self, Errno};

/// Copies a part of a file to new anonymous memory. Holes stay holes. Calls `before` with each range
/// of the part that is about to be copied.
fn copy(
    file: &File,
    area: &Area,
    before: impl Fn(usize, usize) -> Result<(), Errno>,
) -> Result<usize, Errno> {
    let len = area.end - area.start;
    let (protection, end) = (libc::PROT_READ | libc::PROT_WRITE, area.offset + len as u64);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new range.
    let copy = unsafe { sys::mmap(0, len, protection, flags, -1, 0)? };
    // SAFETY: as above; only this function uses it.
    let bytes = unsafe { std::slice::from_raw_parts_mut(copy as *mut u8, len) };
    // ENXIO means that only a hole is left.
    let seek = |from, whence| sys::seek(file.fd(), from, whence).map_or(end, |at| at.min(end));
    let mut at = area.offset;
    let result = loop {
        let data = seek(at, libc::SEEK_DATA);
        if data == end {
            // SAFETY: as above.
            break unsafe { sys::mprotect(copy, len, area.protection) };
        }
        let hole = seek(data, libc::SEEK_HOLE);
        let [from, to] = [data, hole].map(|offset| (offset - area.offset) as usize);
        let copied = before(area.start + from, area.start + to)
            .and_then(|()| sys::read(file.fd(), &mut bytes[from..to], Some(data)));
        match copied {
            Ok(count @ 1..) => at = data + count as u64,
            Ok(_) => break Err(Errno(libc::EIO)),
            Err(error) => break Err(error),
        }
    };
    if result.is_err() {
        // SAFETY: as above.
        let _ = unsafe { sys::munmap(copy, len) };
    }
    result.map(|()| copy)
}

/// Makes an area anonymous again, with its content. Other threads that write to it meanwhile wait.
fn make_anonymous(file: &File, area: &Area) -> Result<(), Errno> {
    let here = &raw const file as usize;
    if (area.start..area.end).contains(&here) {
        // The thread would wait for itself.
        return Err(Errno(libc::EBUSY));
    }
    let frozen = Frozen::new(area.start, area.end, area.protection, true)?;
    let copy = copy(file, area, |from, to| frozen.keep(from, to))?;
    // SAFETY: the copy takes the place of memory with the same content.
    unsafe { sys::move_memory(copy, area.start, area.end - area.start) }
}

/// Makes private memory anonymous again that is mapped for DMA no more.
pub(crate) fn release_unused() {
    files::release_unused(|file, area| make_anonymous(file, area).is_ok());
}

/// The private areas, each with the address of the copy that the child of a fork gets, or 0.
static COPIES: Lock<Vec<(Area, usize)>> = Lock::new(Vec::new());

/// Before a fork: copies private memory. The kernel, too, gives the child copies of pages that are
/// pinned for DMA.
pub(crate) fn copy_for_child() {
    let copies = files::private_areas().into_iter().map(|(file, area)| {
        let copy = copy(&file, &area, |_, _| Ok(())).unwrap_or_else(|error| {
            warn(format_args!(
                "fork: cannot copy the memory at {:#x} ({error:?}), so the child does not have it",
                area.start
            ));
            0
        });
        (area, copy)
    });
    *COPIES.lock() = copies.collect();
}

/// After a fork: puts the copies in place in the child, and forgets them in the parent.
pub(crate) fn finish_fork(in_child: bool) {
    let copies = std::mem::take(&mut *COPIES.lock());
    let areas = match in_child && !copies.is_empty() {
        true => areas::all(),
        false => Ok(Vec::new()),
    };
    for (area, copy) in copies {
        let len = area.end - area.start;
        // The program may have kept an area from its children, by MADV_DONTFORK.
        let wanted = areas.as_ref().map_or(true, |areas| areas.contains(&area));
        // SAFETY: the range is the child's part of the area, or the copy.
        let _ = unsafe {
            match (wanted, copy) {
                (true, 0) => sys::munmap(area.start, len),
                (true, _) => sys::move_memory(copy, area.start, len),
                (false, 0) => Ok(()),
                (false, _) => sys::munmap(copy, len),
            }
        };
    }
}
