//! A device behind a vfio-user socket: the client side of the protocol (vfio-user 0.1, as
//! libvfio-user and QEMU speak it).
#![forbid(unsafe_code)]

pub(crate) mod socket;

use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use self::socket::{
    ConnectTime, Exchange, Payload, Socket, DMA_MAP, DMA_UNMAP, GET_INFO, GET_REGION_INFO,
    REGION_READ, REGION_WRITE, SET_IRQS, VERSION,
};
use crate::error::{Error, Result};
use crate::sys::mapping::DmaMapping;
use crate::sys::mmio::{Area, BarFile};
use crate::vfio::patience::{DevicePatience, Patience};
use crate::vfio::region::{map_bar0, u16_at, u32_at, RegionInfo};
use crate::vfio::region::{MAX_INFO, REGION_BAR0, REGION_CONFIG, REGION_INFO_SIZE};

const VERSION_MAJOR: u16 = 0;
const VERSION_MINOR: u16 = 1;
/// The limits of this client. They are the defaults, but a server may insist on them.
const VERSION_CAPABILITIES: &[u8] =
    b"{\"capabilities\":{\"max_msg_fds\":1,\"max_data_xfer_size\":4096}}\0";

// Of linux/vfio.h.
const DEVICE_FLAGS_PCI: u32 = 1 << 1;
const DMA_MAP_FLAG_READ: u32 = 1 << 0;
const DMA_MAP_FLAG_WRITE: u32 = 1 << 1;

const IRQ_SET_DATA_NONE: u32 = 1 << 0;
const IRQ_SET_DATA_EVENTFD: u32 = 1 << 2;
const IRQ_SET_ACTION_TRIGGER: u32 = 1 << 5;
const IRQ_INDEX_MSIX: u32 = 2;
const IRQ_SET_SIZE: u32 = 20;

const DMA_MAP_SIZE: u32 = 32;
const DMA_UNMAP_SIZE: u32 = 24;
const ACCESS_SIZE: usize = 16;

/// A device of a vfio-user server.
pub(crate) struct UserDevice {
    socket: Socket,
}

impl UserDevice {
    /// Connects to the server at `path`. While none listens, it waits as long as `time` permits. Also
    /// returns the mapped areas of BAR0.
    pub(crate) fn open(
        address: &str,
        path: &str,
        time: &ConnectTime,
        patience: &Rc<Patience>,
    ) -> Result<(Self, Vec<Arc<Area>>)> {
        let device = Self {
            socket: Socket::connect(address, path, time, patience)?,
        };
        device.negotiate_version()?;
        device.check_is_pci()?;
        let areas = device.map_bar0(address)?;
        Ok((device, areas))
    }

    /// Whether its connection is broken: a reply was late, wrong or incomplete.
    pub(crate) fn is_broken(&self) -> bool {
        self.socket.is_broken()
    }

    /// The patience for the server.
    pub(crate) fn patience(&self) -> &DevicePatience {
        self.socket.patience()
    }

    /// Reads `data.len()` bytes at `offset` of a region.
    pub(crate) fn read(&self, region: u32, offset: u32, data: &mut [u8]) -> Result<()> {
        let request = Payload::default()
            .u64(u64::from(offset))
            .u32(region)
            .u32(data.len() as u32);
        let reply = self.call(REGION_READ, request, ACCESS_SIZE + data.len())?;
        match reply.get(ACCESS_SIZE..) {
            Some(read) if read.len() == data.len() => data.copy_from_slice(read),
            _ => return Err(self.short_reply(REGION_READ)),
        }
        Ok(())
    }

    /// Writes `data` at `offset` of a region. `free` of the wait uses up no patience.
    pub(crate) fn write(
        &self,
        region: u32,
        offset: u32,
        data: &[u8],
        free: Duration,
    ) -> Result<()> {
        let request = Payload::default()
            .u64(u64::from(offset))
            .u32(region)
            .u32(data.len() as u32)
            .bytes(data);
        self.socket.call(&Exchange {
            free,
            ..Exchange::new(REGION_WRITE, request, ACCESS_SIZE)
        })?;
        Ok(())
    }

    /// Maps memory for the device.
    pub(crate) fn dma_map(&self, mapping: &DmaMapping<'_>) -> Result<()> {
        let request = Payload::default()
            .u32(DMA_MAP_SIZE)
            .u32(DMA_MAP_FLAG_READ | DMA_MAP_FLAG_WRITE)
            .u64(0)
            .u64(mapping.iova())
            .u64(mapping.size());
        self.socket.call(&Exchange {
            fd: Some(mapping.fd()),
            ..Exchange::new(DMA_MAP, request, DMA_MAP_SIZE as usize)
        })?;
        Ok(())
    }

    /// Removes a mapping.
    pub(crate) fn dma_unmap(&self, iova: u64, size: u64) -> Result<()> {
        let request = Payload::default()
            .u32(DMA_UNMAP_SIZE)
            .u32(0)
            .u64(iova)
            .u64(size);
        self.call(DMA_UNMAP, request, DMA_UNMAP_SIZE as usize)?;
        Ok(())
    }

    /// Sets the eventfd of a vector, or switches all vectors off with `None`.
    fn set_irq(&self, vector: u32, eventfd: Option<BorrowedFd<'_>>) -> Result<()> {
        let data = match eventfd {
            Some(_) => IRQ_SET_DATA_EVENTFD,
            None => IRQ_SET_DATA_NONE,
        };
        let request = Payload::default()
            .u32(IRQ_SET_SIZE)
            .u32(data | IRQ_SET_ACTION_TRIGGER)
            .u32(IRQ_INDEX_MSIX)
            .u32(vector)
            .u32(u32::from(eventfd.is_some()));
        self.socket.call(&Exchange {
            fd: eventfd,
            ..Exchange::new(SET_IRQS, request, IRQ_SET_SIZE as usize)
        })?;
        Ok(())
    }

    /// Signals `eventfds[i]` at each message of MSI-X vector i, or switches MSI-X off if there are none.
    pub(crate) fn signal_msix(&self, eventfds: &[BorrowedFd<'_>]) -> Result<()> {
        if eventfds.is_empty() {
            return self.set_irq(0, None);
        }
        // A message each, because a server need not take more than one descriptor with a message.
        (0..)
            .zip(eventfds)
            .try_for_each(|(vector, eventfd)| self.set_irq(vector, Some(*eventfd)))
    }

    fn negotiate_version(&self) -> Result<()> {
        let request = Payload::default()
            .u16(VERSION_MAJOR)
            .u16(VERSION_MINOR)
            .bytes(VERSION_CAPABILITIES);
        let reply = self.call(VERSION, request, MAX_INFO)?;
        let (Some(major), Some(minor)) = (u16_at(&reply, 0), u16_at(&reply, 2)) else {
            return Err(self.short_reply(VERSION));
        };
        if major != VERSION_MAJOR {
            return Err(self.socket.error(format!(
                "the server speaks vfio-user {major}.{minor}, this driver \
                 {VERSION_MAJOR}.{VERSION_MINOR}"
            )));
        }
        Ok(())
    }

    fn check_is_pci(&self) -> Result<()> {
        let request = Payload::default().u32(16).u32(0).u32(0).u32(0);
        let reply = self.call(GET_INFO, request, MAX_INFO)?;
        let (Some(flags), Some(regions)) = (u32_at(&reply, 4), u32_at(&reply, 8)) else {
            return Err(self.short_reply(GET_INFO));
        };
        if flags & DEVICE_FLAGS_PCI == 0 || regions <= REGION_CONFIG {
            return Err(self.socket.error("not a PCI device"));
        }
        Ok(())
    }

    fn map_bar0(&self, address: &str) -> Result<Vec<Arc<Area>>> {
        let request = Payload::default()
            .u32(MAX_INFO as u32)
            .u32(0)
            .u32(REGION_BAR0)
            .u32(0)
            .u64(0)
            .u64(0);
        let (reply, fd) = self.socket.call(&Exchange {
            takes_fd: true,
            ..Exchange::new(GET_REGION_INFO, request, MAX_INFO)
        })?;
        if reply.len() < REGION_INFO_SIZE {
            return Err(self.short_reply(GET_REGION_INFO));
        }
        // Without a file descriptor there is nothing to map: all accesses are messages.
        let Some(fd) = fd else {
            return Ok(Vec::new());
        };
        let file = BarFile::of_server(fd.as_fd()).ok_or_else(|| {
            self.socket.error(
                "the file of BAR0 is not a memfd of ordinary pages with the seal F_SEAL_SHRINK, so \
                 the server could end this driver by a signal; seal it, or pass no file",
            )
        })?;
        let info = RegionInfo::parse(&reply).ok_or_else(|| {
            self.socket
                .error("the description of BAR0 is truncated or looping")
        })?;
        map_bar0(address, &file, &info)
    }

    fn call(&self, command: u16, request: Payload, max_reply: usize) -> Result<Vec<u8>> {
        let exchange = Exchange::new(command, request, max_reply);
        Ok(self.socket.call(&exchange)?.0)
    }

    fn short_reply(&self, command: u16) -> Box<Error> {
        self.socket
            .error(format!("reply to vfio-user command {command} is too short"))
    }
}
