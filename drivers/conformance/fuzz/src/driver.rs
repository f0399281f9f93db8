//! The hostile driver.

use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fuzz_input::Input;
use harness::codec::{command, payload, send, Message, BAR0, CONFIG};
use nic::registers as r;
use nic::stepped::SteppedNic;
use nic::{MeasureLatency, MmioMode, NicConfig, Traffic};
use rustix::event::{eventfd, EventfdFlags};
use rustix::fs::{Mode, OFlags};

use crate::memory_file::MemoryFile;

/// VERSION 0.1 without capabilities.
pub const VERSION: [u8; 7] = [0, 0, 1, 0, b'{', b'}', 0];
/// Sizes of the memory files in bytes.
const FILE_SIZES: [u64; 5] = [65_536, 4096, 4097, 1, 0];
/// First IOVA of the maps of a driver with good intentions.
const BASE: u32 = 0x1_0000;

/// IOVAs at which inputs often place maps, rings and buffers.
const IOVAS: [u64; 6] = [
    0x1_0000,
    0x2_0000,
    0,
    0x1000,
    1 << 40,
    0u64.wrapping_sub(0x1_0000),
];

/// A likely IOVA, or any.
fn iova(input: &mut Input<'_>) -> u64 {
    match IOVAS.get(usize::from(input.u8() % 8)) {
        Some(iova) => *iova,
        None => input.u64(),
    }
}

/// Registers with effects.
const REGISTERS: [u32; 36] = [
    r::CTRL,
    r::EERD,
    r::FCTRL,
    r::RXCTRL,
    r::HLREG0,
    r::MAXFRS,
    r::SECRXCTRL,
    r::DMATXCTL,
    r::MRQC,
    r::EICS,
    r::EIMS,
    r::EIMC,
    r::EIAC,
    r::EIAM,
    r::AUTOC,
    r::EEC,
    r::RTTDCS,
    r::RXPBSIZE(0),
    r::RDBAL(0),
    r::RDBAH(0),
    r::RDLEN(0),
    r::RDH(0),
    r::RDT(0),
    r::RXDCTL(0),
    r::SRRCTL(0),
    r::TDBAL(0),
    r::TDBAH(0),
    r::TDLEN(0),
    r::TDH(0),
    r::TDT(0),
    r::TXDCTL(0),
    r::TDWBAL(0),
    r::TDWBAH(0),
    r::RETA(0),
    r::RXDCTL(15),
    r::RDT(15),
];

/// A hostile driver, and the NIC that it attacks.
pub struct HostileDriver {
    /// Part of the names of all memory files, by which leaks are found.
    name: String,
    pub nic: SteppedNic,
    now: Duration,
    /// The driver's end of the connection.
    connection: Option<UnixStream>,
    pub files: Vec<MemoryFile>,
    /// A file for messages with random contents. Its own contents are not checked.
    unchecked: OwnedFd,
    /// Files that are not memory.
    others: Vec<OwnedFd>,
    next_id: u16,
}

impl HostileDriver {
    pub fn new(settings: u8) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("fuzz-{}-{number}.", std::process::id());
        let mmio = match settings & 4 {
            0 => MmioMode::Shared,
            _ => MmioMode::Trap,
        };
        let mut config = NicConfig::new("", 2).with_mmio(mmio);
        config.ports[0].traffic = match settings & 3 {
            0 => Traffic::Off,
            1 => Traffic::Saturate,
            _ => Traffic::Rate { mpps: 1.0 },
        };
        if settings & 3 == 3 {
            config.latency = Some(MeasureLatency::default());
        }
        let open = |path: &str| rustix::fs::open(path, OFlags::RDWR, Mode::empty()).unwrap();
        let new_event = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap();
        Self {
            nic: SteppedNic::new(&config).unwrap(),
            files: FILE_SIZES.map(|size| MemoryFile::new(&name, size)).into(),
            unchecked: MemoryFile::new(&name, 65_536).fd,
            others: vec![
                new_event(),
                new_event(),
                open("/dev/null"),
                open("/dev/zero"),
            ],
            name,
            now: Duration::ZERO,
            connection: None,
            next_id: 0,
        }
    }

    /// Connects with this version message.
    pub fn connect(&mut self, version: &[u8]) {
        self.disconnect();
        let (driver, nic) = UnixStream::pair().unwrap();
        driver.set_nonblocking(true).unwrap();
        self.connection = Some(driver);
        self.send(command::VERSION, 0, version, &[]);
        if !self.nic.connect(nic) {
            self.connection = None;
        }
    }

    fn disconnect(&mut self) {
        self.connection = None;
        self.nic.disconnect();
    }

    /// Puts bytes on the connection.
    fn put(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) {
        if let Some(driver) = &self.connection {
            // An error means that the NIC has closed the connection, or that the socket is full.
            let _ = send(driver, bytes, fds);
        }
    }

    fn send(&mut self, command: u16, flags: u32, payload: &[u8], fds: &[BorrowedFd<'_>]) {
        self.next_id = self.next_id.wrapping_add(1);
        let mut message = Message::request(self.next_id, command, payload);
        message.header.flags = flags;
        self.put(&message.bytes(), fds);
    }

    /// Lets the NIC answer all messages that have arrived. The driver ignores the replies.
    fn answer(&mut self) {
        loop {
            let Some(driver) = &mut self.connection else {
                return;
            };
            let mut replies = [0; 4096];
            while matches!(driver.read(&mut replies), Ok(1..)) {}
            if !self.nic.answer() {
                return;
            }
            if !self.nic.has_client() {
                self.connection = None;
            }
        }
    }

    fn command(&mut self, command: u16, payload: &[u8]) {
        self.send(command, 0, payload, &[]);
        self.answer();
    }

    fn region_write(&mut self, region: u32, offset: u64, bytes: &[u8]) {
        self.command(
            command::REGION_WRITE,
            &payload::write(offset, region, bytes),
        );
    }

    fn set(&mut self, register: u32, value: u32) {
        self.region_write(BAR0, u64::from(register), &value.to_le_bytes());
    }

    /// Maps a part of a memory file, or of a file that is not memory.
    fn dma_map(&mut self, flags: u32, iova: u64, size: u64, offset: u64, file: usize) {
        let file = file % (self.files.len() + 1);
        let payload = payload::map(flags, offset, iova, size);
        let fd = match self.files.get_mut(file) {
            Some(file) => {
                if flags & 2 != 0 {
                    file.expose(offset, size);
                }
                file.fd.try_clone().unwrap()
            }
            None => {
                let other = usize::from(self.next_id) % self.others.len();
                self.others[other].try_clone().unwrap()
            }
        };
        self.send(command::DMA_MAP, 0, &payload, &[fd.as_fd()]);
        self.answer();
    }

    /// Sets the device up as a driver with good intentions does: maps, rings, a buffer for each
    /// descriptor, and all enable bits.
    pub fn set_up(&mut self, settings: u8) {
        if self.connection.is_none() {
            self.connect(&VERSION);
        }
        // The NIC does not get the first and the last page.
        self.dma_map(3, u64::from(BASE), 0xe000, 0x1000, 0);
        self.region_write(CONFIG, 4, &[6, 0]);
        for slot in 0..32 {
            let buffer = u64::from(BASE) + 0x2000 + slot * 0x400;
            let descriptor = [buffer, 0].map(u64::to_le_bytes).concat();
            self.files[0].write(0x1000 + slot as usize * 16, &descriptor);
            let command =
                60 | r::TXD_EOP | r::TXD_RS | r::TXD_IFCS | r::TXD_DEXT | r::TXD_DTYP_DATA;
            let descriptor = [buffer, command].map(u64::to_le_bytes).concat();
            self.files[0].write(0x2000 + slot as usize * 16, &descriptor);
        }
        let unless = |bit: u8, value: u32| if settings & bit == 0 { value } else { 0 };
        let advanced = unless(1, r::SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER);
        let write_back = if settings & 2 == 0 {
            0
        } else {
            (BASE + 0x1800) | r::TDWBAL_HEAD_WB_EN
        };
        let drop = unless(4, r::SRRCTL_DROP_EN);
        for (register, value) in [
            (r::FCTRL, r::FCTRL_UPE | r::FCTRL_MPE | r::FCTRL_BAM),
            (r::RDBAL(0), BASE),
            (r::RDBAH(0), 0),
            (r::RDLEN(0), 512),
            (r::SRRCTL(0), 1 | advanced | drop),
            (r::RXDCTL(0), r::RXDCTL_ENABLE),
            (r::TDBAL(0), BASE + 0x1000),
            (r::TDBAH(0), 0),
            (r::TDLEN(0), 512),
            (r::TDWBAL(0), write_back),
            (r::DMATXCTL, r::DMATXCTL_TE),
            (
                r::TXDCTL(0),
                u32::from(settings >> 4) << 16 | r::TXDCTL_ENABLE,
            ),
            (r::RXCTRL, r::RXCTRL_RXEN),
            (r::RDT(0), 31),
            (r::TDT(0), 31),
        ] {
            self.set(register, value);
        }
    }

    /// Sends bytes as they are, and lets the NIC answer all messages in them.
    pub fn stream(&mut self, bytes: &[u8]) {
        self.put(bytes, &[self.unchecked.as_fd(), self.others[0].as_fd()]);
        self.answer();
        self.nic.plane.poll_at(self.now);
    }

    /// Does what the next bytes of the input say.
    pub fn act(&mut self, input: &mut Input<'_>) {
        match input.u8() % 16 {
            0 => {
                let settings = input.u8();
                self.set_up(settings);
            }
            1 => self.send_message(input),
            2 | 3 => self.send_bytes(input),
            4 => self.map(input),
            5 => self.unmap(input),
            6 => {
                let register = REGISTERS[input.index(REGISTERS.len())];
                let value = input.u32();
                self.set(register, value);
            }
            7 => self.read_region(input),
            8 => {
                let (page, offset) = (usize::from(input.u8()), u32::from(input.u16()));
                self.nic.store_shared(page, offset, input.u32());
            }
            9 => {
                let file = input.index(self.files.len());
                let (offset, len) = (usize::from(input.u16()), usize::from(input.u8()));
                let bytes = input.take(len);
                self.files[file].write(offset, &bytes);
            }
            10 => {
                let file = input.index(self.files.len());
                self.files[file].resize(u64::from(input.u16()));
            }
            11 | 12 => {
                let round = input.u8();
                self.now += Duration::from_micros(u64::from(round >> 1));
                match round & 1 {
                    0 => self.nic.plane.poll_at(self.now),
                    _ => self.nic.plane.run_once_at(self.now),
                };
            }
            13 => {
                let mut version = vec![0, 0, 1, 0];
                let len = usize::from(input.u8() % 8);
                version.extend(input.take(len));
                version[0] = input.u8() & 1;
                self.connect(&version);
            }
            14 => self.set_irqs(input),
            _ => self.inject(input),
        }
    }

    /// Sends a message with a valid header and any contents.
    fn send_message(&mut self, input: &mut Input<'_>) {
        let command = u16::from(input.u8() % 16);
        let flags = u32::from(input.u8());
        let len = usize::from(input.u8());
        let payload = input.take(len);
        let count = usize::from(input.u8() % 4);
        let fds: Vec<_> = (0..count)
            .map(|_| self.unchecked.try_clone().unwrap())
            .collect();
        let fds: Vec<_> = fds.iter().map(|fd| fd.as_fd()).collect();
        self.send(command, flags, &payload, &fds);
        self.answer();
    }

    /// Sends bytes that need not be a message. May end the stream after them.
    fn send_bytes(&mut self, input: &mut Input<'_>) {
        let end = input.u8() & 1 == 1;
        let len = usize::from(input.u8());
        let bytes = input.take(len);
        self.put(&bytes, &[self.unchecked.as_fd()]);
        if let (true, Some(driver)) = (end, &self.connection) {
            let _ = driver.shutdown(std::net::Shutdown::Write);
        }
        self.answer();
    }

    fn map(&mut self, input: &mut Input<'_>) {
        let (flags, iova) = (u32::from(input.u8()), iova(input));
        let (size, offset) = (u64::from(input.u16()) << 4, u64::from(input.u16()) << 4);
        let file = input.u8();
        self.dma_map(flags, iova, size, offset, usize::from(file));
    }

    fn unmap(&mut self, input: &mut Input<'_>) {
        let (flags, iova) = (u32::from(input.u8() & 7), iova(input));
        let size = u64::from(input.u16()) << 8;
        self.command(command::DMA_UNMAP, &payload::unmap(flags, iova, size));
    }

    fn read_region(&mut self, input: &mut Input<'_>) {
        let offset = input.u64();
        let (region, count) = (u32::from(input.u8() % 10), u32::from(input.u16()));
        self.command(
            command::REGION_READ,
            &payload::access(offset, region, count),
        );
    }

    fn set_irqs(&mut self, input: &mut Input<'_>) {
        let [flags, kind, start, count] = std::array::from_fn(|_| u32::from(input.u8()));
        let payload = payload::interrupts(flags, kind, start, count);
        let count = usize::from(input.u8()) % 80;
        let fds: Vec<_> = self.others.iter().cycle().take(count).collect();
        let fds: Vec<_> = fds.into_iter().map(|fd| fd.try_clone().unwrap()).collect();
        let fds: Vec<_> = fds.iter().map(|fd| fd.as_fd()).collect();
        self.send(command::SET_IRQS, 0, &payload, &fds);
        self.answer();
    }

    /// Puts a frame on the wire: one byte repeated, after some bytes of the input.
    fn inject(&mut self, input: &mut Input<'_>) {
        let len = usize::from(input.u16()) % 15_868 + 1;
        let mut frame = vec![input.u8(); len];
        let start = input.take(usize::from(input.0.first().copied().unwrap_or(0)));
        let start_len = start.len().min(len);
        frame[..start_len].copy_from_slice(&start[..start_len]);
        self.nic.port.inject(&frame).unwrap();
    }

    /// Does one round of the data plane.
    #[cfg(test)]
    pub fn poll(&mut self) {
        self.nic.plane.poll_at(self.now);
    }

    /// Disconnects, and checks that the NIC has left no trace.
    pub fn finish(mut self) {
        self.disconnect();
        self.nic.plane.poll_at(self.now);
        assert_eq!(self.nic.port.dma_maps(), []);
        assert!(!self.nic.port.connected());
        self.files.iter().for_each(MemoryFile::check);
        let name = std::mem::take(&mut self.name);
        drop(self);
        for entry in std::fs::read_dir("/proc/self/fd").unwrap().flatten() {
            let to = std::fs::read_link(entry.path()).unwrap_or_default();
            assert!(
                !to.to_string_lossy().contains(&name),
                "the NIC has left a file open"
            );
        }
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        assert!(!maps.contains(&name), "the NIC has left a file mapped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_file::CANARY;

    /// The check itself must be able to fail.
    #[test]
    #[should_panic(expected = "outside the driver's maps")]
    fn a_write_outside_the_maps_is_detected() {
        let mut driver = HostileDriver::new(0);
        driver.files[0].write(0x1000, &[1]);
        driver.files[0].contents[0x1000] = CANARY;
        driver.finish();
    }

    /// The set-up must reach the data path, or else the fuzzer would not.
    #[test]
    fn a_driver_with_good_intentions_receives_and_sends() {
        let mut driver = HostileDriver::new(1);
        driver.set_up(0);
        driver.poll();
        let counters = driver.nic.port.stats();
        assert_eq!((counters.delivered, counters.transmitted), (31, 31));
        driver.finish();
    }
}
