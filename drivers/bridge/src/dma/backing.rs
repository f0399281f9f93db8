//! Finds the file behind a range of the program's memory, or puts one there.

use std::ffi::{CStr, CString};
use std::sync::atomic::AtomicBool;
use std::sync::Arc;

use crate::dma::areas::{overlapping, split, Area};
use crate::dma::convert::convert;
use crate::dma::files::{find, File};
use crate::dma::private::release_unused;
use crate::say::{warn, warn_once};
use crate::sys::{self, Errno};

/// A part of a range of memory, with the file behind it.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// Bytes from the start of the range.
    pub(crate) at: u64,
    pub(crate) len: u64,
    pub(crate) file: Arc<File>,
    /// Offset in the file.
    pub(crate) offset: u64,
}

/// The files behind a range of memory, in order. `write` asks for memory that the card may write.
pub(crate) fn back(start: usize, end: usize, write: bool) -> Result<Vec<Part>, Errno> {
    release_unused();
    let areas = overlapping(start, end)?;
    let protection = libc::PROT_READ | (i32::from(write) * libc::PROT_WRITE);
    let mut parts: Vec<Part> = Vec::new();
    for (from, to, area) in split(&areas, start, end, protection)? {
        let (file, offset) = match file_of(area, write)? {
            Some(file) => (file, area.offset + (from - area.start) as u64),
            None => (convert(from, to, area)?, 0),
        };
        let [at, len] = [from - start, to - from].map(|bytes| bytes as u64);
        match parts.last_mut() {
            // The same file goes on.
            Some(last) if last.file.id == file.id && last.offset + last.len == offset => {
                last.len += len;
            }
            _ => parts.push(Part {
                at,
                len,
                file,
                offset,
            }),
        }
    }
    Ok(parts)
}

/// The file of an area, or `None` for memory without one.
fn file_of(area: &Area, write: bool) -> Result<Option<Arc<File>>, Errno> {
    if !area.shared || area.file.inode == 0 {
        return Ok(None);
    }
    if let Some(file) = find(area) {
        return Ok(Some(file));
    }
    let path = &area.path;
    match open_again(area, write) {
        Some(file) if is_memory(&file) => return Ok(Some(file)),
        Some(_) => warn(format_args!(
            "{path}: DMA needs a file in memory (memfd, tmpfs or hugetlbfs). \
             The kernel, too, refuses DMA to files of a disk"
        )),
        // Anonymous shared memory always looks like a deleted file.
        None if path == "/dev/zero (deleted)" => return Ok(None),
        None if path.ends_with(" (deleted)") => {
            static SAID: AtomicBool = AtomicBool::new(false);
            warn_once(
                &SAID,
                format_args!(
                    "{path}: the file is closed and deleted, so the memory at {:#x} is copied. \
                 Other processes do not see the copy",
                    area.start
                ),
            );
            return Ok(None);
        }
        None => warn(format_args!(
            "{path}: cannot open the file behind {:#x} for DMA",
            area.start
        )),
    }
    Err(Errno(libc::EFAULT))
}

/// Whether the card accepts the file: files in memory have seals.
fn is_memory(file: &File) -> bool {
    sys::fcntl(file.fd(), libc::F_GET_SEALS, 0).is_ok()
}

/// Opens the file of an area: from the program's own descriptors, by the kernel's link, or by path.
fn open_again(area: &Area, write: bool) -> Option<Arc<File>> {
    let flags = if write { libc::O_RDWR } else { libc::O_RDONLY };
    let own = own_descriptors()
        .into_iter()
        .find(|fd| sys::file_id(*fd) == Ok(area.file) && allows(*fd, write));
    if let Some(fd) = own {
        return File::take(sys::duplicate(fd).ok()?).ok();
    }
    let link = format!("/proc/self/map_files/{:x}-{:x}", area.start, area.end);
    for path in [link.as_str(), area.path.as_str()] {
        let fd = sys::open(&CString::new(path).ok()?, flags);
        let file = fd.and_then(File::take).ok();
        if file.as_ref().is_some_and(|file| file.id == area.file) {
            return file;
        }
    }
    None
}

fn allows(fd: i32, write: bool) -> bool {
    let flags = sys::fcntl(fd, libc::F_GETFL, 0).unwrap_or(0) as i32;
    match flags & (libc::O_ACCMODE | libc::O_PATH) {
        libc::O_RDWR => true,
        libc::O_RDONLY => !write,
        _ => false,
    }
}

/// The numbers of the open descriptors. Reads the folder without the program's allocator.
pub(crate) fn own_descriptors() -> Vec<i32> {
    let mut numbers = Vec::new();
    let Ok(folder) = sys::open(c"/proc/self/fd", libc::O_RDONLY | libc::O_DIRECTORY) else {
        return numbers;
    };
    let mut entries = vec![0_u8; 32768];
    loop {
        let (at, len) = (entries.as_mut_ptr() as u64, entries.len() as u64);
        let arguments = [folder.number() as u64, at, len];
        // SAFETY: the buffer has that length.
        let Ok(count @ 1..) = (unsafe { sys::call(libc::SYS_getdents64, arguments) }) else {
            return numbers;
        };
        let mut at = 0;
        // An entry: inode and offset of 8 bytes each, its length of 2, a type of 1, and the name.
        while at + 19 < count as usize {
            let len = usize::from(u16::from_ne_bytes([entries[at + 16], entries[at + 17]]));
            let name = &entries[at + 19..at + len.max(20)];
            let name = CStr::from_bytes_until_nul(name).unwrap_or_default();
            numbers.extend(name.to_str().ok().and_then(|name| name.parse::<i32>().ok()));
            at += len.max(20);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Maps memory, at an address if it is not 0.
    fn map(at: usize, len: usize, flags: i32, fd: i32, offset: u64) -> usize {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = flags | (i32::from(at > 0) * libc::MAP_FIXED);
        // SAFETY: a new range, or one that the test has reserved.
        unsafe { sys::mmap(at, len, protection, flags, fd, offset) }.unwrap()
    }

    /// The parts of a range: where each begins, its length, and the offset in its file.
    fn shape(at: usize, len: usize) -> Vec<(u64, u64, u64)> {
        let parts = back(at, at + len, true).unwrap();
        let shape = parts.iter().map(|part| (part.at, part.len, part.offset));
        shape.collect()
    }

    #[test]
    fn a_range_over_two_files_has_three_parts() {
        let file = sys::memory_file(0x8000, 0).unwrap();
        let at = map(0, 0x6000, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        map(at + 0x1000, 0x2000, libc::MAP_SHARED, file.number(), 0x4000);
        let id = sys::file_id(file.number());
        let expected = [
            (0, 0x1000, 0),
            (0x1000, 0x2000, 0x4000),
            (0x3000, 0x3000, 0),
        ];
        assert_eq!(shape(at, 0x6000), expected);
        let parts = back(at, at + 0x6000, true).unwrap();
        assert_eq!(Ok(parts[1].file.id), id);
        drop(file);
        // Another look finds the same files, although one descriptor is closed.
        let again = back(at, at + 0x6000, true).unwrap();
        assert_eq!(again[0].file.id, parts[0].file.id);
        assert_eq!(Ok(again[1].file.id), id);
    }

    #[test]
    fn neighbours_of_one_file_are_one_part() {
        let file = sys::memory_file(0x8000, 0).unwrap();
        let at = map(0, 0x4000, libc::MAP_SHARED, file.number(), 0);
        // Another protection makes the kernel show two areas.
        // SAFETY: the range was mapped above.
        unsafe { sys::mprotect(at, 0x1000, 7) }.unwrap();
        assert_eq!(shape(at, 0x4000).len(), 1);
    }

    #[test]
    fn holes_read_only_memory_and_files_of_a_disk_are_faults() {
        let path = CString::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
        let file = sys::open(&path, libc::O_RDONLY).unwrap();
        let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: a new range.
        let at = unsafe { sys::mmap(0, 4096, protection, flags, file.number(), 0) }.unwrap();
        let private = map(0, 4096, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        // SAFETY: the range was mapped above.
        unsafe { sys::mprotect(private, 4096, libc::PROT_READ) }.unwrap();
        for (start, write) in [(0x1000, false), (at, false), (private, true)] {
            let error = back(start, start + 4096, write).err();
            assert_eq!(error, Some(Errno(libc::EFAULT)));
        }
        assert!(back(private, private + 4096, false).is_ok());
    }
}
