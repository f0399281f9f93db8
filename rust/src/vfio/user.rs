//! A device behind a vfio-user socket: the client side of the protocol (vfio-user 0.1, as
//! libvfio-user and QEMU speak it).
//!
//! Every request waits at most [`TIMEOUT`] for its reply.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_timeout, Timeout};
use rustix::net::{
    connect, recvmsg, sendmsg, socket_with, AddressFamily, RecvAncillaryBuffer,
    RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    SocketAddrUnix, SocketFlags, SocketType,
};

use super::region::{map_bar0, u16_at, u32_at, RegionInfo};
use super::region::{MAX_INFO, REGION_BAR0, REGION_CONFIG, REGION_INFO_SIZE};
use crate::clock::{sleep, Instant};
use crate::error::{Error, Result};
use crate::sys::mapping::DmaMapping;
use crate::sys::mmio::Area;

const TIMEOUT: Duration = Duration::from_secs(5);

/// While no server listens on the socket, the driver looks again after this time.
const CONNECT_INTERVAL: Duration = Duration::from_millis(10);

// Commands.
const VERSION: u16 = 1;
const DMA_MAP: u16 = 2;
const DMA_UNMAP: u16 = 3;
const GET_INFO: u16 = 4;
const GET_REGION_INFO: u16 = 5;
const SET_IRQS: u16 = 8;
const REGION_READ: u16 = 9;
const REGION_WRITE: u16 = 10;

/// The longest path that fits into a `struct sockaddr_un` with its NUL.
const PATH_MAX: usize = 107;

const HEADER_SIZE: usize = 16;
const FLAGS_TYPE_MASK: u32 = 0xf;
const FLAGS_TYPE_REPLY: u32 = 0x1;
const FLAGS_ERROR: u32 = 0x20;

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

/// Whether a connection failed because no server listens: it has not started, or it has ended.
fn no_server(cause: Errno) -> bool {
    matches!(cause, Errno::NOENT | Errno::CONNREFUSED)
}

/// Connects, as soon as a server listens.
fn connect_in_time(
    fd: BorrowedFd<'_>,
    address: &SocketAddrUnix,
    timeout_ms: u32,
) -> std::result::Result<(), Errno> {
    let deadline = Instant::now() + Duration::from_millis(u64::from(timeout_ms));
    loop {
        // The clock comes first, so that a slow call does not cost the last attempt.
        let late = Instant::now() >= deadline;
        match connect(fd, address) {
            Err(error) if no_server(error) && !late => sleep(CONNECT_INTERVAL),
            result => return result,
        }
    }
}

fn connect_error(address: &str, path: &str, timeout_ms: u32, cause: Errno) -> Box<Error> {
    let folder = match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    };
    let remedy = if no_server(cause) {
        format!(
            " after {timeout_ms} ms; no software NIC listens on this socket; start one with \
             `build/bin/nic --socket-dir {folder}`"
        )
    } else if cause == Errno::ACCESS {
        "; the socket belongs to another user; start a software NIC with a folder of your own"
            .to_owned()
    } else {
        "; is the software NIC stuck?".to_owned()
    };
    Error::call_with_remedy(address, "connect", cause.into(), remedy)
}

/// A connection to a vfio-user server.
pub(super) struct Socket {
    address: String,
    fd: OwnedFd,
    /// The id of the next message.
    next_message: Cell<u16>,
}

/// The payload of a request, built field by field.
#[derive(Default)]
struct Payload(Vec<u8>);

impl Payload {
    fn u16(mut self, value: u16) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(mut self, value: &[u8]) -> Self {
        self.0.extend(value);
        self
    }
}

impl Socket {
    /// Connects to the server at `path`. While none listens, it waits at most `connect_timeout_ms`
    /// milliseconds. Also returns the mapped areas of BAR0.
    pub(super) fn open(
        address: &str,
        path: &str,
        connect_timeout_ms: u32,
    ) -> Result<(Self, Vec<Rc<Area>>)> {
        let socket = Self::connect(address, path, connect_timeout_ms)?;
        socket.negotiate_version()?;
        socket.check_is_pci()?;
        let areas = socket.map_bar0()?;
        Ok((socket, areas))
    }

    /// Reads `data.len()` bytes at `offset` of a region.
    pub(super) fn read(&self, region: u32, offset: u32, data: &mut [u8]) -> Result<()> {
        let request = Payload::default()
            .u64(u64::from(offset))
            .u32(region)
            .u32(data.len() as u32);
        let reply = self
            .call(REGION_READ, request, None, ACCESS_SIZE + data.len())?
            .0;
        match reply.get(ACCESS_SIZE..) {
            Some(read) if read.len() == data.len() => data.copy_from_slice(read),
            _ => return Err(self.short_reply(REGION_READ)),
        }
        Ok(())
    }

    /// Writes `data` at `offset` of a region.
    pub(super) fn write(&self, region: u32, offset: u32, data: &[u8]) -> Result<()> {
        let request = Payload::default()
            .u64(u64::from(offset))
            .u32(region)
            .u32(data.len() as u32)
            .bytes(data);
        self.call(REGION_WRITE, request, None, ACCESS_SIZE)?;
        Ok(())
    }

    /// Maps memory for the device.
    pub(super) fn dma_map(&self, mapping: &DmaMapping<'_>) -> Result<()> {
        let request = Payload::default()
            .u32(DMA_MAP_SIZE)
            .u32(DMA_MAP_FLAG_READ | DMA_MAP_FLAG_WRITE)
            .u64(0)
            .u64(mapping.iova())
            .u64(mapping.size());
        self.call(DMA_MAP, request, Some(mapping.fd()), DMA_MAP_SIZE as usize)?;
        Ok(())
    }

    /// Removes a mapping.
    pub(super) fn dma_unmap(&self, iova: u64, size: u64) -> Result<()> {
        let request = Payload::default()
            .u32(DMA_UNMAP_SIZE)
            .u32(0)
            .u64(iova)
            .u64(size);
        self.call(DMA_UNMAP, request, None, DMA_UNMAP_SIZE as usize)?;
        Ok(())
    }

    /// Signals the eventfd at each message of MSI-X vector 0, or switches MSI-X off.
    pub(super) fn signal_msix(&self, eventfd: Option<BorrowedFd<'_>>) -> Result<()> {
        let data = match eventfd {
            Some(_) => IRQ_SET_DATA_EVENTFD,
            None => IRQ_SET_DATA_NONE,
        };
        let request = Payload::default()
            .u32(IRQ_SET_SIZE)
            .u32(data | IRQ_SET_ACTION_TRIGGER)
            .u32(IRQ_INDEX_MSIX)
            .u32(0)
            .u32(u32::from(eventfd.is_some()));
        self.call(SET_IRQS, request, eventfd, IRQ_SET_SIZE as usize)?;
        Ok(())
    }

    fn connect(address: &str, path: &str, timeout_ms: u32) -> Result<Self> {
        let failed =
            |call: &'static str| move |error: Errno| Error::call(address, call, error.into());
        let unix = SocketAddrUnix::new(path)
            .ok()
            .filter(|_| (1..=PATH_MAX).contains(&path.len()))
            .ok_or_else(|| Error::device(address, "a socket path has 1 to 107 characters"))?;
        let fd = socket_with(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(failed("socket"))?;
        // Also bounds connect, which waits when the server's queue is full.
        for direction in [Timeout::Send, Timeout::Recv] {
            set_socket_timeout(&fd, direction, Some(TIMEOUT)).map_err(failed("socket time-out"))?;
        }
        connect_in_time(fd.as_fd(), &unix, timeout_ms)
            .map_err(|error| connect_error(address, path, timeout_ms, error))?;
        Ok(Self {
            address: address.to_owned(),
            fd,
            next_message: Cell::new(0),
        })
    }

    fn negotiate_version(&self) -> Result<()> {
        let request = Payload::default()
            .u16(VERSION_MAJOR)
            .u16(VERSION_MINOR)
            .bytes(VERSION_CAPABILITIES);
        let reply = self.call(VERSION, request, None, MAX_INFO)?.0;
        let (Some(major), Some(minor)) = (u16_at(&reply, 0), u16_at(&reply, 2)) else {
            return Err(self.short_reply(VERSION));
        };
        if major != VERSION_MAJOR {
            return Err(self.error(format!(
                "the server speaks vfio-user {major}.{minor}, this driver \
                 {VERSION_MAJOR}.{VERSION_MINOR}"
            )));
        }
        Ok(())
    }

    fn check_is_pci(&self) -> Result<()> {
        let request = Payload::default().u32(16).u32(0).u32(0).u32(0);
        let reply = self.call(GET_INFO, request, None, MAX_INFO)?.0;
        let (Some(flags), Some(regions)) = (u32_at(&reply, 4), u32_at(&reply, 8)) else {
            return Err(self.short_reply(GET_INFO));
        };
        if flags & DEVICE_FLAGS_PCI == 0 || regions <= REGION_CONFIG {
            return Err(self.error("not a PCI device"));
        }
        Ok(())
    }

    fn map_bar0(&self) -> Result<Vec<Rc<Area>>> {
        let request = Payload::default()
            .u32(MAX_INFO as u32)
            .u32(0)
            .u32(REGION_BAR0)
            .u32(0)
            .u64(0)
            .u64(0);
        let (reply, fd) = self.call(GET_REGION_INFO, request, None, MAX_INFO)?;
        if reply.len() < REGION_INFO_SIZE {
            return Err(self.short_reply(GET_REGION_INFO));
        }
        // Without a file descriptor there is nothing to map: all accesses are messages.
        let Some(fd) = fd else {
            return Ok(Vec::new());
        };
        let info = RegionInfo::parse(&reply)
            .ok_or_else(|| self.error("the description of BAR0 is truncated or looping"))?;
        map_bar0(&self.address, fd.as_fd(), &info)
    }

    /// Sends a request, with `fd` if there is one, and receives its reply: the payload, of at most
    /// `max_reply` bytes, and the file descriptor that came with it.
    fn call(
        &self,
        command: u16,
        request: Payload,
        fd: Option<BorrowedFd<'_>>,
        max_reply: usize,
    ) -> Result<(Vec<u8>, Option<OwnedFd>)> {
        let id = self.next_message.get();
        self.next_message.set(id.wrapping_add(1));
        let message = Payload::default()
            .u16(id)
            .u16(command)
            .u32((HEADER_SIZE + request.0.len()) as u32)
            .u32(0)
            .u32(0)
            .bytes(&request.0);
        self.send_all(&message.0, fd)?;

        let mut header = [0; HEADER_SIZE];
        let mut reply_fd = None;
        self.receive_all(&mut header, &mut reply_fd)?;
        let answered = u16_at(&header, 2).unwrap_or_default();
        let size = u32_at(&header, 4).unwrap_or_default() as usize;
        let flags = u32_at(&header, 8).unwrap_or_default();
        if u16_at(&header, 0) != Some(id)
            || answered != command
            || flags & FLAGS_TYPE_MASK != FLAGS_TYPE_REPLY
            || size < HEADER_SIZE
        {
            return Err(self.error(format!(
                "the vfio-user server broke the protocol: reply {answered} does not answer message \
                 {id}"
            )));
        }
        let size = size - HEADER_SIZE;
        if size > max_reply {
            return Err(self.error(format!(
                "reply to vfio-user command {command} is too large: {size} bytes"
            )));
        }
        let mut reply = vec![0; size];
        self.receive_all(&mut reply, &mut reply_fd)?;
        if flags & FLAGS_ERROR != 0 {
            let errno = u32_at(&header, 12).unwrap_or_default() as i32;
            if command == VERSION && errno == Errno::BUSY.raw_os_error() {
                return Err(
                    self.error("the device is busy: another driver uses it; end that driver first")
                );
            }
            return Err(self.error(format!(
                "the vfio-user server refused command {command}: {}",
                io::Error::from_raw_os_error(errno)
            )));
        }
        Ok((reply, reply_fd))
    }

    /// Sends all of `data`, and `fd` with its first part.
    fn send_all(&self, data: &[u8], fd: Option<BorrowedFd<'_>>) -> Result<()> {
        let fds: &[BorrowedFd<'_>] = fd.as_slice();
        let mut sent = 0;
        while sent < data.len() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            if sent == 0 && !fds.is_empty() {
                control.push(SendAncillaryMessage::ScmRights(fds));
            }
            let part = [IoSlice::new(&data[sent..])];
            match sendmsg(&self.fd, &part, &mut control, SendFlags::NOSIGNAL) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(error) => return Err(self.connection_error("send", error.into())),
            }
        }
        Ok(())
    }

    /// Receives all of `data`. A file descriptor in the message goes to `fd`, or is closed.
    fn receive_all(&self, data: &mut [u8], fd: &mut Option<OwnedFd>) -> Result<()> {
        let mut received = 0;
        while received < data.len() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut part = [IoSliceMut::new(&mut data[received..])];
            let count = match recvmsg(&self.fd, &mut part, &mut control, RecvFlags::CMSG_CLOEXEC) {
                Ok(message) => message.bytes,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(self.connection_error("receive", error.into())),
            };
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(passed) = message {
                    passed.for_each(|passed| {
                        fd.get_or_insert(passed);
                    });
                }
            }
            if count == 0 {
                return Err(self.connection_error("receive", io::ErrorKind::ConnectionReset.into()));
            }
            received += count;
        }
        Ok(())
    }

    fn connection_error(&self, call: &'static str, source: io::Error) -> Box<Error> {
        if source.kind() == io::ErrorKind::WouldBlock {
            return Box::new(Error::NoAnswer {
                address: self.address.clone(),
                call,
                timeout_s: TIMEOUT.as_secs(),
            });
        }
        Error::call_with_remedy(
            &self.address,
            call,
            source,
            "; the vfio-user server went away; start it again",
        )
    }

    fn short_reply(&self, command: u16) -> Box<Error> {
        self.error(format!("reply to vfio-user command {command} is too short"))
    }

    fn error(&self, what: impl Into<String>) -> Box<Error> {
        Error::device(&self.address, what)
    }
}
