//! DMA as behind an IOMMU: the device reaches only the memory that the driver has mapped, and only
//! as the map permits.
//!
//! The rules are those of Linux's VFIO (type 1, version 2):
//!
//! * A map is a range of IOVAs in whole pages of 4 KiB. It does not overlap another map and does
//!   not run past the end of the address space.
//! * Unmapping withdraws every map inside the given range, if there are any. A range that cuts a
//!   map in two is refused and changes nothing.
//! * A transfer may cross from one map into the next if the IOVAs are adjacent.
//! * A transfer that is not allowed from its first to its last byte touches nothing.

use std::cell::Cell;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::atomic::{fence, Ordering};
use std::sync::Arc;

use crate::memory::bus_error;
use crate::memory::dma_fault::Refusal;
use crate::memory::dma_log::DmaLog;
use crate::memory::file_mappings::FileMappings;
use crate::memory::map_request::{MapError, Permissions, MAX_MAPS, PAGE_SIZE};
use crate::memory::shared::{Descriptor, Place, SharedMapping, SmallBuffer, SmallFrame, Window};
use crate::memory::translation_cache::{CachedMap, TranslationCache};
use crate::traffic::frame::MIN_FRAME;

/// Most bytes of a client's memory whose pages get their addresses in this process at once. Rings
/// and packet buffers are smaller. Doing so at a page's first use costs the data plane a
/// microsecond, in which the driver's ring runs dry.
const PREPARED: u64 = 256 << 20;

/// A range of IOVAs that the driver has mapped.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    pub(crate) iova: u64,
    pub(crate) size: u64,
    permissions: Permissions,
    /// A mapping of the file and the offset of this map in it; `None` for a map without a file.
    pub(crate) memory: Option<(Arc<SharedMapping>, u64)>,
}

impl Map {
    /// First IOVA, and size in bytes.
    pub(crate) fn range(&self) -> (u64, u64) {
        (self.iova, self.size)
    }

    /// The last IOVA of the map.
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

/// The driver's DMA maps.
#[derive(Debug, Default)]
pub(crate) struct DmaTable {
    /// Sorted by IOVA, without overlap.
    maps: Vec<Map>,
    /// The parts of files that are mapped into this process.
    files: FileMappings,
    /// Bytes of the client's memory that were prepared.
    prepared: u64,
    /// Small frames that the device may read, and buffers that it may write.
    readable: TranslationCache,
    writable: TranslationCache,
    /// The number of lost mappings that this table has handled.
    losses: u32,
    /// Searches for maps that [`DmaTable::take_searches`] has not returned.
    searches: Cell<usize>,
    /// The transfers through this table, if somebody wants to know them.
    pub(crate) log: DmaLog,
}

impl DmaTable {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Withdraws memory whose file has become shorter since the last call. Returns the number of
    /// maps that have lost their memory; transfers to them are refused from then on.
    #[inline(always)]
    pub(crate) fn withdraw_lost(&mut self) -> usize {
        if bus_error::losses() == self.losses {
            return 0;
        }
        self.withdraw_now()
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

    /// The maps, sorted by IOVA.
    pub(crate) fn maps(&self) -> &[Map] {
        &self.maps
    }

    /// Number of maps.
    pub(crate) fn len(&self) -> usize {
        self.maps.len()
    }

    /// Maps `size` bytes of `file` from `offset` on at `iova`. Transfers to a map without a file are
    /// refused.
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
                let mapping = self.files.mapping_of(&file, offset, size, permissions)?;
                let inside = offset - mapping.start();
                if size <= PREPARED - self.prepared {
                    self.prepared += size;
                    mapping.prepare(inside, size as usize);
                }
                Some((mapping, inside))
            }
            None => None,
        };
        let map = Map {
            iova,
            size,
            permissions,
            memory,
        };
        self.maps.insert(at, map);
        self.forget();
        Ok(())
    }

    /// Withdraws every map inside the range and returns their number.
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

    /// Withdraws every map and returns their number.
    pub(crate) fn unmap_all(&mut self) -> usize {
        let count = self.maps.len();
        self.maps.clear();
        self.prepared = 0;
        self.forget();
        count
    }

    /// Drops the cached translations and the files that no map uses.
    fn forget(&mut self) {
        self.readable.clear();
        self.writable.clear();
        self.files.forget_unused();
    }

    /// Number of searches for maps since the last call.
    #[inline(always)]
    pub(crate) fn take_searches(&self) -> usize {
        self.searches.take()
    }

    /// The map that holds an IOVA.
    fn find(&self, iova: u64) -> Result<&Map, Refusal> {
        self.searches.set(self.searches.get().wrapping_add(1));
        let at = self.maps.partition_point(|map| map.last() < iova);
        self.maps
            .get(at)
            .filter(|map| map.iova <= iova)
            .ok_or(Refusal::Unmapped)
    }

    /// The place of `len` bytes from `iova` on, if one map holds them all.
    fn translate(&self, iova: u64, len: u64, access: Access) -> Option<Place> {
        let map = self.find(iova).ok()?;
        let place = map.place(iova, access).ok()?;
        (map.size - (iova - map.iova) >= len).then_some(place)
    }

    #[cold]
    #[inline(never)]
    fn translate_and_cache(
        &self,
        cache: &TranslationCache,
        iova: u64,
        access: Access,
    ) -> Option<CachedMap> {
        let map = self.find(iova).ok()?;
        let place = map.place(map.iova, access).ok()?;
        // A map has at least a page, so a small frame fits.
        let fits = map.size - (MIN_FRAME as u64 - 1);
        let cached = CachedMap {
            iova: map.iova,
            fits,
            place,
        };
        cache.entry(iova).set(cached);
        (iova - map.iova < fits).then_some(cached)
    }

    /// Translates addresses of small frames that the device may read.
    #[inline(always)]
    pub(crate) fn small_frames(&self) -> SmallFrameTranslator<'_> {
        self.translator(&self.readable, Access::Read)
    }

    /// Translates addresses of buffers for small frames that the device may write.
    #[inline(always)]
    pub(crate) fn small_buffers(&self) -> SmallFrameTranslator<'_> {
        self.translator(&self.writable, Access::Write)
    }

    #[inline(always)]
    fn translator<'a>(
        &'a self,
        cache: &'a TranslationCache,
        access: Access,
    ) -> SmallFrameTranslator<'a> {
        SmallFrameTranslator {
            table: self,
            cache,
            access,
            last: CachedMap::NONE,
        }
    }

    /// `len` readable bytes at `iova`, if one map holds them all.
    pub(crate) fn window(&self, iova: u64, len: usize) -> Option<Window<'_>> {
        let place = self.translate(iova, len as u64, Access::Read)?;
        // SAFETY: `len` bytes from here are inside one map, hence inside its file's mapping, which
        // the map keeps alive; maps go only through `&mut self`, which the window's lifetime
        // excludes.
        Some(unsafe { place.window(len) })
    }

    /// The descriptors from `iova` on, to read and write: at least one, at most `max`, as many as
    /// the map holds.
    #[inline(always)]
    pub(crate) fn descriptors(&self, iova: u64, max: usize) -> Result<&[Descriptor], Refusal> {
        let map = self.find(iova)?;
        let place = map.place(iova, Access::Both)?;
        let len = (map.last() - iova)
            .saturating_add(1)
            .min((size_of::<Descriptor>() * max) as u64) as usize;
        // SAFETY: as in `write`; the map has at least `len` bytes from here on.
        let descriptors = unsafe { place.descriptors(len) };
        if descriptors.is_empty() {
            return Err(Refusal::Unmapped);
        }
        Ok(descriptors)
    }

    /// Hands each part of a transfer that one map holds to `one`: its place, and the range of its bytes.
    fn transfer(
        &self,
        iova: u64,
        len: usize,
        access: Access,
        mut one: impl FnMut(Place, Range<usize>),
    ) -> Result<(), Refusal> {
        match self.translate(iova, len as u64, access) {
            Some(place) => one(place, 0..len),
            None => {
                let parts = self.parts(iova, len, access)?;
                parts
                    .into_iter()
                    .for_each(|(place, range)| one(place, range));
            }
        }
        Ok(())
    }

    /// The parts of a transfer that crosses from map to map. Checks it from its first to its last byte.
    #[cold]
    fn parts(
        &self,
        iova: u64,
        len: usize,
        access: Access,
    ) -> Result<Vec<(Place, Range<usize>)>, Refusal> {
        let (mut parts, mut done) = (Vec::new(), 0);
        while done < len {
            // No map continues past the last IOVA.
            let at = iova.checked_add(done as u64).ok_or(Refusal::Unmapped)?;
            let map = self.find(at)?;
            let place = map.place(at, access)?;
            let here = (map.last() - at).saturating_add(1).min((len - done) as u64) as usize;
            parts.push((place, done..done + here));
            done += here;
        }
        Ok(parts)
    }

    /// Reads a transfer that may cross from map to map.
    pub(crate) fn read(&self, iova: u64, into: &mut [u8]) -> Result<(), Refusal> {
        self.peek(iova, into)?;
        self.log.read(iova, into.len());
        Ok(())
    }

    /// The same for someone who looks at the memory: it is no transfer of the card, and is not logged.
    pub(crate) fn peek(&self, iova: u64, into: &mut [u8]) -> Result<(), Refusal> {
        self.transfer(iova, into.len(), Access::Read, |place, range| {
            // SAFETY: as in `window`; one map holds the range.
            unsafe { place.read(&mut into[range]) };
        })
    }

    /// Writes a transfer that may cross from map to map.
    pub(crate) fn write(&self, iova: u64, from: &[u8]) -> Result<(), Refusal> {
        self.transfer(iova, from.len(), Access::Write, |place, range| {
            // SAFETY: as in `read`; maps that allow writing have a writable mapping, see
            // `FileMappings`.
            unsafe { place.write(&from[range]) };
        })?;
        self.log.write(iova, from.len());
        Ok(())
    }

    /// Writes a 32-bit word, after everything written before.
    pub(crate) fn write_u32(&self, iova: u64, value: u32) -> Result<(), Refusal> {
        fence(Ordering::Release);
        self.write(iova, &value.to_le_bytes())
    }
}

/// Translates the addresses of small frames. Successive addresses are mostly in the same map, so
/// the last map is tried first. A driver with huge pages has a map for each, and its packets lie in
/// all of them: then the cache knows the map.
#[derive(Debug)]
pub(crate) struct SmallFrameTranslator<'a> {
    table: &'a DmaTable,
    cache: &'a TranslationCache,
    access: Access,
    last: CachedMap,
}

impl<'a> SmallFrameTranslator<'a> {
    #[inline(always)]
    fn place(&mut self, iova: u64) -> Option<Place> {
        let mut offset = iova.wrapping_sub(self.last.iova);
        if offset >= self.last.fits {
            self.last = self.cache.entry(iova).get();
            offset = iova.wrapping_sub(self.last.iova);
        }
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

    /// The buffer of 60 bytes at `iova`, if one map holds it. Only for translators from
    /// [`DmaTable::small_buffers`].
    #[inline(always)]
    pub(crate) fn buffer(&mut self, iova: u64) -> Option<SmallBuffer<'a>> {
        if !matches!(self.access, Access::Write) {
            return None;
        }
        let place = self.place(iova)?;
        // SAFETY: as in `frame`; maps that allow writing have a writable mapping, see `FileMappings`.
        Some(unsafe { place.small_buffer() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rustix::fs::MemfdFlags;
    use std::collections::BTreeSet;

    const fn permissions(read: bool, write: bool) -> Permissions {
        Permissions { read, write }
    }

    const READ_WRITE: Permissions = permissions(true, true);
    const READ_ONLY: Permissions = permissions(true, false);

    fn file(pages: u64) -> OwnedFd {
        let file = rustix::fs::memfd_create("dma test", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&file, pages * PAGE_SIZE).unwrap();
        file
    }

    /// A table with maps of one file, each behind the last one.
    fn table_with(maps: &[(u64, u64, Permissions)]) -> DmaTable {
        let memory = file(256);
        let mut table = DmaTable::new();
        let mut offset = 0;
        for (iova, size, permissions) in maps {
            let copy = Some(memory.try_clone().unwrap());
            table.map(*iova, *size, *permissions, copy, offset).unwrap();
            offset += size;
        }
        table
    }

    #[test]
    fn small_frames_and_buffers_keep_to_the_maps() {
        let table = table_with(&[(0x1000, 0x1000, READ_WRITE), (0x3000, 0x1000, READ_ONLY)]);
        assert_eq!(table.write(0x3000, &[9; 4]), Err(Refusal::Permission));
        assert_eq!(table.write(0x5000, &[9; 4]), Err(Refusal::Unmapped));
        let buffer = |iova| table.small_buffers().buffer(iova).is_some();
        assert_eq!([0x1000, 0x1ffe, 0x3000].map(buffer), [true, false, false]);
        let frame = |iova| table.small_frames().frame(iova).is_some();
        assert_eq!([0x3000, 0x3fc4, 0x3fc5].map(frame), [true, true, false]);
    }

    #[test]
    fn a_map_without_a_file_has_no_memory() {
        let mut table = DmaTable::new();
        table.map(0x1000, 0x1000, READ_WRITE, None, 0).unwrap();
        assert_eq!(table.read(0x1000, &mut [0; 4]), Err(Refusal::NoMemory));
        assert!(table.small_frames().frame(0x1000).is_none());
        assert!(table.descriptors(0x1000, 1).is_err());
    }

    #[test]
    fn a_map_that_ends_with_the_address_space_is_usable() {
        const LAST_PAGE: u64 = u64::MAX - 0xfff;
        let mut table = table_with(&[(LAST_PAGE, 0x1000, READ_WRITE)]);
        table.write(u64::MAX - 3, &[1, 2, 3, 4]).unwrap();
        assert_eq!(table.write(u64::MAX - 3, &[1; 5]), Err(Refusal::Unmapped));
        assert_eq!(table.read(u64::MAX, &mut [0; 4]), Err(Refusal::Unmapped));
        assert_eq!(table.unmap(LAST_PAGE, 0x1000).unwrap(), 1);
    }

    #[test]
    fn bad_maps_are_refused() {
        let mut table = table_with(&[(0x10_0000, 0x2000, READ_WRITE)]);
        let mut refused = |reason, iova, size, offset, permissions| {
            let result = table.map(iova, size, permissions, Some(file(16)), offset);
            let error = result.unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        };
        for (reason, iova, size, offset) in [
            ("multiples of 4096", 0x800, 0x1000, 0),
            ("multiples of 4096", 0x1000, 0x10, 0),
            ("multiples of 4096", 0x1000, 0, 0),
            ("multiples of 4096", 0x1000, 0x1000, 1),
            ("end of the address space", u64::MAX - 0xfff, 0x2000, 0),
            ("overlaps the map at 0x100000", 0x10_1000, 0x2000, 0),
            ("overlaps the map at 0x100000", 0xf_f000, 0x2000, 0),
            ("of its file, which has only 0x10000", 0x1000, 0x1_1000, 0),
        ] {
            refused(reason, iova, size, offset, READ_WRITE);
        }
        let neither = permissions(false, false);
        refused("reading, writing, or both", 0x1000, 0x1000, 0, neither);
        let error = table.unmap(0x10_1000, 0x1000).unwrap_err().to_string();
        assert!(error.contains("cuts the map at 0x100000"), "{error}");
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn a_read_only_file_cannot_be_mapped_for_writing() {
        let memory = file(1);
        rustix::io::write(&memory, &[7; 4096]).unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&memory));
        let mut table = DmaTable::new();
        let mut map = |permissions| {
            let file = std::fs::File::open(&path).unwrap();
            table.map(0, 0x1000, permissions, Some(file.into()), 0)
        };
        assert!(matches!(map(READ_WRITE), Err(MapError::ReadOnlyFile)));
        map(READ_ONLY).unwrap();
        let frame = table.small_frames().frame(0).unwrap().read();
        assert_eq!(frame.fixed[0], 0x0707_0707);
        assert!(table.small_buffers().buffer(0).is_none());
    }

    /// DPDK maps 256 MiB of huge pages in 128 maps, and takes packets from all of them.
    #[test]
    fn many_maps_share_a_mapping_and_need_one_search_each() {
        const MAPS: u64 = 256;
        const SIZE: u64 = 2 << 20;
        let maps = (0..MAPS).map(|nth| (nth * SIZE, PAGE_SIZE, READ_WRITE));
        let mut table = table_with(&Vec::from_iter(maps));
        assert_eq!(table.files.len(), 1);
        table.take_searches();
        for round in 0..10 {
            for nth in 0..MAPS {
                // No two addresses in a row are in the same map.
                let iova = nth * 97 % MAPS * SIZE + 60 * round;
                assert!(table.small_frames().frame(iova).is_some());
                assert!(table.small_buffers().buffer(iova).is_some());
            }
        }
        assert_eq!(table.take_searches(), 2 * MAPS as usize);
        assert_eq!((table.unmap_all(), table.files.len()), (256, 0));
        assert!(table.small_frames().frame(0).is_none());
    }

    #[derive(Clone, Debug)]
    enum Operation {
        Map { page: u64, pages: u64, write: bool },
        Unmap { page: u64, pages: u64 },
        Transfer { at: u64, len: u64, write: bool },
    }

    fn operations() -> impl Strategy<Value = Operation> {
        let (page, pages, write) = (0..24_u64, 1..6_u64, any::<bool>());
        prop_oneof![
            (page.clone(), pages.clone(), write).prop_map(|(page, pages, write)| Operation::Map {
                page,
                pages,
                write
            }),
            (page, pages).prop_map(|(page, pages)| Operation::Unmap { page, pages }),
            (0..24 * PAGE_SIZE, 1..3 * PAGE_SIZE, write)
                .prop_map(|(at, len, write)| Operation::Transfer { at, len, write }),
        ]
    }

    /// A page of IOVAs: the number of its map, whether the device may write, and its place in the file.
    type Page = Option<(usize, bool, u64)>;

    proptest! {
        /// Compares the maps with the simplest model: a table of pages, and the file's bytes. Adjacent maps lie
        /// apart in the file, or on top of each other.
        #[test]
        fn transfers_agree_with_a_page_table(operations in prop::collection::vec(operations(), 1..60)) {
            let memory = file(64);
            let mut bytes = vec![0; 64 * PAGE_SIZE as usize];
            let mut table = DmaTable::new();
            let mut pages: Vec<Page> = vec![None; 64];
            for (number, operation) in operations.into_iter().enumerate() {
                match operation {
                    Operation::Map { page, pages: count, write } => {
                        let range = page as usize..(page + count) as usize;
                        let free = pages[range.clone()].iter().all(Option::is_none);
                        let (copy, place) = (memory.try_clone().unwrap(), 37 * page % 58);
                        let result = table.map(page * PAGE_SIZE, count * PAGE_SIZE, permissions(true, write), Some(copy), place * PAGE_SIZE);
                        prop_assert_eq!(result.is_ok(), free);
                        if free {
                            pages[range].iter_mut().zip(place..).for_each(|(page, place)| *page = Some((number, write, place)));
                        }
                    }
                    Operation::Unmap { page, pages: count } => {
                        let range = page as usize..(page + count) as usize;
                        let maps = |slots: &[Page]| BTreeSet::from_iter(slots.iter().flatten().map(|page| page.0));
                        let inside = maps(&pages[range.clone()]);
                        let beside = &maps(&pages[..range.start]) | &maps(&pages[range.end..]);
                        let expected = inside.is_disjoint(&beside).then_some(inside.len());
                        prop_assert_eq!(table.unmap(page * PAGE_SIZE, count * PAGE_SIZE).ok(), expected);
                        if expected.is_some() {
                            pages[range].fill(None);
                        }
                    }
                    Operation::Transfer { at, len, write } => {
                        let place = |iova: u64| {
                            let (_, writable, place) = pages[(iova / PAGE_SIZE) as usize]?;
                            (writable || !write).then_some((place * PAGE_SIZE + iova % PAGE_SIZE) as usize)
                        };
                        let places: Option<Vec<usize>> = (at..at + len).map(place).collect();
                        let mut data = vec![number as u8; len as usize];
                        let result = if write { table.write(at, &data) } else { table.read(at, &mut data) };
                        prop_assert_eq!(result.is_ok(), places.is_some());
                        for (place, byte) in places.into_iter().flatten().zip(data) {
                            if write {
                                bytes[place] = byte;
                            }
                            prop_assert_eq!(bytes[place], byte);
                        }
                    }
                }
            }
            let distinct: BTreeSet<_> = pages.iter().flatten().map(|page| page.0).collect();
            prop_assert_eq!(table.len(), distinct.len());
        }
    }
}
