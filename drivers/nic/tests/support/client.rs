//! A vfio-user client.

use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{fence, Ordering};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use super::memory::Memory;
use super::TIMEOUT;

pub const COMMAND_VERSION: u16 = 1;
pub const COMMAND_DMA_MAP: u16 = 2;
pub const COMMAND_DMA_UNMAP: u16 = 3;
pub const COMMAND_DEVICE_INFO: u16 = 4;
pub const COMMAND_REGION_INFO: u16 = 5;
pub const COMMAND_IRQ_INFO: u16 = 7;
pub const COMMAND_SET_IRQS: u16 = 8;
pub const COMMAND_REGION_READ: u16 = 9;
pub const COMMAND_REGION_WRITE: u16 = 10;
pub const COMMAND_RESET: u16 = 13;

/// A reply: the payload and the file descriptors, or the error number.
pub type Reply = Result<(Vec<u8>, Vec<OwnedFd>), u32>;

/// A vfio-user client.
pub struct Client {
    pub stream: UnixStream,
    next_id: u16,
    /// The mapping of the shared register pages, if the server offers them.
    pub pages: Option<Memory>,
    /// Offset and length of the shared parts of BAR0.
    pub areas: Vec<(u64, u64)>,
}

impl Client {
    /// Connects without sending a message.
    pub fn raw(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(TIMEOUT)).unwrap();
        Self {
            stream,
            next_id: 0,
            pages: None,
            areas: Vec::new(),
        }
    }

    pub fn connect(path: &Path) -> Self {
        Self::try_connect(path).expect("connection refused")
    }

    pub fn try_connect(path: &Path) -> Option<Self> {
        let mut client = Self::raw(path);
        let mut payload = [0_u16, 1].map(u16::to_le_bytes).concat();
        payload.extend(b"{\"capabilities\":{\"max_msg_fds\":8}}\0");
        let (reply, _) = client.try_command(COMMAND_VERSION, &payload, &[])?.ok()?;
        assert_eq!(reply[0..2], [0, 0]);
        assert_eq!(reply.last(), Some(&0));
        client.map_pages();
        Some(client)
    }

    fn map_pages(&mut self) {
        let ask = |room: u32| [room, 0, 0, 0, 0, 0, 0, 0].map(u32::to_le_bytes).concat();
        let (reply, _) = self.command(COMMAND_REGION_INFO, &ask(32), &[]).unwrap();
        let word =
            |reply: &[u8], at: usize| u32::from_le_bytes(reply[at..at + 4].try_into().unwrap());
        let size = word(&reply, 0);
        assert_eq!(word(&reply, 16), 512 << 10);
        if size == 32 {
            return;
        }
        let (reply, fds) = self.command(COMMAND_REGION_INFO, &ask(size), &[]).unwrap();
        assert_eq!((reply.len() as u32, word(&reply, 12)), (size, 32));
        let quad = |at: usize| u64::from_le_bytes(reply[at..at + 8].try_into().unwrap());
        self.areas = (0..word(&reply, 40) as usize)
            .map(|n| (quad(48 + 16 * n), quad(56 + 16 * n)))
            .collect();
        let file = fds.into_iter().next().unwrap();
        self.pages = Some(Memory::of_file(file, 0x8000));
    }

    /// Sends raw bytes.
    pub fn send(&mut self, bytes: &[u8], fds: &[BorrowedFd<'_>]) {
        assert!(
            self.try_send(bytes, fds),
            "the server closed the connection"
        );
    }

    /// Sends raw bytes. Returns false if the server has closed the connection.
    pub fn try_send(&mut self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> bool {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(128))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() {
            assert!(control.push(SendAncillaryMessage::ScmRights(fds)));
        }
        let sent = rustix::net::sendmsg(
            &self.stream,
            &[IoSlice::new(bytes)],
            &mut control,
            SendFlags::NOSIGNAL,
        );
        match sent {
            Ok(sent) => self.stream.write_all(&bytes[sent..]).is_ok(),
            Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => false,
            Err(error) => panic!("{error}"),
        }
    }

    pub fn message(&mut self, command: u16, flags: u32, payload: &[u8]) -> Vec<u8> {
        self.next_id += 1;
        let mut bytes = [self.next_id, command].map(u16::to_le_bytes).concat();
        bytes.extend(
            [16 + payload.len() as u32, flags, 0]
                .map(u32::to_le_bytes)
                .concat(),
        );
        bytes.extend(payload);
        bytes
    }

    pub fn command(&mut self, command: u16, payload: &[u8], fds: &[BorrowedFd<'_>]) -> Reply {
        self.try_command(command, payload, fds)
            .expect("the server closed the connection")
    }

    /// Sends a command and waits for the reply. `None` if the server closes the connection.
    pub fn try_command(
        &mut self,
        command: u16,
        payload: &[u8],
        fds: &[BorrowedFd<'_>],
    ) -> Option<Reply> {
        let bytes = self.message(command, 0, payload);
        self.try_send(&bytes, fds).then(|| self.receive(command))?
    }

    pub fn receive(&mut self, command: u16) -> Option<Reply> {
        let mut head = [0; 16];
        let mut fds = Vec::new();
        let mut filled = 0;
        while filled < 16 {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut into = [std::io::IoSliceMut::new(&mut head[filled..])];
            let received =
                rustix::net::recvmsg(&self.stream, &mut into, &mut control, RecvFlags::empty());
            let received = match received {
                Err(rustix::io::Errno::CONNRESET) => return None,
                other => other.unwrap().bytes,
            };
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(rights) = message {
                    fds.extend(rights);
                }
            }
            if received == 0 {
                return None;
            }
            filled += received;
        }
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
        assert_eq!(
            head[0..2],
            self.next_id.to_le_bytes(),
            "reply to another message"
        );
        assert_eq!(head[2..4], command.to_le_bytes());
        let mut payload = vec![0; word(4) as usize - 16];
        self.stream.read_exact(&mut payload).unwrap();
        match word(8) {
            1 => Some(Ok((payload, fds))),
            0x21 => Some(Err(word(12))),
            flags => panic!("reply with flags {flags:#x}"),
        }
    }

    pub fn dma_map(
        &mut self,
        iova: u64,
        size: u64,
        offset: u64,
        permissions: u32,
        file: Option<&OwnedFd>,
    ) -> Result<(), u32> {
        let mut payload = [32_u32, permissions].map(u32::to_le_bytes).concat();
        payload.extend([offset, iova, size].map(u64::to_le_bytes).concat());
        let fds: Vec<_> = file.iter().map(|file| file.as_fd()).collect();
        self.command(COMMAND_DMA_MAP, &payload, &fds).map(|_| ())
    }

    pub fn dma_unmap(&mut self, iova: u64, size: u64) -> Result<(), u32> {
        let mut payload = [24_u32, 0].map(u32::to_le_bytes).concat();
        payload.extend([iova, size].map(u64::to_le_bytes).concat());
        self.command(COMMAND_DMA_UNMAP, &payload, &[]).map(|_| ())
    }

    pub fn region_read(&mut self, region: u32, offset: u64, count: u32) -> Result<Vec<u8>, u32> {
        let mut payload = offset.to_le_bytes().to_vec();
        payload.extend([region, count].map(u32::to_le_bytes).concat());
        self.command(COMMAND_REGION_READ, &payload, &[])
            .map(|(reply, _)| reply[16..].to_vec())
    }

    pub fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<(), u32> {
        let mut payload = offset.to_le_bytes().to_vec();
        payload.extend([region, data.len() as u32].map(u32::to_le_bytes).concat());
        payload.extend(data);
        self.command(COMMAND_REGION_WRITE, &payload, &[])
            .map(|_| ())
    }

    pub fn reset(&mut self) {
        self.command(COMMAND_RESET, &[], &[]).unwrap();
    }

    fn shared(&self, register: u32) -> Option<&Memory> {
        let inside =
            |(start, len): &(u64, u64)| (*start..start + len).contains(&u64::from(register));
        self.pages
            .as_ref()
            .filter(|_| self.areas.iter().any(inside))
    }

    pub fn get(&mut self, register: u32) -> u32 {
        if let Some(pages) = self.shared(register) {
            return pages.read_u32(register as usize);
        }
        let bytes = self.region_read(0, u64::from(register), 4).unwrap();
        u32::from_le_bytes(bytes.try_into().unwrap())
    }

    pub fn set(&mut self, register: u32, value: u32) {
        if let Some(pages) = self.shared(register) {
            fence(Ordering::Release);
            return pages.write_u32(register as usize, value);
        }
        self.region_write(0, u64::from(register), &value.to_le_bytes())
            .unwrap();
    }

    pub fn change(&mut self, register: u32, set: u32, clear: u32) {
        let value = self.get(register) & !clear | set;
        self.set(register, value);
    }

    pub fn set_bus_master(&mut self, on: bool) {
        self.region_write(7, 4, &[if on { 6 } else { 2 }, 0])
            .unwrap();
    }

    pub fn set_irq(&mut self, vector: u32, eventfd: &OwnedFd) {
        let payload = [20_u32, 1 << 2 | 1 << 5, 2, vector, 1]
            .map(u32::to_le_bytes)
            .concat();
        self.command(COMMAND_SET_IRQS, &payload, &[eventfd.as_fd()])
            .unwrap();
    }
}
