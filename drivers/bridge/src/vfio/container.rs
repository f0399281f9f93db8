//! `/dev/vfio/vfio`: a container with the IOMMU driver type1.

use crate::dma::table::{usable_ranges, PAGE};
use crate::objects::Id;
use crate::ports::config;
use crate::state::{Space, SpaceId, State};
use crate::sys::Errno;
use crate::user_memory;
use crate::vfio::capabilities::{write_answer, Capability};
use crate::vfio::numbers::{
    CHECK_EXTENSION, GET_API_VERSION, IOMMU_GET_INFO, IOMMU_MAP_DMA, IOMMU_UNMAP_DMA, SET_IOMMU,
};

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
    if !has_group || space.version_2.is_some() {
        return Err(Errno(libc::EINVAL));
    }
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
    let room: u32 = user_memory::read(at)?;
    // Programs from before the capabilities have a structure of 16 bytes.
    if room < 16 {
        return Err(Errno(libc::EINVAL));
    }
    let ranges = usable_ranges(config().map_or(48, |config| config.address_width));
    let mut data = [ranges.len() as u32, 0].map(u32::to_ne_bytes).concat();
    for (first, last) in ranges {
        data.extend([first, last].map(u64::to_ne_bytes).concat());
    }
    let capabilities = [
        Capability {
            id: IOVA_RANGES,
            version: 1,
            data,
        },
        Capability {
            id: DMA_AVAILABLE,
            version: 1,
            data: space.table.left().to_ne_bytes().to_vec(),
        },
    ];
    let mut fixed = [room, FLAG_PAGE_SIZES | FLAG_CAPABILITIES]
        .map(u32::to_ne_bytes)
        .concat();
    fixed.extend(PAGE_SIZES.to_ne_bytes());
    fixed.extend([0; 8]);
    write_answer(at, room, fixed, 16, &capabilities)?;
    Ok(0)
}

fn map(state: &mut State, id: Id, at: u64) -> Result<u64, Errno> {
    const READ_WRITE: u32 = 3;
    let [argsz, flags] = [
        user_memory::read::<u32>(at)?,
        user_memory::read::<u32>(at + 4)?,
    ];
    let [memory, iova, size] = longs(at + 8)?;
    let access = flags & READ_WRITE;
    if argsz < 32 || flags & !READ_WRITE != 0 || access == 0 || memory % PAGE != 0 {
        return Err(Errno(libc::EINVAL));
    }
    if memory.checked_add(size.wrapping_sub(1)).is_none() {
        return Err(Errno(libc::EINVAL));
    }
    state.map(SpaceId::Container(id), iova, memory, size, access)?;
    Ok(0)
}

fn unmap(state: &mut State, id: Id, at: u64, version_2: bool) -> Result<u64, Errno> {
    const ALL: u32 = 2;
    let [argsz, flags] = [
        user_memory::read::<u32>(at)?,
        user_memory::read::<u32>(at + 4)?,
    ];
    let [iova, size] = longs(at + 8)?;
    // The kernel knows two more flags: one needs migration, the other VFIO_UPDATE_VADDR.
    if argsz < 24 || flags & !ALL != 0 {
        return Err(Errno(libc::EINVAL));
    }
    let last = if flags == ALL {
        if iova != 0 || size != 0 {
            return Err(Errno(libc::EINVAL));
        }
        u64::MAX
    } else {
        if size == 0 || iova % PAGE != 0 || size % PAGE != 0 {
            return Err(Errno(libc::EINVAL));
        }
        iova.checked_add(size - 1).ok_or(Errno(libc::EINVAL))?
    };
    let freed = state.unmap(
        SpaceId::Container(id),
        iova,
        last,
        version_2 && flags != ALL,
    )?;
    user_memory::write_bytes(at + 16, &freed.to_ne_bytes())?;
    Ok(0)
}

/// Reads consecutive words of 8 bytes.
pub(crate) fn longs<const N: usize>(at: u64) -> Result<[u64; N], Errno> {
    let mut values = [0; N];
    for (index, value) in values.iter_mut().enumerate() {
        let mut bytes = [0; 8];
        user_memory::read_bytes(at + 8 * index as u64, &mut bytes)?;
        *value = u64::from_ne_bytes(bytes);
    }
    Ok(values)
}
