//! A ring of one queue, and the honest driver that sends frames through it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use harness::client::{accepted, Session};
use harness::memory::{memfd, Mapping};
use nic::registers as r;

/// First IOVA of a queue's memory.
pub const IOVA: u64 = 1 << 32;
/// Bytes of a queue's memory: the ring, and from [`BUFFER`] on the frame.
pub const MEMORY_LEN: u64 = 1 << 20;
/// Offset of the frame.
pub const BUFFER: u64 = 0x8_0000;
/// Descriptors of the ring.
pub const DESCRIPTORS: u32 = 64;
/// Time in which the card must accept the honest driver and send its frames.
pub const LIMIT: Duration = Duration::from_secs(5);

/// Words of a data descriptor at the frame with `len` bytes, of a frame of `total`.
pub fn data(len: u64, command: u64, total: u64) -> [u64; 2] {
    let kind = r::TXD_DEXT | r::TXD_DTYP_DATA;
    [
        IOVA + BUFFER,
        kind | command | len | r::field64(r::TXD_PAYLEN, total),
    ]
}

/// A transmit queue with memory of its own.
#[derive(Debug)]
pub struct Queue {
    /// Its file.
    pub file: OwnedFd,
    /// Its memory.
    pub memory: Mapping,
    tail: u32,
}

impl Queue {
    /// Maps memory, and starts transmit queue 0 on it.
    pub fn start(session: &mut Session) -> io::Result<Self> {
        let file = memfd(MEMORY_LEN)?;
        accepted(session.map(&file, 0, IOVA, MEMORY_LEN)?)?;
        session.enable_dma()?;
        session.set_all([
            (r::TDBAL(0), IOVA as u32),
            (r::TDBAH(0), (IOVA >> 32) as u32),
            (r::TDLEN(0), DESCRIPTORS * 16),
            (r::TDH(0), 0),
            (r::TDT(0), 0),
            (r::DMATXCTL, r::DMATXCTL_TE),
            // Thresholds 32 and 8.
            (r::TXDCTL(0), r::TXDCTL_ENABLE | 8 << 8 | 32),
        ])?;
        let memory = Mapping::of(&file)?;
        Ok(Self {
            file,
            memory,
            tail: 0,
        })
    }

    /// Writes the next descriptor, and returns its number.
    pub fn post(&mut self, words: [u64; 2]) -> u32 {
        let slot = self.tail;
        for (nth, word) in words.into_iter().enumerate() {
            let at = slot as usize * 4 + 2 * nth;
            self.memory.write(at, word as u32);
            self.memory.write(at + 1, (word >> 32) as u32);
        }
        self.tail = (slot + 1) % DESCRIPTORS;
        slot
    }

    /// Writes a descriptor of a whole frame, and returns its number.
    pub fn post_frame(&mut self) -> u32 {
        self.post(data(60, r::TXD_IFCS | r::TXD_EOP | r::TXD_RS, 60))
    }

    /// Hands all posted descriptors to the card.
    pub fn ring_doorbell(&self, session: &mut Session) -> io::Result<()> {
        session.set(r::TDT(0), self.tail)
    }

    fn is_done(&self, slot: u32) -> bool {
        self.memory.read(slot as usize * 4 + 3) & 1 != 0
    }
}

/// Opens a port, sends 200 frames, and leaves. Returns how long that took.
///
/// # Errors
/// If that is not done within [`LIMIT`]: the error says what was missing.
pub fn drive(socket: &Path) -> io::Result<Duration> {
    let start = Instant::now();
    let mut session = Session::open_when_free(socket, LIMIT)?;
    let mut queue = Queue::start(&mut session)?;
    for sent in (0..200).step_by(40) {
        let last = (0..40).map(|_| queue.post_frame()).last().unwrap_or(0);
        queue.ring_doorbell(&mut session)?;
        while !queue.is_done(last) {
            if start.elapsed() > LIMIT {
                let text = format!("frame {} was not sent within {LIMIT:?}", sent + 40);
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    Ok(start.elapsed())
}
