//! Which of the program's descriptors are VFIO's.
//!
//! Each object is a socket that listens: reading and writing it fails at once. Its inode identifies the
//! object, so that copies of the descriptor are the same object. The bridge holds a socket that is
//! connected to it, and which shows when the last copy is closed, also in other processes.

use crate::card::stream;
use crate::ports::{all, config, Port};
use crate::sys::{self, Errno, FileId};

/// What a node of `/dev` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// `/dev/vfio/vfio`.
    Container,
    /// `/dev/vfio/N`.
    Group(u32),
    /// `/dev/vfio/devices/vfioN`.
    Cdev(Port),
    /// `/dev/iommu`.
    Iommufd,
}

/// What a descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Node(Node),
    /// A device that a group gave out.
    Device(Port),
}

/// Identifies an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id(u64);

#[derive(Debug)]
struct Object {
    id: Id,
    kind: Kind,
    /// The end that the bridge holds.
    far: i32,
}

/// The open objects.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    open: Vec<Object>,
    /// The files that stand for the nodes.
    placeholders: Vec<(FileId, Node)>,
}

/// The nodes, and their names in the folder of the placeholders.
pub(crate) fn nodes() -> Vec<(String, Node)> {
    let mut nodes = vec![
        ("vfio".into(), Node::Container),
        ("iommu".into(), Node::Iommufd),
    ];
    for port in all() {
        nodes.push((port.group().to_string(), Node::Group(port.group())));
        nodes.push((format!("devices/{}", port.cdev()), Node::Cdev(port)));
    }
    nodes
}

impl Objects {
    pub(crate) const fn new() -> Self {
        Self {
            open: Vec::new(),
            placeholders: Vec::new(),
        }
    }

    /// Learns which files stand for the nodes. One that does not exist is no node.
    pub(crate) fn find_placeholders(&mut self) {
        let Some(config) = config() else { return };
        for (name, node) in nodes() {
            let path = config.placeholders.join(name);
            let path = std::ffi::CString::new(path.as_os_str().as_encoded_bytes());
            if let Some(id) = path.ok().and_then(|path| sys::path_id(&path).ok()) {
                self.placeholders.push((id, node));
            }
        }
    }

    /// The object of a descriptor.
    pub(crate) fn find(&self, fd: i32) -> Option<(Id, Kind)> {
        let status = sys::file_status(fd).ok()?;
        if status.st_mode & libc::S_IFMT != libc::S_IFSOCK {
            return None;
        }
        let object = self
            .open
            .iter()
            .find(|object| object.id.0 == status.st_ino)?;
        Some((object.id, object.kind))
    }

    /// The node that a descriptor of a placeholder stands for.
    pub(crate) fn placeholder(&self, fd: i32) -> Option<Node> {
        let id = sys::file_id(fd).ok()?;
        self.placeholders
            .iter()
            .find(|(file, _)| *file == id)
            .map(|(_, node)| *node)
    }

    /// Makes an object. Returns its descriptor, which closes on exec.
    pub(crate) fn create(&mut self, kind: Kind) -> Result<(i32, Id), Errno> {
        let flags = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
        let arguments = [libc::AF_UNIX as u64, flags as u64];
        // SAFETY: the arguments are numbers.
        let near = unsafe { sys::call(libc::SYS_socket, arguments)? } as i32;
        let result = connect_to(near).and_then(|far| Ok((far, Id(sys::file_id(near)?.inode))));
        if result.is_err() {
            sys::close(near);
        }
        let (far, id) = result?;
        self.open.push(Object { id, kind, far });
        Ok((near, id))
    }

    /// Makes an object in the place of an open placeholder.
    pub(crate) fn adopt(&mut self, fd: i32, node: Node) -> Result<(Id, Kind), Errno> {
        let kind = Kind::Node(node);
        let cloexec = sys::closes_on_exec(fd)?;
        let (near, id) = self.create(kind)?;
        let result = sys::duplicate_over(near, fd, cloexec);
        sys::close(near);
        result.map(|()| (id, kind))
    }

    /// Whether an object is open.
    pub(crate) fn is_open(&self, id: Id) -> bool {
        self.open.iter().any(|object| object.id == id)
    }

    /// Forgets the objects without descriptors. Returns whether there were any.
    pub(crate) fn forget_closed(&mut self) -> bool {
        let before = self.open.len();
        self.open.retain(|object| {
            let events = sys::poll(object.far, 0, 0).unwrap_or(0);
            let closed = events & (libc::POLLHUP | libc::POLLNVAL | libc::POLLERR) != 0;
            if closed && events & libc::POLLNVAL == 0 {
                sys::close(object.far);
            }
            !closed
        });
        self.open.len() < before
    }

    /// Whether a descriptor is the bridge's end of an object.
    pub(crate) fn owns(&self, fd: i32) -> bool {
        self.open.iter().any(|object| object.far == fd)
    }

    /// Whether any object is open.
    pub(crate) fn any_open(&self) -> bool {
        !self.open.is_empty()
    }
}

/// Lets a socket listen at an address that the kernel picks, and connects a new one to it.
fn connect_to(near: i32) -> Result<i32, Errno> {
    // SAFETY: all zeros is an address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as u16;
    let mut len = std::mem::size_of_val(&address) as u32;
    let at = &raw mut address as u64;
    let far = stream::socket()?;
    let calls = [
        (libc::SYS_bind, near, [at, 2]),
        (libc::SYS_listen, near, [1, 0]),
        (libc::SYS_getsockname, near, [at, &raw mut len as u64]),
    ];
    let mut result = Ok(0);
    for (number, fd, [a, b]) in calls {
        // SAFETY: the address and its length outlive the calls.
        result = result.and_then(|_| unsafe { sys::call(number, [fd as u64, a, b]) });
    }
    let arguments = [far as u64, at, u64::from(len)];
    // SAFETY: as above.
    match result.and_then(|_| unsafe { sys::call(libc::SYS_connect, arguments) }) {
        Ok(_) => Ok(far),
        Err(error) => {
            sys::close(far);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_lives_as_long_as_its_copies() {
        let mut objects = Objects::new();
        let (fd, id) = objects.create(Kind::Node(Node::Container)).unwrap();
        let copy = sys::duplicate_high(fd, 300).unwrap();
        assert_eq!(objects.find(copy), Some((id, Kind::Node(Node::Container))));
        sys::close(fd);
        assert!(!objects.forget_closed());
        assert!(objects.is_open(id));
        sys::close(copy);
        assert!(objects.forget_closed());
        assert!(!objects.any_open());
    }

    #[test]
    fn a_placeholder_becomes_an_object_of_its_own() {
        let mut objects = Objects::new();
        let file = sys::memory_file(0, 0).unwrap();
        objects
            .placeholders
            .push((sys::file_id(file).unwrap(), Node::Iommufd));
        let (first, second) = (
            sys::duplicate_high(file, 300).unwrap(),
            sys::duplicate_high(file, 300).unwrap(),
        );
        let node = objects.placeholder(first).unwrap();
        let one = objects.adopt(first, node).unwrap();
        let two = objects.adopt(second, node).unwrap();
        assert_ne!(one.0, two.0);
        assert_eq!(objects.find(first), Some(one));
        assert_eq!(objects.placeholder(first), None);
        assert_eq!(objects.find(file), None);
    }
}
