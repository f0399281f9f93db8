//! A vfio-user client.

use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{fence, Ordering};

use nic::registers as r;
use rustix::event::{eventfd, EventfdFlags};
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

pub const REGION_BAR0: u32 = 0;
pub const REGION_IO: u32 = 2;
pub const REGION_MSIX: u32 = 4;
pub const REGION_CONFIG: u32 = 7;

/// A reply: the payload and the file descriptors, or the error number.
pub type Reply = Result<(Vec<u8>, Vec<OwnedFd>), u32>;

/// Little-endian words.
pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

pub fn quads(quads: &[u64]) -> Vec<u8> {
    quads.iter().flat_map(|quad| quad.to_le_bytes()).collect()
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn quad(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

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
        let mut ask = |room| {
            let info = words(&[room, 0, REGION_BAR0, 0, 0, 0, 0, 0]);
            self.command(COMMAND_REGION_INFO, &info, &[]).unwrap()
        };
        let size = word(&ask(32).0, 0);
        if size == 32 {
            return;
        }
        let (reply, fds) = ask(size);
        assert_eq!((reply.len() as u32, word(&reply, 12)), (size, 32));
        self.areas = (0..word(&reply, 40) as usize)
            .map(|n| (quad(&reply, 48 + 16 * n), quad(&reply, 56 + 16 * n)))
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
        let head = [self.next_id, command].map(u16::to_le_bytes).concat();
        let rest = words(&[16 + payload.len() as u32, flags, 0]);
        [&head, &rest, payload].concat()
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
        let expected = [self.next_id, command].map(u16::to_le_bytes).concat();
        assert_eq!(head[0..4], expected, "reply to another message");
        let mut payload = vec![0; word(&head, 4) as usize - 16];
        self.stream.read_exact(&mut payload).unwrap();
        match word(&head, 8) {
            1 => Some(Ok((payload, fds))),
            0x21 => Some(Err(word(&head, 12))),
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
        let payload = [words(&[32, permissions]), quads(&[offset, iova, size])].concat();
        let fds: Vec<_> = file.iter().map(|file| file.as_fd()).collect();
        self.command(COMMAND_DMA_MAP, &payload, &fds).map(|_| ())
    }

    pub fn dma_unmap(&mut self, iova: u64, size: u64) -> Result<(), u32> {
        let payload = [words(&[24, 0]), quads(&[iova, size])].concat();
        self.command(COMMAND_DMA_UNMAP, &payload, &[]).map(|_| ())
    }

    pub fn region_read(&mut self, region: u32, offset: u64, count: u32) -> Result<Vec<u8>, u32> {
        let payload = [quads(&[offset]), words(&[region, count])].concat();
        self.command(COMMAND_REGION_READ, &payload, &[])
            .map(|(reply, _)| reply[16..].to_vec())
    }

    pub fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<(), u32> {
        let place = [quads(&[offset]), words(&[region, data.len() as u32])].concat();
        let payload = [&place, data].concat();
        self.command(COMMAND_REGION_WRITE, &payload, &[])
            .map(|_| ())
    }

    pub fn reset(&mut self) {
        self.command(COMMAND_RESET, &[], &[]).unwrap();
    }

    fn shared(&self, register: u32) -> Option<&Memory> {
        let register = u64::from(register);
        let mut areas = self.areas.iter();
        let inside = areas.any(|(start, len)| (*start..start + len).contains(&register));
        self.pages.as_ref().filter(|_| inside)
    }

    pub fn get(&mut self, register: u32) -> u32 {
        if let Some(pages) = self.shared(register) {
            return pages.read_u32(register as usize);
        }
        let bytes = self.region_read(REGION_BAR0, register.into(), 4);
        word(&bytes.unwrap(), 0)
    }

    pub fn set(&mut self, register: u32, value: u32) {
        if let Some(pages) = self.shared(register) {
            fence(Ordering::Release);
            return pages.write_u32(register as usize, value);
        }
        self.region_write(REGION_BAR0, register.into(), &words(&[value]))
            .unwrap();
    }

    pub fn change(&mut self, register: u32, set: u32, clear: u32) {
        let value = self.get(register) & !clear | set;
        self.set(register, value);
    }

    /// Lets frames of up to 9014 bytes arrive.
    pub fn allow_jumbo(&mut self) {
        self.change(r::HLREG0, r::HLREG0_JUMBOEN, 0);
        self.set(r::MAXFRS, r::field(r::MAXFRS_MFS, 9018));
    }

    /// Resets the card and waits until it is ready.
    pub fn reset_card(&mut self) {
        self.set(r::CTRL, r::CTRL_RST);
        while self.get(r::CTRL) & r::CTRL_RST != 0 {}
    }

    /// Runs a cycle on the MDIO bus, as IEEE 802.3 clause 45 has it, to a register of a device of the PHY.
    pub fn mdio(&mut self, operation: u32, device: u32, register: u32) {
        let place = r::field(r::MSCA_DEV_TYPE, device) | register;
        for cycle in [r::MSCA_OP_CODE_ADDRESS, operation] {
            self.set(r::MSCA, place | cycle | r::MSCA_MDI_COMMAND);
            assert_eq!(self.get(r::MSCA) & r::MSCA_MDI_COMMAND, 0);
        }
    }

    /// Reads a register of the PHY.
    pub fn read_phy(&mut self, device: u32, register: u32) -> u16 {
        self.mdio(r::MSCA_OP_CODE_READ, device, register);
        r::field_get(r::MSRWD_READ_DATA, self.get(r::MSRWD)) as u16
    }

    pub fn set_bus_master(&mut self, on: bool) {
        let command = if on { 6 } else { 2 };
        self.region_write(REGION_CONFIG, 4, &[command, 0]).unwrap();
    }

    /// Connects an eventfd to an MSI-X vector, and enables it for the causes in IVAR(0).
    pub fn interrupt(&mut self, vector: u32, causes: u32) -> OwnedFd {
        let fd = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
        self.set_irq(vector, &fd);
        self.set(r::GPIE, r::GPIE_MSIX_MODE);
        self.set(r::IVAR(0), causes);
        self.set(r::EIMS, 1 << vector);
        fd
    }

    pub fn set_irq(&mut self, vector: u32, eventfd: &OwnedFd) {
        let payload = words(&[20, 1 << 2 | 1 << 5, 2, vector, 1]);
        self.command(COMMAND_SET_IRQS, &payload, &[eventfd.as_fd()])
            .unwrap();
    }
}

/// Takes the signals out of an eventfd that does not block.
pub fn signals(fd: &OwnedFd) -> u64 {
    let mut bytes = [0; 8];
    rustix::io::read(fd, &mut bytes).map_or(0, |_| u64::from_ne_bytes(bytes))
}

/// Looks at the link like a driver: LINKS.UP stays clear until the first read.
pub fn links(client: &mut Client) -> u32 {
    client.get(r::LINKS);
    client.get(r::LINKS)
}

pub fn link_is_up(client: &mut Client) -> bool {
    links(client) & r::LINKS_UP != 0
}

/// Reads a word of the EEPROM through EERD; `None` if the card does not answer.
pub fn read_eeprom(client: &mut Client, word: u32) -> Option<u16> {
    client.set(r::EERD, r::field(r::EERD_ADDR, word) | r::EERD_START);
    let value = client.get(r::EERD);
    let done = value & (r::EERD_DONE | r::EERD_START) == r::EERD_DONE;
    done.then_some(r::field_get(r::EERD_DATA, value) as u16)
}
