//! Passes the program's requests on to the object of their descriptor.

use crate::card::connection::owns_turn;
use crate::dma::backing::own_descriptors;
use crate::dma::{files, huge};
use crate::iommufd;
use crate::objects::{nodes, Kind, Node};
use crate::ports::{all, config, Port};
use crate::say::trace;
use crate::state::{any_device, lock};
use crate::sys::{self, Errno, MapRequest};
use crate::vfio::{container, device, group, region};

/// Makes the object of a placeholder that the program has just opened. On an error the program
/// must not get the descriptor.
pub(crate) fn opened(fd: i32) -> Result<(), Errno> {
    let mut state = lock();
    match state.objects.placeholder(fd) {
        Some(node) => state.adopt(fd, node).map(drop),
        None => Ok(()),
    }
}

/// Answers an ioctl. `None` if the descriptor is not VFIO's.
pub(crate) fn ioctl(fd: i32, request: u64, at: u64) -> Option<Result<u64, Errno>> {
    config()?;
    let request = request & 0xffff_ffff;
    let mut state = lock();
    let (id, kind) = match state.object(fd) {
        Ok(Some(found)) => found,
        Ok(None) => return None,
        Err(error) => return Some(Err(error)),
    };
    let result = match kind {
        Kind::Node(Node::Container) => container::request(&mut state, id, request, at),
        Kind::Node(Node::Group(_)) => group::request(&mut state, id, request, at),
        Kind::Node(Node::Iommufd) => iommufd::request(&mut state, id, request, at),
        Kind::Node(Node::Cdev(port)) => iommufd::device_request(&mut state, id, port, request, at),
        Kind::Device(port) => device::request(&mut state, port, request, at),
    };
    if let Err(error) = &result {
        trace(format_args!(
            "{kind:?}: request {}: {error:?}",
            request & 0xff
        ));
    }
    Some(result)
}

/// The port of an open device. A character device counts once it is bound.
fn device_of(fd: i32) -> Option<Port> {
    // Most programs read and map files long before they open a device.
    if !any_device() {
        return None;
    }
    let mut state = lock();
    match state.objects.find(fd)? {
        (_, Kind::Device(port)) => Some(port),
        (id, Kind::Node(Node::Cdev(port))) => state.is_bound(port, id).then_some(port),
        _ => None,
    }
}

/// Reads a region. `None` if the descriptor is not a device's.
pub(crate) fn pread(fd: i32, to: u64, len: usize, offset: u64) -> Option<Result<u64, Errno>> {
    device_of(fd).map(|port| region::read(port, to, len, offset))
}

/// Writes a region. `None` if the descriptor is not a device's.
pub(crate) fn pwrite(fd: i32, from: u64, len: usize, offset: u64) -> Option<Result<u64, Errno>> {
    device_of(fd).map(|port| region::write(port, from, len, offset))
}

/// Maps a region, or huge pages. `None` if the request is for the kernel.
pub(crate) fn mmap(request: &MapRequest) -> Option<Result<usize, Errno>> {
    config()?;
    if huge::is_huge(request) {
        return Some(huge::map(request));
    }
    if request.flags & libc::MAP_ANONYMOUS != 0 || request.fd < 0 {
        return None;
    }
    Some(region::map(device_of(request.fd)?, request))
}

/// Releases what the program has closed or unmapped.
pub(crate) fn after_close() {
    if config().is_some() {
        let mut state = lock();
        if state.objects.any_open() || !state.devices.is_empty() {
            state.release_closed();
        }
    }
}

/// Whether a descriptor is the bridge's own. The program must not close it.
pub(crate) fn is_internal(fd: i32) -> bool {
    all().any(|port| port.connection().owns(fd))
        || owns_turn(fd)
        || files::owns(fd)
        || lock().objects.owns(fd)
}

/// The bridge's own descriptors, in order.
pub(crate) fn internal_descriptors() -> Vec<i32> {
    let mut numbers = own_descriptors();
    numbers.retain(|fd| sys::may_be_internal(*fd) && is_internal(*fd));
    numbers.sort_unstable();
    numbers
}

/// The placeholder of a path, for a program that opens a node outside the launcher's namespace.
pub(crate) fn placeholder_path(path: &[u8]) -> Option<std::ffi::CString> {
    let config = config()?;
    let name = match path {
        b"/dev/iommu" => "iommu",
        _ => std::str::from_utf8(path.strip_prefix(b"/dev/vfio/")?).ok()?,
    };
    let (node, _) = nodes().into_iter().find(|(node, _)| node == name)?;
    let path = config.placeholders.join(node).into_os_string();
    std::ffi::CString::new(path.into_encoded_bytes()).ok()
}
