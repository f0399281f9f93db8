//! Messages of the vfio-user protocol, with the file descriptors beside them.
//!
//! The codec also sends what the protocol forbids: a [`Header`] is only data.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::net::{
    recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// Bytes of a header.
pub const HEADER_LEN: usize = 16;
/// Most descriptors that Linux sends with one message.
pub const MAX_FILES: usize = 253;
/// Longest payload that [`receive`] accepts: 2 MiB.
const MAX_PAYLOAD: usize = 2 << 20;

/// Numbers of commands.
#[allow(missing_docs)] // the protocol's names
pub mod command {
    pub const VERSION: u16 = 1;
    pub const DMA_MAP: u16 = 2;
    pub const DMA_UNMAP: u16 = 3;
    pub const GET_INFO: u16 = 4;
    pub const REGION_INFO: u16 = 5;
    pub const IRQ_INFO: u16 = 7;
    pub const SET_IRQS: u16 = 8;
    pub const REGION_READ: u16 = 9;
    pub const REGION_WRITE: u16 = 10;
    pub const RESET: u16 = 13;
}

/// Flags of a header: the message is a reply.
pub const FLAG_REPLY: u32 = 1;
/// Flags of a header: the request wants no reply.
pub const FLAG_NO_REPLY: u32 = 1 << 4;
/// Flags of a header: the reply refuses, and the field `error` holds the error number.
pub const FLAG_ERROR: u32 = 1 << 5;

/// Region of the registers.
pub const BAR0: u32 = 0;
/// Bytes of BAR0.
pub const BAR0_LEN: u64 = 512 << 10;
/// Region of the configuration space.
pub const CONFIG: u32 = 7;

/// The header of a message, with fields of any value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number that the reply repeats.
    pub id: u16,
    /// Number of the command.
    pub command: u16,
    /// Bytes of the message, with the header.
    pub size: u32,
    /// Type and flags.
    pub flags: u32,
    /// Error number of a refusal.
    pub error: u32,
}

impl Header {
    /// The header as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let first = u32::from(self.id) | u32::from(self.command) << 16;
        words(&[first, self.size, self.flags, self.error])
    }

    /// Reads a header.
    pub fn parse(bytes: &[u8]) -> Self {
        let first = get32(bytes, 0);
        Self {
            id: first as u16,
            command: (first >> 16) as u16,
            size: get32(bytes, 4),
            flags: get32(bytes, 8),
            error: get32(bytes, 12),
        }
    }
}

/// A message: header, payload and descriptors. The header's size need not fit the payload.
#[derive(Debug)]
pub struct Message {
    /// The header.
    pub header: Header,
    /// Everything after the header.
    pub payload: Vec<u8>,
    /// The descriptors that came with the message.
    pub files: Vec<OwnedFd>,
}

impl Message {
    /// A request of the right size.
    pub fn request(id: u16, command: u16, payload: &[u8]) -> Self {
        let header = Header {
            id,
            command,
            size: (HEADER_LEN + payload.len()) as u32,
            flags: 0,
            error: 0,
        };
        Self {
            header,
            payload: payload.to_vec(),
            files: Vec::new(),
        }
    }

    /// Header and payload as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        [self.header.bytes(), self.payload.clone()].concat()
    }

    /// Sets the size in the header to that of the message.
    pub fn fit_size(&mut self) {
        self.header.size = (HEADER_LEN + self.payload.len()) as u32;
    }

    /// Whether it reads or writes a region, and which region and offset.
    pub fn access(&self) -> Option<(u32, u64)> {
        let accesses = [command::REGION_READ, command::REGION_WRITE];
        let is_access = accesses.contains(&self.header.command);
        is_access.then(|| (get32(&self.payload, 8), get64(&self.payload, 0)))
    }
}

/// Reads a 32-bit number at `at`; zero beyond the end.
pub fn get32(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..).and_then(|rest| rest.first_chunk());
    four.map_or(0, |four| u32::from_le_bytes(*four))
}

/// Reads a 64-bit number at `at`; zero beyond the end.
pub fn get64(bytes: &[u8], at: usize) -> u64 {
    u64::from(get32(bytes, at)) | u64::from(get32(bytes, at + 4)) << 32
}

/// Writes a 32-bit number at `at`. Extends the bytes if they end before.
pub fn put32(bytes: &mut Vec<u8>, at: usize, value: u32) {
    if bytes.len() < at + 4 {
        bytes.resize(at + 4, 0);
    }
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Writes a 64-bit number at `at`. Extends the bytes if they end before.
pub fn put64(bytes: &mut Vec<u8>, at: usize, value: u64) {
    put32(bytes, at, value as u32);
    put32(bytes, at + 4, (value >> 32) as u32);
}

/// Sends all bytes, and the descriptors with the first of them.
///
/// # Errors
/// Those of `sendmsg`. A peer that has gone is [`io::ErrorKind::BrokenPipe`].
pub fn send(stream: &UnixStream, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut sent = 0;
    while sent < bytes.len() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if sent == 0 && !files.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(files));
        }
        let part = [IoSlice::new(&bytes[sent..])];
        match sendmsg(stream, &part, &mut control, SendFlags::NOSIGNAL) {
            Ok(count) => sent += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Sends a message with its descriptors.
///
/// # Errors
/// As [`send`].
pub fn send_message(stream: &UnixStream, message: &Message) -> io::Result<()> {
    let files: Vec<_> = message.files.iter().map(AsFd::as_fd).collect();
    send(stream, &message.bytes(), &files)
}

/// Receives one message. Waits as long as the stream's read time-out.
///
/// # Errors
/// Those of `recvmsg`; [`io::ErrorKind::UnexpectedEof`] at the end of the stream, and
/// [`io::ErrorKind::InvalidData`] for a size that no message has.
pub fn receive(stream: &UnixStream) -> io::Result<Message> {
    let mut files = Vec::new();
    let mut head = [0; HEADER_LEN];
    fill(stream, &mut head, &mut files)?;
    let header = Header::parse(&head);
    let len = (header.size as usize).checked_sub(HEADER_LEN);
    let Some(len) = len.filter(|len| *len <= MAX_PAYLOAD) else {
        let text = format!("message of {} bytes", header.size);
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    };
    let mut payload = vec![0; len];
    fill(stream, &mut payload, &mut files)?;
    Ok(Message {
        header,
        payload,
        files,
    })
}

fn fill(stream: &UnixStream, bytes: &mut [u8], files: &mut Vec<OwnedFd>) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut part = [IoSliceMut::new(&mut bytes[filled..])];
        let received = match recvmsg(stream, &mut part, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) => received.bytes,
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                files.extend(rights);
            }
        }
        if received == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled += received;
    }
    Ok(())
}

/// Payloads of requests.
pub mod payload {
    use super::{put64, words};

    /// Flags of a DMA map: the device may read and write.
    pub const READ_WRITE: u32 = 3;
    /// Flags of a request about interrupts: signal eventfds that come with the message.
    pub const CONNECT: u32 = 1 << 2 | 1 << 5;
    /// Flags of a request about interrupts: signal now.
    pub const TRIGGER: u32 = 1 | 1 << 5;
    /// Kinds of interrupts: the line, MSI and MSI-X.
    pub const KINDS: [u32; 3] = [0, 1, 2];
    /// Vectors of MSI-X.
    pub const MSIX: u32 = KINDS[2];

    /// VERSION 0.1 with usual capabilities.
    pub fn version() -> Vec<u8> {
        [
            &[0, 0, 1, 0],
            &b"{\"capabilities\":{\"max_msg_fds\":8}}\0"[..],
        ]
        .concat()
    }

    /// DMA_MAP.
    pub fn map(flags: u32, offset: u64, iova: u64, size: u64) -> Vec<u8> {
        quads(&[32, flags], &[offset, iova, size])
    }

    /// DMA_UNMAP.
    pub fn unmap(flags: u32, iova: u64, size: u64) -> Vec<u8> {
        quads(&[24, flags], &[iova, size])
    }

    /// SET_IRQS.
    pub fn interrupts(flags: u32, kind: u32, start: u32, count: u32) -> Vec<u8> {
        words(&[20, flags, kind, start, count])
    }

    /// The fixed part of REGION_READ and REGION_WRITE.
    pub fn access(offset: u64, region: u32, count: u32) -> Vec<u8> {
        let mut bytes = words(&[0, 0, region, count]);
        put64(&mut bytes, 0, offset);
        bytes
    }

    /// REGION_WRITE of these bytes.
    pub fn write(offset: u64, region: u32, data: &[u8]) -> Vec<u8> {
        [access(offset, region, data.len() as u32), data.to_vec()].concat()
    }

    /// DEVICE_GET_REGION_INFO with room for a reply of `room` bytes.
    pub fn region_info(room: u32, region: u32) -> Vec<u8> {
        words(&[room, 0, region, 0, 0, 0, 0, 0])
    }

    fn quads(first: &[u32], then: &[u64]) -> Vec<u8> {
        let then: Vec<_> = then.iter().flat_map(|quad| quad.to_le_bytes()).collect();
        [words(first), then].concat()
    }
}

/// Words as bytes, little-endian.
pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_with_its_descriptors() {
        let (one, other) = UnixStream::pair().unwrap();
        let mut message = Message::request(7, command::DMA_MAP, b"payload");
        let null = || std::fs::File::open("/dev/null").unwrap().into();
        message.files = std::iter::repeat_with(null).take(MAX_FILES).collect();
        send_message(&one, &message).unwrap();
        let received = receive(&other).unwrap();
        assert_eq!(received.header, message.header);
        assert_eq!(received.payload, b"payload");
        assert_eq!(received.files.len(), MAX_FILES);
    }

    #[test]
    fn a_size_below_the_header_is_an_error() {
        let (one, other) = UnixStream::pair().unwrap();
        let mut message = Message::request(7, command::VERSION, &[]);
        message.header.size = 15;
        send_message(&one, &message).unwrap();
        let error = receive(&other).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn numbers_are_written_beyond_the_end_and_read_back() {
        let mut bytes = vec![1];
        put64(&mut bytes, 4, 0x0102_0304_0506_0708);
        assert_eq!(get64(&bytes, 4), 0x0102_0304_0506_0708);
        assert_eq!(get32(&bytes, 100), 0);
    }
}
