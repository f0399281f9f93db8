//! A hostile driver, made of bytes: what a fuzzer feeds to the NIC.
//!
//! [`vfio_user_peer`] is a driver that does whatever its input says: messages well formed and not,
//! with descriptors of files that are memory and others that are not, register writes, descriptors
//! and rings anywhere, memory that is taken away, in any order, and rounds of the data plane in
//! between. All in one thread, without sockets' files and without waiting, so that the same input
//! always does the same.
//!
//! It panics if the NIC has touched memory that it was not given, or kept a file or a mapping; all
//! other signs of trouble (panics, sanitizers' reports, taking too long) are the fuzzer's to see.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{IoSlice, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{eventfd, EventfdFlags, PollFlags};
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::net::{sendmsg, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use crate::config::{MmioMode, NicConfig, Traffic};
use crate::data_plane::plane::DataPlane;
use crate::device::card::Device;
use crate::device::regions::REGION_BAR0;
use crate::device::register_file::{PAGE, SHARED_PAGES};
use crate::device::registers as r;
use crate::device::shared::SharedDevice;
use crate::pci_function::{PciFunction, SessionEnd, REGION_CONFIG};
use crate::socket::wait;
use crate::threads::alarm::Alarm;
use crate::vfio_user::protocol::Connection;
use crate::vfio_user::session::Session;

/// Most things one input can do.
const MAX_ACTIONS: usize = 256;
/// How long the NIC may wait for the rest of a message that does not come.
const PATIENCE: Duration = Duration::from_millis(1);
/// Bytes of the memory files.
const FILE_SIZES: [u64; 5] = [65_536, 4096, 4097, 1, 0];
/// What their bytes are, unless the driver writes others.
const CANARY: u8 = 0xa5;
/// Where DMA maps are likely to begin.
const IOVAS: [u64; 6] = [
    0x1_0000,
    0x2_0000,
    0,
    0x1000,
    1 << 40,
    0u64.wrapping_sub(0x1_0000),
];

/// Registers that set things off.
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

/// Reads an input from its front; zeros when it is at its end.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let here = self.take(N);
        bytes[..here.len()].copy_from_slice(&here);
        bytes
    }

    fn take(&mut self, count: usize) -> Vec<u8> {
        let (here, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        here.to_vec()
    }

    fn u8(&mut self) -> u8 {
        self.bytes::<1>()[0]
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.bytes())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    fn iova(&mut self) -> u64 {
        match IOVAS.get(usize::from(self.u8() % 8)) {
            Some(iova) => *iova,
            None => self.u64(),
        }
    }
}

/// A memory file of the driver's, and what should be in it.
struct File {
    fd: OwnedFd,
    contents: Vec<u8>,
    /// Whether the NIC may write to that page.
    exposed: Vec<bool>,
}

impl File {
    fn new(name: &str, size: u64) -> Self {
        let fd = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC).unwrap();
        let contents = vec![CANARY; size as usize];
        let written = rustix::io::pwrite(&fd, &contents, 0).unwrap();
        assert_eq!(written, contents.len());
        Self {
            fd,
            contents,
            exposed: vec![false; size.div_ceil(4096) as usize],
        }
    }

    /// The NIC may have been allowed to write to this part.
    fn expose(&mut self, offset: u64, size: u64) {
        let end = offset.saturating_add(size);
        for (page, exposed) in self.exposed.iter_mut().enumerate() {
            let page = page as u64 * 4096;
            *exposed |= page < end && page + 4096 > offset;
        }
    }

    fn write(&mut self, offset: usize, bytes: &[u8]) {
        let end = (offset + bytes.len()).min(self.contents.len());
        if offset < end {
            self.contents[offset..end].copy_from_slice(&bytes[..end - offset]);
            rustix::io::pwrite(&self.fd, &bytes[..end - offset], offset as u64).unwrap();
        }
    }

    fn check(&self) {
        let mut found = vec![0; self.contents.len()];
        let len = rustix::io::pread(&self.fd, &mut found[..], 0).unwrap();
        let pages = found[..len]
            .chunks(4096)
            .zip(self.contents.chunks(4096))
            .zip(&self.exposed);
        for (page, ((found, expected), exposed)) in pages.enumerate() {
            assert!(
                *exposed || found == &expected[..found.len()],
                "the NIC has written to page {page} of a file, which it was not given"
            );
        }
    }
}

/// The driver, and the NIC around it.
struct Bench {
    name: String,
    ports: Vec<Arc<SharedDevice>>,
    plane: DataPlane,
    now: Duration,
    /// Never written to: nobody stops the server.
    stop: OwnedFd,
    /// Both ends of the connection: driver, NIC.
    connection: Option<(UnixStream, UnixStream)>,
    files: Vec<File>,
    /// A file for messages whose contents are anything: nobody knows what becomes of it.
    wild: OwnedFd,
    others: Vec<OwnedFd>,
    next_id: u16,
}

impl Bench {
    fn new(settings: u8) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("fuzz-{}-{number}.", std::process::id());
        let traffic = match settings & 3 {
            0 => Traffic::Off,
            1 => Traffic::Saturate,
            _ => Traffic::Rate { mpps: 1.0 },
        };
        let mmio = match settings & 4 {
            0 => MmioMode::Shared,
            _ => MmioMode::Trap,
        };
        let mut config = NicConfig::new("", 2).with_mmio(mmio);
        config.ports[0].traffic = traffic;
        if settings & 3 == 3 {
            config.latency = Some(crate::MeasureLatency::default());
        }
        let alarm = Arc::new(Alarm::default());
        let ports: Vec<_> = (0..2)
            .map(|index| {
                let device = Device::new(index, config.ports[index].clone(), None).unwrap();
                Arc::new(SharedDevice::new(
                    device,
                    mmio,
                    alarm.clone(),
                    config.latency,
                ))
            })
            .collect();
        let open = |path: &str| rustix::fs::open(path, OFlags::RDWR, Mode::empty()).unwrap();
        let new_event = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap();
        Self {
            plane: DataPlane::new(&config, &ports),
            files: FILE_SIZES.map(|size| File::new(&name, size)).into(),
            wild: File::new(&name, 65_536).fd,
            others: vec![
                new_event(),
                new_event(),
                open("/dev/null"),
                open("/dev/zero"),
            ],
            name,
            ports,
            now: Duration::ZERO,
            stop: new_event(),
            connection: None,
            next_id: 0,
        }
    }

    fn connect(&mut self, version: &[u8]) {
        self.disconnect();
        let (driver, nic) = UnixStream::pair().unwrap();
        driver.set_nonblocking(true).unwrap();
        self.connection = Some((driver, nic));
        self.send(1, 0, version, &[]);
        let agreed = self.with_session(|session, connection| session.agree_on_version(connection));
        if agreed != Some(true) {
            self.disconnect();
        }
    }

    fn disconnect(&mut self) {
        if self.connection.take().is_some() {
            self.ports[0].end_session(SessionEnd::Disconnected);
        }
    }

    /// Something that the NIC does on the connection; whether that went well.
    fn with_session<E>(
        &mut self,
        act: impl FnOnce(&Session<'_>, &Connection<'_>) -> Result<(), E>,
    ) -> Option<bool> {
        let (_, nic) = self.connection.as_ref()?;
        let session = Session::new(self.ports[0].as_ref());
        let stream = nic.try_clone().unwrap();
        let connection = Connection::new(stream, self.stop.as_fd(), PATIENCE);
        Some(act(&session, &connection).is_ok())
    }

    /// Puts bytes on the connection.
    fn put(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) {
        let Some((driver, _)) = &self.connection else {
            return;
        };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(128))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(fds));
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        // Where the NIC has hung up, or takes no more, that is the end of it.
        let _ = sendmsg(driver, &[IoSlice::new(bytes)], &mut control, flags);
    }

    fn send(&mut self, command: u16, flags: u32, payload: &[u8], fds: &[BorrowedFd<'_>]) {
        self.next_id = self.next_id.wrapping_add(1);
        let mut bytes = [self.next_id, command].map(u16::to_le_bytes).concat();
        let size = 16 + payload.len() as u32;
        bytes.extend([size, flags, 0].map(u32::to_le_bytes).concat());
        bytes.extend(payload);
        self.put(&bytes, fds);
    }

    /// The NIC answers all that has come, and the driver takes no notice.
    fn answer(&mut self) {
        loop {
            let Some((driver, nic)) = &mut self.connection else {
                return;
            };
            let mut replies = [0; 4096];
            while matches!(driver.read(&mut replies), Ok(1..)) {}
            let readable = wait(&[(nic.as_fd(), PollFlags::IN)], Some(Duration::ZERO)).unwrap();
            if readable != [true] {
                return;
            }
            let answered = self.with_session(|session, connection| session.answer_one(connection));
            if answered != Some(true) {
                self.disconnect();
            }
        }
    }

    fn command(&mut self, command: u16, payload: &[u8]) {
        self.send(command, 0, payload, &[]);
        self.answer();
    }

    fn region_write(&mut self, region: u32, offset: u64, bytes: &[u8]) {
        let mut payload = offset.to_le_bytes().to_vec();
        payload.extend([region, bytes.len() as u32].map(u32::to_le_bytes).concat());
        payload.extend(bytes);
        self.command(10, &payload);
    }

    fn set(&mut self, register: u32, value: u32) {
        self.region_write(REGION_BAR0, u64::from(register), &value.to_le_bytes());
    }

    fn dma_map(&mut self, flags: u32, iova: u64, size: u64, offset: u64, file: usize) {
        let file = file % (self.files.len() + 1);
        let mut payload = [32, flags].map(u32::to_le_bytes).concat();
        payload.extend([offset, iova, size].map(u64::to_le_bytes).concat());
        let fd = match self.files.get_mut(file) {
            Some(file) => {
                if flags & 2 != 0 {
                    file.expose(offset, size);
                }
                file.fd.try_clone().unwrap()
            }
            None => self.others[usize::from(self.next_id) % self.others.len()]
                .try_clone()
                .unwrap(),
        };
        self.send(2, 0, &payload, &[fd.as_fd()]);
        self.answer();
    }

    /// What a driver does that means well: rings, a buffer for each descriptor, all enabled.
    fn set_up(&mut self, settings: u8) {
        const BASE: u32 = 0x1_0000;
        if self.connection.is_none() {
            self.connect(&[0, 0, 1, 0, b'{', b'}', 0]);
        }
        // The first page and the last are not the NIC's.
        self.dma_map(3, u64::from(BASE), 0xe000, 0x1000, 0);
        self.region_write(REGION_CONFIG, 4, &[6, 0]);
        for slot in 0..32 {
            let buffer = u64::from(BASE) + 0x2000 + slot * 0x400;
            let descriptor = [buffer, 0].map(u64::to_le_bytes).concat();
            self.files[0].write(0x1000 + slot as usize * 16, &descriptor);
            let command =
                60 | r::TXD_EOP | r::TXD_RS | r::TXD_IFCS | r::TXD_DEXT | r::TXD_DTYP_DATA;
            let descriptor = [buffer, command].map(u64::to_le_bytes).concat();
            self.files[0].write(0x2000 + slot as usize * 16, &descriptor);
        }
        let kind = match settings & 1 {
            0 => r::SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER,
            _ => 0,
        };
        let write_back = match settings & 2 {
            0 => 0,
            _ => (BASE + 0x1800) | r::TDWBAL_HEAD_WB_EN,
        };
        let drop = match settings & 4 {
            0 => r::SRRCTL_DROP_EN,
            _ => 0,
        };
        for (register, value) in [
            (r::FCTRL, r::FCTRL_UPE | r::FCTRL_MPE | r::FCTRL_BAM),
            (r::RDBAL(0), BASE),
            (r::RDBAH(0), 0),
            (r::RDLEN(0), 512),
            (r::SRRCTL(0), 1 | kind | drop),
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

    fn act(&mut self, input: &mut Input<'_>) {
        match input.u8() % 16 {
            0 => {
                let settings = input.u8();
                self.set_up(settings);
            }
            1 => self.message(input),
            2 | 3 => {
                let end = input.u8() & 1 == 1;
                let len = usize::from(input.u8());
                let bytes = input.take(len);
                self.put(&bytes, &[self.wild.as_fd()]);
                if let (true, Some((driver, _))) = (end, &self.connection) {
                    let _ = driver.shutdown(std::net::Shutdown::Write);
                }
                self.answer();
            }
            4 => {
                let (flags, iova) = (u32::from(input.u8()), input.iova());
                let (size, offset) = (u64::from(input.u16()) << 4, u64::from(input.u16()) << 4);
                let file = input.u8();
                self.dma_map(flags, iova, size, offset, usize::from(file));
            }
            5 => {
                let (flags, iova) = (u32::from(input.u8() & 7), input.iova());
                let size = u64::from(input.u16()) << 8;
                let mut payload = [24, flags].map(u32::to_le_bytes).concat();
                payload.extend([iova, size].map(u64::to_le_bytes).concat());
                self.command(3, &payload);
            }
            6 => {
                let register = REGISTERS[usize::from(input.u8()) % REGISTERS.len()];
                let value = input.u32();
                self.set(register, value);
            }
            7 => {
                let mut payload = input.u64().to_le_bytes().to_vec();
                let (region, count) = (u32::from(input.u8() % 10), u32::from(input.u16()));
                payload.extend([region, count].map(u32::to_le_bytes).concat());
                self.command(9, &payload);
            }
            8 => {
                // A store to the shared pages, which the NIC does not see happen.
                let page = SHARED_PAGES[usize::from(input.u8()) % SHARED_PAGES.len()];
                let offset = u32::from(input.u16()) % PAGE;
                let value = input.u32();
                let device = self.ports[0].lock();
                let word = device.registers.memory().word(page + offset);
                word.store(value, Ordering::Relaxed);
            }
            9 => {
                let file = usize::from(input.u8()) % self.files.len();
                let (offset, len) = (usize::from(input.u16()), usize::from(input.u8()));
                let bytes = input.take(len);
                self.files[file].write(offset, &bytes);
            }
            10 => {
                let file = usize::from(input.u8()) % self.files.len();
                let size = u64::from(input.u16());
                let file = &mut self.files[file];
                // What is in the pages of a file that was shorter for a while is nobody's.
                file.exposed.fill(true);
                rustix::fs::ftruncate(&file.fd, size).unwrap();
            }
            11 | 12 => {
                let how = input.u8();
                self.now += Duration::from_micros(u64::from(how >> 1));
                match how & 1 {
                    0 => self.plane.poll_at(self.now),
                    _ => self.plane.run_once_at(self.now),
                };
            }
            13 => {
                let mut version = vec![0, 0, 1, 0];
                let len = usize::from(input.u8() % 8);
                version.extend(input.take(len));
                version[0] = input.u8() & 1;
                self.connect(&version);
            }
            14 => {
                let words: [u32; 4] = std::array::from_fn(|_| u32::from(input.u8()));
                let mut payload = 20_u32.to_le_bytes().to_vec();
                payload.extend(words.map(u32::to_le_bytes).concat());
                let count = usize::from(input.u8()) % 80;
                let fds: Vec<_> = self.others.iter().cycle().take(count).collect();
                let fds: Vec<_> = fds.into_iter().map(|fd| fd.try_clone().unwrap()).collect();
                let fds: Vec<_> = fds.iter().map(|fd| fd.as_fd()).collect();
                self.send(8, 0, &payload, &fds);
                self.answer();
            }
            _ => {
                let len = usize::from(input.u16()) % 15_868 + 1;
                let mut frame = vec![input.u8(); len];
                let start = input.take(usize::from(input.0.first().copied().unwrap_or(0)));
                let here = start.len().min(len);
                frame[..here].copy_from_slice(&start[..here]);
                self.ports[0].lock().injected.push_back(frame);
            }
        }
    }

    /// A message with a sound header and any contents.
    fn message(&mut self, input: &mut Input<'_>) {
        let command = u16::from(input.u8() % 16);
        let flags = u32::from(input.u8());
        let len = usize::from(input.u8());
        let payload = input.take(len);
        let count = usize::from(input.u8() % 4);
        let fds: Vec<_> = (0..count).map(|_| self.wild.try_clone().unwrap()).collect();
        let fds: Vec<_> = fds.iter().map(|fd| fd.as_fd()).collect();
        self.send(command, flags, &payload, &fds);
        self.answer();
    }

    /// Ends everything, and checks what is left of it.
    fn finish(mut self) {
        self.disconnect();
        self.plane.poll_at(self.now);
        let device = self.ports[0].lock();
        assert_eq!(device.dma.len(), 0);
        assert!(!device.connected());
        drop(device);
        self.files.iter().for_each(File::check);
        let name = std::mem::take(&mut self.name);
        drop(self);
        for entry in std::fs::read_dir("/proc/self/fd").unwrap().flatten() {
            let to = std::fs::read_link(entry.path()).unwrap_or_default();
            assert!(!to.to_string_lossy().contains(&name), "a file is left open");
        }
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        assert!(!maps.contains(&name), "a file is left mapped");
    }
}

/// Has a driver do what the input says.
///
/// # Panics
/// If the NIC has touched what it was not given, or kept what it should have let go of.
pub fn vfio_user_peer(input: &[u8]) {
    let mut input = Input(input);
    let mut bench = Bench::new(input.u8());
    bench.connect(&[0, 0, 1, 0, b'{', b'}', 0]);
    for _ in 0..MAX_ACTIONS {
        if input.0.is_empty() {
            break;
        }
        bench.act(&mut input);
    }
    bench.finish();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inputs that a fuzzer found worth keeping, and those that once went wrong.
    const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/vfio_user_peer");
    /// Changed inputs that are tried.
    const MUTATIONS: u64 = 600;

    /// The same numbers in every run (xorshift64*).
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit.max(1)
        }
    }

    fn corpus() -> Vec<Vec<u8>> {
        let mut paths: Vec<_> = std::fs::read_dir(CORPUS)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        assert!(paths.len() >= 8, "the corpus is gone");
        paths
            .iter()
            .map(|path| std::fs::read(path).unwrap())
            .collect()
    }

    /// Some bytes changed, left out, repeated, or taken from another input.
    fn mutate(input: &[u8], other: &[u8], numbers: &mut Numbers) -> Vec<u8> {
        let mut bytes = input.to_vec();
        for _ in 0..=numbers.below(6) {
            let at = numbers.below(bytes.len());
            let len = numbers.below(24).min(bytes.len() - at);
            match numbers.below(6) {
                0 => drop(bytes.drain(at..at + len)),
                1 => {
                    let again = bytes[at..at + len].to_vec();
                    bytes.splice(at..at, again);
                }
                2 => {
                    let from = numbers.below(other.len());
                    let end = (from + 1 + numbers.below(40)).min(other.len());
                    bytes.splice(at..at, other[from..end].iter().copied());
                }
                3 if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][numbers.below(5)],
                _ if at < bytes.len() => bytes[at] = numbers.below(256) as u8,
                _ => {}
            }
        }
        bytes.truncate(4096);
        bytes
    }

    #[test]
    fn the_corpus_does_no_harm() {
        corpus().iter().for_each(|input| vfio_user_peer(input));
    }

    #[test]
    fn nor_does_what_is_like_it() {
        let corpus = corpus();
        let mut numbers = Numbers(0x8259_9825);
        for _ in 0..MUTATIONS {
            let input = &corpus[numbers.below(corpus.len())];
            let other = &corpus[numbers.below(corpus.len())];
            vfio_user_peer(&mutate(input, other, &mut numbers));
        }
    }

    /// The checks themselves can fail.
    #[test]
    #[should_panic(expected = "which it was not given")]
    fn a_write_outside_the_maps_is_seen() {
        let mut bench = Bench::new(0);
        bench.files[0].write(0x1000, &[1]);
        bench.files[0].contents[0x1000] = CANARY;
        bench.finish();
    }

    /// And the well-meaning part reaches the data path.
    #[test]
    fn the_driver_that_means_well_receives_and_sends() {
        let mut bench = Bench::new(1);
        bench.set_up(0);
        bench.plane.poll_at(Duration::ZERO);
        let counters = bench.ports[0].lock().counters.clone();
        assert_eq!((counters.delivered, counters.transmitted), (31, 31));
        bench.finish();
    }
}
