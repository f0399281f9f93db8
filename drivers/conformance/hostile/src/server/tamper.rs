//! Changes of memory while the driver runs.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{fallocate, fcntl_add_seals, fstat, ftruncate, FallocateFlags, SealFlags};

use crate::memory::Mapping;

/// A change of memory that driver and server share.
#[derive(Clone, Copy, Debug)]
pub enum Tamper {
    /// Gives each file this size, computed from its own.
    Resize(fn(u64) -> u64),
    /// Gives each file this size a little later.
    ResizeLater(fn(u64) -> u64),
    /// Takes all pages out of each file.
    Punch,
    /// Adds these seals.
    Seal(SealFlags),
    /// Sets words of all receive descriptors, again and again; `None` leaves a word as it is.
    ReceiveRing([Option<u32>; 4]),
    /// Sets words of all transmit descriptors, again and again.
    TransmitRing([Option<u32>; 4]),
    /// Sets all memory to this word, again and again.
    Fill(u32),
    /// Sets all memory to random words, again and again.
    Random,
    /// Sets the frames in all packet buffers to this word, again and again. The first 64 bytes of
    /// each buffer stay as they are: there, C has the metadata of the packet.
    Frames(u32),
}

/// Memory that the driver lends, or the file of the registers.
#[derive(Debug)]
pub struct Lent {
    /// First IOVA; 0 for registers.
    pub iova: u64,
    /// The file.
    pub file: OwnedFd,
}

/// A ring of descriptors: first IOVA and bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ring {
    /// First IOVA.
    pub base: u64,
    /// Length in bytes.
    pub len: u32,
}

/// The receive and the transmit ring of queue 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rings {
    /// The ring of receive descriptors.
    pub receive: Ring,
    /// The ring of transmit descriptors.
    pub transmit: Ring,
}

/// Time between two rounds of changes.
const PAUSE: Duration = Duration::from_micros(100);

/// Words of a packet buffer.
const BUFFER_WORDS: usize = 2048 / 4;
/// Words of the metadata in front of a frame.
const METADATA_WORDS: usize = 64 / 4;

impl Tamper {
    /// Changes the memory until `stop` is set, or once if the change lasts. A refused change is the
    /// driver's success, so errors have no effect.
    pub fn perform(self, memory: &[Lent], rings: Rings, stop: &AtomicBool) {
        match self {
            Self::Resize(size) => resize(memory, size),
            Self::ResizeLater(size) => {
                std::thread::sleep(Duration::from_millis(100));
                resize(memory, size);
            }
            Self::Punch => memory.iter().for_each(|lent| {
                let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                let _ = fallocate(&lent.file, flags, 0, len(lent));
            }),
            Self::Seal(seals) => memory.iter().for_each(|lent| {
                let _ = fcntl_add_seals(&lent.file, seals);
            }),
            Self::ReceiveRing(words) => paint_ring(memory, rings.receive, words, stop),
            Self::TransmitRing(words) => paint_ring(memory, rings.transmit, words, stop),
            Self::Fill(word) => paint(memory, stop, || word),
            Self::Frames(word) => paint_frames(memory, rings, word, stop),
            Self::Random => {
                let mut state = 0x9e37_79b9_u32;
                paint(memory, stop, || {
                    state ^= state << 13;
                    state ^= state >> 17;
                    state ^= state << 5;
                    state
                });
            }
        }
    }
}

fn len(lent: &Lent) -> u64 {
    fstat(&lent.file).map_or(0, |stat| stat.st_size as u64)
}

fn resize(memory: &[Lent], size: fn(u64) -> u64) {
    for lent in memory {
        let _ = ftruncate(&lent.file, size(len(lent)));
    }
}

/// Sets words of each descriptor of a ring until `stop` is set.
fn paint_ring(memory: &[Lent], ring: Ring, words: [Option<u32>; 4], stop: &AtomicBool) {
    let holder = memory.iter().find(|lent| {
        ring.len > 0 && lent.iova <= ring.base && ring.base < lent.iova.saturating_add(len(lent))
    });
    let Some((lent, mapping)) = holder.and_then(|lent| Some((lent, Mapping::of(&lent.file).ok()?)))
    else {
        return;
    };
    let first = (ring.base - lent.iova) as usize / 4;
    while !stop.load(Ordering::Relaxed) {
        for descriptor in 0..ring.len as usize / 16 {
            for (nth, word) in words.iter().enumerate() {
                if let Some(word) = word {
                    mapping.write(first + 4 * descriptor + nth, *word);
                }
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Sets all words of all files until `stop` is set.
fn paint(memory: &[Lent], stop: &AtomicBool, mut word: impl FnMut() -> u32) {
    let mappings: Vec<_> = memory
        .iter()
        .filter_map(|lent| Mapping::of(&lent.file).ok())
        .collect();
    while !stop.load(Ordering::Relaxed) {
        for mapping in &mappings {
            for at in 0..mapping.words() {
                mapping.write(at, word());
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Sets the frames in all buffers until `stop` is set. Memory with a ring has no buffers.
fn paint_frames(memory: &[Lent], rings: Rings, word: u32, stop: &AtomicBool) {
    let has_ring = |lent: &&Lent| {
        let end = lent.iova.saturating_add(len(lent));
        [rings.receive, rings.transmit]
            .iter()
            .any(|ring| (lent.iova..end).contains(&ring.base))
    };
    let mappings: Vec<_> = memory
        .iter()
        .filter(|lent| !has_ring(lent))
        .filter_map(|lent| Mapping::of(&lent.file).ok())
        .collect();
    while !stop.load(Ordering::Relaxed) {
        for mapping in &mappings {
            for buffer in (0..mapping.words()).step_by(BUFFER_WORDS) {
                for at in buffer + METADATA_WORDS..buffer + BUFFER_WORDS {
                    mapping.write(at, word);
                }
            }
        }
        std::thread::sleep(PAUSE);
    }
}
