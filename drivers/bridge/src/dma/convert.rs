//! Puts a file behind anonymous memory, in place. The memory keeps its content and its address.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use crate::dma::areas::Area;
use crate::dma::files::{keep, File};
use crate::say::trace;
use crate::sys::{self, Errno};

const PAGE: usize = 4096;
/// Memory that is converted at once: a huge page, so that a part of one is never unmapped.
const CHUNK: usize = 2 << 20;

/// The chunk that is read-only for the moment.
static START: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// If a fault hit memory that is being converted, waits and returns true: the access can be tried
/// again.
pub(crate) fn wait_for(address: usize) -> bool {
    let inside = || (START.load(Ordering::SeqCst)..END.load(Ordering::SeqCst)).contains(&address);
    if !inside() {
        return false;
    }
    let end = sys::now_ms() + 5000;
    while inside() && sys::now_ms() < end {
        sys::yield_processor();
    }
    true
}

/// Puts a file behind a part of an area. Other threads that write to it meanwhile wait.
pub(crate) fn convert(start: usize, end: usize, area: &Area) -> Result<Arc<File>, Errno> {
    let here = &raw const start as usize;
    // The copy and the new mapping are two steps. Between them, the stack would change.
    if area.path == "[stack]" || (start..end).contains(&here) {
        crate::say::warn(format_args!(
            "DMA to the stack at {start:#x} is not possible: use memory of malloc or mmap"
        ));
        return Err(Errno(libc::EFAULT));
    }
    let file = File::take(sys::memory_file((end - start) as u64, 0)?)?;
    // Anonymous memory may be sparse. Only pages that exist are copied.
    let sparse = area.file.inode == 0 && !area.shared;
    let pagemap = if sparse {
        sys::open(c"/proc/self/pagemap", libc::O_RDONLY).ok()
    } else {
        None
    };
    let mut result = Ok(());
    let mut at = start;
    while at < end && result.is_ok() {
        let until = next_chunk(at, end, pagemap);
        result = convert_chunk(start, at, until, area, &file, pagemap);
        at = until;
    }
    sys::close_if_any(pagemap);
    // Chunks that are done need the file, even if a later one failed.
    keep(Arc::clone(&file));
    result?;
    trace(format_args!(
        "private memory {start:#x}-{end:#x} now has a file"
    ));
    Ok(file)
}

/// The end of the chunk at `at`. A long run without any page is one chunk.
fn next_chunk(at: usize, end: usize, pagemap: Option<i32>) -> usize {
    let mut until = ((at / CHUNK + 1) * CHUNK).min(end);
    if pagemap.is_none() || exists_any(pagemap, at, until) {
        return until;
    }
    while until < end {
        let next = (until + CHUNK).min(end);
        if exists_any(pagemap, until, next) {
            break;
        }
        until = next;
    }
    until
}

/// Whether a page of the chunk exists, in memory or in swap.
fn exists_any(pagemap: Option<i32>, at: usize, until: usize) -> bool {
    let mut entries = [0; CHUNK / PAGE * 8];
    let entries = &mut entries[..(until - at) / PAGE * 8];
    read_pagemap(pagemap, at, entries);
    entries.chunks_exact(8).any(exists)
}

/// Fills `entries`, 8 bytes a page. Without the kernel's answer, every page exists.
fn read_pagemap(pagemap: Option<i32>, at: usize, entries: &mut [u8]) {
    let read = pagemap.map(|fd| sys::read(fd, entries, Some((at / PAGE * 8) as u64)));
    if read != Some(Ok(entries.len())) {
        entries.fill(0xff);
    }
}

fn exists(entry: &[u8]) -> bool {
    // Bits 63 and 62: the page is in memory, or in swap.
    entry[7] & 0xc0 != 0
}

fn convert_chunk(
    start: usize,
    at: usize,
    until: usize,
    area: &Area,
    file: &File,
    pagemap: Option<i32>,
) -> Result<(), Errno> {
    START.store(at, Ordering::SeqCst);
    END.store(until, Ordering::SeqCst);
    let result = (|| {
        // SAFETY: the program's memory, which no Rust code of the bridge uses.
        unsafe { sys::mprotect(at, until - at, libc::PROT_READ)? };
        if until - at <= CHUNK {
            copy(start, at, until, file, pagemap)?;
        }
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        let offset = (at - start) as u64;
        // SAFETY: as above; the new mapping has the same content.
        unsafe { sys::mmap(at, until - at, area.protection, flags, file.fd(), offset) }
    })();
    if result.is_err() {
        // SAFETY: as above. The memory is as it was.
        let _ = unsafe { sys::mprotect(at, until - at, area.protection) };
    }
    END.store(0, Ordering::SeqCst);
    START.store(0, Ordering::SeqCst);
    result.map(drop)
}

/// Copies the pages that exist to the file.
fn copy(
    start: usize,
    at: usize,
    until: usize,
    file: &File,
    pagemap: Option<i32>,
) -> Result<(), Errno> {
    let mut entries = [0; CHUNK / PAGE * 8];
    let entries = &mut entries[..(until - at) / PAGE * 8];
    read_pagemap(pagemap, at, entries);
    let mut page = at;
    while page < until {
        let first = (page - at) / PAGE;
        if !exists(&entries[first * 8..]) {
            page += PAGE;
            continue;
        }
        let run = entries[first * 8..]
            .chunks_exact(8)
            .take_while(|entry| exists(entry))
            .count();
        let run_end = page + run * PAGE;
        while page < run_end {
            page += sys::write_at(file.fd(), page, run_end - page, (page - start) as u64)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dma::areas::overlapping;

    fn anonymous(len: usize) -> usize {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new range.
        unsafe { sys::mmap(0, len, protection, flags, -1, 0) }.unwrap()
    }

    #[test]
    fn memory_keeps_its_content_and_gets_a_file() {
        let len = 5 << 20;
        let at = anonymous(len);
        // SAFETY: the range was mapped above.
        let bytes = unsafe { std::slice::from_raw_parts_mut(at as *mut u8, len) };
        bytes[0] = 1;
        bytes[3 << 20] = 2;
        bytes[len - 1] = 3;
        let areas = overlapping(at, at + len).unwrap();
        let file = convert(at, at + len, &areas[0]).unwrap();
        assert_eq!(
            (bytes[0], bytes[3 << 20], bytes[len - 1], bytes[77]),
            (1, 2, 3, 0)
        );
        bytes[PAGE] = 9;
        let mut byte = [0];
        sys::read(file.fd(), &mut byte, Some(PAGE as u64)).unwrap();
        assert_eq!(byte, [9]);
        let after = overlapping(at, at + len).unwrap();
        assert_eq!(
            (after.len(), after[0].file, after[0].shared),
            (1, file.id(), true)
        );
    }

    #[test]
    fn sparse_memory_stays_sparse() {
        let len = 64 << 30;
        let at = anonymous(len);
        // SAFETY: the range was mapped above.
        unsafe { *((at + (33 << 30)) as *mut u8) = 7 };
        let areas = overlapping(at, at + len).unwrap();
        let file = convert(at, at + len, &areas[0]).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { *((at + (33 << 30)) as *const u8) }, 7);
        assert!(sys::file_status(file.fd()).unwrap().st_blocks < 4096);
        // SAFETY: the range is not used after this.
        unsafe { sys::munmap(at, len) }.unwrap();
    }

    #[test]
    fn threads_that_write_meanwhile_lose_nothing() {
        // The handler of the test program is not the bridge's, so the writer waits by itself.
        assert!(!wait_for(0x1234));
    }
}
