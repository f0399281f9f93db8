//! The vfio-user protocol: messages over a UNIX stream socket, with file descriptors beside them.
//!
//! Written out here, and not taken from the crate `vfio_user`, because that crate's server is made
//! for one trusting client: it serves a single connection and then blocks in `accept` with no way
//! to stop it, panics on version data without a NUL, allocates whatever size a read message names,
//! and leaves the payload of a refused command in the stream, to be taken for the next header. A
//! server that outlives its drivers, whatever they do, needs the reverse of each. It is little
//! code: a header of 16 bytes, [`Command`]s, and payloads of fixed-size little-endian fields.

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
/// Most bytes of data in one region access. Told to the client, which may not send more.
pub(crate) const MAX_DATA_SIZE: usize = 1 << 20;
/// Longest message: a region write of that much data.
const MAX_MESSAGE_SIZE: usize = HEADER_SIZE + 16 + MAX_DATA_SIZE;
/// Most file descriptors in one message: one per MSI-X vector.
pub(crate) const MAX_FDS: usize = 64;
/// Most file descriptors with one message that clients are told of. QEMU takes a server that offers
/// more than 16 for a broken one.
pub(crate) const OFFERED_FDS: usize = 16;
/// How long the rest of a message, or room for a reply, may take, unless a test says otherwise.
pub(crate) const PEER_TIMEOUT: Duration = Duration::from_secs(2);

/// What a message asks for.
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
    /// In the protocol, but not offered here (or not a client's to send).
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

/// Answers the first message of a client that cannot be served now, if it is there. Never waits.
pub(crate) fn turn_away(client: &UnixStream, error: Errno) {
    let mut head = [0; HEADER_SIZE];
    let Ok((_, HEADER_SIZE)) = recv(client, &mut head[..], RecvFlags::DONTWAIT) else {
        return;
    };
    // What is left unread when the socket is closed would turn our answer into a reset connection.
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
    // Who has gone meanwhile does not need it.
    let _ = send(client, &answer, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

const FLAG_TYPE: u32 = 0xf;
const FLAG_REPLY: u32 = 1;
const FLAG_NO_REPLY: u32 = 1 << 4;
const FLAG_ERROR: u32 = 1 << 5;

/// A message's header, as far as it has to be told back.
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

/// A message from the client, complete.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) header: Header,
    pub(crate) payload: Vec<u8>,
    pub(crate) fds: Vec<OwnedFd>,
}

/// Why a connection is over.
#[derive(Debug, Error)]
pub(crate) enum ConnectionError {
    #[error("the client closed the connection")]
    Closed,
    #[error("the client closed the connection in the middle of a message")]
    Truncated,
    #[error("a message of {0} bytes: must have 16 to {MAX_MESSAGE_SIZE}")]
    Size(u32),
    #[error("a message that is no command (flags {0:#x})")]
    NotACommand(u32),
    #[error("a message with more than {MAX_FDS} file descriptors")]
    TooManyFds,
    #[error("the first message was not VERSION")]
    NoVersion,
    #[error("version {0}.{1}: this server speaks 0.x")]
    Version(u16, u16),
    #[error(
        "the client stopped in the middle of a message, or takes no replies, for {PEER_TIMEOUT:?}"
    )]
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
    /// Readable when the server is to stop.
    stop: BorrowedFd<'a>,
    /// How long the rest of a message, or room for a reply, may take.
    patience: Duration,
}

impl<'a> Connection<'a> {
    pub(crate) fn new(stream: UnixStream, stop: BorrowedFd<'a>, patience: Duration) -> Self {
        Self {
            stream,
            stop,
            patience,
        }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Waits until the peer is ready, the server is to stop, or `deadline` has passed.
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
        let deadline = Instant::now() + self.patience;
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
        // Without a credible size there is no telling where the next message begins.
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

    /// Reads until `bytes` is full. `closed` is the error if the stream ends before the first byte.
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

    /// Answers a command, unless it wants no answer.
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

    /// Answers a command with an error, unless it wants no answer.
    pub(crate) fn refuse(&self, to: Header, error: Errno) -> Result<(), ConnectionError> {
        if to.no_reply {
            return Ok(());
        }
        let error = error.raw_os_error().unsigned_abs();
        self.send(&to.bytes(0, FLAG_REPLY | FLAG_ERROR, error), None)
    }

    fn send(&self, bytes: &[u8], fd: Option<BorrowedFd<'_>>) -> Result<(), ConnectionError> {
        let deadline = Instant::now() + self.patience;
        let fds: Vec<_> = fd.into_iter().collect();
        let mut sent = 0;
        while sent < bytes.len() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            // The descriptor goes with the first byte, once.
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

/// Reads fixed-size fields off the front of a payload.
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
