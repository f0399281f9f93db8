//! Changes of memory while the driver runs.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use harness::memory::Mapping;
use rustix::fs::{fallocate, fcntl_add_seals, fstat, ftruncate, FallocateFlags, SealFlags};

/// A change of a file. It gets the size of the file.
pub type Change = fn(&OwnedFd, u64) -> rustix::io::Result<()>;

/// A change of memory that driver and server share.
#[derive(Clone, Copy, Debug)]
pub enum Tamper {
    /// Changes each file once, at once or a little later.
    Once(Change, Duration),
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

/// Takes all pages out of a file.
pub fn punch(file: &OwnedFd, len: u64) -> rustix::io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    fallocate(file, flags, 0, len)
}

/// Changes each file at once.
pub const fn once(change: Change) -> Tamper {
    Tamper::Once(change, Duration::ZERO)
}

/// Changes each file a little later.
pub const fn later(change: Change) -> Tamper {
    Tamper::Once(change, Duration::from_millis(100))
}

/// Shortens a file to nothing.
pub const EMPTY: Change = |file, _| ftruncate(file, 0);
/// Shortens a file to a page.
pub const ONE_PAGE: Change = |file, _| ftruncate(file, 4096);
/// Doubles a file.
pub const DOUBLE: Change = |file, len| ftruncate(file, len * 2);
/// Seals a file against writes.
pub const NO_WRITES: Change = |file, _| fcntl_add_seals(file, SealFlags::WRITE);

/// Memory that the driver lends, or the file of the registers.
#[derive(Debug)]
pub struct Lent {
    /// First IOVA; 0 for registers.
    pub iova: u64,
    /// The file.
    pub file: OwnedFd,
}

impl Lent {
    fn len(&self) -> u64 {
        fstat(&self.file).map_or(0, |stat| stat.st_size as u64)
    }

    fn holds(&self, ring: Ring) -> bool {
        (self.iova..self.iova.saturating_add(self.len())).contains(&ring.base)
    }
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
    /// driver's success, so errors have no effect. Returns whether any change that lasts was possible.
    pub fn perform(self, memory: &[Lent], rings: Rings, stop: &AtomicBool) -> bool {
        match self {
            Self::Once(change, pause) => {
                std::thread::sleep(pause);
                let changed = memory
                    .iter()
                    .map(|lent| change(&lent.file, lent.len()).is_ok());
                return changed.fold(false, |any, changed| any | changed);
            }
            Self::ReceiveRing(words) => paint_ring(memory, rings.receive, words, stop),
            Self::TransmitRing(words) => paint_ring(memory, rings.transmit, words, stop),
            Self::Fill(word) => paint(memory, ALL, stop, |_| Some(word)),
            Self::Frames(word) => {
                let buffers = memory
                    .iter()
                    .filter(|lent| !lent.holds(rings.receive) && !lent.holds(rings.transmit));
                paint(buffers, ALL, stop, |at| {
                    (at % BUFFER_WORDS >= METADATA_WORDS).then_some(word)
                });
            }
            Self::Random => {
                let mut state = 0x9e37_79b9_u32;
                paint(memory, ALL, stop, |_| {
                    state ^= state << 13;
                    state ^= state >> 17;
                    state ^= state << 5;
                    Some(state)
                });
            }
        }
        false
    }
}

/// Sets words of each descriptor of a ring until `stop` is set.
fn paint_ring(memory: &[Lent], ring: Ring, words: [Option<u32>; 4], stop: &AtomicBool) {
    if let Some(lent) = memory.iter().find(|lent| lent.holds(ring)) {
        let first = (ring.base - lent.iova) as usize / 4;
        let all = first..first + ring.len as usize / 4;
        paint([lent], all, stop, |at| words[(at - first) % 4]);
    }
}

/// All words of a file.
const ALL: Range<usize> = 0..usize::MAX;

/// Sets words of all files to what `word` says for their place, until `stop` is set.
fn paint<'a>(
    memory: impl IntoIterator<Item = &'a Lent>,
    places: Range<usize>,
    stop: &AtomicBool,
    mut word: impl FnMut(usize) -> Option<u32>,
) {
    let mappings: Vec<_> = memory
        .into_iter()
        .filter_map(|lent| Mapping::of(&lent.file).ok())
        .collect();
    while !stop.load(Ordering::Relaxed) {
        for mapping in &mappings {
            for at in places.start..places.end.min(mapping.words()) {
                if let Some(word) = word(at) {
                    mapping.write(at, word);
                }
            }
        }
        std::thread::sleep(PAUSE);
    }
}
