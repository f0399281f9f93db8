//! `/dev/iommu`, and `/dev/vfio/devices/vfioN`, the character devices that use it.

use crate::dma::private::release_unused;
use crate::dma::table::{usable_ranges, PAGE};
use crate::objects::{Id, Kind, Node};
use crate::ports::{address_width, Port};
use crate::state::{Device, Group, Space, SpaceId, State};
use crate::sys::{refuse_if, Errno};
use crate::user_memory::{self, longs, read_sized};
use crate::vfio::device;
use crate::vfio::numbers::*;

/// Answers a request to an iommufd.
pub(crate) fn request(state: &mut State, id: Id, request: u64, at: u64) -> Result<u64, Errno> {
    match request {
        IOMMU_IOAS_ALLOC => allocate(state, id, at),
        IOMMU_DESTROY => destroy(state, id, at),
        IOMMU_IOAS_IOVA_RANGES => ranges(state, id, at),
        IOMMU_IOAS_MAP => map(state, id, at),
        IOMMU_IOAS_UNMAP => unmap(state, id, at),
        IOMMU_IOAS_ALLOW_IOVAS | IOMMU_IOAS_COPY | IOMMU_OPTION => Err(Errno(libc::EOPNOTSUPP)),
        _ => Err(Errno(libc::ENOTTY)),
    }
}

fn allocate(state: &mut State, id: Id, at: u64) -> Result<u64, Errno> {
    let [_, flags, _] = read_sized(at)?;
    refuse_if(flags != 0, libc::EOPNOTSUPP)?;
    let number = state.new_number();
    user_memory::write(at + 8, number)?;
    state.spaces.push(Space {
        id: SpaceId::Ioas(id, number),
        table: Default::default(),
        version_2: Some(true),
    });
    Ok(0)
}

fn destroy(state: &mut State, id: Id, at: u64) -> Result<u64, Errno> {
    let [_, number] = read_sized(at)?;
    let id = SpaceId::Ioas(id, number);
    state.space(id).ok_or(Errno(libc::ENOENT))?;
    refuse_if(
        state.devices.iter().any(|device| device.space == Some(id)),
        libc::EBUSY,
    )?;
    state.spaces.retain(|space| space.id != id);
    release_unused();
    Ok(0)
}

fn ranges(state: &mut State, id: Id, at: u64) -> Result<u64, Errno> {
    let [_, number, room, reserved, rest @ ..]: [u32; 8] = read_sized(at)?;
    let [to, _] = longs(rest);
    refuse_if(reserved != 0, libc::EOPNOTSUPP)?;
    state
        .space(SpaceId::Ioas(id, number))
        .ok_or(Errno(libc::ENOENT))?;
    let ranges = usable_ranges(address_width());
    user_memory::write(at + 8, ranges.len() as u32)?;
    user_memory::write(at + 24, PAGE)?;
    for (place, (first, last)) in (to..).step_by(16).zip(ranges).take(room as usize) {
        user_memory::write(place, [first, last])?;
    }
    refuse_if((room as usize) < ranges.len(), libc::EMSGSIZE)?;
    Ok(0)
}

fn map(state: &mut State, id: Id, at: u64) -> Result<u64, Errno> {
    const FIXED_IOVA: u32 = 1;
    const WRITEABLE: u32 = 2;
    const READABLE: u32 = 4;
    let [_, flags, number, reserved, rest @ ..]: [u32; 10] = read_sized(at)?;
    let [memory, size, wanted] = longs(rest);
    let known = FIXED_IOVA | WRITEABLE | READABLE;
    refuse_if(flags & !known != 0 || reserved != 0, libc::EOPNOTSUPP)?;
    let unaligned = (memory | size) % PAGE != 0;
    refuse_if(
        flags & (WRITEABLE | READABLE) == 0 || size == 0 || unaligned,
        libc::EINVAL,
    )?;
    let id = SpaceId::Ioas(id, number);
    let space = state.space(id).ok_or(Errno(libc::ENOENT))?;
    let iova = match flags & FIXED_IOVA {
        0 => space.table.find_free(size, address_width()),
        _ => Some(wanted),
    };
    let iova = iova.ok_or(Errno(libc::ENOSPC))?;
    let access = u32::from(flags & READABLE != 0) | u32::from(flags & WRITEABLE != 0) << 1;
    state.map(id, iova, memory, size, access)?;
    user_memory::write(at + 32, iova)?;
    Ok(0)
}

fn unmap(state: &mut State, id: Id, at: u64) -> Result<u64, Errno> {
    let [_, number, rest @ ..]: [u32; 6] = read_sized(at)?;
    let [iova, size] = longs(rest);
    let all = iova == 0 && size == u64::MAX;
    let last = iova
        .checked_add(size.wrapping_sub(1))
        .ok_or(Errno(libc::EOVERFLOW))?;
    refuse_if(size == 0, libc::EINVAL)?;
    let freed = match state.unmap(SpaceId::Ioas(id, number), iova, last, !all) {
        // An iommufd has another error for a range that cuts a map.
        Err(Errno(libc::EINVAL)) => return Err(Errno(libc::ENOENT)),
        other => other?,
    };
    refuse_if(freed == 0 && !all, libc::ENOENT)?;
    user_memory::write(at + 16, freed)?;
    Ok(0)
}

/// Answers a request to a character device. It is a device once it is bound to an iommufd.
pub(crate) fn device_request(
    state: &mut State,
    id: Id,
    port: Port,
    request: u64,
    at: u64,
) -> Result<u64, Errno> {
    let bound = state.is_bound(port, id);
    match request {
        DEVICE_BIND_IOMMUFD => bind(state, id, port, at),
        _ if !bound => Err(Errno(libc::EINVAL)),
        DEVICE_ATTACH_IOMMUFD_PT => attach(state, port, at),
        DEVICE_DETACH_IOMMUFD_PT => {
            let [_, flags] = read_sized(at)?;
            refuse_if(flags != 0, libc::EINVAL)?;
            state.detach(port).map(|()| 0)
        }
        _ => device::request(state, port, request, at),
    }
}

fn bind(state: &mut State, id: Id, port: Port, at: u64) -> Result<u64, Errno> {
    let [_, flags, fd, _] = read_sized(at)?;
    refuse_if(flags != 0 || (fd as i32) < 0, libc::EINVAL)?;
    let object = state.object(fd as i32)?;
    let Some((_, Kind::Node(Node::Iommufd))) = object else {
        return Err(Errno(libc::EBADF));
    };
    refuse_if(state.is_bound(port, id), libc::EINVAL)?;
    let is_port = |group: &Group| group.number == port.group();
    let group_open = state.groups.iter().any(is_port);
    refuse_if(group_open || state.device(port).is_some(), libc::EBUSY)?;
    if let Err(error) = state.open_device(port, Device::new(port, id, true, None)) {
        state.devices.retain(|device| device.port != port);
        return Err(error);
    }
    let number = state.new_number();
    user_memory::write(at + 12, number)?;
    Ok(0)
}

fn attach(state: &mut State, port: Port, at: u64) -> Result<u64, Errno> {
    let [_, flags, number] = read_sized(at)?;
    refuse_if(flags != 0, libc::EINVAL)?;
    let mut ids = state.spaces.iter().map(|space| space.id);
    let space = ids.find(|id| matches!(id, SpaceId::Ioas(_, ioas) if *ioas == number));
    let space = space.ok_or(Errno(libc::ENOENT))?;
    state.detach(port)?;
    state.attach(port, space)?;
    Ok(0)
}
