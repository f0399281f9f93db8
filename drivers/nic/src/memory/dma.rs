//! DMA as behind an IOMMU: the device reaches what the driver mapped, with the permissions it gave,
//! and nothing else.
//!
//! Rules, which are those of Linux's VFIO (type 1, version 2):
//!
//! * A map is a range of IOVAs, in whole pages of 4 KiB, that does not overlap another map and does
//!   not run past the end of the address space.
//! * Unmapping takes away every map inside the given range, of which there may be none. A range
//!   that cuts a map in two is refused and changes nothing.
//! * A transfer may cross from one map into the next if the IOVAs are adjacent.
//! * A transfer that is not allowed from its first to its last byte touches nothing.
//!
//! Memory files are mapped into this process once each, not once per DMA map: real kernels send
//! thousands of 4 KiB maps of one file.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Weak};

use serde::Serialize;
use thiserror::Error;

use crate::device::ring::DESCRIPTOR_LEN;
use crate::faults::Piece;
use crate::memory::bus_error;
use crate::memory::shared::{
    Descriptor, Place, SharedMapping, SmallBuffer, SmallFrame, Window, WindowMut,
};
use crate::traffic::frame::MIN_FRAME;

/// Granularity of maps, in bytes.
pub const PAGE_SIZE: u64 = 4096;
/// Most maps that may exist at once.
pub const MAX_MAPS: usize = 65_535;
/// Most files that may be mapped at once.
const MAX_FILES: usize = 256;
/// File systems whose files are memory: memfd, /dev/shm, huge pages. From linux/magic.h.
const TMPFS: u32 = 0x0102_1994;
const HUGETLBFS: u32 = 0x9584_58f6;

/// Maps up to this size, in bytes, get their pages at once: rings and packet buffers, but not the
/// whole memory of a virtual machine. A first use costs the data plane a microsecond a page, and
/// its driver's ring would run dry.
const POPULATE_MAX: u64 = 64 << 20;

/// Entries of a translation cache; one per 2 MiB of IOVAs, so 128 MiB before two share one.
const CACHE_ENTRIES: usize = 64;
/// IOVAs that differ below this bit share a cache entry.
const CACHE_SHIFT: u32 = 21;

/// What the device may do to a map's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Permissions {
    /// The device may read it.
    pub read: bool,
    /// The device may write to it.
    pub write: bool,
}

/// Why the device may not make a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Error)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Some of the bytes are in no map.
    #[error("not mapped")]
    Unmapped,
    /// Some of the bytes are in a map that does not allow it.
    #[error("not permitted by the map")]
    Permission,
    /// Some of the bytes are in a map without memory behind it (made without a file).
    #[error("no memory behind the map")]
    NoMemory,
}

/// Which way the bytes of a transfer go, seen from the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the driver's memory.
    Read,
    /// To the driver's memory.
    Write,
}

/// What the device was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Fetching or writing back a receive descriptor.
    RxDescriptor,
    /// Storing a received packet.
    RxPacket,
    /// Fetching or writing back a transmit descriptor.
    TxDescriptor,
    /// Fetching a packet to send.
    TxPacket,
    /// Writing the transmit head to memory.
    HeadWriteBack,
    /// Nothing that a driver asked for: see [`Port::rogue_write`](crate::Port::rogue_write).
    Rogue,
}

/// A transfer that was refused, and therefore did not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DmaFault {
    /// First byte of the transfer.
    pub iova: u64,
    /// Bytes in the transfer.
    pub len: u64,
    /// Which way.
    pub direction: Direction,
    /// What for.
    pub purpose: Purpose,
    /// The queue, 0 to 15.
    pub queue: u32,
    /// Why not.
    pub refusal: Refusal,
}

/// Why a request to map or unmap was refused. Nothing has changed then.
#[derive(Debug, Error)]
pub enum MapError {
    /// IOVA, size or file offset is not a multiple of the page size, or the size is 0.
    #[error("IOVA {iova:#x}, size {size:#x}, file offset {offset:#x}: all must be multiples of 4096, and the size above 0")]
    Alignment {
        /// First byte.
        iova: u64,
        /// Bytes.
        size: u64,
        /// Where in the file.
        offset: u64,
    },
    /// The range runs past the end of the IOVAs.
    #[error("IOVA {iova:#x}, size {size:#x}: runs past the end of the address space")]
    AddressSpace {
        /// First byte.
        iova: u64,
        /// Bytes.
        size: u64,
    },
    /// The range overlaps a map.
    #[error("IOVA {iova:#x}, size {size:#x}: overlaps the map at {existing:#x}; unmap that first")]
    Overlap {
        /// First byte.
        iova: u64,
        /// Bytes.
        size: u64,
        /// Where the other map begins.
        existing: u64,
    },
    /// Neither reading nor writing is allowed.
    #[error("a map must allow reading, writing, or both")]
    NoPermissions,
    /// The file ends before the map does.
    #[error("the map ends at byte {needed:#x} of its file, which has only {file_size:#x}")]
    FileTooShort {
        /// Bytes the file should have.
        needed: u64,
        /// Bytes it has.
        file_size: u64,
    },
    /// The device shall write, but the file was handed over read-only.
    #[error("the map allows writing, but its file is open for reading only")]
    ReadOnlyFile,
    /// There are [`MAX_MAPS`] maps already.
    #[error("{MAX_MAPS} maps exist already")]
    TooMany,
    /// There are maps of [`MAX_FILES`] files already.
    #[error("{MAX_FILES} files are mapped already")]
    TooManyFiles,
    /// The file is on a disk, or wherever: its pages may never come.
    #[error("the file is not memory: it must be a memfd, or lie on tmpfs or hugetlbfs")]
    NotMemory,
    /// The range to unmap begins or ends inside a map.
    #[error("IOVA {iova:#x}, size {size:#x}: cuts the map at {existing:#x}; unmap whole maps")]
    Cuts {
        /// First byte.
        iova: u64,
        /// Bytes.
        size: u64,
        /// Where the map begins that would be cut.
        existing: u64,
    },
    /// The operating system refused.
    #[error("mapping the file: {0}")]
    Os(#[from] io::Error),
}

#[derive(Debug)]
struct Map {
    iova: u64,
    size: u64,
    permissions: Permissions,
    /// The file's mapping and where in it this map begins; nothing if the map came without a file.
    memory: Option<(Arc<SharedMapping>, u64)>,
}

impl Map {
    fn last(&self) -> u64 {
        self.iova + (self.size - 1)
    }

    /// The place of an IOVA in this map.
    fn place(&self, iova: u64, access: Access) -> Result<Place, Refusal> {
        let allowed = match access {
            Access::Read => self.permissions.read,
            Access::Write => self.permissions.write,
            Access::Both => self.permissions.read && self.permissions.write,
        };
        if !allowed {
            return Err(Refusal::Permission);
        }
        let (mapping, offset) = self.memory.as_ref().ok_or(Refusal::NoMemory)?;
        mapping
            .place(offset + (iova - self.iova))
            .ok_or(Refusal::NoMemory)
    }
}

#[derive(Clone, Copy, Debug)]
enum Access {
    Read,
    Write,
    Both,
}

/// The last map found for a stretch of IOVAs, so that translating a small frame's address is one
/// comparison.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Cached {
    iova: u64,
    /// At how many IOVAs from there a small frame fits into the map.
    fits: u64,
    place: Place,
}

const NOT_CACHED: Cached = Cached {
    iova: 0,
    fits: 0,
    place: Place::NOWHERE,
};

#[derive(Debug)]
struct Cache([Cell<Cached>; CACHE_ENTRIES]);

impl Cache {
    fn new() -> Self {
        Self(std::array::from_fn(|_| Cell::new(NOT_CACHED)))
    }

    fn clear(&self) {
        for entry in &self.0 {
            entry.set(NOT_CACHED);
        }
    }

    #[inline(always)]
    fn entry(&self, iova: u64) -> &Cell<Cached> {
        &self.0[(iova >> CACHE_SHIFT) as usize % CACHE_ENTRIES]
    }
}

/// The driver's DMA maps.
#[derive(Debug)]
pub(crate) struct DmaTable {
    /// By IOVA, without overlap.
    maps: Vec<Map>,
    /// The files mapped into this process, by device and inode.
    files: Vec<(u64, u64, Weak<SharedMapping>)>,
    readable: Cache,
    writable: Cache,
    /// The losses of memory that were looked into.
    losses: u32,
}

impl DmaTable {
    pub(crate) fn new() -> Self {
        Self {
            maps: Vec::new(),
            files: Vec::new(),
            readable: Cache::new(),
            writable: Cache::new(),
            losses: bus_error::losses(),
        }
    }

    /// Withdraws memory whose file was made shorter since the last time. Returns how many maps have
    /// lost theirs; transfers to them are refused from now on.
    #[inline(always)]
    pub(crate) fn withdraw_lost(&mut self) -> usize {
        match bus_error::losses() == self.losses {
            true => 0,
            false => self.withdraw_now(),
        }
    }

    #[cold]
    fn withdraw_now(&mut self) -> usize {
        self.losses = bus_error::losses();
        let mut withdrawn = 0;
        for map in &mut self.maps {
            if map.memory.as_ref().is_some_and(|(file, _)| file.lost()) {
                map.memory = None;
                withdrawn += 1;
            }
        }
        self.forget();
        withdrawn
    }

    /// IOVA and size in bytes of each map, ascending.
    pub(crate) fn ranges(&self) -> Vec<(u64, u64)> {
        self.maps.iter().map(|map| (map.iova, map.size)).collect()
    }

    /// How many maps there are.
    pub(crate) fn len(&self) -> usize {
        self.maps.len()
    }

    /// The maps that have memory, by IOVA.
    pub(crate) fn pieces(&self) -> Vec<Piece> {
        let of = |map: &Map| {
            let (mapping, offset) = map.memory.as_ref()?;
            Some(Piece {
                iova: map.iova,
                size: map.size,
                mapping: mapping.clone(),
                offset: *offset,
            })
        };
        self.maps.iter().filter_map(of).collect()
    }

    /// Adds a map of `size` bytes at `iova`: `file` from `offset` on. Without a file, transfers to
    /// it are refused.
    pub(crate) fn map(
        &mut self,
        iova: u64,
        size: u64,
        permissions: Permissions,
        file: Option<OwnedFd>,
        offset: u64,
    ) -> Result<(), MapError> {
        let aligned = |value: u64| value % PAGE_SIZE == 0;
        if size == 0 || !aligned(iova) || !aligned(size) || !aligned(offset) {
            return Err(MapError::Alignment { iova, size, offset });
        }
        let last = iova
            .checked_add(size - 1)
            .ok_or(MapError::AddressSpace { iova, size })?;
        if !permissions.read && !permissions.write {
            return Err(MapError::NoPermissions);
        }
        let at = self.maps.partition_point(|map| map.last() < iova);
        if let Some(existing) = self.maps.get(at).filter(|map| map.iova <= last) {
            return Err(MapError::Overlap {
                iova,
                size,
                existing: existing.iova,
            });
        }
        if self.maps.len() >= MAX_MAPS {
            return Err(MapError::TooMany);
        }
        let memory = match file {
            Some(file) => {
                let needed = offset
                    .checked_add(size)
                    .ok_or(MapError::AddressSpace { iova: offset, size })?;
                let mapping = self.mapping_of(&file, needed, permissions)?;
                if size <= POPULATE_MAX {
                    mapping.populate(offset, size as usize);
                }
                Some((mapping, offset))
            }
            None => None,
        };
        self.maps.insert(
            at,
            Map {
                iova,
                size,
                permissions,
                memory,
            },
        );
        self.forget();
        Ok(())
    }

    /// Takes away every map inside the range; returns how many there were.
    pub(crate) fn unmap(&mut self, iova: u64, size: u64) -> Result<usize, MapError> {
        if size == 0 {
            return Ok(0);
        }
        let last = iova
            .checked_add(size - 1)
            .ok_or(MapError::AddressSpace { iova, size })?;
        let from = self.maps.partition_point(|map| map.last() < iova);
        let to = self.maps.partition_point(|map| map.iova <= last);
        let cut = self.maps[from..to]
            .iter()
            .find(|map| map.iova < iova || map.last() > last);
        if let Some(cut) = cut {
            return Err(MapError::Cuts {
                iova,
                size,
                existing: cut.iova,
            });
        }
        self.maps.drain(from..to);
        self.forget();
        Ok(to - from)
    }

    /// Takes away every map; returns how many there were.
    pub(crate) fn unmap_all(&mut self) -> usize {
        let count = self.maps.len();
        self.maps.clear();
        self.forget();
        count
    }

    fn forget(&mut self) {
        self.readable.clear();
        self.writable.clear();
        self.files.retain(|(_, _, file)| file.strong_count() > 0);
    }

    /// The mapping of a file, shared with other maps of the same file, at least `needed` bytes
    /// long.
    fn mapping_of(
        &mut self,
        file: &OwnedFd,
        needed: u64,
        permissions: Permissions,
    ) -> Result<Arc<SharedMapping>, MapError> {
        let system = rustix::fs::fstatfs(file).map_err(io::Error::from)?.f_type;
        if ![TMPFS, HUGETLBFS].contains(&(system as u32)) {
            return Err(MapError::NotMemory);
        }
        let stat = rustix::fs::fstat(file).map_err(io::Error::from)?;
        let (device, inode) = (stat.st_dev, stat.st_ino);
        let file_size = u64::try_from(stat.st_size).unwrap_or(0);
        if file_size < needed {
            return Err(MapError::FileTooShort { needed, file_size });
        }
        let known = self
            .files
            .iter()
            .filter(|(d, i, _)| (*d, *i) == (device, inode))
            .find_map(|(_, _, file)| file.upgrade())
            .filter(|mapping| mapping.len() as u64 >= needed && !mapping.lost())
            .filter(|mapping| mapping.writable() || !permissions.write);
        if let Some(mapping) = known {
            return Ok(mapping);
        }
        if self.files.len() >= MAX_FILES {
            return Err(MapError::TooManyFiles);
        }
        let len = usize::try_from(file_size)
            .ok()
            .filter(|len| isize::try_from(*len).is_ok())
            .ok_or(MapError::FileTooShort { needed, file_size })?;
        let mapping = match SharedMapping::of_file(file.as_fd(), len, true) {
            Err(_) if !permissions.write => SharedMapping::of_file(file.as_fd(), len, false)?,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(MapError::ReadOnlyFile)
            }
            other => other?,
        };
        let mapping = Arc::new(mapping);
        // A file that has grown, or is writable now, gets a second mapping; the first lives as long
        // as its maps.
        self.files
            .insert(0, (device, inode, Arc::downgrade(&mapping)));
        Ok(mapping)
    }

    /// The map that holds an IOVA.
    fn find(&self, iova: u64) -> Result<&Map, Refusal> {
        let at = self.maps.partition_point(|map| map.last() < iova);
        self.maps
            .get(at)
            .filter(|map| map.iova <= iova)
            .ok_or(Refusal::Unmapped)
    }

    /// Where `len` bytes from `iova` on are, if one map holds them all.
    fn translate(&self, iova: u64, len: u64, access: Access) -> Option<Place> {
        let map = self.find(iova).ok()?;
        let place = map.place(iova, access).ok()?;
        (map.size - (iova - map.iova) >= len).then_some(place)
    }

    #[cold]
    #[inline(never)]
    fn translate_and_cache(&self, cache: &Cache, iova: u64, access: Access) -> Option<Cached> {
        let cached = cache.entry(iova).get();
        if iova.wrapping_sub(cached.iova) < cached.fits {
            return Some(cached);
        }
        let map = self.find(iova).ok()?;
        let place = map.place(map.iova, access).ok()?;
        // Maps are pages: small frames fit.
        let fits = map.size - (MIN_FRAME as u64 - 1);
        let cached = Cached {
            iova: map.iova,
            fits,
            place,
        };
        cache.entry(iova).set(cached);
        (iova - map.iova < fits).then_some(cached)
    }

    /// Finds small frames that the device may read.
    #[inline(always)]
    pub(crate) fn small_frames(&self) -> SmallFinder<'_> {
        SmallFinder {
            table: self,
            cache: &self.readable,
            access: Access::Read,
            last: NOT_CACHED,
        }
    }

    /// Finds room for small frames that the device may write.
    #[inline(always)]
    pub(crate) fn small_buffers(&self) -> SmallFinder<'_> {
        SmallFinder {
            table: self,
            cache: &self.writable,
            access: Access::Write,
            last: NOT_CACHED,
        }
    }

    /// A frame of 60 bytes at `iova` that may be read, if one map holds it.
    #[cfg(test)]
    fn small_frame(&self, iova: u64) -> Option<SmallFrame<'_>> {
        self.small_frames().frame(iova)
    }

    /// Room for a frame of 60 bytes at `iova`, if one map holds it.
    #[cfg(test)]
    fn small_buffer(&self, iova: u64) -> Option<SmallBuffer<'_>> {
        self.small_buffers().buffer(iova)
    }

    /// `len` readable bytes at `iova`, if one map holds them all.
    fn window(&self, iova: u64, len: usize) -> Option<Window<'_>> {
        let place = self.translate(iova, len as u64, Access::Read)?;
        // SAFETY: `len` bytes from here are inside one map, hence inside its file's mapping, which
        // the map keeps alive; maps go only through `&mut self`, which the window's lifetime
        // excludes.
        Some(unsafe { place.window(len) })
    }

    /// `len` writable bytes at `iova`, if one map holds them all.
    fn window_mut(&self, iova: u64, len: usize) -> Option<WindowMut<'_>> {
        let place = self.translate(iova, len as u64, Access::Write)?;
        // SAFETY: as in `window`; maps that allow writing have a writable mapping, see
        // `mapping_of`.
        Some(unsafe { place.window_mut(len) })
    }

    /// The descriptors from `iova` on, `max` of them or as many as its map has, to read and write.
    /// At least one.
    #[inline(always)]
    pub(crate) fn descriptors(&self, iova: u64, max: usize) -> Result<&[Descriptor], Refusal> {
        let map = self.find(iova)?;
        let place = map.place(iova, Access::Both)?;
        let len = (map.last() - iova)
            .saturating_add(1)
            .min(DESCRIPTOR_LEN * max as u64) as usize;
        // SAFETY: as in `window_mut`; `len` is at most what is left of the map.
        let descriptors = unsafe { place.descriptors(len) };
        if descriptors.is_empty() {
            return Err(Refusal::Unmapped);
        }
        Ok(descriptors)
    }

    /// Checks a transfer from its first to its last byte.
    fn check(&self, iova: u64, len: u64, access: Access) -> Result<(), Refusal> {
        let mut iova = iova;
        let mut left = len;
        while left > 0 {
            let map = self.find(iova)?;
            map.place(iova, access)?;
            let here = (map.last() - iova).saturating_add(1).min(left);
            left -= here;
            // Past the last IOVA of all there is nothing.
            iova = match iova.checked_add(here) {
                Some(next) => next,
                None if left == 0 => break,
                None => return Err(Refusal::Unmapped),
            };
        }
        Ok(())
    }

    /// Reads a transfer that may cross from map to map.
    pub(crate) fn read(&self, iova: u64, into: &mut [u8]) -> Result<(), Refusal> {
        if let Some(window) = self.window(iova, into.len()) {
            window.read(into);
            return Ok(());
        }
        self.check(iova, into.len() as u64, Access::Read)?;
        let mut done = 0;
        while done < into.len() {
            let at = iova + done as u64;
            let map = self.find(at)?;
            let here = map.last() - at;
            let here = (here.saturating_add(1).min((into.len() - done) as u64)) as usize;
            let window = self.window(at, here).ok_or(Refusal::Unmapped)?;
            window.read(&mut into[done..done + here]);
            done += here;
        }
        Ok(())
    }

    /// Writes a transfer that may cross from map to map.
    pub(crate) fn write(&self, iova: u64, from: &[u8]) -> Result<(), Refusal> {
        if let Some(window) = self.window_mut(iova, from.len()) {
            window.write(from);
            return Ok(());
        }
        self.check(iova, from.len() as u64, Access::Write)?;
        let mut done = 0;
        while done < from.len() {
            let at = iova + done as u64;
            let map = self.find(at)?;
            let here = map.last() - at;
            let here = (here.saturating_add(1).min((from.len() - done) as u64)) as usize;
            let window = self.window_mut(at, here).ok_or(Refusal::Unmapped)?;
            window.write(&from[done..done + here]);
            done += here;
        }
        Ok(())
    }

    /// Writes a 32-bit word, after everything written before.
    pub(crate) fn write_u32(&self, iova: u64, value: u32) -> Result<(), Refusal> {
        match self.window_mut(iova, 4) {
            Some(window) => {
                window.write_u32(value);
                Ok(())
            }
            None => self.write(iova, &value.to_le_bytes()),
        }
    }
}

/// Translates the addresses of small frames, one after the other, which are mostly in the same map.
#[derive(Debug)]
pub(crate) struct SmallFinder<'a> {
    table: &'a DmaTable,
    cache: &'a Cache,
    access: Access,
    last: Cached,
}

impl<'a> SmallFinder<'a> {
    #[inline(always)]
    fn place(&mut self, iova: u64) -> Option<Place> {
        let mut offset = iova.wrapping_sub(self.last.iova);
        if offset >= self.last.fits {
            self.last = self
                .table
                .translate_and_cache(self.cache, iova, self.access)?;
            offset = iova - self.last.iova;
        }
        Some(self.last.place.advanced(offset))
    }

    /// The frame of 60 bytes at `iova`, if one map holds it.
    #[inline(always)]
    pub(crate) fn frame(&mut self, iova: u64) -> Option<SmallFrame<'a>> {
        let place = self.place(iova)?;
        // SAFETY: 60 bytes from here are inside one map, hence inside its file's mapping, which the
        // map keeps alive; maps go only through `&mut DmaTable`, which the frame's lifetime
        // excludes.
        Some(unsafe { place.small_frame() })
    }

    /// Room for a frame of 60 bytes at `iova`, if one map holds it. Only for finders of
    /// [`DmaTable::small_buffers`].
    #[inline(always)]
    pub(crate) fn buffer(&mut self, iova: u64) -> Option<SmallBuffer<'a>> {
        if !matches!(self.access, Access::Write) {
            return None;
        }
        let place = self.place(iova)?;
        // SAFETY: as in `frame`; maps that allow writing have a writable mapping, see `mapping_of`.
        Some(unsafe { place.small_buffer() })
    }
}

/// Refused transfers: how many there were, and the first few of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultLog {
    count: u64,
    first: Vec<DmaFault>,
}

impl FaultLog {
    /// How many faults are kept in full; a device gone wrong makes millions.
    const KEPT: usize = 256;

    pub(crate) fn record(&mut self, fault: DmaFault) {
        self.count += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(fault);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn first(&self) -> &[DmaFault] {
        &self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rustix::fs::MemfdFlags;

    const READ_WRITE: Permissions = Permissions {
        read: true,
        write: true,
    };
    const READ_ONLY: Permissions = Permissions {
        read: true,
        write: false,
    };

    fn file(pages: u64) -> OwnedFd {
        let file = rustix::fs::memfd_create("dma test", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&file, pages * PAGE_SIZE).unwrap();
        file
    }

    fn table_with(maps: &[(u64, u64, Permissions)]) -> DmaTable {
        let memory = file(16);
        let mut table = DmaTable::new();
        let mut offset = 0;
        for (iova, size, permissions) in maps {
            let copy = memory.try_clone().unwrap();
            table
                .map(*iova, *size, *permissions, Some(copy), offset)
                .unwrap();
            offset += size;
        }
        table
    }

    #[test]
    fn what_is_written_is_read_back() {
        let table = table_with(&[(0x10_0000, 0x2000, READ_WRITE)]);
        table.write(0x10_0ff0, b"over a page boundary").unwrap();
        let mut bytes = [0; 20];
        table.read(0x10_0ff0, &mut bytes).unwrap();
        assert_eq!(&bytes, b"over a page boundary");
    }

    #[test]
    fn a_transfer_crosses_between_adjacent_maps() {
        // Adjacent as IOVAs, not as memory: the second comes first in the file.
        let memory = file(4);
        let mut table = DmaTable::new();
        let copy = || Some(memory.try_clone().unwrap());
        table
            .map(0x1000, 0x1000, READ_WRITE, copy(), 0x2000)
            .unwrap();
        table.map(0x2000, 0x1000, READ_WRITE, copy(), 0).unwrap();
        table.write(0x1ffc, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let mut bytes = [0; 8];
        table.read(0x1ffc, &mut bytes).unwrap();
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
        let mut second = [0; 4];
        table.read(0x2000, &mut second).unwrap();
        assert_eq!(second, [5, 6, 7, 8]);
    }

    #[test]
    fn a_refused_transfer_touches_nothing() {
        let table = table_with(&[(0x1000, 0x1000, READ_WRITE), (0x3000, 0x1000, READ_ONLY)]);
        assert_eq!(table.write(0x1ffe, &[9; 4]), Err(Refusal::Unmapped));
        assert_eq!(table.write(0x3000, &[9; 4]), Err(Refusal::Permission));
        assert_eq!(table.write(0x5000, &[9; 4]), Err(Refusal::Unmapped));
        let mut bytes = [0; 2];
        table.read(0x1ffe, &mut bytes).unwrap();
        assert_eq!(bytes, [0, 0]);
        assert!(table.small_buffer(0x1ffe).is_none());
        assert!(table.small_buffer(0x3000).is_none());
        assert!(table.small_frame(0x3000).is_some());
        assert!(table.small_frame(0x3fc4).is_some());
        assert!(table.small_frame(0x3fc5).is_none());
        assert_eq!(table.read(u64::MAX, &mut [0; 4]), Err(Refusal::Unmapped));
    }

    #[test]
    fn a_map_without_a_file_has_no_memory() {
        let mut table = DmaTable::new();
        table.map(0x1000, 0x1000, READ_WRITE, None, 0).unwrap();
        assert_eq!(table.read(0x1000, &mut [0; 4]), Err(Refusal::NoMemory));
        assert!(table.small_frame(0x1000).is_none());
        assert!(table.descriptors(0x1000, 1).is_err());
    }

    #[test]
    fn a_map_that_ends_with_the_address_space_is_usable() {
        let mut table = DmaTable::new();
        let last_page = u64::MAX - 0xfff;
        table
            .map(last_page, 0x1000, READ_WRITE, Some(file(1)), 0)
            .unwrap();
        table.write(u64::MAX - 3, &[1, 2, 3, 4]).unwrap();
        assert_eq!(table.write(u64::MAX - 3, &[1; 5]), Err(Refusal::Unmapped));
        assert_eq!(table.unmap(last_page, 0x1000).unwrap(), 1);
    }

    #[test]
    fn bad_maps_are_refused() {
        let mut table = table_with(&[(0x10_0000, 0x2000, READ_WRITE)]);
        let mut map =
            |iova, size, offset| table.map(iova, size, READ_WRITE, Some(file(16)), offset);
        assert!(matches!(
            map(0x800, 0x1000, 0),
            Err(MapError::Alignment { .. })
        ));
        assert!(matches!(
            map(0x1000, 0x10, 0),
            Err(MapError::Alignment { .. })
        ));
        assert!(matches!(map(0x1000, 0, 0), Err(MapError::Alignment { .. })));
        assert!(matches!(
            map(0x1000, 0x1000, 1),
            Err(MapError::Alignment { .. })
        ));
        assert!(matches!(
            map(u64::MAX - 0xfff, 0x2000, 0),
            Err(MapError::AddressSpace { .. })
        ));
        assert!(matches!(
            map(0x10_1000, 0x2000, 0),
            Err(MapError::Overlap {
                existing: 0x10_0000,
                ..
            })
        ));
        assert!(matches!(
            map(0xf_f000, 0x2000, 0),
            Err(MapError::Overlap {
                existing: 0x10_0000,
                ..
            })
        ));
        assert!(matches!(
            map(0x1000, 0x1_1000, 0),
            Err(MapError::FileTooShort { .. })
        ));
        let none = Permissions {
            read: false,
            write: false,
        };
        assert!(matches!(
            table.map(0x1000, 0x1000, none, None, 0),
            Err(MapError::NoPermissions)
        ));
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn a_read_only_file_cannot_be_mapped_for_writing() {
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let memory = rustix::fs::memfd_create("test", flags).unwrap();
        rustix::io::write(&memory, &[7; 4096]).unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&memory));
        let mut table = DmaTable::new();
        let open = || Some(OwnedFd::from(std::fs::File::open(&path).unwrap()));
        assert!(matches!(
            table.map(0, 0x1000, READ_WRITE, open(), 0),
            Err(MapError::ReadOnlyFile)
        ));
        table.map(0, 0x1000, READ_ONLY, open(), 0).unwrap();
        assert_eq!(table.small_frame(0).unwrap().read().fixed[0], 0x0707_0707);
        assert!(table.small_buffer(0).is_none());
    }

    #[test]
    fn unmapping_takes_whole_maps_only() {
        let mut table = table_with(&[
            (0x1000, 0x1000, READ_WRITE),
            (0x4000, 0x2000, READ_WRITE),
            (0x8000, 0x1000, READ_WRITE),
        ]);
        assert!(matches!(
            table.unmap(0x5000, 0x1000),
            Err(MapError::Cuts {
                existing: 0x4000,
                ..
            })
        ));
        assert!(matches!(table.unmap(0, 0x5000), Err(MapError::Cuts { .. })));
        assert_eq!(table.len(), 3);
        assert_eq!(table.unmap(0x10_0000, 1 << 40).unwrap(), 0);
        assert_eq!(table.unmap(0, 0x7000).unwrap(), 2);
        assert!(table.small_frame(0x1000).is_none());
        assert!(table.small_frame(0x8000).is_some());
        assert_eq!(table.unmap_all(), 1);
    }

    #[test]
    fn one_file_is_mapped_once_however_many_maps_there_are() {
        let memory = file(64);
        let mut table = DmaTable::new();
        for page in 0..64 {
            let copy = memory.try_clone().unwrap();
            table
                .map(
                    page * 0x10_0000,
                    PAGE_SIZE,
                    READ_WRITE,
                    Some(copy),
                    page * PAGE_SIZE,
                )
                .unwrap();
        }
        assert_eq!(table.files.len(), 1);
        table.unmap_all();
        assert_eq!(table.files.len(), 0);
    }

    #[derive(Clone, Debug)]
    enum Operation {
        Map { page: u64, pages: u64, write: bool },
        Unmap { page: u64, pages: u64 },
        Transfer { at: u64, len: u64, write: bool },
    }

    fn operations() -> impl Strategy<Value = Operation> {
        let page = 0..24_u64;
        let pages = 1..6_u64;
        prop_oneof![
            (page.clone(), pages.clone(), any::<bool>())
                .prop_map(|(page, pages, write)| Operation::Map { page, pages, write }),
            (page, pages).prop_map(|(page, pages)| Operation::Unmap { page, pages }),
            (0..24 * PAGE_SIZE, 1..3 * PAGE_SIZE, any::<bool>())
                .prop_map(|(at, len, write)| Operation::Transfer { at, len, write }),
        ]
    }

    proptest! {
        /// Against the simplest model there is: a table of pages, each in a numbered map or none.
        #[test]
        fn translation_agrees_with_a_page_table(operations in prop::collection::vec(operations(), 1..60)) {
            let memory = file(64);
            let mut table = DmaTable::new();
            let mut pages: Vec<Option<(usize, bool)>> = vec![None; 64];
            for (number, operation) in operations.into_iter().enumerate() {
                match operation {
                    Operation::Map { page, pages: count, write } => {
                        let range = page as usize..(page + count) as usize;
                        let free = pages[range.clone()].iter().all(Option::is_none);
                        let permissions = Permissions { read: true, write };
                        let copy = memory.try_clone().unwrap();
                        let result = table.map(page * PAGE_SIZE, count * PAGE_SIZE, permissions, Some(copy), page * PAGE_SIZE);
                        prop_assert_eq!(result.is_ok(), free);
                        if free {
                            pages[range].fill(Some((number, write)));
                        }
                    }
                    Operation::Unmap { page, pages: count } => {
                        let range = page as usize..(page + count) as usize;
                        let inside = |map| pages.iter().enumerate().all(|(at, slot)| {
                            slot.is_none_or(|(other, _)| other != map) || range.contains(&at)
                        });
                        let whole = pages[range.clone()].iter().flatten().all(|(map, _)| inside(*map));
                        let result = table.unmap(page * PAGE_SIZE, count * PAGE_SIZE);
                        prop_assert_eq!(result.is_ok(), whole);
                        if whole {
                            pages[range].fill(None);
                        }
                    }
                    Operation::Transfer { at, len, write } => {
                        let first = (at / PAGE_SIZE) as usize;
                        let last = ((at + len - 1) / PAGE_SIZE) as usize;
                        let allowed = pages[first..=last].iter().all(|slot| slot.is_some_and(|(_, w)| w || !write));
                        let mut bytes = vec![number as u8; len as usize];
                        let result = if write { table.write(at, &bytes) } else { table.read(at, &mut bytes) };
                        prop_assert_eq!(result.is_ok(), allowed);
                        if allowed && write {
                            let mut back = vec![0; len as usize];
                            table.read(at, &mut back).unwrap();
                            prop_assert_eq!(back, bytes);
                        }
                    }
                }
            }
            let distinct: std::collections::BTreeSet<_> = pages.iter().flatten().collect();
            prop_assert_eq!(table.len(), distinct.len());
        }
    }
}
