//! One receive queue: from a frame to its descriptors.

use crate::config::ReceiveFault;
use crate::device::dma_port::DmaPort;
use crate::device::packet::{Verdict, TAG_LEN, TYPE_OFFSET};
use crate::device::registers as r;
use crate::device::ring::{batches, Ring, BATCH, DESCRIPTOR_LEN, RECEIVE};
use crate::device::rss::Hash;
use crate::memory::dma::{DmaTable, SmallFrameTranslator};
use crate::memory::dma_fault::Purpose;
use crate::memory::shared::{Descriptor, SmallBuffer};
use crate::traffic::frame::{add, opaque_step, Fixed, Head, Own, MIN_FRAME};

/// The most descriptors that the card writes back together. With many more, the transmit queues
/// would wait for so long that they fill up.
const WRITE_BACK: usize = 64;

/// A receive queue that is enabled.
#[derive(Clone, Debug)]
pub(crate) struct RxQueue {
    pub(crate) ring: Ring,
    buffer_len: usize,
    /// The format of descriptors that the card writes back: advanced, or else legacy.
    advanced: bool,
    /// VLAN tags go to the descriptor, not to the buffer. A driver may change that at any time.
    pub(crate) strip_tags: bool,
    /// What is false in the descriptors that the queue writes back.
    pub(crate) fault: Option<ReceiveFault>,
    /// Number of next write-backs to keep out of the driver's sight, and those that are: address and words.
    withhold: usize,
    withheld: Vec<(u64, [u64; 2])>,
}

/// Where generated frames of 60 bytes come from. They all go to one queue.
pub(crate) trait SmallFrameSource {
    /// The part that all frames have in common.
    fn fixed(&self) -> Fixed;
    /// The next run of frames, in which each is one step further than the one before: the first
    /// one's own part, their number, at most `max`, and their hash.
    fn run(&self, max: usize) -> (Own, usize, Hash);
    /// Goes on by `count` frames of a run.
    fn advance(&mut self, count: usize);
}

impl RxQueue {
    /// A queue that has just been enabled. `get` reads a register.
    ///
    /// # Errors
    /// What is wrong with the queue's registers, in words.
    pub(crate) fn new(
        queue: u32,
        fault: Option<ReceiveFault>,
        get: impl Fn(u32) -> u32,
    ) -> Result<Self, String> {
        let ring = Ring::new(&RECEIVE, queue, &get)?;
        let control = get(r::SRRCTL(queue));
        let buffer_len = r::field_get(r::SRRCTL_BSIZEPACKET, control) as usize * 1024;
        if buffer_len == 0 || buffer_len > 16 << 10 {
            return Err(format!(
                "SRRCTL.BSIZEPACKET stands for {buffer_len} bytes; 1024 to 16384 are possible"
            ));
        }
        let advanced = match control & r::SRRCTL_DESCTYPE {
            r::SRRCTL_DESCTYPE_LEGACY => false,
            r::SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER => true,
            other => {
                let kind = r::field_get(r::SRRCTL_DESCTYPE, other);
                return Err(format!("SRRCTL.DESCTYPE {kind}: only 0 (legacy) and 1 (advanced, one buffer) are modelled"));
            }
        };
        Ok(Self {
            ring,
            buffer_len,
            advanced,
            strip_tags: get(r::RXDCTL(queue)) & r::RXDCTL_VME != 0,
            fault,
            withhold: 0,
            withheld: Vec::new(),
        })
    }

    /// Descriptors that so many bytes fill.
    pub(crate) fn descriptors_for(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.buffer_len).max(1)
    }

    /// Whether [`RxQueue::write_frames`] can write to this queue.
    #[inline(always)]
    pub(crate) fn takes_small(&self) -> bool {
        self.advanced && self.fault.is_none() && !self.ring.relaxed
    }

    /// Keeps the next `count` write-backs of [`RxQueue::write_frame`] out of the driver's sight.
    pub(crate) fn withhold(&mut self, count: usize) {
        self.withhold = count;
        self.withheld.clear();
    }

    /// The descriptors out of the driver's sight, in order, and what is to be written to them.
    pub(crate) fn withheld<'d>(
        &'d self,
        table: &'d DmaTable,
    ) -> impl Iterator<Item = (&'d Descriptor, [u64; 2])> {
        self.withheld.iter().filter_map(|(iova, words)| {
            let descriptor = table.descriptors(*iova, 1).ok()?.first()?;
            Some((descriptor, *words))
        })
    }

    /// Writes generated frames of 60 bytes to `count` descriptors, which must be available. It logs
    /// no DMA: [`RxQueue::write_frame`] does.
    /// Returns the number of frames. It is below `count` only if the card cannot reach the ring.
    ///
    /// Measurements need a card that is faster than every driver. The time goes into cache lines
    /// that the driver has written or polls. So the card prefetches descriptors two batches ahead and
    /// buffers one batch ahead. It writes many descriptors back together, after all their packets.
    /// Otherwise a driver that waits for the next descriptor follows close behind and takes
    /// descriptors one by one, and both processors contend for each cache line.
    pub(crate) fn write_frames(
        &mut self,
        dma: &DmaPort,
        frames: &mut impl SmallFrameSource,
        count: u32,
    ) -> u32 {
        let mut finder = dma.table.small_buffers();
        let mut done = 0;
        while done < count {
            let want = self.ring.contiguous(count - done).min(WRITE_BACK);
            let Some(descriptors) = self.ring.descriptors(dma, want) else {
                return done;
            };
            let batches = batches(descriptors);
            let mut next = buffers_of(&mut finder, descriptors);
            let mut first_words = [0; WRITE_BACK];
            let mut words = &mut first_words[..];
            for (batch, later) in batches {
                let current = next;
                next = buffers_of(&mut finder, later);
                let (here, rest) = words.split_at_mut(batch.len().min(words.len()));
                self.write_packets(dma, frames, batch, &current, here);
                words = rest;
            }
            let status = advanced_status(MIN_FRAME, true, Verdict::GENERATED.bits);
            for (descriptor, first) in descriptors.iter().zip(first_words) {
                descriptor.write([first, status]);
            }
            self.ring.advance(descriptors.len() as u32);
            done += descriptors.len() as u32;
        }
        done
    }

    /// Writes a frame to the buffer of each descriptor. `buffers` has the translated buffers; one
    /// that needs the general path is `None`. `words` gets the descriptors' first words.
    #[inline(always)]
    fn write_packets(
        &self,
        dma: &DmaPort,
        frames: &mut impl SmallFrameSource,
        mut descriptors: &[Descriptor],
        mut buffers: &[Option<SmallBuffer<'_>>],
        mut words: &mut [u64],
    ) {
        while !descriptors.is_empty() {
            let (own, len, hash) = frames.run(descriptors.len());
            let fixed = frames.fixed();
            let first = advanced_first(hash, Verdict::GENERATED.kind);
            let mut written = write_run(fixed, own, buffers.get(..len).unwrap_or_default());
            if written == 0 {
                let head = Head { fixed, own };
                self.write_packet(dma, descriptors[0].address(), &head.to_bytes());
                written = 1;
            }
            frames.advance(written);
            descriptors = &descriptors[written..];
            buffers = buffers.get(written..).unwrap_or_default();
            let (here, rest) = words.split_at_mut(written.min(words.len()));
            here.fill(first);
            words = rest;
        }
    }

    fn write_packet(&self, dma: &DmaPort, iova: u64, bytes: &[u8]) {
        dma.write((Purpose::RxPacket, self.ring.queue), iova, bytes);
    }

    /// Writes one frame of any length. The frame includes its CRC if the driver gets it. Returns false
    /// if `available` descriptors are not enough, or if the queue has halted.
    pub(crate) fn write_frame(
        &mut self,
        dma: &DmaPort,
        frame: &[u8],
        hash: Hash,
        verdict: &Verdict,
        available: u32,
    ) -> bool {
        let untagged;
        let (frame, tag) = match verdict.vlan.filter(|_| self.strip_tags) {
            Some(tag) => {
                let (addresses, rest) = frame.split_at(TYPE_OFFSET.min(frame.len()));
                untagged = [addresses, rest.get(TAG_LEN..).unwrap_or_default()].concat();
                (&untagged[..], tag)
            }
            None => (frame, 0),
        };
        if self.ring.halted || (available as usize) < self.descriptors_for(frame.len()) {
            return false;
        }
        let mut parts = frame.chunks(self.buffer_len).peekable();
        while let Some(part) = parts.next() {
            let Some([descriptor, ..]) = self.ring.descriptors(dma, 1) else {
                return false;
            };
            let (queue, address) = (self.ring.queue, descriptor.address());
            if !self.ring.relaxed || !dma.late.borrow_mut().delay_packet(queue, address, part) {
                self.write_packet(dma, address, part);
            }
            let last = parts.peek().is_none();
            // The last descriptor reports on the whole packet.
            let (bits, tag) = if last { (verdict.bits, tag) } else { (0, 0) };
            let words = if self.advanced {
                let status = advanced_status(part.len(), last, bits);
                let tag = r::field64(r::RXD_VLAN, tag.into());
                [advanced_first(hash, verdict.kind), status | tag]
            } else {
                legacy(address, part.len(), last, bits, tag)
            };
            let words = self.fault.map_or(words, |fault| fault.falsify(words));
            if self.withhold > 0 {
                self.withhold -= 1;
                self.withheld.push((self.ring.iova(), words));
            } else {
                descriptor.write(words);
            }
            let log = &dma.table.log;
            log.write(self.ring.iova(), DESCRIPTOR_LEN as usize);
            self.ring.advance(1);
        }
        true
    }
}

/// Translates and prefetches the buffers of the first batch of descriptors. A buffer that the card
/// may not write is `None`.
#[inline(always)]
fn buffers_of<'d>(
    finder: &mut SmallFrameTranslator<'d>,
    descriptors: &[Descriptor],
) -> [Option<SmallBuffer<'d>>; BATCH] {
    let mut buffers = [None; BATCH];
    for (descriptor, buffer) in descriptors.iter().zip(&mut buffers) {
        *buffer = finder.buffer(descriptor.address());
        if let Some(found) = buffer {
            found.prefetch_mut();
        }
    }
    buffers
}

/// Writes frames, each one step further than the one before, up to the first `None`. Returns their
/// number.
#[inline(always)]
fn write_run(fixed: Fixed, mut own: Own, buffers: &[Option<SmallBuffer<'_>>]) -> usize {
    let step = opaque_step();
    let mut written = 0;
    for buffer in buffers {
        let Some(buffer) = buffer else { break };
        buffer.write(fixed, own);
        own = add(own, step);
        written += 1;
    }
    written
}

/// The first word of an advanced descriptor that the card writes back.
#[inline(always)]
fn advanced_first(hash: Hash, kind: u64) -> u64 {
    u64::from(hash.value) << 32 | r::field64(r::RXD_PACKET_TYPE, kind) | u64::from(hash.kind)
}

/// The second word of an advanced descriptor that the card writes back.
#[inline(always)]
fn advanced_status(len: usize, last: bool, bits: u64) -> u64 {
    let status = if last {
        r::RXD_DD | r::RXD_EOP
    } else {
        r::RXD_DD
    };
    r::field64(r::RXD_LENGTH, len as u64) | status | bits
}

/// A legacy descriptor that the card writes back. It keeps its address. Its status bits are the first
/// eight of an advanced descriptor, and its error bits are IPE and L4E, at the top of a byte.
fn legacy(address: u64, len: usize, last: bool, bits: u64, tag: u16) -> [u64; 2] {
    let end = if last { r::RXD_EOP } else { 0 };
    let status = (r::RXD_DD | end | bits) & 0xff;
    let errors = bits >> 24 & 0xff;
    let word = len as u64 & 0xffff | status << 32 | errors << 40 | u64::from(tag) << 48;
    [address, word]
}
