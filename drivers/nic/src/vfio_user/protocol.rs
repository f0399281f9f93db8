//! The vfio-user protocol: messages over a UNIX stream socket, with file descriptors beside them.
//!
//! A message is a header of 16 bytes, with a [`Command`], and a payload of fixed-size little-endian
//! fields.
//!
//! The crate `vfio_user` is not used, because its server trusts its client and serves only one:
//!
//! * After one connection it blocks in `accept`, and no other thread can stop it.
//! * It panics on version data without a NUL.
//! * It allocates any size that a read message names.
//! * It leaves the payload of a refused command in the stream, and reads it as the next header.
//!
//! This server must outlive its drivers, whatever they send.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{
    recv, recvmsg, send, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use thiserror::Error;

use crate::socket::wait;

/// Bytes in a message's header.
const HEADER_SIZE: usize = 16;
/// Most bytes of data in one region access. The server announces this limit to the client.
pub(crate) const MAX_DATA_SIZE: usize = 1 << 20;
/// Longest message: a region write with that much data.
const MAX_MESSAGE_SIZE: usize = HEADER_SIZE + 16 + MAX_DATA_SIZE;
/// Most file descriptors in one message: one per MSI-X vector.
pub(crate) const MAX_FDS: usize = 64;
/// Most file descriptors in one message, as announced to clients. QEMU refuses a server that
/// announces more than 16.
pub(crate) const OFFERED_FDS: usize = 16;
/// Longest time that a client may take to send the rest of a message, or to make room for a reply.
pub(crate) const PEER_TIMEOUT: Duration = Duration::from_secs(2);

/// Longest first message. VERSION names a few capabilities.
const MAX_FIRST_MESSAGE: usize = 4096;

/// The request of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Version,
    DmaMap,
    DmaUnmap,
    DeviceGetInfo,
    DeviceGetRegionInfo,
    DeviceGetIrqInfo,
    DeviceSetIrqs,
    RegionRead,
    RegionWrite,
    DeviceReset,
    /// A request that this server does not offer, or that a client may not send.
    NotOffered,
}

impl Command {
    fn from_number(number: u16) -> Self {
        match number {
            1 => Self::Version,
            2 => Self::DmaMap,
            3 => Self::DmaUnmap,
            4 => Self::DeviceGetInfo,
            5 => Self::DeviceGetRegionInfo,
            7 => Self::DeviceGetIrqInfo,
            8 => Self::DeviceSetIrqs,
            9 => Self::RegionRead,
            10 => Self::RegionWrite,
            13 => Self::DeviceReset,
            _ => Self::NotOffered,
        }
    }
}

/// How much of a client's first message has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstMessage {
    /// Nothing.
    None,
    /// Not all of it.
    Part,
    /// All of it.
    Whole,
    /// It is too long to be a VERSION message.
    TooLong,
    /// The client has gone.
    Closed,
}

/// How much of a client's first message has arrived. Never waits, and leaves the message unread.
pub(crate) fn first_message(client: &UnixStream) -> FirstMessage {
    let mut head = [0; HEADER_SIZE];
    match recv(client, &mut head[..], RecvFlags::DONTWAIT | RecvFlags::PEEK) {
        Ok((_, 0)) => return FirstMessage::Closed,
        Ok((_, HEADER_SIZE)) => {}
        Ok(_) => return FirstMessage::Part,
        Err(Errno::AGAIN | Errno::INTR) => return FirstMessage::None,
        Err(_) => return FirstMessage::Closed,
    }
    let size = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
    let arrived = rustix::io::ioctl_fionread(client).unwrap_or(0);
    match size {
        // The server refuses such a size without waiting for more.
        0..HEADER_SIZE => FirstMessage::Whole,
        HEADER_SIZE..=MAX_FIRST_MESSAGE if arrived < size as u64 => FirstMessage::Part,
        HEADER_SIZE..=MAX_FIRST_MESSAGE => FirstMessage::Whole,
        _ => FirstMessage::TooLong,
    }
}

/// Answers the first message of a client with an error, because the server cannot serve it now.
/// Does nothing if the message has not arrived: never waits.
pub(crate) fn turn_away(client: &UnixStream, error: Errno) {
    let mut head = [0; HEADER_SIZE];
    let Ok((_, HEADER_SIZE)) = recv(client, &mut head[..], RecvFlags::DONTWAIT) else {
        return;
    };
    // Closing a socket with unread bytes would reset the connection before the client has read the
    // answer.
    let mut rest = [0; 4096];
    for _ in 0..MAX_MESSAGE_SIZE / rest.len() {
        match recv(client, &mut rest[..], RecvFlags::DONTWAIT) {
            Ok((_, 1..)) => {}
            _ => break,
        }
    }
    let header = Header {
        id: u16::from_le_bytes([head[0], head[1]]),
        number: u16::from_le_bytes([head[2], head[3]]),
        no_reply: false,
    };
    let error = error.raw_os_error().unsigned_abs();
    let answer = header.bytes(0, FLAG_REPLY | FLAG_ERROR, error);
    // An error here means that the client has gone.
    let _ = send(client, &answer, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

const FLAG_TYPE: u32 = 0xf;
const FLAG_REPLY: u32 = 1;
const FLAG_NO_REPLY: u32 = 1 << 4;
const FLAG_ERROR: u32 = 1 << 5;

/// The parts of a message's header that the reply repeats.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    id: u16,
    number: u16,
    pub(crate) no_reply: bool,
}

impl Header {
    pub(crate) fn command(&self) -> Command {
        Command::from_number(self.number)
    }

    fn bytes(self, payload: usize, flags: u32, error: u32) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        bytes[0..2].copy_from_slice(&self.id.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.number.to_le_bytes());
        bytes[4..8].copy_from_slice(&((HEADER_SIZE + payload) as u32).to_le_bytes());
        bytes[8..12].copy_from_slice(&flags.to_le_bytes());
        bytes[12..16].copy_from_slice(&error.to_le_bytes());
        bytes
    }
}

/// A complete message from the client.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) header: Header,
    pub(crate) payload: Vec<u8>,
    pub(crate) fds: Vec<OwnedFd>,
}

/// Why a connection has ended.
#[derive(Debug, Error)]
pub(crate) enum ConnectionError {
    #[error("the client closed the connection")]
    Closed,
    #[error("the client closed the connection in the middle of a message")]
    Truncated,
    #[error("message of {0} bytes: the size must be 16 to {MAX_MESSAGE_SIZE}")]
    Size(u32),
    #[error("message with flags {0:#x}: the server takes commands only")]
    NotACommand(u32),
    #[error("message with more than {MAX_FDS} file descriptors")]
    TooManyFds,
    #[error("the first message was not VERSION")]
    NoVersion,
    #[error("version {0}.{1}: this server speaks 0.x")]
    Version(u16, u16),
    #[error("for {PEER_TIMEOUT:?}, the client has neither completed a message nor read a reply")]
    Timeout,
    #[error("the NIC is stopping")]
    Stopping,
    #[error("socket: {0}")]
    Io(#[from] io::Error),
}

impl From<Errno> for ConnectionError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::PIPE | Errno::CONNRESET => Self::Closed,
            other => Self::Io(other.into()),
        }
    }
}

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Connection<'a> {
    stream: UnixStream,
    /// Becomes readable when the server must stop.
    stop: BorrowedFd<'a>,
    /// Longest time for the rest of a message, or for room for a reply.
    peer_timeout: Duration,
}

impl<'a> Connection<'a> {
    pub(crate) fn new(stream: UnixStream, stop: BorrowedFd<'a>, peer_timeout: Duration) -> Self {
        Self {
            stream,
            stop,
            peer_timeout,
        }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Waits until the client is ready. Fails if the server must stop, or at the deadline.
    fn wait_for(&self, flags: PollFlags, deadline: Instant) -> Result<(), ConnectionError> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let ready = wait(
                &[(self.fd(), flags), (self.stop, PollFlags::IN)],
                Some(left),
            )?;
            match ready[..] {
                [_, true] => return Err(ConnectionError::Stopping),
                [true, _] => return Ok(()),
                _ if left.is_zero() => return Err(ConnectionError::Timeout),
                _ => {}
            }
        }
    }

    /// Reads a message that has begun to arrive.
    pub(crate) fn receive(&self) -> Result<Message, ConnectionError> {
        let deadline = Instant::now() + self.peer_timeout;
        let mut fds = Vec::new();
        let mut head = [0; HEADER_SIZE];
        self.fill(&mut head, &mut fds, deadline, ConnectionError::Closed)?;
        let half = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        let full = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        let (size, flags) = (full(4), full(8));
        let header = Header {
            id: half(0),
            number: half(2),
            no_reply: flags & FLAG_NO_REPLY != 0,
        };
        // Without a valid size, the server cannot know where the next message begins.
        if (size as usize) < HEADER_SIZE || size as usize > MAX_MESSAGE_SIZE {
            self.refuse(header, Errno::INVAL)?;
            return Err(ConnectionError::Size(size));
        }
        if flags & FLAG_TYPE != 0 {
            return Err(ConnectionError::NotACommand(flags));
        }
        let mut payload = vec![0; size as usize - HEADER_SIZE];
        self.fill(&mut payload, &mut fds, deadline, ConnectionError::Truncated)?;
        Ok(Message {
            header,
            payload,
            fds,
        })
    }

    /// Reads until `bytes` is full. Fails with `closed` if the stream ends before the first byte.
    fn fill(
        &self,
        bytes: &mut [u8],
        fds: &mut Vec<OwnedFd>,
        deadline: Instant,
        closed: ConnectionError,
    ) -> Result<(), ConnectionError> {
        let mut filled = 0;
        while filled < bytes.len() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
            let mut into = [io::IoSliceMut::new(&mut bytes[filled..])];
            let received = match recvmsg(&self.stream, &mut into, &mut control, flags) {
                Ok(received) => received,
                Err(Errno::AGAIN) => {
                    self.wait_for(PollFlags::IN, deadline)?;
                    continue;
                }
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            };
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(rights) = message {
                    fds.extend(rights);
                }
            }
            if fds.len() > MAX_FDS || received.flags.contains(rustix::net::ReturnFlags::CTRUNC) {
                return Err(ConnectionError::TooManyFds);
            }
            if received.bytes == 0 {
                return Err(if filled == 0 {
                    closed
                } else {
                    ConnectionError::Truncated
                });
            }
            filled += received.bytes;
        }
        Ok(())
    }

    /// Answers a command, unless the command wants no answer.
    pub(crate) fn reply(
        &self,
        to: Header,
        payload: &[u8],
        fd: Option<BorrowedFd<'_>>,
    ) -> Result<(), ConnectionError> {
        if to.no_reply {
            return Ok(());
        }
        let mut bytes = to.bytes(payload.len(), FLAG_REPLY, 0).to_vec();
        bytes.extend_from_slice(payload);
        self.send(&bytes, fd)
    }

    /// Answers a command with an error, unless the command wants no answer.
    pub(crate) fn refuse(&self, to: Header, error: Errno) -> Result<(), ConnectionError> {
        if to.no_reply {
            return Ok(());
        }
        let error = error.raw_os_error().unsigned_abs();
        self.send(&to.bytes(0, FLAG_REPLY | FLAG_ERROR, error), None)
    }

    fn send(&self, bytes: &[u8], fd: Option<BorrowedFd<'_>>) -> Result<(), ConnectionError> {
        let deadline = Instant::now() + self.peer_timeout;
        let fds: Vec<_> = fd.into_iter().collect();
        let mut sent = 0;
        while sent < bytes.len() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            // The descriptor goes once, with the first byte.
            if sent == 0 && !fds.is_empty() {
                control.push(SendAncillaryMessage::ScmRights(&fds));
            }
            let from = [io::IoSlice::new(&bytes[sent..])];
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match sendmsg(&self.stream, &from, &mut control, flags) {
                Ok(count) => sent += count,
                Err(Errno::AGAIN) => self.wait_for(PollFlags::OUT, deadline)?,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }
}

/// Reads fixed-size fields from the front of a payload.
#[derive(Debug)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Errno> {
        let (first, rest) = self.0.split_first_chunk().ok_or(Errno::INVAL)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Errno> {
        self.take().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Errno> {
        self.take().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Errno> {
        self.take().map(u64::from_le_bytes)
    }
}
