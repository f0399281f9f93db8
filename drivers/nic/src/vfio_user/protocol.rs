//! The vfio-user protocol: messages over a UNIX stream socket, with file descriptors beside them.
//!
//! A message is a header of 16 bytes, with the number of a [`command`], and a payload of fixed-size little-endian
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
    ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

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

/// The requests that this server offers, by their numbers in the protocol.
pub(crate) mod command {
    pub(crate) const VERSION: u16 = 1;
    pub(crate) const DMA_MAP: u16 = 2;
    pub(crate) const DMA_UNMAP: u16 = 3;
    pub(crate) const DEVICE_GET_INFO: u16 = 4;
    pub(crate) const DEVICE_GET_REGION_INFO: u16 = 5;
    pub(crate) const DEVICE_GET_IRQ_INFO: u16 = 7;
    pub(crate) const DEVICE_SET_IRQS: u16 = 8;
    pub(crate) const REGION_READ: u16 = 9;
    pub(crate) const REGION_WRITE: u16 = 10;
    pub(crate) const DEVICE_RESET: u16 = 13;
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
    let size = Header::of(&head).size;
    let arrived = rustix::io::ioctl_fionread(client).unwrap_or(0);
    match size as usize {
        // The server refuses such a size without waiting for more.
        0..HEADER_SIZE => FirstMessage::Whole,
        HEADER_SIZE..=MAX_FIRST_MESSAGE if arrived < u64::from(size) => FirstMessage::Part,
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
        let Ok((_, 1..)) = recv(client, &mut rest[..], RecvFlags::DONTWAIT) else {
            break;
        };
    }
    let answer = Header::of(&head).refusal(error);
    // An error here means that the client has gone.
    let _ = send(client, &answer, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

const FLAG_TYPE: u32 = 0xf;
const FLAG_REPLY: u32 = 1;
const FLAG_NO_REPLY: u32 = 1 << 4;
const FLAG_ERROR: u32 = 1 << 5;

/// A message's header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    id: u16,
    pub(crate) command: u16,
    /// Bytes of the message.
    size: u32,
    flags: u32,
}

impl Header {
    fn of(bytes: &[u8; HEADER_SIZE]) -> Self {
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
        Self {
            id: half(0),
            command: half(2),
            size: word(4),
            flags: word(8),
        }
    }

    /// An answer to the message, with the same number. `error` is 0 for success.
    fn answer(self, payload: &[u8], flags: u32, error: u32) -> Vec<u8> {
        let size = (HEADER_SIZE + payload.len()) as u32;
        let halves = [self.id, self.command].map(u16::to_le_bytes).concat();
        let words = [size, FLAG_REPLY | flags, error].map(u32::to_le_bytes);
        [&halves[..], words.as_flattened(), payload].concat()
    }

    /// An answer that says why the server does not do as the message says.
    fn refusal(self, error: Errno) -> Vec<u8> {
        self.answer(&[], FLAG_ERROR, error.raw_os_error().unsigned_abs())
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
#[derive(Debug)]
pub(crate) enum ConnectionError {
    /// The client closed the connection between two messages.
    Closed,
    /// The NIC is stopping.
    Stopping,
    /// The client broke the protocol, or the socket failed.
    Broken(String),
}

impl From<io::Error> for ConnectionError {
    fn from(error: io::Error) -> Self {
        match Errno::from_io_error(&error) {
            Some(Errno::PIPE | Errno::CONNRESET) => Self::Closed,
            _ => Self::Broken(format!("socket: {error}")),
        }
    }
}

/// The client broke the protocol in this way.
pub(crate) fn broken<T>(how: impl Into<String>) -> Result<T, ConnectionError> {
    Err(ConnectionError::Broken(how.into()))
}

/// A client's connection.
#[derive(Debug)]
pub(crate) struct Connection<'a> {
    stream: &'a UnixStream,
    /// Becomes readable when the server must stop.
    stop: BorrowedFd<'a>,
    /// Longest time for the rest of a message, or for room for a reply.
    peer_timeout: Duration,
}

impl<'a> Connection<'a> {
    pub(crate) fn new(
        stream: &'a UnixStream,
        stop: BorrowedFd<'a>,
        peer_timeout: Duration,
    ) -> Self {
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
            let fds = [(self.fd(), flags), (self.stop, PollFlags::IN)];
            match wait(&fds, Some(left))?[..] {
                [_, true] => return Err(ConnectionError::Stopping),
                [true, _] => return Ok(()),
                _ if left.is_zero() => {
                    let how = "the client has neither completed a message nor read a reply";
                    return broken(format!("for {PEER_TIMEOUT:?}, {how}"));
                }
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
        let header = Header::of(&head);
        let (size, flags) = (header.size as usize, header.flags);
        // Without a valid size, the server cannot know where the next message begins.
        if !(HEADER_SIZE..=MAX_MESSAGE_SIZE).contains(&size) {
            self.refuse(header, Errno::INVAL)?;
            let allowed = format!("the size must be 16 to {MAX_MESSAGE_SIZE}");
            return broken(format!("message of {size} bytes: {allowed}"));
        }
        if flags & FLAG_TYPE != 0 {
            let how = format!("message with flags {flags:#x}: the server takes commands only");
            return broken(how);
        }
        let mut payload = vec![0; size - HEADER_SIZE];
        self.fill(&mut payload, &mut fds, deadline, truncated())?;
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
            let received = match recvmsg(self.stream, &mut into, &mut control, flags) {
                Ok(received) => received,
                Err(Errno::AGAIN) => {
                    self.wait_for(PollFlags::IN, deadline)?;
                    continue;
                }
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(io::Error::from(errno).into()),
            };
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(rights) = message {
                    fds.extend(rights);
                }
            }
            if fds.len() > MAX_FDS || received.flags.contains(ReturnFlags::CTRUNC) {
                return broken(format!("message with more than {MAX_FDS} file descriptors"));
            }
            match received.bytes {
                0 if filled == 0 => return Err(closed),
                0 => return Err(truncated()),
                more => filled += more,
            }
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
        self.send(to, &to.answer(payload, 0, 0), fd)
    }

    /// Answers a command with an error, unless the command wants no answer.
    pub(crate) fn refuse(&self, to: Header, error: Errno) -> Result<(), ConnectionError> {
        self.send(to, &to.refusal(error), None)
    }

    fn send(
        &self,
        to: Header,
        bytes: &[u8],
        fd: Option<BorrowedFd<'_>>,
    ) -> Result<(), ConnectionError> {
        if to.flags & FLAG_NO_REPLY != 0 {
            return Ok(());
        }
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
            match sendmsg(self.stream, &from, &mut control, flags) {
                Ok(count) => sent += count,
                Err(Errno::AGAIN) => self.wait_for(PollFlags::OUT, deadline)?,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(io::Error::from(errno).into()),
            }
        }
        Ok(())
    }
}

fn truncated() -> ConnectionError {
    let how = "the client closed the connection in the middle of a message";
    ConnectionError::Broken(how.to_owned())
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

    pub(crate) fn words<const N: usize>(&mut self) -> Result<[u32; N], Errno> {
        let mut words = [0; N];
        for word in &mut words {
            *word = u32::from_le_bytes(self.take()?);
        }
        Ok(words)
    }

    pub(crate) fn longs<const N: usize>(&mut self) -> Result<[u64; N], Errno> {
        let mut longs = [0; N];
        for long in &mut longs {
            *long = u64::from_le_bytes(self.take()?);
        }
        Ok(longs)
    }
}
