//! Regions of a device: their description (linux/vfio.h), and mapping BAR0.
#![forbid(unsafe_code)]

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::sys::mapping::page_size;
use crate::sys::mmio::{Area, BarFile};

// Regions of a PCI device, as linux/vfio.h numbers them.
pub(crate) const REGION_BAR0: u32 = 0;
pub(crate) const REGION_CONFIG: u32 = 7;

// Of struct vfio_region_info and its capabilities (linux/vfio.h).
const REGION_INFO_FLAG_MMAP: u32 = 1 << 2;
const REGION_INFO_FLAG_CAPS: u32 = 1 << 3;
const REGION_INFO_CAP_SPARSE_MMAP: u16 = 1;
pub(crate) const REGION_INFO_SIZE: usize = 32;
const CAP_HEADER_SIZE: usize = 8;

/// Room for a description and its capabilities.
pub(crate) const MAX_INFO: usize = 4096;

const MAX_AREAS: usize = 8;

/// `N` bytes at `offset` of a description, or `None` if it is too short.
fn bytes<const N: usize>(info: &[u8], offset: usize) -> Option<[u8; N]> {
    info.get(offset..)?.first_chunk().copied()
}

pub(crate) fn u16_at(info: &[u8], offset: usize) -> Option<u16> {
    bytes(info, offset).map(u16::from_le_bytes)
}

pub(crate) fn u32_at(info: &[u8], offset: usize) -> Option<u32> {
    bytes(info, offset).map(u32::from_le_bytes)
}

pub(crate) fn u64_at(info: &[u8], offset: usize) -> Option<u64> {
    bytes(info, offset).map(u64::from_le_bytes)
}

/// The contents of a `struct vfio_region_info` and of the capabilities that follow it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RegionInfo {
    pub(crate) size: u64,
    pub(crate) file_offset: u64,
    /// Offset and size of each area that may be mapped.
    pub(crate) areas: Vec<(u64, u64)>,
}

impl RegionInfo {
    /// `None` if the description is truncated, or its capabilities loop. Its first word, argsz, is the
    /// size of the whole description: a longer one would lack its capabilities.
    pub(crate) fn parse(info: &[u8]) -> Option<Self> {
        let info = info.get(..u32_at(info, 0)? as usize)?;
        let flags = u32_at(info, 4)?;
        let size = u64_at(info, 16)?;
        let mut parsed = Self {
            size,
            file_offset: u64_at(info, 24)?,
            areas: Vec::new(),
        };
        if flags & REGION_INFO_FLAG_MMAP == 0 {
            return Some(parsed);
        }
        let mut next = match flags & REGION_INFO_FLAG_CAPS {
            0 => 0,
            _ => u32_at(info, 12)? as usize,
        };
        let mut least = REGION_INFO_SIZE;
        while next != 0 {
            // Offsets of capabilities must ascend. Otherwise the list could loop.
            if next < least {
                return None;
            }
            let id = u16_at(info, next)?;
            let after = u32_at(info, next + 4)? as usize;
            if id == REGION_INFO_CAP_SPARSE_MMAP {
                for i in 0..u32_at(info, next + 8)? as usize {
                    let at = next + 16 + i * 16;
                    parsed
                        .areas
                        .push((u64_at(info, at)?, u64_at(info, at + 8)?));
                }
                return Some(parsed);
            }
            least = next + CAP_HEADER_SIZE;
            next = after;
        }
        parsed.areas.push((0, size));
        Some(parsed)
    }
}

/// Why an area of BAR0 cannot be mapped from `file_size` bytes of a file, beside the areas before it.
fn area_fault(
    info: &RegionInfo,
    file_size: u64,
    before: &[(u64, u64)],
    (offset, size): (u64, u64),
) -> Option<String> {
    let page = page_size();
    let end = offset.checked_add(size).filter(|&end| end <= info.size);

    let Some(end) = end.filter(|_| size > 0) else {
        return Some("a mappable area lies outside BAR0".to_owned());
    };
    // mmap checks only the place in the file. The registers would lie elsewhere in the pages.
    if (offset | size | info.file_offset) % page != 0 {
        return Some(format!(
            "a mappable area of BAR0 is not whole pages of its file: {size:#x} bytes at {offset:#x}"
        ));
    }
    if file_size
        .checked_sub(info.file_offset)
        .is_none_or(|left| end > left)
    {
        return Some("a mappable area of BAR0 lies beyond the end of the file".to_owned());
    }
    let overlaps = |&(other, other_size): &(u64, u64)| offset < other + other_size && other < end;
    if before.iter().any(overlaps) {
        return Some(format!("two mappable areas of BAR0 overlap at {offset:#x}"));
    }
    None
}

/// Maps the areas of BAR0 that `info` allows: each is whole pages inside BAR0 and inside `file`,
/// the file of the region, and none overlap.
pub(crate) fn map_bar0(
    address: &str,
    file: &BarFile<'_>,
    info: &RegionInfo,
) -> Result<Vec<Arc<Area>>> {
    if info.areas.len() > MAX_AREAS {
        return Err(Error::device(
            address,
            format!("BAR0 has more than {MAX_AREAS} mappable areas"),
        ));
    }
    let mut areas = Vec::with_capacity(info.areas.len());
    for (i, &(offset, size)) in info.areas.iter().enumerate() {
        if let Some(fault) = area_fault(info, file.size(), &info.areas[..i], (offset, size)) {
            return Err(Error::device(address, fault));
        }
        let area = usize::try_from(size)
            .map_err(|_| std::io::ErrorKind::InvalidInput.into())
            .and_then(|size| Area::map(file, info.file_offset + offset, offset, size))
            .map_err(|source| {
                Error::call(address, format!("mmap of BAR0 at {offset:#x}"), source)
            })?;
        areas.push(Arc::new(area));
    }
    Ok(areas)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A description with one capability, which lists two areas.
    fn description() -> Vec<u8> {
        let mut info = Vec::new();
        for word in [80, REGION_INFO_FLAG_MMAP | REGION_INFO_FLAG_CAPS, 0, 32] {
            info.extend(u32::to_le_bytes(word));
        }
        info.extend(u64::to_le_bytes(0x20000));
        info.extend(u64::to_le_bytes(0));
        info.extend(REGION_INFO_CAP_SPARSE_MMAP.to_le_bytes());
        info.extend(u16::to_le_bytes(1));
        for word in [0, 2, 0] {
            info.extend(u32::to_le_bytes(word));
        }
        for number in [0x1000, 0x1000, 0x6000, 0x2000] {
            info.extend(u64::to_le_bytes(number));
        }
        info
    }

    #[test]
    fn the_areas_described_are_found() {
        let parsed = RegionInfo::parse(&description()).unwrap();
        assert_eq!(parsed.areas, vec![(0x1000, 0x1000), (0x6000, 0x2000)]);
        let mut whole = description();
        whole[4] = REGION_INFO_FLAG_MMAP as u8;
        let parsed = RegionInfo::parse(&whole).unwrap();
        assert_eq!(parsed.areas, vec![(0, 0x20000)]);
        whole[4] = 0;
        assert_eq!(RegionInfo::parse(&whole).unwrap().areas, vec![]);
    }

    #[test]
    fn a_wrong_description_is_refused() {
        let good = description();
        for size in 0..good.len() {
            assert_eq!(RegionInfo::parse(&good[..size]), None);
        }
        let mut looping = good.clone();
        looping[32] = 77;
        looping[36] = 32;
        assert_eq!(RegionInfo::parse(&looping), None);
        let mut inside_itself = good.clone();
        inside_itself[12] = 8;
        assert_eq!(RegionInfo::parse(&inside_itself), None);
        for argsz in [0, 31, 32, 79, 81, u32::MAX] {
            let mut lying = good.clone();
            lying[..4].copy_from_slice(&argsz.to_le_bytes());
            assert_eq!(RegionInfo::parse(&lying), None, "argsz {argsz}");
        }
        let mut endless = good;
        endless[40..44].copy_from_slice(&[0xff; 4]);
        assert_eq!(RegionInfo::parse(&endless), None);
    }

    #[test]
    fn an_area_is_whole_pages_of_bar0_and_of_its_file() {
        let page = page_size();
        let fault = |file_offset, file_size, areas: &[(u64, u64)]| {
            let info = RegionInfo {
                size: 32 * page,
                file_offset,
                areas: Vec::new(),
            };
            let (last, before) = areas.split_last().unwrap();
            area_fault(&info, file_size, before, *last).unwrap_or_default()
        };
        assert_eq!(fault(0, 32 * page, &[(0, page), (page, 31 * page)]), "");
        assert_eq!(fault(page, 3 * page, &[(0, 2 * page)]), "");
        assert_eq!(fault(0, u64::MAX, &[(0, 32 * page)]), "");
        for (offset, size) in [(0, 0), (0, 33 * page), (u64::MAX - 1, 2), (page, 32 * page)] {
            assert!(fault(0, u64::MAX, &[(offset, size)]).contains("outside BAR0"));
        }
        for (file_offset, offset, size) in [
            (page - 0x1a, 0x1a, page),
            (0, page, page / 2),
            (page / 2, 0, page),
        ] {
            let fault = fault(file_offset, u64::MAX, &[(offset, size)]);
            assert!(fault.contains("whole pages"), "{fault}");
        }
        for (file_offset, file_size) in [(0, page), (page, 2 * page), (2 * page, page)] {
            let fault = fault(file_offset, file_size, &[(0, 2 * page)]);
            assert!(fault.contains("end of the file"), "{fault}");
        }
        let past_the_end = u64::MAX - page + 1;
        assert!(fault(past_the_end, u64::MAX, &[(0, 2 * page)]).contains("end of the file"));
        let overlapping = fault(
            0,
            u64::MAX,
            &[(0, page), (page, 2 * page), (2 * page, page)],
        );
        assert!(overlapping.contains("overlap"));
    }

    proptest! {
        #[test]
        fn no_description_panics(info in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = RegionInfo::parse(&info);
        }
    }
}
