//! Finds the file behind a range of the program's memory, or puts one there.

use std::ffi::CString;
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
    let protection = if write {
        libc::PROT_READ | libc::PROT_WRITE
    } else {
        libc::PROT_READ
    };
    let mut parts: Vec<Part> = Vec::new();
    for (from, to, area) in split(&areas, start, end, protection)? {
        let (file, offset) = match file_of(area, write)? {
            Some(file) => (file, area.offset + (from - area.start) as u64),
            None => (convert(from, to, area)?, 0),
        };
        add(
            &mut parts,
            Part {
                at: (from - start) as u64,
                len: (to - from) as u64,
                file,
                offset,
            },
        );
    }
    Ok(parts)
}

/// Adds a part, and joins it with the last one if it continues the same file.
fn add(parts: &mut Vec<Part>, part: Part) {
    if let Some(last) = parts.last_mut() {
        if last.file.id() == part.file.id() && last.offset + last.len == part.offset {
            last.len += part.len;
            return;
        }
    }
    parts.push(part);
}

/// The file of an area, or `None` for memory without one.
fn file_of(area: &Area, write: bool) -> Result<Option<Arc<File>>, Errno> {
    if !area.shared || area.file.inode == 0 {
        return Ok(None);
    }
    if let Some(file) = find(area) {
        return Ok(Some(file));
    }
    let opened = open_again(area, write);
    if let Some(file) = opened {
        if is_memory(&file) {
            return Ok(Some(file));
        }
        warn(format_args!(
            "{}: DMA needs a file in memory (memfd, tmpfs or hugetlbfs). \
             The kernel, too, refuses DMA to files of a disk",
            area.path
        ));
        return Err(Errno(libc::EFAULT));
    }
    if area.path.ends_with(" (deleted)") {
        static SAID: AtomicBool = AtomicBool::new(false);
        // Anonymous shared memory always looks like a deleted file.
        if area.path != "/dev/zero (deleted)" {
            warn_once(
                &SAID,
                format_args!(
                    "{}: the file is closed and deleted, so the memory at {:#x} is copied. \
                 Other processes do not see the copy",
                    area.path, area.start
                ),
            );
        }
        return Ok(None);
    }
    warn(format_args!(
        "{}: cannot open the file behind {:#x} for DMA",
        area.path, area.start
    ));
    Err(Errno(libc::EFAULT))
}

/// Whether the card accepts the file: files in memory have seals.
fn is_memory(file: &File) -> bool {
    let arguments = [file.fd() as u64, libc::F_GET_SEALS as u64];
    // SAFETY: the arguments are numbers.
    unsafe { sys::call(libc::SYS_fcntl, arguments) }.is_ok()
}

/// Opens the file of an area: from the program's own descriptors, by the kernel's link, or by path.
fn open_again(area: &Area, write: bool) -> Option<Arc<File>> {
    let flags = if write { libc::O_RDWR } else { libc::O_RDONLY };
    let own = own_descriptors()
        .into_iter()
        .find(|fd| sys::file_id(*fd) == Ok(area.file) && allows(*fd, write));
    if let Some(fd) = own {
        return File::take(sys::duplicate_high(fd, 600).ok()?).ok();
    }
    let link = format!("/proc/self/map_files/{:x}-{:x}", area.start, area.end);
    for path in [link.as_str(), area.path.as_str()] {
        let Ok(path) = CString::new(path) else {
            continue;
        };
        let Ok(fd) = sys::open(&path, flags) else {
            continue;
        };
        match File::take(fd) {
            Ok(file) if file.id() == area.file => return Some(file),
            _ => {}
        }
    }
    None
}

fn allows(fd: i32, write: bool) -> bool {
    let arguments = [fd as u64, libc::F_GETFL as u64];
    // SAFETY: the arguments are numbers.
    let flags = unsafe { sys::call(libc::SYS_fcntl, arguments) }.unwrap_or(0) as i32;
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
        let arguments = [
            folder as u64,
            entries.as_mut_ptr() as u64,
            entries.len() as u64,
        ];
        // SAFETY: the buffer has that length.
        let Ok(count @ 1..) = (unsafe { sys::call(libc::SYS_getdents64, arguments) }) else {
            break;
        };
        let mut at = 0;
        // An entry: inode and offset of 8 bytes each, its length of 2, a type of 1, and the name.
        while at + 19 < count as usize {
            let len = usize::from(u16::from_ne_bytes([entries[at + 16], entries[at + 17]]));
            let name = &entries[at + 19..at + len.max(20)];
            let name = name.split(|byte| *byte == 0).next().unwrap_or(&[]);
            let number = std::str::from_utf8(name)
                .ok()
                .and_then(|name| name.parse::<i32>().ok());
            numbers.extend(number);
            at += len.max(20);
        }
    }
    sys::close(folder);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(len: usize, flags: i32, fd: i32, offset: u64) -> usize {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new range, or one that the test has reserved.
        unsafe { sys::mmap(0, len, protection, flags, fd, offset) }.unwrap()
    }

    fn map_at(at: usize, len: usize, flags: i32, fd: i32, offset: u64) {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the test has reserved the range.
        unsafe { sys::mmap(at, len, protection, flags | libc::MAP_FIXED, fd, offset) }.unwrap();
    }

    #[test]
    fn a_range_over_two_files_has_three_parts() {
        let fd = sys::memory_file(0x8000, 0).unwrap();
        let at = map(0x6000, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        map_at(at + 0x1000, 0x2000, libc::MAP_SHARED, fd, 0x4000);
        let parts = back(at, at + 0x6000, true).unwrap();
        let shape: Vec<_> = parts
            .iter()
            .map(|part| (part.at, part.len, part.offset))
            .collect();
        assert_eq!(
            shape,
            [
                (0, 0x1000, 0),
                (0x1000, 0x2000, 0x4000),
                (0x3000, 0x3000, 0)
            ]
        );
        assert_eq!(parts[1].file.id(), sys::file_id(fd).unwrap());
        sys::close(fd);
        // A second look finds the same files, although one descriptor is closed.
        let again = back(at, at + 0x6000, true).unwrap();
        assert_eq!(again.len(), 3);
        assert_eq!(again[0].file.id(), parts[0].file.id());
    }

    #[test]
    fn neighbours_of_one_file_are_one_part() {
        let fd = sys::memory_file(0x8000, 0).unwrap();
        let at = map(0x4000, libc::MAP_SHARED, fd, 0);
        // Another protection makes the kernel show two areas.
        // SAFETY: the range was mapped above.
        unsafe { sys::mprotect(at, 0x1000, 7) }.unwrap();
        assert_eq!(back(at, at + 0x4000, true).unwrap().len(), 1);
        sys::close(fd);
    }

    #[test]
    fn anonymous_shared_memory_gets_a_file() {
        let at = map(0x3000, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0);
        // SAFETY: the range was mapped above.
        unsafe { *((at + 0x1001) as *mut u8) = 5 };
        let parts = back(at, at + 0x3000, true).unwrap();
        assert_eq!(parts.len(), 1);
        // SAFETY: as above.
        assert_eq!(unsafe { *((at + 0x1001) as *const u8) }, 5);
    }

    #[test]
    fn memory_without_pages_is_a_fault() {
        assert!(matches!(
            back(0x1000, 0x2000, false),
            Err(Errno(libc::EFAULT))
        ));
    }

    #[test]
    fn a_file_of_a_disk_is_a_fault() {
        let path = CString::new(env!("CARGO_MANIFEST_DIR").to_string() + "/Cargo.toml").unwrap();
        let fd = sys::open(&path, libc::O_RDONLY).unwrap();
        // SAFETY: a new range.
        let at = unsafe { sys::mmap(0, 4096, libc::PROT_READ, libc::MAP_SHARED, fd, 0) }.unwrap();
        assert!(matches!(
            back(at, at + 4096, false),
            Err(Errno(libc::EFAULT))
        ));
        sys::close(fd);
    }
}
