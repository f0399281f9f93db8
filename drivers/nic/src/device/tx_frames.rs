//! Makes frames of a transmit queue's descriptors, and sends them: whole, or in segments.

use crate::device::budget::{DESCRIPTOR, FRAME};
use crate::device::offload::{self, Context};
use crate::device::registers as r;
use crate::device::rx::Dma;
use crate::device::segmentation::{Segmentation, Unfinished};
use crate::device::statistics::{Batch, CRC_LEN};
use crate::device::tx::{MacSettings, TxQueue, TxSettings, Wire, CONTEXTS};
use crate::memory::dma_fault::{Direction, Purpose};
use crate::traffic::frame::MIN_FRAME;

/// The longest frame that the card sends, without CRC: the 82599's limit for jumbo frames.
const MAX_SENT: usize = 15_872 - CRC_LEN as usize;
/// The longest packet that the card segments: PAYLEN's range, and headers.
const MAX_SEGMENTED: usize = (256 << 10) + 1024;

impl TxQueue {
    /// Takes one descriptor of any kind. Returns false if the budget was spent before all segments
    /// of the descriptor's frame were sent: the card takes the descriptor again.
    pub(super) fn take(
        &mut self,
        dma: &mut Dma<'_>,
        settings: &TxSettings,
        wire: &mut impl Wire,
        statistics: &mut Batch,
        descriptor: [u64; 2],
    ) -> Result<bool, &'static str> {
        if let Some(unfinished) = self.unfinished.take() {
            return self.send_segments(dma, settings, wire, statistics, unfinished);
        }
        let [address, command] = descriptor;
        dma.budget.spend(DESCRIPTOR);
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
        self.append(dma, address, (command & r::TXD_DTALEN) as usize);
        if command & r::TXD_EOP == 0 {
            return Ok(true);
        }
        let mut frame = std::mem::take(&mut self.partial);
        let spoilt = std::mem::take(&mut self.spoilt);
        self.within_frame = false;
        let mut outcome = Ok(true);
        if !spoilt && !frame.is_empty() {
            let own_crc = command & r::TXD_IFCS == 0 || !settings.mac.insert_crc;
            let index = r::field64_get(r::TXD_IDX, self.first) as usize;
            let context = &self.contexts[index % CONTEXTS];
            if offload::asks_for_segments(self.first) {
                let unfinished = Box::new(Unfinished {
                    rest: Segmentation::new(frame, self.first, context)?,
                    own_crc,
                    segment: Vec::new(),
                });
                return self.send_segments(dma, settings, wire, statistics, unfinished);
            }
            dma.budget.spend(cost(frame.len(), own_crc));
            let mut put_on_wire = |frame: &mut Vec<u8>| {
                self.put_on_wire(frame, own_crc, settings.mac, wire, statistics)
            };
            let requests = if self.first & r::TXD_DEXT != 0 {
                offload::REQUESTS
            } else {
                offload::LEGACY_REQUESTS
            };
            if self.first & requests == 0 {
                put_on_wire(&mut frame);
            } else {
                let sent = offload::send(
                    &mut frame,
                    self.first,
                    context,
                    &settings.offload,
                    put_on_wire,
                );
                outcome = sent.map(|()| true);
            }
        }
        // The next frame uses the same memory.
        frame.clear();
        self.partial = frame;
        outcome
    }

    /// Sends segments until the budget is spent. Returns whether all have been sent.
    fn send_segments(
        &mut self,
        dma: &mut Dma<'_>,
        settings: &TxSettings,
        wire: &mut impl Wire,
        statistics: &mut Batch,
        mut unfinished: Box<Unfinished>,
    ) -> Result<bool, &'static str> {
        let Unfinished {
            rest,
            own_crc,
            segment,
        } = unfinished.as_mut();
        self.within_frame = false;
        while !rest.is_done() {
            rest.next(&settings.offload, segment)?;
            dma.budget.spend(cost(segment.len(), *own_crc));
            self.put_on_wire(segment, *own_crc, settings.mac, wire, statistics);
            if dma.budget.is_spent() && !rest.is_done() {
                self.within_frame = true;
                self.unfinished = Some(unfinished);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Pads, counts and sends a frame.
    fn put_on_wire(
        &self,
        frame: &mut Vec<u8>,
        own_crc: bool,
        mac: MacSettings,
        wire: &mut impl Wire,
        statistics: &mut Batch,
    ) {
        if frame.len() <= MAX_SENT {
            let least = if own_crc {
                MIN_FRAME + CRC_LEN as usize
            } else {
                MIN_FRAME
            };
            if mac.pad && frame.len() < least {
                frame.resize(least, 0);
            }
            let wire_len = frame.len() as u64 + if own_crc { 0 } else { CRC_LEN };
            let broadcast = frame.starts_with(&[0xff; 6]);
            statistics.sent(self.queue as usize, wire_len, frame[0], broadcast);
            wire.send(frame, own_crc);
        }
    }

    /// Fetches the bytes of one descriptor.
    fn append(&mut self, dma: &mut Dma<'_>, address: u64, len: usize) {
        let start = self.partial.len();
        let segmented = self.first & r::TXD_DEXT != 0 && self.first & r::TXD_TSE != 0;
        let longest = if segmented { MAX_SEGMENTED } else { MAX_SENT };
        if self.spoilt || start + len > longest {
            self.spoilt = true;
            return;
        }
        dma.budget.spend(len / 4);
        self.partial.resize(start + len, 0);
        if let Err(refusal) = dma.table.read(address, &mut self.partial[start..]) {
            self.fault(
                dma,
                address,
                len as u64,
                Direction::Read,
                Purpose::TxPacket,
                refusal,
            );
            self.spoilt = true;
        }
    }
}

/// The work of sending a frame. A CRC that the driver has made is checked.
fn cost(len: usize, own_crc: bool) -> usize {
    FRAME + if own_crc { 3 * len } else { len }
}
