//! A driver in miniature, for tests: a vfio-user client, memory for DMA, and rings set up by hand.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{fence, Ordering};
use std::time::{Duration, Instant};

use nic::registers as r;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

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

/// Longest that anything may take.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Waits until `condition` holds.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Memory shared with whoever gets the file.
pub struct Memory {
    base: *mut u8,
    len: usize,
    pub file: OwnedFd,
}

// SAFETY: the memory is only used through raw volatile accesses.
unsafe impl Send for Memory {}

impl Memory {
    pub fn new(len: usize) -> Self {
        use rustix::fs::MemfdFlags;
        let file = rustix::fs::memfd_create("driver", MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&file, len as u64).unwrap();
        Self::of_file(file, len)
    }

    /// In huge pages, if the machine has enough of them to spare.
    pub fn huge(len: usize) -> Option<Self> {
        use rustix::fs::MemfdFlags;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
        let file = rustix::fs::memfd_create("driver", flags).ok()?;
        rustix::fs::ftruncate(&file, len as u64).ok()?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let (any, flags) = (std::ptr::null_mut(), MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe { rustix::mm::mmap(any, len, protection, flags, &file, 0) }.ok()?;
        Some(Self {
            base: base.cast(),
            len,
            file,
        })
    }

    pub fn of_file(file: OwnedFd, len: usize) -> Self {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let any = std::ptr::null_mut();
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe { rustix::mm::mmap(any, len, protection, MapFlags::SHARED, &file, 0) };
        Self {
            base: base.unwrap().cast(),
            len,
            file,
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Where `len` bytes at `offset` are.
    #[inline(always)]
    pub fn at(&self, offset: usize, len: usize) -> *mut u8 {
        assert!(offset + len <= self.len);
        self.base.wrapping_add(offset)
    }

    #[inline(always)]
    pub fn read_u64(&self, offset: usize) -> u64 {
        // SAFETY: inside the mapping; tests keep their offsets aligned.
        unsafe { self.at(offset, 8).cast::<u64>().read_volatile() }
    }

    #[inline(always)]
    pub fn write_u64(&self, offset: usize, value: u64) {
        // SAFETY: as for `read_u64`.
        unsafe { self.at(offset, 8).cast::<u64>().write_volatile(value) }
    }

    #[inline(always)]
    pub fn read_u32(&self, offset: usize) -> u32 {
        // SAFETY: as for `read_u64`.
        unsafe { self.at(offset, 4).cast::<u32>().read_volatile() }
    }

    #[inline(always)]
    pub fn write_u32(&self, offset: usize, value: u32) {
        // SAFETY: as for `read_u64`.
        unsafe { self.at(offset, 4).cast::<u32>().write_volatile(value) }
    }

    pub fn bytes(&self, offset: usize, len: usize) -> Vec<u8> {
        let from = self.at(offset, len);
        // SAFETY: inside the mapping.
        (0..len)
            .map(|n| unsafe { from.add(n).read_volatile() })
            .collect()
    }

    pub fn write(&self, offset: usize, bytes: &[u8]) {
        let to = self.at(offset, bytes.len());
        for (n, byte) in bytes.iter().enumerate() {
            // SAFETY: inside the mapping.
            unsafe { to.add(n).write_volatile(*byte) }
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: mapped in `of_file` or `huge` with this length.
        unsafe { rustix::mm::munmap(self.base.cast(), self.len) }.unwrap();
    }
}

/// A reply: the payload and what came with it, or the error number.
pub type Reply = Result<(Vec<u8>, Vec<OwnedFd>), u32>;

/// A vfio-user client.
pub struct Client {
    pub stream: UnixStream,
    next_id: u16,
    /// The shared register pages, if there are any: the file's mapping.
    pub pages: Option<Memory>,
    pub areas: Vec<(u64, u64)>,
}

impl Client {
    /// Connects without saying anything.
    pub fn raw(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
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

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8], fds: &[BorrowedFd<'_>]) {
        assert!(
            self.try_send(bytes, fds),
            "the server closed the connection"
        );
    }

    /// False if the server has closed the connection.
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

    /// Nothing if the server closes the connection.
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
            "another message's reply"
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

/// Settings of a queue pair.
#[derive(Clone, Copy)]
pub struct Rings {
    pub queue: u32,
    pub rx_len: usize,
    pub tx_len: usize,
    pub drop_enable: bool,
    pub buffer_kb: u32,
    pub legacy: bool,
    /// TXDCTL's thresholds.
    pub tx_thresholds: u32,
    /// Write the head back instead of descriptors.
    pub head_write_back: bool,
    /// How many receive descriptors to hand over at the start.
    pub rx_filled: usize,
}

impl Default for Rings {
    fn default() -> Self {
        Self {
            queue: 0,
            rx_len: 64,
            tx_len: 64,
            drop_enable: true,
            buffer_kb: 2,
            legacy: false,
            tx_thresholds: 32 | 8 << 8,
            head_write_back: false,
            rx_filled: 63,
        }
    }
}

pub const IOVA: u64 = 0x1_0000_0000;
pub const BUFFER: usize = 2048;

const RX_RING: usize = 0;
const TX_RING: usize = 0x1_0000;
const HEAD: usize = 0x2_0000;
const RX_BUFFERS: usize = 0x4_0000;

/// A driver of one queue pair. The memory: rings, a place for the head, buffers for receiving,
/// buffers for sending.
pub struct Driver {
    pub client: Client,
    pub memory: Memory,
    pub rings: Rings,
    rx_next: usize,
    rx_tail: usize,
    tx_next: usize,
}

impl Driver {
    /// Connects, and brings the device up: promiscuous, one queue pair.
    pub fn start(path: &Path, rings: Rings) -> Self {
        let len = RX_BUFFERS + (rings.rx_len + rings.tx_len) * BUFFER;
        let memory = Memory::new(len.next_multiple_of(4096));
        let mut driver = Self {
            client: Client::connect(path),
            memory,
            rings,
            rx_next: 0,
            rx_tail: 0,
            tx_next: 0,
        };
        driver.map();
        driver.client.set_bus_master(true);
        driver
            .client
            .change(r::FCTRL, r::FCTRL_UPE | r::FCTRL_MPE | r::FCTRL_BAM, 0);
        driver.start_queue();
        driver.client.change(r::RXCTRL, r::RXCTRL_RXEN, 0);
        driver
    }

    pub fn map(&mut self) {
        let len = self.memory.len() as u64;
        self.client
            .dma_map(IOVA, len, 0, 3, Some(&self.memory.file))
            .unwrap();
    }

    pub fn start_queue(&mut self) {
        let Rings {
            queue: n,
            rx_len,
            tx_len,
            ..
        } = self.rings;
        let client = &mut self.client;
        client.set(r::RDBAL(n), IOVA as u32 + RX_RING as u32);
        client.set(r::RDBAH(n), (IOVA >> 32) as u32);
        client.set(r::RDLEN(n), rx_len as u32 * 16);
        client.set(r::RDH(n), 0);
        client.set(r::RDT(n), 0);
        let kind = if self.rings.legacy {
            0
        } else {
            r::SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER
        };
        let drop = if self.rings.drop_enable {
            r::SRRCTL_DROP_EN
        } else {
            0
        };
        client.set(r::SRRCTL(n), self.rings.buffer_kb | kind | drop);
        client.change(r::RXDCTL(n), r::RXDCTL_ENABLE, 0);
        assert_ne!(client.get(r::RXDCTL(n)) & r::RXDCTL_ENABLE, 0);

        client.set(r::TDBAL(n), IOVA as u32 + TX_RING as u32);
        client.set(r::TDBAH(n), (IOVA >> 32) as u32);
        client.set(r::TDLEN(n), tx_len as u32 * 16);
        client.set(r::TDH(n), 0);
        client.set(r::TDT(n), 0);
        if self.rings.head_write_back {
            client.set(
                r::TDWBAL(n),
                (IOVA as u32 + HEAD as u32) | r::TDWBAL_HEAD_WB_EN,
            );
            client.set(r::TDWBAH(n), (IOVA >> 32) as u32);
        }
        client.change(r::DMATXCTL, r::DMATXCTL_TE, 0);
        client.set(r::TXDCTL(n), self.rings.tx_thresholds | r::TXDCTL_ENABLE);

        (self.rx_next, self.rx_tail, self.tx_next) = (0, 0, 0);
        for slot in 0..rx_len {
            self.arm(slot);
        }
        self.give(self.rings.rx_filled);
    }

    fn rx_buffer(&self, slot: usize) -> usize {
        RX_BUFFERS + slot * BUFFER
    }

    pub fn tx_buffer(&self, slot: usize) -> usize {
        RX_BUFFERS + (self.rings.rx_len + slot) * BUFFER
    }

    fn arm(&self, slot: usize) {
        self.memory
            .write_u64(RX_RING + slot * 16, IOVA + self.rx_buffer(slot) as u64);
        self.memory.write_u64(RX_RING + slot * 16 + 8, 0);
    }

    /// Hands more receive descriptors over.
    pub fn give(&mut self, count: usize) {
        self.rx_tail = (self.rx_tail + count) % self.rings.rx_len;
        self.client
            .set(r::RDT(self.rings.queue), self.rx_tail as u32);
    }

    /// The receive descriptor in a slot, as it is.
    pub fn rx_descriptor(&self, slot: usize) -> [u64; 2] {
        [
            self.memory.read_u64(RX_RING + slot * 16),
            self.memory.read_u64(RX_RING + slot * 16 + 8),
        ]
    }

    /// The transmit descriptor in a slot, as it is.
    pub fn tx_descriptor(&self, slot: usize) -> [u64; 2] {
        [
            self.memory.read_u64(TX_RING + slot * 16),
            self.memory.read_u64(TX_RING + slot * 16 + 8),
        ]
    }

    /// The written-back head.
    pub fn written_head(&self) -> u32 {
        self.memory.read_u32(HEAD)
    }

    /// Whether the transmit descriptor in a slot is done.
    pub fn tx_done(&self, slot: usize) -> bool {
        self.tx_descriptor(slot)[1] & r::TXD_DD != 0
    }

    /// Takes a received frame out of the ring, of any number of descriptors; each descriptor is
    /// handed over again.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        let mut frame = Vec::new();
        loop {
            let slot = self.rx_next;
            let [_, status] = self.rx_descriptor(slot);
            let (done, last, len) = if self.rings.legacy {
                (
                    status >> 32 & 1 != 0,
                    status >> 33 & 1 != 0,
                    status as usize & 0xffff,
                )
            } else {
                let len = r::field64_get(r::RXD_LENGTH, status) as usize;
                (status & r::RXD_DD != 0, status & r::RXD_EOP != 0, len)
            };
            if !done {
                assert!(frame.is_empty(), "half a frame");
                return None;
            }
            frame.extend(self.memory.bytes(self.rx_buffer(slot), len));
            self.arm(slot);
            self.rx_next = (slot + 1) % self.rings.rx_len;
            self.give(1);
            if last {
                return Some(frame);
            }
        }
    }

    pub fn receive_all(&mut self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.receive()).collect()
    }

    /// Puts a transmit descriptor into the ring.
    pub fn post(&mut self, address: u64, command: u64) -> usize {
        let slot = self.tx_next;
        self.memory.write_u64(TX_RING + slot * 16, address);
        self.memory.write_u64(TX_RING + slot * 16 + 8, command);
        self.tx_next = (slot + 1) % self.rings.tx_len;
        slot
    }

    /// Tells the device of the descriptors posted.
    pub fn ring_doorbell(&mut self) {
        self.client
            .set(r::TDT(self.rings.queue), self.tx_next as u32);
    }

    /// Sends a frame in one descriptor; returns its slot.
    pub fn transmit(&mut self, frame: &[u8]) -> usize {
        let slot = self.post_frame(frame, r::TXD_RS);
        self.ring_doorbell();
        slot
    }

    pub fn post_frame(&mut self, frame: &[u8], flags: u64) -> usize {
        let buffer = self.tx_buffer(self.tx_next);
        self.memory.write(buffer, frame);
        self.post(
            IOVA + buffer as u64,
            data_command(frame.len(), frame.len()) | r::TXD_EOP | flags,
        )
    }

    /// Brings the device to rest, as a driver should.
    pub fn stop(mut self) {
        let n = self.rings.queue;
        self.client.change(r::RXCTRL, 0, r::RXCTRL_RXEN);
        self.client.change(r::RXDCTL(n), 0, r::RXDCTL_ENABLE);
        self.client.change(r::TXDCTL(n), 0, r::TXDCTL_ENABLE);
        self.client.set(r::DMATXCTL, 0);
        self.client.change(r::CTRL, r::CTRL_MASTER_DISABLE, 0);
        assert_eq!(self.client.get(r::STATUS) & r::STATUS_MASTER_ENABLE, 0);
        self.client.set_bus_master(false);
        let len = self.memory.len() as u64;
        self.client.dma_unmap(IOVA, len).unwrap();
    }
}

/// An advanced data descriptor's second word, without EOP and RS.
pub fn data_command(len: usize, payload: usize) -> u64 {
    len as u64
        | r::TXD_DTYP_DATA
        | r::TXD_DEXT
        | r::TXD_IFCS
        | r::field64(r::TXD_PAYLEN, payload as u64)
}

/// A frame of `len` bytes to the broadcast address, its other bytes counting from `seed`.
pub fn frame(len: usize, seed: u8) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..len).map(|n| (n as u8).wrapping_add(seed)).collect();
    frame[..len.min(6)].fill(0xff);
    frame
}
