//! `/dev/vfio/N`: a group.

use crate::mmio::bars;
use crate::objects::{Id, Kind, Node};
use crate::ports::{all, Port};
use crate::state::{Device, Group, SpaceId, State};
use crate::sys::{self, refuse_if, Errno};
use crate::user_memory;
use crate::vfio::numbers::*;

/// Answers a request to a group.
pub(crate) fn request(state: &mut State, id: Id, request: u64, at: u64) -> Result<u64, Errno> {
    let index = state.groups.iter().position(|group| group.id == id);
    let index = index.ok_or(Errno(libc::EBADF))?;
    match request {
        GROUP_GET_STATUS => get_status(&state.groups[index], at),
        GROUP_SET_CONTAINER => set_container(state, index, at),
        GROUP_UNSET_CONTAINER => unset_container(state, index),
        GROUP_GET_DEVICE_FD => get_device(state, index, at),
        _ => Err(Errno(libc::ENOTTY)),
    }
}

fn get_status(group: &Group, at: u64) -> Result<u64, Errno> {
    const VIABLE: u32 = 1;
    const CONTAINER_SET: u32 = 2;
    let [_, _] = user_memory::read_sized(at)?;
    let set = group.container.map_or(0, |_| CONTAINER_SET);
    user_memory::write(at + 4, VIABLE | set)?;
    Ok(0)
}

fn set_container(state: &mut State, index: usize, at: u64) -> Result<u64, Errno> {
    let fd: i32 = user_memory::read(at)?;
    refuse_if(
        fd < 0 || state.groups[index].container.is_some(),
        libc::EINVAL,
    )?;
    sys::file_id(fd)?;
    match state.object(fd)? {
        Some((container, Kind::Node(Node::Container))) => {
            state.groups[index].container = Some(container);
            Ok(0)
        }
        _ => Err(Errno(libc::EINVAL)),
    }
}

fn unset_container(state: &mut State, index: usize) -> Result<u64, Errno> {
    let number = state.groups[index].number;
    refuse_if(state.groups[index].container.is_none(), libc::EINVAL)?;
    let in_group = |device: &Device| device.port.group() == number;
    refuse_if(state.devices.iter().any(in_group), libc::EBUSY)?;
    state.groups[index].container = None;
    state.release_closed();
    Ok(0)
}

fn get_device(state: &mut State, index: usize, at: u64) -> Result<u64, Errno> {
    let name = user_memory::read_name(at)?;
    let number = state.groups[index].number;
    let container = state.groups[index].container.ok_or(Errno(libc::EINVAL))?;
    let id = SpaceId::Container(container);
    let iommu = state.space(id).and_then(|space| space.version_2);
    refuse_if(iommu.is_none(), libc::EINVAL)?;
    let named = |port: &Port| port.group() == number && port.address() == name;
    let port = all().find(named).ok_or(Errno(libc::ENODEV))?;
    bars::forget_unmapped();
    state.release_closed();
    let (fd, object) = state.objects.create(Kind::Device(port))?;
    if let Some(device) = state.device(port) {
        // The kernel gives out an open device again. Both descriptors then are one device.
        device.ids.push(object);
        return Ok(fd.into_number() as u64);
    }
    let device = Device::new(port, object, false, Some(id));
    if let Err(error) = state.open_device(port, device) {
        drop(fd);
        state.release_closed();
        return Err(error);
    }
    Ok(fd.into_number() as u64)
}
