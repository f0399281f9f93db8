//! An I/O address space: which IOVAs are mapped, with the kernel's rules for them.

use std::collections::BTreeMap;

use crate::card::requests::DmaPiece;
use crate::dma::backing::Part;
use crate::sys::{refuse_if, Errno};

/// Size and alignment of the smallest map.
pub(crate) const PAGE: u64 = 4096;
/// Most maps of an address space, as the kernel limits them (`dma_entry_limit`).
pub(crate) const MAX_MAPS: usize = 65535;
/// IOVAs that x86 machines reserve for interrupts.
const RESERVED: (u64, u64) = (0xfee0_0000, 0xfeef_ffff);

/// One map that the program made.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    pub(crate) size: u64,
    /// 1 to read, 2 to write.
    pub(crate) access: u32,
    pub(crate) parts: Vec<Part>,
}

impl Map {
    /// What the card is to map.
    pub(crate) fn pieces(&self, iova: u64) -> impl Iterator<Item = DmaPiece> + '_ {
        self.parts.iter().map(move |part| DmaPiece {
            iova: iova + part.at,
            size: part.len,
            fd: part.file.fd(),
            offset: part.offset,
            access: self.access,
        })
    }
}

/// The maps of an address space, by IOVA.
#[derive(Debug, Default)]
pub(crate) struct Table {
    maps: BTreeMap<u64, Map>,
}

/// The usable ranges of IOVAs, first and last, of an IOMMU with so many address bits.
pub(crate) fn usable_ranges(address_width: u8) -> [(u64, u64); 2] {
    let last = (1_u64 << address_width) - 1;
    [(0, RESERVED.0 - 1), (RESERVED.1 + 1, last)]
}

impl Table {
    /// Checks a range before it is mapped.
    pub(crate) fn check(&self, iova: u64, size: u64, address_width: u8) -> Result<(), Errno> {
        let last = iova
            .checked_add(size.wrapping_sub(1))
            .ok_or(Errno(libc::EINVAL))?;
        refuse_if(
            size == 0 || iova % PAGE != 0 || size % PAGE != 0,
            libc::EINVAL,
        )?;
        refuse_if(self.overlaps(iova, last), libc::EEXIST)?;
        refuse_if(self.maps.len() >= MAX_MAPS, libc::ENOSPC)?;
        let is_inside = |(first, end): &(u64, u64)| *first <= iova && last <= *end;
        let usable = usable_ranges(address_width);
        refuse_if(!usable.iter().any(is_inside), libc::EINVAL)
    }

    fn overlaps(&self, first: u64, last: u64) -> bool {
        let before = self.maps.range(..=last).next_back();
        before.is_some_and(|(iova, map)| iova + (map.size - 1) >= first)
    }

    /// Adds a map whose range was checked.
    pub(crate) fn insert(&mut self, iova: u64, map: Map) {
        self.maps.insert(iova, map);
    }

    /// Removes the maps that lie in a range. With `whole`, a map that only overlaps it is EINVAL;
    /// otherwise it stays. Returns the IOVA and the size of each.
    pub(crate) fn remove(
        &mut self,
        first: u64,
        last: u64,
        whole: bool,
    ) -> Result<Vec<(u64, u64)>, Errno> {
        let cut = |at: u64| {
            let before = self.maps.range(..at).next_back();
            before.is_some_and(|(iova, map)| iova + (map.size - 1) >= at)
        };
        let cut_end = last.checked_add(1).is_some_and(cut);
        refuse_if(whole && (cut(first) || cut_end), libc::EINVAL)?;
        let maps = self.maps.range(first..=last);
        let maps = maps.map(|(iova, map)| (*iova, map.size));
        let inside: Vec<_> = maps
            .filter(|(iova, size)| iova + (size - 1) <= last)
            .collect();
        for (iova, _) in &inside {
            self.maps.remove(iova);
        }
        Ok(inside)
    }

    /// Every map, by IOVA.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Map)> {
        self.maps.iter().map(|(iova, map)| (*iova, map))
    }

    /// Maps that may still be made.
    pub(crate) fn left(&self) -> u32 {
        (MAX_MAPS - self.maps.len()) as u32
    }

    /// Bytes that are mapped.
    pub(crate) fn bytes(&self) -> u64 {
        self.maps.values().map(|map| map.size).sum()
    }

    /// A free range of IOVAs of this size, as low as possible but never 0.
    pub(crate) fn find_free(&self, size: u64, address_width: u8) -> Option<u64> {
        for (first, end) in usable_ranges(address_width) {
            let mut at = first.max(PAGE);
            for (iova, map) in self.maps.range(..=end) {
                let map_end = iova + map.size;
                if map_end <= at {
                    continue;
                }
                if *iova >= at && iova - at >= size {
                    break;
                }
                at = map_end;
            }
            if at.checked_add(size - 1).is_some_and(|last| last <= end) {
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_range_lies_between_maps() {
        let mut table = Table::default();
        for iova in [0x1000, 0x4000] {
            let (size, access, parts) = (0x1000, 3, Vec::new());
            table.insert(
                iova,
                Map {
                    size,
                    access,
                    parts,
                },
            );
        }
        assert_eq!(table.find_free(0x2000, 48), Some(0x2000));
        assert_eq!(table.find_free(0x3000, 48), Some(0x5000));
        assert_eq!(table.find_free(1 << 32, 48), Some(0xfef0_0000));
        assert_eq!(table.find_free(1 << 48, 48), None);
    }
}
