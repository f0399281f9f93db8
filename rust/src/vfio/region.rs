//! Regions of a device: their description (linux/vfio.h), and mapping BAR0.
#![forbid(unsafe_code)]

use std::os::fd::BorrowedFd;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::sys::mmio::Area;

// Regions of a PCI device, as linux/vfio.h numbers them.
pub(super) const REGION_BAR0: u32 = 0;
pub(super) const REGION_CONFIG: u32 = 7;

// Of struct vfio_region_info and its capabilities (linux/vfio.h).
const REGION_INFO_FLAG_MMAP: u32 = 1 << 2;
const REGION_INFO_FLAG_CAPS: u32 = 1 << 3;
const REGION_INFO_CAP_SPARSE_MMAP: u16 = 1;
pub(super) const REGION_INFO_SIZE: usize = 32;

/// Room for a description and its capabilities.
pub(super) const MAX_INFO: usize = 4096;

const MAX_AREAS: usize = 8;

/// `N` bytes at `offset` of a description, or `None` if it is too short.
fn bytes<const N: usize>(info: &[u8], offset: usize) -> Option<[u8; N]> {
    info.get(offset..)?.first_chunk().copied()
}

pub(super) fn u16_at(info: &[u8], offset: usize) -> Option<u16> {
    bytes(info, offset).map(u16::from_le_bytes)
}

pub(super) fn u32_at(info: &[u8], offset: usize) -> Option<u32> {
    bytes(info, offset).map(u32::from_le_bytes)
}

pub(super) fn u64_at(info: &[u8], offset: usize) -> Option<u64> {
    bytes(info, offset).map(u64::from_le_bytes)
}

/// The contents of a `struct vfio_region_info` and of the capabilities that follow it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RegionInfo {
    pub(super) size: u64,
    pub(super) file_offset: u64,
    /// Offset and size of each area that may be mapped.
    pub(super) areas: Vec<(u64, u64)>,
}

impl RegionInfo {
    /// `None` if the description is truncated, or its capabilities loop.
    pub(super) fn parse(info: &[u8]) -> Option<Self> {
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
        while next != 0 {
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
            // Offsets of capabilities must ascend. Otherwise the list could loop.
            if after != 0 && after <= next {
                return None;
            }
            next = after;
        }
        parsed.areas.push((0, size));
        Some(parsed)
    }
}

/// Maps the areas of BAR0 that `info` allows. `fd` is the file of the region.
pub(super) fn map_bar0(
    address: &str,
    fd: BorrowedFd<'_>,
    info: &RegionInfo,
) -> Result<Vec<Rc<Area>>> {
    if info.areas.len() > MAX_AREAS {
        return Err(Error::device(
            address,
            format!("BAR0 has more than {MAX_AREAS} mappable areas"),
        ));
    }
    let mut areas = Vec::with_capacity(info.areas.len());
    for &(offset, size) in &info.areas {
        let end = offset.checked_add(size);
        if size == 0 || end.is_none_or(|end| end > info.size) {
            return Err(Error::device(address, "a mappable area lies outside BAR0"));
        }
        let area = usize::try_from(size)
            .map_err(|_| std::io::ErrorKind::InvalidInput.into())
            .and_then(|size| Area::map(fd, info.file_offset.wrapping_add(offset), offset, size))
            .map_err(|source| {
                Error::call(address, format!("mmap of BAR0 at {offset:#x}"), source)
            })?;
        areas.push(Rc::new(area));
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
        for word in [32, REGION_INFO_FLAG_MMAP | REGION_INFO_FLAG_CAPS, 0, 32] {
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
        let mut endless = good;
        endless[40..44].copy_from_slice(&[0xff; 4]);
        assert_eq!(RegionInfo::parse(&endless), None);
    }

    proptest! {
        #[test]
        fn no_description_panics(info in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = RegionInfo::parse(&info);
        }
    }
}
