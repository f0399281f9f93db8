//! The program's memory map, from `/proc/self/maps`.

use crate::sys::{self, refuse_if, Errno, FileId};

/// An area of the program's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// PROT_READ, PROT_WRITE and PROT_EXEC.
    pub(crate) protection: i32,
    /// Whether writes reach the file and other processes.
    pub(crate) shared: bool,
    /// Offset of `start` in the file.
    pub(crate) offset: u64,
    /// The file; inode 0 stands for anonymous memory.
    pub(crate) file: FileId,
    /// Path of the file, or the kernel's name for the area.
    pub(crate) path: String,
}

/// Reads a whole file of `/proc`.
fn read_all(path: &std::ffi::CStr) -> Result<Vec<u8>, Errno> {
    let file = sys::open(path, libc::O_RDONLY)?;
    let mut text = Vec::new();
    let mut part = vec![0; 65536];
    loop {
        match sys::read(file.number(), &mut part, None)? {
            0 => return Ok(text),
            count => text.extend_from_slice(&part[..count]),
        }
    }
}

/// The areas that overlap a range, in order.
pub(crate) fn overlapping(start: usize, end: usize) -> Result<Vec<Area>, Errno> {
    let text = read_all(c"/proc/self/maps")?;
    let lines = text.split(|byte| *byte == b'\n');
    let areas = lines.filter_map(|line| parse(&String::from_utf8_lossy(line)));
    Ok(areas
        .filter(|area| area.start < end && start < area.end)
        .collect())
}

/// Every area.
pub(crate) fn all() -> Result<Vec<Area>, Errno> {
    overlapping(0, usize::MAX)
}

fn parse(line: &str) -> Option<Area> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let mode = fields.next()?.as_bytes();
    let offset = fields.next()?;
    let (major, minor) = fields.next()?.split_once(':')?;
    let number = |text| u32::from_str_radix(text, 16).ok();
    let device = libc::makedev(number(major)?, number(minor)?);
    let inode = fields.next()?;
    let path = fields.next().unwrap_or("").trim_start();
    let has = |at: usize, letter: u8| mode.get(at) == Some(&letter);
    let bit = |at, letter, bit| i32::from(has(at, letter)) * bit;
    Some(Area {
        start: usize::from_str_radix(start, 16).ok()?,
        end: usize::from_str_radix(end, 16).ok()?,
        protection: bit(0, b'r', libc::PROT_READ)
            | bit(1, b'w', libc::PROT_WRITE)
            | bit(2, b'x', libc::PROT_EXEC),
        shared: has(3, b's'),
        offset: u64::from_str_radix(offset, 16).ok()?,
        file: FileId {
            device,
            inode: inode.parse().ok()?,
        },
        path: path.to_string(),
    })
}

/// The parts of a range that each lie in one area. EFAULT if an address has no memory, or not the
/// memory that the access needs.
pub(crate) fn split(
    areas: &[Area],
    start: usize,
    end: usize,
    protection: i32,
) -> Result<Vec<(usize, usize, &Area)>, Errno> {
    let mut parts = Vec::new();
    let mut at = start;
    for area in areas {
        if at >= end || area.start > at {
            break;
        }
        if area.end <= at {
            continue;
        }
        refuse_if(area.protection & protection != protection, libc::EFAULT)?;
        let until = area.end.min(end);
        parts.push((at, until, area));
        at = until;
    }
    refuse_if(at < end, libc::EFAULT)?;
    Ok(parts)
}
