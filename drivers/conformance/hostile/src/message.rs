//! Messages of the vfio-user protocol, with the file descriptors beside them.
//!
//! This module shares no code with the card or the drivers, so it repeats no mistake of theirs. It
//! also sends what the protocol forbids: a [`Header`] is only data.

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
pub mod command {
    /// Agrees on the version. The first message.
    pub const VERSION: u16 = 1;
    /// Lends memory to the device.
    pub const DMA_MAP: u16 = 2;
    /// Takes memory back.
    pub const DMA_UNMAP: u16 = 3;
    /// Describes the device.
    pub const GET_INFO: u16 = 4;
    /// Describes a region.
    pub const REGION_INFO: u16 = 5;
    /// Describes a kind of interrupts.
    pub const IRQ_INFO: u16 = 7;
    /// Connects interrupts with eventfds.
    pub const SET_IRQS: u16 = 8;
    /// Reads a region.
    pub const REGION_READ: u16 = 9;
    /// Writes a region.
    pub const REGION_WRITE: u16 = 10;
    /// Resets the device.
    pub const RESET: u16 = 13;
}

/// Flags of a header: the message is a reply.
pub const FLAG_REPLY: u32 = 1;
/// Flags of a header: the request wants no reply.
pub const FLAG_NO_REPLY: u32 = 1 << 4;
/// Flags of a header: the reply refuses, and the field `error` holds the error number.
pub const FLAG_ERROR: u32 = 1 << 5;

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
    /// The header as bytes, little-endian.
    pub fn bytes(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[0..2].copy_from_slice(&self.id.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.command.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.flags.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.error.to_le_bytes());
        bytes
    }

    /// Reads a header.
    pub fn parse(bytes: &[u8; HEADER_LEN]) -> Self {
        Self {
            id: u16::from_le_bytes([bytes[0], bytes[1]]),
            command: u16::from_le_bytes([bytes[2], bytes[3]]),
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
        Self {
            header: Header {
                id,
                command,
                size: (HEADER_LEN + payload.len()) as u32,
                flags: 0,
                error: 0,
            },
            payload: payload.to_vec(),
            files: Vec::new(),
        }
    }

    /// Header and payload as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        [&self.header.bytes()[..], &self.payload].concat()
    }

    /// Sets the size in the header to that of the message.
    pub fn fit_size(&mut self) {
        self.header.size = (HEADER_LEN + self.payload.len()) as u32;
    }
}

/// Reads a 32-bit number at `at`; zero beyond the end.
pub fn get32(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..at + 4)
        .and_then(|four| four.try_into().ok())
        .map_or(0, u32::from_le_bytes)
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
    let len = (header.size as usize)
        .checked_sub(HEADER_LEN)
        .filter(|len| *len <= MAX_PAYLOAD)
        .ok_or_else(|| {
            let text = format!("message of {} bytes", header.size);
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_with_its_descriptors() {
        let (one, other) = UnixStream::pair().unwrap();
        let mut message = Message::request(7, command::DMA_MAP, b"payload");
        message.files = (0..MAX_FILES)
            .map(|_| std::fs::File::open("/dev/null").unwrap().into())
            .collect();
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
