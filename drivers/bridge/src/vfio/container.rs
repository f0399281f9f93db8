//! `/dev/vfio/vfio`: a container with the IOMMU driver type1.

use crate::dma::table::{usable_ranges, PAGE};
use crate::objects::Id;
use crate::ports::address_width;
use crate::state::{Space, SpaceId, State};
use crate::sys::{refuse_if, Errno};
use crate::user_memory::{self, halves, longs};
use crate::vfio::capabilities::write_answer;
use crate::vfio::numbers::*;

const TYPE1: u64 = 1;
const TYPE1_V2: u64 = 3;
/// Extensions of type1 that exist here: coherent DMA, and unmapping everything.
const EXTENSIONS: [u64; 4] = [TYPE1, TYPE1_V2, 4, 9];
/// Pages of 4 KiB, 2 MiB and 1 GiB, as an Intel IOMMU has them.
const PAGE_SIZES: u64 = PAGE | 1 << 21 | 1 << 30;

/// Answers a request to a container.
pub(crate) fn request(state: &mut State, id: Id, request: u64, at: u64) -> Result<u64, Errno> {
    match request {
        GET_API_VERSION => return Ok(0),
        CHECK_EXTENSION => return Ok(u64::from(EXTENSIONS.contains(&at))),
        SET_IOMMU => return set_iommu(state, id, at),
        _ => {}
    }
    let space = state
        .space(SpaceId::Container(id))
        .ok_or(Errno(libc::EBADF))?;
    // Without an IOMMU the kernel has no driver that could know the request.
    let Some(version_2) = space.version_2 else {
        return Err(Errno(libc::EINVAL));
    };
    match request {
        IOMMU_GET_INFO => get_info(space, at),
        IOMMU_MAP_DMA => map(state, id, at),
        IOMMU_UNMAP_DMA => unmap(state, id, at, version_2),
        _ => Err(Errno(libc::ENOTTY)),
    }
}

fn set_iommu(state: &mut State, id: Id, kind: u64) -> Result<u64, Errno> {
    let has_group = state.groups.iter().any(|group| group.container == Some(id));
    let space = state
        .space(SpaceId::Container(id))
        .ok_or(Errno(libc::EBADF))?;
    refuse_if(!has_group || space.version_2.is_some(), libc::EINVAL)?;
    match kind {
        TYPE1 | TYPE1_V2 => space.version_2 = Some(kind == TYPE1_V2),
        _ => return Err(Errno(libc::ENODEV)),
    }
    Ok(0)
}

fn get_info(space: &Space, at: u64) -> Result<u64, Errno> {
    const FLAG_PAGE_SIZES: u32 = 1;
    const FLAG_CAPABILITIES: u32 = 2;
    const IOVA_RANGES: u16 = 1;
    const DMA_AVAILABLE: u16 = 3;
    // Programs from before the capabilities have a structure of 16 bytes.
    let [room, ..]: [u32; 4] = user_memory::read_sized(at)?;
    let ranges = usable_ranges(address_width());
    let mut data = [ranges.len() as u32, 0].map(u32::to_ne_bytes).concat();
    for (first, last) in ranges {
        data.extend([first, last].map(u64::to_ne_bytes).concat());
    }
    let left = space.table.left().to_ne_bytes().to_vec();
    let capabilities = [(IOVA_RANGES, data), (DMA_AVAILABLE, left)];
    let ([low, high], flags) = (halves(PAGE_SIZES), FLAG_PAGE_SIZES | FLAG_CAPABILITIES);
    write_answer(at, [room, flags, low, high, 0, 0], 4, &capabilities)
}

fn map(state: &mut State, id: Id, at: u64) -> Result<u64, Errno> {
    const READ_WRITE: u32 = 3;
    let [_, flags, rest @ ..]: [u32; 8] = user_memory::read_sized(at)?;
    let [memory, iova, size] = longs(rest);
    refuse_if(flags & !READ_WRITE != 0 || flags == 0, libc::EINVAL)?;
    let end = memory.checked_add(size.wrapping_sub(1));
    refuse_if(memory % PAGE != 0 || end.is_none(), libc::EINVAL)?;
    state.map(SpaceId::Container(id), iova, memory, size, flags)?;
    Ok(0)
}

fn unmap(state: &mut State, id: Id, at: u64, version_2: bool) -> Result<u64, Errno> {
    const ALL: u32 = 2;
    let [_, flags, rest @ ..]: [u32; 6] = user_memory::read_sized(at)?;
    let [iova, size] = longs(rest);
    // The kernel knows two more flags: one needs migration, the other VFIO_UPDATE_VADDR.
    refuse_if(flags & !ALL != 0, libc::EINVAL)?;
    let last = if flags == ALL {
        refuse_if(iova != 0 || size != 0, libc::EINVAL)?;
        u64::MAX
    } else {
        refuse_if(
            size == 0 || iova % PAGE != 0 || size % PAGE != 0,
            libc::EINVAL,
        )?;
        iova.checked_add(size - 1).ok_or(Errno(libc::EINVAL))?
    };
    let whole = version_2 && flags != ALL;
    let freed = state.unmap(SpaceId::Container(id), iova, last, whole)?;
    user_memory::write(at + 16, freed)?;
    Ok(0)
}
