//! `/dev/iommu`, and `/dev/vfio/devices/vfioN`, the character devices that use it.

use crate::descriptors::object;
use crate::dma::private::release_unused;
use crate::dma::table::{usable_ranges, PAGE};
use crate::objects::{Id, Kind, Node};
use crate::ports::{config, Port};
use crate::state::{Device, Space, SpaceId, State};
use crate::sys::Errno;
use crate::user_memory;
use crate::vfio::container::longs;
use crate::vfio::device;
use crate::vfio::numbers::{
    DEVICE_ATTACH_IOMMUFD_PT, DEVICE_BIND_IOMMUFD, DEVICE_DETACH_IOMMUFD_PT, IOMMU_DESTROY,
    IOMMU_IOAS_ALLOC, IOMMU_IOAS_ALLOW_IOVAS, IOMMU_IOAS_COPY, IOMMU_IOAS_IOVA_RANGES,
    IOMMU_IOAS_MAP, IOMMU_IOAS_UNMAP, IOMMU_OPTION,
};

/// Reads the words of a structure. EINVAL if its size, the first word, is smaller.
fn words<const N: usize>(at: u64, size: u32) -> Result<[u32; N], Errno> {
    let mut words = [0; N];
    for (index, word) in words.iter_mut().enumerate() {
        *word = user_memory::read(at + 4 * index as u64)?;
    }
    if words[0] < size {
        return Err(Errno(libc::EINVAL));
    }
    Ok(words)
}

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
    let [_, flags] = words(at, 12)?;
    if flags != 0 {
        return Err(Errno(libc::EOPNOTSUPP));
    }
    let number = state.next_ioas;
    state.next_ioas += 1;
    user_memory::write(at + 8, &number)?;
    state.spaces.push(Space {
        id: SpaceId::Ioas(id, number),
        table: Default::default(),
        version_2: Some(true),
    });
    Ok(0)
}

fn destroy(state: &mut State, id: Id, at: u64) -> Result<u64, Errno> {
    let [_, number] = words(at, 8)?;
    let id = SpaceId::Ioas(id, number);
    state.space(id).ok_or(Errno(libc::ENOENT))?;
    if state.devices.iter().any(|device| device.space == Some(id)) {
        return Err(Errno(libc::EBUSY));
    }
    state.spaces.retain(|space| space.id != id);
    release_unused();
    Ok(0)
}

fn ranges(state: &mut State, id: Id, at: u64) -> Result<u64, Errno> {
    let [_, number, room, reserved] = words(at, 32)?;
    let [to] = longs(at + 16)?;
    if reserved != 0 {
        return Err(Errno(libc::EOPNOTSUPP));
    }
    state
        .space(SpaceId::Ioas(id, number))
        .ok_or(Errno(libc::ENOENT))?;
    let ranges = usable_ranges(config().map_or(48, |config| config.address_width));
    user_memory::write(at + 8, &(ranges.len() as u32))?;
    user_memory::write_bytes(at + 24, &PAGE.to_ne_bytes())?;
    for (index, (first, last)) in ranges.into_iter().take(room as usize).enumerate() {
        let range = [first, last].map(u64::to_ne_bytes).concat();
        user_memory::write_bytes(to + 16 * index as u64, &range)?;
    }
    if (room as usize) < ranges.len() {
        return Err(Errno(libc::EMSGSIZE));
    }
    Ok(0)
}

fn map(state: &mut State, id: Id, at: u64) -> Result<u64, Errno> {
    const FIXED_IOVA: u32 = 1;
    const WRITEABLE: u32 = 2;
    const READABLE: u32 = 4;
    let [_, flags, number, reserved] = words(at, 40)?;
    let [memory, size, wanted] = longs(at + 16)?;
    let known = FIXED_IOVA | WRITEABLE | READABLE;
    if flags & !known != 0 || reserved != 0 {
        return Err(Errno(libc::EOPNOTSUPP));
    }
    if flags & (WRITEABLE | READABLE) == 0 || memory % PAGE != 0 || size == 0 || size % PAGE != 0 {
        return Err(Errno(libc::EINVAL));
    }
    let id = SpaceId::Ioas(id, number);
    let space = state.space(id).ok_or(Errno(libc::ENOENT))?;
    let width = config().map_or(48, |config| config.address_width);
    let iova = match flags & FIXED_IOVA {
        0 => space
            .table
            .find_free(size, width)
            .ok_or(Errno(libc::ENOSPC))?,
        _ => wanted,
    };
    let access = u32::from(flags & READABLE != 0) | u32::from(flags & WRITEABLE != 0) << 1;
    state.map(id, iova, memory, size, access)?;
    user_memory::write_bytes(at + 32, &iova.to_ne_bytes())?;
    Ok(0)
}

fn unmap(state: &mut State, id: Id, at: u64) -> Result<u64, Errno> {
    let [_, number] = words(at, 24)?;
    let [iova, size] = longs(at + 8)?;
    let all = iova == 0 && size == u64::MAX;
    let last = iova
        .checked_add(size.wrapping_sub(1))
        .ok_or(Errno(libc::EOVERFLOW))?;
    if size == 0 {
        return Err(Errno(libc::EINVAL));
    }
    let freed = match state.unmap(SpaceId::Ioas(id, number), iova, last, !all) {
        // An iommufd has another error for a range that cuts a map.
        Err(Errno(libc::EINVAL)) => return Err(Errno(libc::ENOENT)),
        other => other?,
    };
    if freed == 0 && !all {
        return Err(Errno(libc::ENOENT));
    }
    user_memory::write_bytes(at + 16, &freed.to_ne_bytes())?;
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
    let bound = state
        .device(port)
        .is_some_and(|device| device.ids.contains(&id));
    match request {
        DEVICE_BIND_IOMMUFD => bind(state, id, port, at),
        _ if !bound => Err(Errno(libc::EINVAL)),
        DEVICE_ATTACH_IOMMUFD_PT => attach(state, port, at),
        DEVICE_DETACH_IOMMUFD_PT => {
            let [_, flags] = words(at, 8)?;
            if flags != 0 {
                return Err(Errno(libc::EINVAL));
            }
            state.detach(port).map(|()| 0)
        }
        _ => device::request(state, port, request, at),
    }
}

fn bind(state: &mut State, id: Id, port: Port, at: u64) -> Result<u64, Errno> {
    let [_, flags, fd] = words(at, 16)?;
    if flags != 0 || (fd as i32) < 0 {
        return Err(Errno(libc::EINVAL));
    }
    let object = object(state, fd as i32)?;
    let Some((_, Kind::Node(Node::Iommufd))) = object else {
        return Err(Errno(libc::EBADF));
    };
    if state
        .device(port)
        .is_some_and(|device| device.ids.contains(&id))
    {
        return Err(Errno(libc::EINVAL));
    }
    let group_open = state
        .groups
        .iter()
        .any(|group| group.number == port.group());
    if group_open || state.device(port).is_some() {
        return Err(Errno(libc::EBUSY));
    }
    if let Err(error) = state.open_device(port, Device::new(port, id, true, None)) {
        state.devices.retain(|device| device.port != port);
        return Err(error);
    }
    let number = state.next_ioas;
    state.next_ioas += 1;
    user_memory::write(at + 12, &number)?;
    Ok(0)
}

fn attach(state: &mut State, port: Port, at: u64) -> Result<u64, Errno> {
    let [_, flags, number] = words(at, 12)?;
    if flags != 0 {
        return Err(Errno(libc::EINVAL));
    }
    let found = state
        .spaces
        .iter()
        .map(|space| space.id)
        .find(|id| matches!(id, SpaceId::Ioas(_, ioas) if *ioas == number));
    let space = found.ok_or(Errno(libc::ENOENT))?;
    state.detach(port)?;
    state.attach(port, space)?;
    Ok(0)
}
