//! Which of the program's descriptors are VFIO's.
//!
//! Each object is a socket that listens: reading and writing it fails at once. Its inode identifies the
//! object, so that copies of the descriptor are the same object. The bridge holds a socket that is
//! connected to it, and which shows when the last copy is closed, also in other processes.

use crate::card::stream;
use crate::ports::{all, config, Port};
use crate::sys::{self, Errno, Fd, FileId};

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
    far: Fd,
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
        let is_socket = status.st_mode & libc::S_IFMT == libc::S_IFSOCK;
        let mut open = self.open.iter().filter(|_| is_socket);
        let object = open.find(|object| object.id.0 == status.st_ino)?;
        Some((object.id, object.kind))
    }

    /// The node that a descriptor of a placeholder stands for.
    pub(crate) fn placeholder(&self, fd: i32) -> Option<Node> {
        let id = sys::file_id(fd).ok()?;
        let found = self.placeholders.iter().find(|(file, _)| *file == id);
        found.map(|(_, node)| *node)
    }

    /// Makes an object. Returns its descriptor, which closes on exec.
    pub(crate) fn create(&mut self, kind: Kind) -> Result<(Fd, Id), Errno> {
        let near = stream::socket(0)?;
        let far = connect_to(near.number())?;
        let id = Id(sys::file_id(near.number())?.inode);
        self.open.push(Object { id, kind, far });
        Ok((near, id))
    }

    /// Makes an object in the place of an open placeholder.
    pub(crate) fn adopt(&mut self, fd: i32, node: Node) -> Result<(Id, Kind), Errno> {
        let kind = Kind::Node(node);
        let cloexec = sys::closes_on_exec(fd)?;
        let (near, id) = self.create(kind)?;
        sys::duplicate_over(near.number(), fd, cloexec)?;
        Ok((id, kind))
    }

    /// Whether an object is open.
    pub(crate) fn is_open(&self, id: Id) -> bool {
        self.open.iter().any(|object| object.id == id)
    }

    /// Forgets the objects without descriptors. Returns whether there were any.
    pub(crate) fn forget_closed(&mut self) -> bool {
        let before = self.open.len();
        self.open.retain(|object| {
            let events = sys::poll(object.far.number(), 0, 0).unwrap_or(0);
            events & (libc::POLLHUP | libc::POLLNVAL | libc::POLLERR) == 0
        });
        self.open.len() < before
    }

    /// Whether a descriptor is the bridge's end of an object.
    pub(crate) fn owns(&self, fd: i32) -> bool {
        self.open.iter().any(|object| object.far.number() == fd)
    }

    /// Whether any object is open.
    pub(crate) fn any_open(&self) -> bool {
        !self.open.is_empty()
    }
}

/// Lets a socket listen at an address that the kernel picks, and connects a new one to it.
fn connect_to(near: i32) -> Result<Fd, Errno> {
    // SAFETY: all zeros is an address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as u16;
    let mut len = std::mem::size_of_val(&address) as u32;
    let at = &raw mut address as u64;
    let far = stream::socket(libc::SOCK_NONBLOCK)?.raise()?;
    let calls = [
        (libc::SYS_bind, near, [at, 2]),
        (libc::SYS_listen, near, [1, 0]),
        (libc::SYS_getsockname, near, [at, &raw mut len as u64]),
    ];
    for (number, fd, [a, b]) in calls {
        // SAFETY: the address and its length outlive the calls.
        unsafe { sys::call(number, [fd as u64, a, b])? };
    }
    let arguments = [far.number() as u64, at, u64::from(len)];
    // SAFETY: as above.
    unsafe { sys::call(libc::SYS_connect, arguments)? };
    Ok(far)
}
