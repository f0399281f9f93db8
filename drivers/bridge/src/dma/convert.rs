//! Puts a file behind anonymous memory, in place. The memory keeps its content and its address.

use std::sync::Arc;

use crate::dma::areas::Area;
use crate::dma::files::{keep, File, Origin};
use crate::dma::freeze::Frozen;
use crate::say::{trace, warn};
use crate::sys::{self, refuse_if, Errno, Fd};

const PAGE: usize = 4096;
/// Bytes of a page in the pagemap: bits 63 and 62 say that it is in memory, or in swap.
const ENTRY: usize = 8;

/// Puts a file behind a part of an area. Other threads that write to it meanwhile wait.
pub(crate) fn convert(start: usize, end: usize, area: &Area) -> Result<Arc<File>, Errno> {
    let here = &raw const start as usize;
    // The copy and the new mapping are two steps. Between them, the stack would change.
    if area.path == "[stack]" || (start..end).contains(&here) {
        warn(format_args!(
            "DMA to the stack at {start:#x} is not possible: use memory of malloc or mmap"
        ));
        return Err(Errno(libc::EFAULT));
    }
    let file = File::take(sys::memory_file((end - start) as u64, 0)?)?;
    // Private anonymous memory may be sparse. Only pages that exist are copied.
    let pagemap = match area.file.inode == 0 && !area.shared {
        true => sys::open(c"/proc/self/pagemap", libc::O_RDONLY).ok(),
        false => None,
    };
    replace(start, end, area.protection, &file, pagemap.as_ref())?;
    let origin = match area.shared {
        true => Origin::Shared,
        false => Origin::Private,
    };
    keep(Arc::clone(&file), origin);
    trace(format_args!(
        "private memory {start:#x}-{end:#x} now has a file"
    ));
    Ok(file)
}

fn replace(
    start: usize,
    end: usize,
    protection: i32,
    file: &File,
    pagemap: Option<&Fd>,
) -> Result<(), Errno> {
    let frozen = Frozen::new(start, end, protection, pagemap.is_some())?;
    frozen.keep(start, end)?;
    copy(start, end, file, pagemap)?;
    let flags = libc::MAP_SHARED | libc::MAP_FIXED;
    // SAFETY: the program's memory, which no Rust code of the bridge uses. It keeps its content.
    unsafe { sys::mmap(start, end - start, protection, flags, file.fd(), 0) }.map(drop)
}

/// Copies the pages that exist to the file; all, if the kernel does not say which do.
fn copy(start: usize, end: usize, file: &File, pagemap: Option<&Fd>) -> Result<(), Errno> {
    let mut entries = [0xff; 512 * ENTRY];
    let mut at = start;
    while at < end {
        let pages = ((end - at) / PAGE).min(512);
        let entries = &mut entries[..pages * ENTRY];
        if let Some(fd) = pagemap {
            let read = sys::read(fd.number(), entries, Some((at / PAGE * ENTRY) as u64))?;
            refuse_if(read != entries.len(), libc::EIO)?;
        }
        let exist = |page: &&[u8]| page[7] & 0xc0 != 0;
        let mut entries = entries.chunks_exact(ENTRY).peekable();
        while let Some(first) = entries.next() {
            let mut run = PAGE;
            if exist(&first) {
                while entries.next_if(exist).is_some() {
                    run += PAGE;
                }
                write(file, at, run, at - start)?;
            }
            at += run;
        }
    }
    Ok(())
}

fn write(file: &File, from: usize, len: usize, offset: usize) -> Result<(), Errno> {
    let mut done = 0;
    while done < len {
        let offset = (offset + done) as u64;
        done += sys::write_at(file.fd(), from + done, len - done, offset)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dma::areas::overlapping;

    #[test]
    fn memory_keeps_its_content_and_holes_and_gets_a_file() {
        let len = 64 << 30;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new range.
        let at = unsafe { sys::mmap(0, len, protection, flags, -1, 0) }.unwrap();
        // SAFETY: the range was mapped above.
        let bytes = unsafe { std::slice::from_raw_parts_mut(at as *mut u8, len) };
        let written = [(0, 1), (33 << 30, 2), (len - 1, 3)];
        for (place, value) in written {
            bytes[place] = value;
        }
        let areas = overlapping(at, at + len).unwrap();
        let file = convert(at, at + len, &areas[0]).unwrap();
        assert!(written.iter().all(|(place, value)| bytes[*place] == *value));
        assert_eq!(bytes[77], 0);
        bytes[PAGE] = 9;
        let mut byte = [0];
        sys::read(file.fd(), &mut byte, Some(PAGE as u64)).unwrap();
        assert_eq!(byte, [9]);
        assert!(sys::file_status(file.fd()).unwrap().st_blocks < 4096);
        let after = overlapping(at, at + len).unwrap();
        let shape = (after.len(), after[0].file, after[0].shared);
        assert_eq!(shape, (1, file.id, true));
        // SAFETY: the range is not used after this.
        unsafe { sys::munmap(at, len) }.unwrap();
    }
}
