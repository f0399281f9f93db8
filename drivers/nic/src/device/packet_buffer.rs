//! The packet buffer: frames from the wire that wait for receive descriptors, and the registers that
//! divide the buffer's memory.

use std::collections::VecDeque;

use crate::device::packet::Verdict;
use crate::device::register_file::RegisterFile;
use crate::device::registers as r;
use crate::device::rss::Hash;

/// Bytes that the driver has given to the packet buffers in use. 8.2.3.8.9: without traffic classes
/// only buffer 0 is in use, and the sizes of the others mean nothing.
pub(crate) fn bytes_in_use(registers: &RegisterFile) -> usize {
    let mode = registers.get(r::MRQC) & r::MRQC_MRQE;
    let classes = !matches!(mode, r::MRQC_MRQE_OFF | r::MRQC_MRQE_RSS);
    let buffers = if classes { r::RXPBSIZE_COUNT } else { 1 };
    let size = |buffer| r::field_get(r::RXPBSIZE_SIZE, registers.get(r::RXPBSIZE(buffer)));
    (0..buffers)
        .map(|buffer| size(buffer) as usize * 1024)
        .sum()
}

/// A frame that waits, and what the card has found out about it.
#[derive(Debug)]
pub(crate) struct WaitingFrame {
    pub(crate) frame: Vec<u8>,
    pub(crate) queue: usize,
    pub(crate) hash: Hash,
    pub(crate) verdict: Verdict,
}

/// The waiting frames of all queues, oldest first.
#[derive(Debug, Default)]
pub(crate) struct PacketBuffer {
    frames: VecDeque<WaitingFrame>,
    bytes: usize,
}

impl PacketBuffer {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Whether a frame of `len` bytes fits into a buffer of `limit` bytes.
    pub(crate) fn has_room(&self, len: usize, limit: usize) -> bool {
        self.bytes + len <= limit
    }

    /// Appends a frame.
    pub(crate) fn push(&mut self, frame: WaitingFrame) {
        self.bytes += frame.frame.len();
        self.frames.push_back(frame);
    }

    /// Takes the oldest frame out.
    pub(crate) fn pop(&mut self) -> Option<WaitingFrame> {
        let frame = self.frames.pop_front()?;
        self.bytes -= frame.frame.len();
        Some(frame)
    }

    /// Puts the oldest frame back.
    pub(crate) fn put_back(&mut self, frame: WaitingFrame) {
        self.bytes += frame.frame.len();
        self.frames.push_front(frame);
    }

    /// Loses all frames: the card is reset.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.bytes = 0;
    }
}
