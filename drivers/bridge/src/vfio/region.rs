//! Regions of a device: descriptions, reading and writing, and mapping.

use crate::card::requests::MAX_TRANSFER;
use crate::mmio::bars;
use crate::ports::Port;
use crate::say::trace;
use crate::sys::{self, Errno};
use crate::user_memory;
use crate::vfio::capabilities::{write_answer, Capability};
use crate::vfio::numbers::{CONFIG_REGION, ROM_REGION, VGA_REGION};

const PAGE: u64 = 4096;
/// A region's number stands in these bits of an offset, as in the kernel.
const REGION_SHIFT: u32 = 40;
/// The upper 16 bits of the offsets that the bridge gives out. The seccomp filter recognises an
/// offset by them. Some programs, such as DPDK, compute the kernel's offsets, which lack them.
pub(crate) const MARK: u64 = 0x5654;
const MARK_SHIFT: u32 = 48;

const FLAG_READ: u32 = 1;
const FLAG_WRITE: u32 = 2;
const FLAG_MMAP: u32 = 4;
const FLAG_CAPABILITIES: u32 = 8;

/// The region of an offset, and the offset in it.
fn split(offset: u64) -> (u32, u64) {
    let region = (offset >> REGION_SHIFT) as u32 & 0xff;
    (region, offset & ((1 << REGION_SHIFT) - 1))
}

/// Which BAR holds the MSI-X table, from the capability in the configuration space.
fn msix_bar(port: Port) -> Option<u32> {
    const MSIX: u8 = 0x11;
    let read = |at: u8, bytes: &mut [u8]| port.card().read(CONFIG_REGION, at.into(), bytes);
    let mut at = [0];
    read(0x34, &mut at).ok()?;
    for _ in 0..48 {
        if at[0] < 0x40 {
            return None;
        }
        let mut head = [0; 8];
        read(at[0] & 0xfc, &mut head).ok()?;
        if head[0] == MSIX {
            return Some(u32::from(head[4]) & 7);
        }
        at[0] = head[1];
    }
    None
}

/// Answers VFIO_DEVICE_GET_REGION_INFO.
pub(crate) fn get_info(port: Port, at: u64) -> Result<u64, Errno> {
    const MSIX_MAPPABLE: u16 = 3;
    let room: u32 = user_memory::read(at)?;
    let index: u32 = user_memory::read(at + 8)?;
    if room < 32 || index >= VGA_REGION {
        return Err(Errno(libc::EINVAL));
    }
    let info = port.card().region_info(index)?;
    sys::close_if_any(info.file);
    let mut flags = info.flags & (FLAG_READ | FLAG_WRITE);
    let mut capabilities = Vec::new();
    // vfio-pci lets a program map every BAR of memory with whole pages. So does the bridge, and it
    // traps the accesses to pages that the card does not share.
    if is_memory_bar(port, index) && info.size >= PAGE && info.size % PAGE == 0 {
        flags |= FLAG_MMAP;
        if msix_bar(port) == Some(index) {
            flags |= FLAG_CAPABILITIES;
            capabilities.push(Capability {
                id: MSIX_MAPPABLE,
                version: 1,
                data: Vec::new(),
            });
        }
    }
    let mut fixed = [room, flags, index, 0].map(u32::to_ne_bytes).concat();
    let offset = MARK << MARK_SHIFT | u64::from(index) << REGION_SHIFT;
    fixed.extend([info.size, offset].map(u64::to_ne_bytes).concat());
    write_answer(at, room, fixed, 12, &capabilities)?;
    Ok(0)
}

/// Whether a region is a BAR for memory, as bit 0 of its register says.
fn is_memory_bar(port: Port, index: u32) -> bool {
    let mut low = [0];
    index < ROM_REGION
        && port
            .card()
            .read(CONFIG_REGION, 0x10 + 4 * u64::from(index), &mut low)
            .is_ok()
        && low[0] & 1 == 0
}

/// Reads a region into the program's memory, as pread(2) on a device does.
pub(crate) fn read(port: Port, to: u64, len: usize, offset: u64) -> Result<u64, Errno> {
    let (region, at) = split(offset);
    let len = checked_len(port, region, at, len)?;
    let mut buffer = [0; MAX_TRANSFER];
    let mut done = 0;
    while done < len {
        let part = &mut buffer[..(len - done).min(MAX_TRANSFER)];
        port.card().read(region, at + done as u64, part)?;
        user_memory::write_bytes(to + done as u64, part)?;
        done += part.len();
    }
    Ok(done as u64)
}

/// Writes the program's memory to a region, as pwrite(2) on a device does.
pub(crate) fn write(port: Port, from: u64, len: usize, offset: u64) -> Result<u64, Errno> {
    let (region, at) = split(offset);
    let len = checked_len(port, region, at, len)?;
    let mut buffer = [0; MAX_TRANSFER];
    let mut done = 0;
    while done < len {
        let part = &mut buffer[..(len - done).min(MAX_TRANSFER)];
        user_memory::read_bytes(from + done as u64, part)?;
        port.card().write(region, at + done as u64, part)?;
        done += part.len();
    }
    Ok(done as u64)
}

/// The part of an access that lies in the region. EINVAL if it begins behind it.
fn checked_len(port: Port, region: u32, at: u64, len: usize) -> Result<usize, Errno> {
    let info = port.card().region_info(region)?;
    sys::close_if_any(info.file);
    if at >= info.size {
        return Err(Errno(libc::EINVAL));
    }
    Ok(len.min((info.size - at) as usize))
}

/// Maps a part of a region into the program's memory, as mmap(2) on a device does.
pub(crate) fn map(
    port: Port,
    at: usize,
    len: usize,
    protection: i32,
    flags: i32,
    offset: u64,
) -> Result<usize, Errno> {
    let (region, from) = split(offset);
    let len = (len as u64)
        .checked_next_multiple_of(PAGE)
        .ok_or(Errno(libc::EINVAL))?;
    let info = port.card().region_info(region)?;
    let result = (|| {
        let shared = matches!(
            flags & libc::MAP_TYPE,
            libc::MAP_SHARED | libc::MAP_SHARED_VALIDATE
        );
        let end = from.checked_add(len).ok_or(Errno(libc::EINVAL))?;
        if !shared || !is_memory_bar(port, region) || end > info.size || len == 0 {
            return Err(Errno(libc::EINVAL));
        }
        let fixed = flags & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE);
        let reserve = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed;
        if fixed & libc::MAP_FIXED != 0 {
            bars::remove(at, at + len as usize);
        }
        // SAFETY: the program asked for this range.
        let start = unsafe { sys::mmap(at, len as usize, libc::PROT_NONE, reserve, -1, 0)? };
        for (area, size) in info.areas.iter().filter(|_| info.file.is_some()) {
            if *area < from || area + size > end {
                continue;
            }
            let to = start + (area - from) as usize;
            let fixed = libc::MAP_SHARED | libc::MAP_FIXED;
            let file = info.file.unwrap_or(-1);
            // SAFETY: the range was mapped above.
            unsafe {
                sys::mmap(
                    to,
                    *size as usize,
                    protection,
                    fixed,
                    file,
                    info.file_offset + area,
                )?;
            }
        }
        if !bars::add(start, start + len as usize, port, region, from) {
            // SAFETY: as above.
            let _ = unsafe { sys::munmap(start, len as usize) };
            return Err(Errno(libc::ENOMEM));
        }
        trace(format_args!(
            "{}: region {region} at {start:#x}, {len:#x} bytes",
            port.address()
        ));
        Ok(start)
    })();
    sys::close_if_any(info.file);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_name_their_region() {
        let offset = MARK << MARK_SHIFT | 7 << REGION_SHIFT | 0x44;
        assert_eq!(split(offset), (7, 0x44));
        assert_eq!(split(7 << REGION_SHIFT | 0x44), (7, 0x44));
        assert!((offset as i64) > 0);
    }
}
