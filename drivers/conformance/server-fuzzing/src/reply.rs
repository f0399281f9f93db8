//! Replies: what an honest server answers, and the lies that the input puts into it.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};

use fuzz_input::Input;

/// Part of the names of the server's memory files, by which a mapping that stays is found.
pub const FILE_NAME: &str = "hostile-server";

// Commands of vfio-user.
const VERSION: u16 = 1;
const GET_INFO: u16 = 4;
const GET_REGION_INFO: u16 = 5;
const REGION_READ: u16 = 9;
const REGION_WRITE: u16 = 10;
const DMA_UNMAP: u16 = 3;

const REPLY: u32 = 1;
const HEADER_SIZE: usize = 16;
/// Bytes of a region access without its data.
const ACCESS_SIZE: usize = 16;
const REGION_CONFIG: u32 = 7;
/// Bytes of BAR0 of an 82599.
const BAR0_SIZE: u64 = 0x2_0000;
/// Pages of BAR0 that a client may map: receive and transmit queues.
const AREAS: [u64; 2] = [0x1000, 0x6000];
const PAGE: u64 = 4096;
/// Vendor and device of an 82599.
const IDENTITY: [u8; 4] = [0x86, 0x80, 0xfb, 0x10];
/// Most bytes that a lie adds to a reply.
const MOST_ADDED: u16 = 8192;
/// Most descriptors of a lie.
const MOST_DESCRIPTORS: u8 = 20;

/// A reply, and what happens after it.
pub struct Reply {
    pub bytes: Vec<u8>,
    pub fds: Vec<OwnedFd>,
    /// Closes the connection after the reply: the client may wait for more.
    pub close: bool,
}

impl Reply {
    /// The honest reply to a request, without the header's checks: header and payload.
    pub fn honest(request: &[u8]) -> Self {
        let (header, payload) = request.split_at(HEADER_SIZE);
        let command = u16::from_le_bytes([header[2], header[3]]);
        let word = |at: usize| {
            let bytes = payload.get(at..at + 4).unwrap_or(&[0; 4]);
            u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
        };
        let mut fds = Vec::new();
        let answer = match command {
            VERSION => [&[0, 0, 1, 0][..], b"{}\0"].concat(),
            // Reset and PCI; 9 regions and 5 kinds of interrupts.
            GET_INFO => words(&[16, 3, 9, 5]),
            GET_REGION_INFO => {
                fds.push(registers(BAR0_SIZE, true));
                region_info(word(8))
            }
            REGION_READ => {
                let mut answer = payload[..ACCESS_SIZE.min(payload.len())].to_vec();
                let count = word(12).min(4096) as usize;
                let mut data = vec![0; count];
                if word(8) == REGION_CONFIG && word(0) < 4 {
                    let from = &IDENTITY[word(0) as usize..];
                    let len = count.min(from.len());
                    data[..len].copy_from_slice(&from[..len]);
                }
                answer.extend(data);
                answer
            }
            REGION_WRITE => payload[..ACCESS_SIZE.min(payload.len())].to_vec(),
            DMA_UNMAP => payload.to_vec(),
            _ => Vec::new(),
        };
        let mut bytes = header[..4].to_vec();
        bytes.extend(words(&[(HEADER_SIZE + answer.len()) as u32, REPLY, 0]));
        bytes.extend(answer);
        Self {
            bytes,
            fds,
            close: false,
        }
    }

    /// Puts the lies into the reply that come next in the input.
    pub fn lie(&mut self, input: &mut Input<'_>) {
        // Half of the replies are honest, so that short inputs get far.
        let mut kind = input.u8();
        while kind & 0x80 != 0 {
            self.lie_once(kind & 0xf, input);
            kind = input.u8();
        }
    }

    fn lie_once(&mut self, kind: u8, input: &mut Input<'_>) {
        match kind {
            // Message id, command, size, flags and error are the first 16 bytes.
            0..=2 => {
                let at = usize::from(input.u8()) % HEADER_SIZE;
                self.put(at, &[input.u8()]);
                self.close = true;
            }
            3..=6 => {
                let at = HEADER_SIZE + usize::from(input.u8());
                let len = usize::from(input.u8() % 16) + 1;
                let value = input.take(len);
                self.put(at, &value);
            }
            // An error, which is an honest message.
            7 => {
                self.put(12, &u32::from(input.u8()).to_le_bytes());
                self.put(8, &(REPLY | 0x20).to_le_bytes());
            }
            // The size and the payload agree.
            8 | 9 => {
                let len = usize::from(input.u16() % MOST_ADDED) + HEADER_SIZE;
                self.bytes.resize(len, 0);
                self.put(4, &(len as u32).to_le_bytes());
            }
            10 => {
                self.bytes.truncate(usize::from(input.u16()));
                self.close = true;
            }
            11 => {
                let len = usize::from(input.u8());
                let more = input.take(len);
                self.bytes.extend(more);
                self.close = true;
            }
            12 => {
                let size = input.u32();
                self.put(4, &size.to_le_bytes());
                self.close = true;
            }
            13 => self.fds.clear(),
            _ => {
                self.fds.clear();
                for _ in 0..input.u8() % MOST_DESCRIPTORS {
                    self.fds.push(descriptor(input.u8()));
                }
            }
        }
    }

    /// Overwrites bytes of the reply, as far as it has them.
    fn put(&mut self, at: usize, value: &[u8]) {
        for (place, byte) in self.bytes.iter_mut().skip(at).zip(value) {
            *place = *byte;
        }
    }
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The description of a region, with the areas of BAR0 that may be mapped.
fn region_info(index: u32) -> Vec<u8> {
    // Readable, writable, mappable, with capabilities.
    let flags = 0xf;
    let info = 32;
    let capability = 16 + 16 * AREAS.len() as u32;
    let mut bytes = words(&[info + capability, flags, index, info]);
    bytes.extend([BAR0_SIZE, 0].map(u64::to_le_bytes).concat());
    // Sparse mmap, version 1, no next capability.
    bytes.extend(words(&[1 | 1 << 16, 0, AREAS.len() as u32, 0]));
    for offset in AREAS {
        bytes.extend([offset, PAGE].map(u64::to_le_bytes).concat());
    }
    bytes
}

/// A file of registers.
fn registers(size: u64, sealed: bool) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create(FILE_NAME, flags).unwrap();
    rustix::fs::ftruncate(&file, size).unwrap();
    if sealed {
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals).unwrap();
    }
    file
}

/// A descriptor of one of several kinds.
fn descriptor(kind: u8) -> OwnedFd {
    let open = |path| rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    match kind % 8 {
        0 => registers(BAR0_SIZE, false),
        1 => registers(PAGE, true),
        2 => registers(0, true),
        3 => registers(0x6800, true),
        4 => open("/dev/null").unwrap(),
        5 => open("/").unwrap(),
        6 => open("/dev/zero").unwrap(),
        _ => UnixStream::pair().unwrap().0.into(),
    }
}
