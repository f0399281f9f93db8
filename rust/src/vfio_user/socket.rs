//! The connection to a vfio-user server: connecting, sending requests, receiving replies.
//!
//! A request waits for its reply as long as the patience for the device lasts ([`crate::vfio::patience`]),
//! counted from its first byte to the last byte of the reply. After a reply that is late, wrong or
//! incomplete, the connection is broken: nothing is sent to its server any more.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{
    connect, recvmsg, sendmsg, socket_with, AddressFamily, RecvAncillaryBuffer,
    RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketAddrUnix, SocketFlags, SocketType,
};

use crate::error::{Error, Result};
use crate::vfio::patience::{DevicePatience, Patience, PATIENCE, RESERVE};
use crate::vfio::region::{u16_at, u32_at};

/// While no server listens on the socket, the driver looks again after this time.
const CONNECT_INTERVAL: Duration = Duration::from_millis(10);

// Commands.
pub(crate) const VERSION: u16 = 1;
pub(crate) const DMA_MAP: u16 = 2;
pub(crate) const DMA_UNMAP: u16 = 3;
pub(crate) const GET_INFO: u16 = 4;
pub(crate) const GET_REGION_INFO: u16 = 5;
pub(crate) const SET_IRQS: u16 = 8;
pub(crate) const REGION_READ: u16 = 9;
pub(crate) const REGION_WRITE: u16 = 10;

/// The longest path that fits into a `struct sockaddr_un` with its NUL.
const PATH_MAX: usize = 107;

const HEADER_SIZE: usize = 16;
const FLAGS_TYPE_MASK: u32 = 0xf;
const FLAGS_TYPE_REPLY: u32 = 0x1;
const FLAGS_ERROR: u32 = 0x20;

/// The time to wait for servers that start. All sockets of a container share it.
pub(crate) struct ConnectTime {
    total_ms: u32,
    left: Cell<Duration>,
}

impl ConnectTime {
    /// `total_ms` milliseconds.
    pub(crate) fn new(total_ms: u32) -> Self {
        Self {
            total_ms,
            left: Cell::new(Duration::from_millis(u64::from(total_ms))),
        }
    }
}

/// Whether a connection failed because no server listens: it has not started, or it has ended.
fn no_server(cause: Errno) -> bool {
    matches!(cause, Errno::NOENT | Errno::CONNREFUSED)
}

/// Connects, as soon as a server listens and its queue has room.
fn connect_in_time(
    fd: BorrowedFd<'_>,
    address: &SocketAddrUnix,
    time: &ConnectTime,
) -> std::result::Result<(), Errno> {
    let begun = Instant::now();
    let result = loop {
        // The clock comes first, so that a slow call does not cost the last attempt.
        let late = begun.elapsed() >= time.left.get();
        match connect(fd, address) {
            Err(error) if (no_server(error) || error == Errno::AGAIN) && !late => {
                std::thread::sleep(CONNECT_INTERVAL);
            }
            result => break result,
        }
    };
    time.left
        .set(time.left.get().saturating_sub(begun.elapsed()));
    result
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

/// The payload of a request, built field by field.
#[derive(Default)]
pub(crate) struct Payload(Vec<u8>);

impl Payload {
    pub(crate) fn u16(mut self, value: u16) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(crate) fn bytes(mut self, value: &[u8]) -> Self {
        self.0.extend(value);
        self
    }
}

/// A request, and what its reply may be.
pub(crate) struct Exchange<'a> {
    pub(crate) command: u16,
    pub(crate) request: Payload,
    /// Goes with the request.
    pub(crate) fd: Option<BorrowedFd<'a>>,
    /// Bytes: the largest payload of the reply.
    pub(crate) max_reply: usize,
    /// Whether a descriptor may come with the reply.
    pub(crate) takes_fd: bool,
    /// Of the wait, what uses up no patience.
    pub(crate) free: Duration,
}

impl Exchange<'_> {
    /// A request without a descriptor, all of whose wait uses up patience.
    pub(crate) fn new(command: u16, request: Payload, max_reply: usize) -> Self {
        Self {
            command,
            request,
            fd: None,
            max_reply,
            takes_fd: false,
            free: Duration::ZERO,
        }
    }
}

/// The wait of an exchange.
struct Wait {
    command: u16,
    begun: Instant,
    limit: Duration,
}

/// A reply: its payload, and the descriptor that came with it.
struct Reply {
    flags: u32,
    errno: i32,
    payload: Vec<u8>,
    fd: Option<OwnedFd>,
}

/// A connection to a vfio-user server.
pub(crate) struct Socket {
    address: String,
    fd: OwnedFd,
    /// The id of the next message.
    next_message: Cell<u16>,
    /// A reply was late, wrong or incomplete.
    broken: Cell<bool>,
    patience: DevicePatience,
}

impl Socket {
    /// Connects to the server at `path`. While none listens, it waits as long as `time` permits.
    pub(crate) fn connect(
        address: &str,
        path: &str,
        time: &ConnectTime,
        patience: &Rc<Patience>,
    ) -> Result<Self> {
        let unix = SocketAddrUnix::new(path)
            .ok()
            .filter(|_| (1..=PATH_MAX).contains(&path.len()))
            .ok_or_else(|| Error::device(address, "a socket path has 1 to 107 characters"))?;
        let fd = socket_with(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        )
        .map_err(|error| Error::call(address, "socket", error.into()))?;
        connect_in_time(fd.as_fd(), &unix, time)
            .map_err(|error| connect_error(address, path, time.total_ms, error))?;
        Ok(Self {
            address: address.to_owned(),
            fd,
            next_message: Cell::new(0),
            broken: Cell::new(false),
            patience: DevicePatience::new(patience),
        })
    }

    /// Whether a reply was late, wrong or incomplete: a later one could not be trusted.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.get()
    }

    /// The patience for the server.
    pub(crate) fn patience(&self) -> &DevicePatience {
        &self.patience
    }

    /// Sends a request and receives its reply, within the patience for the server: the payload, and
    /// the descriptor that came with it.
    pub(crate) fn call(&self, exchange: &Exchange<'_>) -> Result<(Vec<u8>, Option<OwnedFd>)> {
        let wait = Wait {
            command: exchange.command,
            begun: Instant::now(),
            limit: self.patience.left() + exchange.free,
        };
        let reply = self.exchange_messages(exchange, &wait);
        self.patience
            .use_up(wait.begun.elapsed().saturating_sub(exchange.free));
        self.broken.set(reply.is_err());
        let reply = reply?;
        if reply.flags & FLAGS_ERROR == 0 {
            return Ok((reply.payload, reply.fd));
        }
        if exchange.command == VERSION && reply.errno == Errno::BUSY.raw_os_error() {
            return Err(
                self.error("the device is busy: another driver uses it; end that driver first")
            );
        }
        Err(self.error(format!(
            "the vfio-user server refused command {}: {}",
            exchange.command,
            io::Error::from_raw_os_error(reply.errno)
        )))
    }

    fn exchange_messages(&self, exchange: &Exchange<'_>, wait: &Wait) -> Result<Reply> {
        let command = exchange.command;
        let id = self.next_message.get();
        self.next_message.set(id.wrapping_add(1));
        let message = Payload::default()
            .u16(id)
            .u16(command)
            .u32((HEADER_SIZE + exchange.request.0.len()) as u32)
            .u32(0)
            .u32(0)
            .bytes(&exchange.request.0);
        self.send_request(&message.0, exchange.fd, wait)?;

        let mut header = [0; HEADER_SIZE];
        let mut fd = None;
        self.receive_all(&mut header, exchange.takes_fd, &mut fd, wait)?;
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
        if size > exchange.max_reply {
            return Err(self.error(format!(
                "reply to vfio-user command {command} is too large: {size} bytes"
            )));
        }
        let mut payload = vec![0; size];
        self.receive_all(&mut payload, exchange.takes_fd, &mut fd, wait)?;
        Ok(Reply {
            flags,
            errno: u32_at(&header, 12).unwrap_or_default() as i32,
            payload,
            fd,
        })
    }

    /// Waits until the socket is ready for `events`, or until the wait is over.
    fn wait_for_server(&self, events: PollFlags, wait: &Wait) -> Result<()> {
        let mut socket = [PollFd::new(&self.fd, events)];
        loop {
            let left = wait.limit.saturating_sub(wait.begun.elapsed());
            let left = Timespec {
                tv_sec: left.as_secs() as _,
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(&mut socket, Some(&left)) {
                Ok(0) => break,
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(self.connection_error("poll", error.into())),
            }
        }
        Err(Box::new(Error::NoAnswer {
            address: self.address.clone(),
            command: wait.command,
            waited_ms: wait.limit.as_millis(),
            patience_ms: (PATIENCE + RESERVE).as_millis(),
        }))
    }

    /// Sends the request, and its descriptor with the first part.
    fn send_request(&self, data: &[u8], fd: Option<BorrowedFd<'_>>, wait: &Wait) -> Result<()> {
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
                Err(Errno::AGAIN) => self.wait_for_server(PollFlags::OUT, wait)?,
                Err(Errno::INTR) => {}
                Err(error) => return Err(self.connection_error("send", error.into())),
            }
        }
        Ok(())
    }

    /// Takes the descriptors that came with a part of the reply: one, if it belongs there, and closes
    /// all others. The kernel has closed those for which there was no room. Returns whether none was
    /// too many.
    fn take_descriptors(
        control: &mut RecvAncillaryBuffer<'_>,
        takes_fd: bool,
        fd: &mut Option<OwnedFd>,
    ) -> bool {
        let mut belong = true;
        for message in control.drain() {
            let RecvAncillaryMessage::ScmRights(passed) = message else {
                continue;
            };
            for passed in passed {
                if takes_fd && fd.is_none() {
                    *fd = Some(passed);
                } else {
                    belong = false;
                }
            }
        }
        belong
    }

    /// Receives all of `data`.
    fn receive_all(
        &self,
        data: &mut [u8],
        takes_fd: bool,
        fd: &mut Option<OwnedFd>,
        wait: &Wait,
    ) -> Result<()> {
        let mut received = 0;
        while received < data.len() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut part = [IoSliceMut::new(&mut data[received..])];
            self.wait_for_server(PollFlags::IN, wait)?;
            let message = match recvmsg(&self.fd, &mut part, &mut control, RecvFlags::CMSG_CLOEXEC)
            {
                Ok(message) => message,
                Err(Errno::INTR | Errno::AGAIN) => continue,
                Err(error) => return Err(self.connection_error("receive", error.into())),
            };
            if !Self::take_descriptors(&mut control, takes_fd, fd)
                || message.flags.contains(ReturnFlags::CTRUNC)
            {
                return Err(self.error(format!(
                    "the vfio-user server broke the protocol: the reply to command {} has file \
                     descriptors that do not belong to it",
                    wait.command
                )));
            }
            if message.bytes == 0 {
                return Err(self.connection_error("receive", io::ErrorKind::ConnectionReset.into()));
            }
            received += message.bytes;
        }
        Ok(())
    }

    fn connection_error(&self, call: &'static str, source: io::Error) -> Box<Error> {
        Error::call_with_remedy(
            &self.address,
            call,
            source,
            "; the vfio-user server went away; start it again",
        )
    }

    /// An error of this device.
    pub(crate) fn error(&self, what: impl Into<String>) -> Box<Error> {
        Error::device(&self.address, what)
    }
}
