//! Regions of a device: descriptions, reading and writing, and mapping.

use crate::card::requests::MAX_TRANSFER;
use crate::mmio::bars::{self, Place};
use crate::ports::Port;
use crate::say::trace;
use crate::sys::{self, refuse_if, Errno, MapRequest};
use crate::user_memory::{self, halves};
use crate::vfio::capabilities::write_answer;
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
    let read = |at: u8, bytes: &mut [u8]| port.read(CONFIG_REGION, at.into(), bytes);
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
    let [room, _, index, ..]: [u32; 8] = user_memory::read_sized(at)?;
    refuse_if(index >= VGA_REGION, libc::EINVAL)?;
    let info = port.region_info(index)?;
    let mut flags = info.flags & (FLAG_READ | FLAG_WRITE);
    let mut capabilities = Vec::new();
    // vfio-pci lets a program map every BAR of memory with whole pages. So does the bridge, and it
    // traps the accesses to pages that the card does not share.
    if is_memory_bar(port, index) && info.size >= PAGE && info.size % PAGE == 0 {
        flags |= FLAG_MMAP;
        if msix_bar(port) == Some(index) {
            flags |= FLAG_CAPABILITIES;
            capabilities.push((MSIX_MAPPABLE, Vec::new()));
        }
    }
    let offset = MARK << MARK_SHIFT | u64::from(index) << REGION_SHIFT;
    let [[a, b], [c, d]] = [info.size, offset].map(halves);
    let answer = [room, flags, index, 0, a, b, c, d];
    write_answer(at, answer, 3, &capabilities)
}

/// Whether a region is a BAR for memory, as bit 0 of its register says.
fn is_memory_bar(port: Port, index: u32) -> bool {
    let mut low = [0];
    index < ROM_REGION
        && port
            .read(CONFIG_REGION, 0x10 + 4 * u64::from(index), &mut low)
            .is_ok()
        && low[0] & 1 == 0
}

/// Reads a region into the program's memory, as pread(2) on a device does.
pub(crate) fn read(port: Port, to: u64, len: usize, offset: u64) -> Result<u64, Errno> {
    in_parts(port, to, len, offset, |region, at, to, part| {
        port.read(region, at, part)?;
        user_memory::write_bytes(to, part)
    })
}

/// Writes the program's memory to a region, as pwrite(2) on a device does.
pub(crate) fn write(port: Port, from: u64, len: usize, offset: u64) -> Result<u64, Errno> {
    in_parts(port, from, len, offset, |region, at, from, part| {
        user_memory::read_bytes(from, part)?;
        port.write(region, at, part)
    })
}

/// Moves the part of an access that lies in the region, by `step` with the region, the offset there, the address of the
/// program's memory, and a buffer. EINVAL if the access begins behind the region.
fn in_parts(
    port: Port,
    memory: u64,
    len: usize,
    offset: u64,
    step: impl Fn(u32, u64, u64, &mut [u8]) -> Result<(), Errno>,
) -> Result<u64, Errno> {
    let (region, at) = split(offset);
    let size = port.region_info(region)?.size;
    refuse_if(at >= size, libc::EINVAL)?;
    let len = len.min((size - at) as usize);
    let mut buffer = [0; MAX_TRANSFER];
    for done in (0..len).step_by(MAX_TRANSFER) {
        let part = &mut buffer[..(len - done).min(MAX_TRANSFER)];
        step(region, at + done as u64, memory + done as u64, part)?;
    }
    Ok(len as u64)
}

/// Maps a part of a region into the program's memory, as mmap(2) on a device does.
pub(crate) fn map(port: Port, request: &MapRequest) -> Result<usize, Errno> {
    let (region, from) = split(request.offset);
    let size = (request.len as u64).checked_next_multiple_of(PAGE);
    let size = size.ok_or(Errno(libc::EINVAL))?;
    let end = from.checked_add(size).ok_or(Errno(libc::EINVAL))?;
    let info = port.region_info(region)?;
    let kind = request.flags & libc::MAP_TYPE;
    let shared = matches!(kind, libc::MAP_SHARED | libc::MAP_SHARED_VALIDATE);
    refuse_if(!shared || !is_memory_bar(port, region), libc::EINVAL)?;
    refuse_if(end > info.size || size == 0, libc::EINVAL)?;
    let fixed = request.flags & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE);
    let reserve = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | fixed;
    let (at, len) = (request.at, size as usize);
    if fixed & libc::MAP_FIXED != 0 {
        bars::remove(at, at + len);
    }
    // SAFETY: the program asked for this range.
    let start = unsafe { sys::mmap(at, len, libc::PROT_NONE, reserve, -1, 0)? };
    let inside = |(area, size): &&(u64, u64)| *area >= from && area + size <= end;
    for (area, size) in info.areas.iter().filter(inside) {
        let Some(file) = &info.file else { break };
        let to = start + (area - from) as usize;
        let (protection, flags) = (request.protection, libc::MAP_SHARED | libc::MAP_FIXED);
        let (fd, offset) = (file.number(), info.file_offset + area);
        // SAFETY: the range was mapped above.
        unsafe { sys::mmap(to, *size as usize, protection, flags, fd, offset)? };
    }
    let first = Place {
        port,
        region,
        offset: from,
    };
    bars::add(start..start + len, first);
    let address = port.address();
    trace(format_args!(
        "{address}: region {region} at {start:#x}, {len:#x} bytes"
    ));
    Ok(start)
}
