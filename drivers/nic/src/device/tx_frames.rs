//! Makes frames of a transmit queue's descriptors, and sends them: whole, or in segments.

use crate::device::dma_port::{DmaPort, DESCRIPTOR, FRAME};
use crate::device::offload::{self, Context};
use crate::device::registers as r;
use crate::device::segmentation::{Segmentation, Unfinished};
use crate::device::statistics::CRC_LEN;
use crate::device::tx::{FrameSink, TxQueue, Way, CONTEXTS};
use crate::memory::dma_fault::Purpose;
use crate::traffic::frame::MIN_FRAME;

/// The longest frame that the card sends, without CRC: the 82599's limit for jumbo frames.
const MAX_SENT: usize = 15_872 - CRC_LEN as usize;
/// The longest packet that the card segments: PAYLEN's range, and headers.
const MAX_SEGMENTED: usize = (256 << 10) + 1024;

impl TxQueue {
    /// Takes one descriptor of any kind. Returns false if the work of the round was done before all
    /// segments of the descriptor's frame were sent: the card takes the descriptor again.
    pub(super) fn take(
        &mut self,
        way: &mut Way<'_, impl FrameSink>,
        descriptor: [u64; 2],
    ) -> Result<bool, &'static str> {
        if let Some(unfinished) = self.unfinished.take() {
            return self.send_segments(way, unfinished);
        }
        let [address, command] = descriptor;
        way.dma.spend(DESCRIPTOR);
        let context = command & r::TXD_DEXT != 0 && command & r::TXD_DTYP == r::TXD_DTYP_CONTEXT;
        if context {
            let index = r::field64_get(r::TXD_IDX, command) as usize;
            self.contexts[index % CONTEXTS] = Context::of(descriptor);
            return Ok(true);
        }
        if !self.within_frame {
            self.first = command;
        }
        self.within_frame = true;
        self.fetch(way.dma, address, (command & r::TXD_DTALEN) as usize);
        if command & r::TXD_EOP == 0 {
            return Ok(true);
        }
        let mut frame = std::mem::take(&mut self.partial);
        let spoilt = std::mem::take(&mut self.spoilt);
        self.within_frame = false;
        let mut outcome = Ok(true);
        if !spoilt && !frame.is_empty() {
            let own_crc = command & r::TXD_IFCS == 0 || !way.settings.insert_crc;
            let index = r::field64_get(r::TXD_IDX, self.first) as usize;
            let context = &self.contexts[index % CONTEXTS];
            if offload::asks_for_segments(self.first) {
                let unfinished = Box::new(Unfinished {
                    rest: Segmentation::new(frame, self.first, context)?,
                    own_crc,
                    segment: Vec::new(),
                });
                return self.send_segments(way, unfinished);
            }
            way.dma.spend(cost(frame.len(), own_crc));
            let applied = offload::apply(&mut frame, self.first, context, &way.settings.offload);
            outcome = applied.map(|()| {
                self.put_on_wire(way, &mut frame, own_crc);
                true
            });
        }
        // The next frame uses the same memory.
        frame.clear();
        self.partial = frame;
        outcome
    }

    /// Sends segments until the work of the round is done. Returns whether all have been sent.
    fn send_segments(
        &mut self,
        way: &mut Way<'_, impl FrameSink>,
        mut unfinished: Box<Unfinished>,
    ) -> Result<bool, &'static str> {
        let Unfinished {
            rest,
            own_crc,
            segment,
        } = unfinished.as_mut();
        self.within_frame = false;
        while !rest.is_done() {
            rest.next(&way.settings.offload, segment)?;
            way.dma.spend(cost(segment.len(), *own_crc));
            self.put_on_wire(way, segment, *own_crc);
            if way.dma.is_spent() && !rest.is_done() {
                self.within_frame = true;
                self.unfinished = Some(unfinished);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Pads, counts and sends a frame.
    fn put_on_wire(&self, way: &mut Way<'_, impl FrameSink>, frame: &mut Vec<u8>, own_crc: bool) {
        if frame.len() > MAX_SENT {
            return;
        }
        let crc_len = if own_crc { CRC_LEN as usize } else { 0 };
        if way.settings.pad && frame.len() < MIN_FRAME + crc_len {
            frame.resize(MIN_FRAME + crc_len, 0);
        }
        let wire_len = frame.len() as u64 + if own_crc { 0 } else { CRC_LEN };
        let broadcast = frame.starts_with(&[0xff; 6]);
        let queue = self.ring.queue as usize;
        way.statistics.sent(queue, 1, wire_len, frame[0], broadcast);
        way.sink.send(frame, own_crc);
    }

    /// Fetches the bytes of one descriptor.
    fn fetch(&mut self, dma: &DmaPort, address: u64, len: usize) {
        let start = self.partial.len();
        let segmented = offload::asks_for_segments(self.first);
        let longest = if segmented { MAX_SEGMENTED } else { MAX_SENT };
        if self.spoilt || start + len > longest {
            self.spoilt = true;
            return;
        }
        dma.spend(len / 4);
        self.partial.resize(start + len, 0);
        let of = (Purpose::TxPacket, self.ring.queue);
        self.spoilt = !dma.read(of, address, &mut self.partial[start..]);
    }
}

/// The work of sending a frame. A CRC that the driver has made is checked.
fn cost(len: usize, own_crc: bool) -> usize {
    FRAME + if own_crc { 3 * len } else { len }
}
