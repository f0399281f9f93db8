//! What the program has set up: containers, groups, devices and I/O address spaces.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::dma::backing::back;
use crate::dma::private::release_unused;
use crate::dma::table::{Map, Table};
use crate::lock::{Guard, Lock};
use crate::mmio::bars;
use crate::objects::{Id, Kind, Node, Objects};
use crate::ports::{all, config, Port};
use crate::say::{trace, warn};
use crate::sys::{self, refuse_if, Errno};
use crate::vfio::irqs::Irqs;

/// An I/O address space: of a container, or one of an iommufd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpaceId {
    Container(Id),
    /// An iommufd and the number of an IOAS.
    Ioas(Id, u32),
}

/// An I/O address space.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) id: SpaceId,
    pub(crate) table: Table,
    /// For a container: whether it has an IOMMU, and whether that is VFIO_TYPE1v2_IOMMU.
    pub(crate) version_2: Option<bool>,
}

/// An open group.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) number: u32,
    pub(crate) id: Id,
    pub(crate) container: Option<Id>,
}

/// An open device.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) port: Port,
    /// Its objects: a group may give out a device several times.
    pub(crate) ids: Vec<Id>,
    /// Set for a device that was opened by its character device.
    pub(crate) cdev: bool,
    /// The address space that its DMA uses.
    pub(crate) space: Option<SpaceId>,
    pub(crate) irqs: Irqs,
}

impl Device {
    pub(crate) fn new(port: Port, id: Id, cdev: bool, space: Option<SpaceId>) -> Self {
        Self {
            port,
            ids: vec![id],
            cdev,
            space,
            irqs: Irqs::default(),
        }
    }
}

/// Everything that the program has set up.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) objects: Objects,
    pub(crate) spaces: Vec<Space>,
    pub(crate) groups: Vec<Group>,
    pub(crate) devices: Vec<Device>,
    next_number: u32,
}

pub(crate) static STATE: Lock<State> = Lock::new(State {
    objects: Objects::new(),
    spaces: Vec::new(),
    groups: Vec::new(),
    devices: Vec::new(),
    next_number: 0,
});

/// Takes the state.
pub(crate) fn lock() -> Guard<'static, State> {
    STATE.lock()
}

/// Whether a device is open.
static ANY_DEVICE: AtomicBool = AtomicBool::new(false);

/// Whether a device is open. Takes no lock.
pub(crate) fn any_device() -> bool {
    ANY_DEVICE.load(Ordering::Acquire)
}

impl State {
    /// The address space of a container or an iommufd.
    pub(crate) fn space(&mut self, id: SpaceId) -> Option<&mut Space> {
        self.spaces.iter_mut().find(|space| space.id == id)
    }

    /// The open device of a port.
    pub(crate) fn device(&mut self, port: Port) -> Option<&mut Device> {
        self.devices.iter_mut().find(|device| device.port == port)
    }

    /// The object of a descriptor. A placeholder becomes an object at its first use.
    pub(crate) fn object(&mut self, fd: i32) -> Result<Option<(Id, Kind)>, Errno> {
        match (self.objects.find(fd), self.objects.placeholder(fd)) {
            (None, Some(node)) => self.adopt(fd, node).map(Some),
            (found, _) => Ok(found),
        }
    }

    /// Makes the object of an open placeholder.
    pub(crate) fn adopt(&mut self, fd: i32, node: Node) -> Result<(Id, Kind), Errno> {
        bars::forget_unmapped();
        self.release_closed();
        let (id, kind) = self.objects.adopt(fd, node)?;
        match node {
            Node::Container => self.open_container(id),
            Node::Group(number) => self.open_group(number, id)?,
            Node::Cdev(_) | Node::Iommufd => {}
        }
        trace(format_args!("{node:?} opened as descriptor {fd}"));
        Ok((id, kind))
    }

    /// Whether a port's character device is bound to an iommufd.
    pub(crate) fn is_bound(&mut self, port: Port, id: Id) -> bool {
        self.device(port)
            .is_some_and(|device| device.ids.contains(&id))
    }

    /// The number of a new address space or device of an iommufd.
    pub(crate) fn new_number(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number
    }

    /// Adds a container that was just opened.
    fn open_container(&mut self, id: Id) {
        self.spaces.push(Space {
            id: SpaceId::Container(id),
            table: Table::default(),
            version_2: None,
        });
    }

    /// Adds a group that was just opened. EBUSY if it is open already, or one of its devices is.
    fn open_group(&mut self, number: u32, id: Id) -> Result<(), Errno> {
        let in_use = |device: &Device| device.port.group() == number;
        let open = self.groups.iter().any(|group| group.number == number);
        refuse_if(open || self.devices.iter().any(in_use), libc::EBUSY)?;
        self.groups.push(Group {
            number,
            id,
            container: None,
        });
        Ok(())
    }

    /// Releases what the program has closed. A device also stays open while a region of it is
    /// mapped, a group while it has a device, and a container while it has a group.
    pub(crate) fn release_closed(&mut self) {
        if !self.objects.forget_closed() && self.groups.is_empty() && self.devices.is_empty() {
            return;
        }
        let objects = &self.objects;
        self.devices.retain(|device| {
            let open = device.ids.iter().any(|id| objects.is_open(*id)) || bars::any(device.port);
            if !open {
                trace(format_args!("{}: device closed", device.port.address()));
                device.port.connection().close();
            }
            open
        });
        let devices = &self.devices;
        ANY_DEVICE.store(!devices.is_empty(), Ordering::Release);
        self.groups.retain(|group| {
            let used = |device: &Device| !device.cdev && device.port.group() == group.number;
            objects.is_open(group.id) || devices.iter().any(used)
        });
        let groups = &self.groups;
        let mut freed = 0;
        self.spaces.retain_mut(|space| {
            let (id, used) = match space.id {
                SpaceId::Container(id) => {
                    (id, groups.iter().any(|group| group.container == Some(id)))
                }
                SpaceId::Ioas(id, _) => {
                    let used = |device: &Device| device.space == Some(space.id);
                    (id, objects.is_open(id) || devices.iter().any(used))
                }
            };
            if !used {
                // The last group takes the IOMMU and its maps with it.
                space.version_2 = None;
                freed += std::mem::take(&mut space.table).bytes();
            }
            used || objects.is_open(id)
        });
        if freed > 0 {
            release_unused();
        }
    }

    /// Opens a port's device, and gives the card the maps that exist already.
    pub(crate) fn open_device(&mut self, port: Port, device: Device) -> Result<(), Errno> {
        let mut result = port.connect();
        // The card may still be ending the session before.
        for _ in 0..100 {
            if result == Err(Errno(libc::EBUSY)) {
                let _ = sys::poll(-1, 0, 5);
                result = port.connect();
            }
        }
        if let Err(error) = result {
            let (address, path) = (port.address(), port.socket().display());
            warn(format_args!(
                "{address}: cannot connect to the card at {path}: {error:?}"
            ));
            refuse_if(error.0 == libc::EBUSY, libc::EBUSY)?;
            return Err(Errno(libc::ENODEV));
        }
        let space = device.space;
        self.devices.push(device);
        ANY_DEVICE.store(true, Ordering::Release);
        trace(format_args!("{}: device opened", port.address()));
        space.map_or(Ok(()), |space| self.attach(port, space))
    }

    /// Gives the card all maps of an address space.
    pub(crate) fn attach(&mut self, port: Port, id: SpaceId) -> Result<(), Errno> {
        if let Some(device) = self.device(port) {
            device.space = Some(id);
        }
        let space = self.space(id).ok_or(Errno(libc::ENOENT))?;
        for (iova, map) in space.table.iter() {
            for piece in map.pieces(iova) {
                port.map(&piece)?;
            }
        }
        Ok(())
    }

    /// Takes all maps of its address space from the card.
    pub(crate) fn detach(&mut self, port: Port) -> Result<(), Errno> {
        let id = self.device(port).and_then(|device| device.space.take());
        let space = id.and_then(|id| self.space(id));
        let mut maps = space.iter().flat_map(|space| space.table.iter());
        maps.try_for_each(|(iova, map)| port.unmap(iova, map.size))
    }

    /// The ports whose DMA uses an address space and whose card answers.
    fn attached(&self, id: SpaceId) -> Vec<Port> {
        let attached = |port: &Port| {
            let mut devices = self.devices.iter();
            devices.any(|device| device.port == *port && device.space == Some(id))
                && !port.connection().is_broken()
        };
        all().filter(attached).collect()
    }

    /// Maps a range of the program's memory for DMA.
    pub(crate) fn map(
        &mut self,
        id: SpaceId,
        iova: u64,
        memory: u64,
        size: u64,
        access: u32,
    ) -> Result<(), Errno> {
        let config = config().ok_or(Errno(libc::ENODEV))?;
        let ports = self.attached(id);
        let locked: u64 = self.spaces.iter().map(|space| space.table.bytes()).sum();
        let space = self.space(id).ok_or(Errno(libc::ENOENT))?;
        space.table.check(iova, size, config.address_width)?;
        let end = memory.checked_add(size).ok_or(Errno(libc::EINVAL))?;
        if config.memlock.is_some_and(|limit| locked + size > limit) {
            warn(format_args!(
                "DMA of {size} bytes: with {locked} bytes mapped, this exceeds the limit of locked memory (ENOMEM)"
            ));
            return Err(Errno(libc::ENOMEM));
        }
        let parts = back(memory as usize, end as usize, access & 2 != 0)?;
        let map = Map {
            size,
            access,
            parts,
        };
        for (done, port) in ports.iter().enumerate() {
            for piece in map.pieces(iova) {
                let Err(error) = port.map(&piece) else {
                    continue;
                };
                for port in &ports[..=done] {
                    let _ = port.unmap(iova, size);
                }
                warn(format_args!(
                    "{}: the card refuses {} bytes at IOVA {:#x}: {error:?}",
                    port.address(),
                    piece.size,
                    piece.iova
                ));
                return Err(error);
            }
        }
        space.table.insert(iova, map);
        trace(format_args!(
            "map {memory:#x} at IOVA {iova:#x}, {size:#x} bytes"
        ));
        Ok(())
    }

    /// Withdraws the maps in a range of IOVAs, as [`Table::remove`] does.
    pub(crate) fn unmap(
        &mut self,
        id: SpaceId,
        first: u64,
        last: u64,
        whole: bool,
    ) -> Result<u64, Errno> {
        let ports = self.attached(id);
        let space = self.space(id).ok_or(Errno(libc::ENOENT))?;
        let mut freed = 0;
        for (iova, size) in space.table.remove(first, last, whole)? {
            freed += size;
            for port in &ports {
                port.unmap(iova, size)?;
            }
        }
        release_unused();
        trace(format_args!(
            "unmap IOVA {first:#x} to {last:#x}: {freed:#x} bytes"
        ));
        Ok(freed)
    }
}
