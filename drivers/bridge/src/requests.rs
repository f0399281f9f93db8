//! Passes the program's requests on to the object of their descriptor.

use crate::descriptors::{adopt, object};
use crate::iommufd;
use crate::objects::{Kind, Node};
use crate::ports::{all, config, Port};
use crate::say::trace;
use crate::state::lock;
use crate::sys::{self, Errno};
use crate::vfio::{container, device, group, region};

/// Makes the object of a placeholder that the program has just opened. On an error the program
/// must not get the descriptor.
pub(crate) fn opened(fd: i32) -> Result<(), Errno> {
    if config().is_none() {
        return Ok(());
    }
    let mut state = lock();
    match state.objects.placeholder(fd) {
        Some(node) => adopt(&mut state, fd, node).map(drop),
        None => Ok(()),
    }
}

/// Answers an ioctl. `None` if the descriptor is not VFIO's.
pub(crate) fn ioctl(fd: i32, request: u64, at: u64) -> Option<Result<u64, Errno>> {
    config()?;
    let request = request & 0xffff_ffff;
    let mut state = lock();
    let (id, kind) = match object(&mut state, fd) {
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
    if !crate::state::any_device() {
        return None;
    }
    let mut state = lock();
    match state.objects.find(fd)? {
        (_, Kind::Device(port)) => Some(port),
        (id, Kind::Node(Node::Cdev(port))) => state
            .device(port)
            .is_some_and(|device| device.ids.contains(&id))
            .then_some(port),
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

/// What mmap(2) is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapRequest {
    pub(crate) at: usize,
    pub(crate) len: usize,
    pub(crate) protection: i32,
    pub(crate) flags: i32,
    pub(crate) fd: i32,
    pub(crate) offset: u64,
}

/// Maps a region, or huge pages. `None` if the request is for the kernel.
pub(crate) fn mmap(request: MapRequest) -> Option<Result<usize, Errno>> {
    let MapRequest {
        at,
        len,
        protection,
        flags,
        fd,
        offset,
    } = request;
    config()?;
    if crate::dma::huge::is_huge(protection, flags) {
        return Some(crate::dma::huge::map(at, len, protection, flags));
    }
    if flags & libc::MAP_ANONYMOUS != 0 || fd < 0 {
        return None;
    }
    let port = device_of(fd)?;
    Some(region::map(port, at, len, protection, flags, offset))
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
    all().any(|port| port.session().owns(fd))
        || crate::card::session::owns_turn(fd)
        || crate::dma::files::owns(fd)
        || lock().objects.owns(fd)
}

/// The bridge's own descriptors, in order.
pub(crate) fn internal_descriptors() -> Vec<i32> {
    let mut numbers = crate::dma::backing::own_descriptors();
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
    let known = crate::objects::nodes()
        .into_iter()
        .any(|(node, _)| node == name);
    let path = config
        .placeholders
        .join(if known { name } else { return None });
    std::ffi::CString::new(path.into_os_string().into_encoded_bytes()).ok()
}
