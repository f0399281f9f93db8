//! One receive queue: from a frame to its descriptors.

use crate::config::ReceiveFault;
use crate::device::budget::{Budget, SMALL_FRAME};
use crate::device::late_writes::LateWrites;
use crate::device::packet::{Verdict, TAG_LEN, TYPE_OFFSET};
use crate::device::registers as r;
use crate::device::ring::{batches, Ring, BATCH, DESCRIPTOR_LEN};
use crate::device::rss::Hash;
use crate::memory::dma::{DmaTable, SmallFrameTranslator};
use crate::memory::dma_fault::{Direction, DmaFault, FaultLog, Purpose};
use crate::memory::shared::{prefetch, Descriptor, SmallBuffer};
use crate::traffic::frame::{add, opaque_step, Fixed, Head, Own, MIN_FRAME};

/// The most descriptors that the card writes back together. With many more, the transmit queues
/// would wait for so long that they fill up.
const WRITE_BACK: usize = 64;

/// The format of descriptors that the card writes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Legacy,
    Advanced,
}

/// A receive queue that is enabled.
#[derive(Clone, Debug)]
pub(crate) struct RxQueue {
    queue: u32,
    ring: Ring,
    buffer_len: usize,
    format: Format,
    /// VLAN tags go to the descriptor, not to the buffer.
    strip_tags: bool,
    /// The card could not reach a descriptor. The queue does nothing until it is enabled again.
    halted: bool,
    /// What is false in the descriptors that the queue writes back.
    fault: Option<ReceiveFault>,
    /// Packets may arrive after their descriptors.
    relaxed: bool,
    /// Number of next write-backs to keep out of the driver's sight, and those that are: address and words.
    withhold: usize,
    withheld: Vec<(u64, [u64; 2])>,
}

/// The result of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The frame is in the driver's memory.
    Done,
    /// The queue has too few descriptors.
    NoDescriptor,
    /// The queue has halted.
    Halted,
}

/// Access to the driver's memory, the log of refused accesses, the writes that arrive late, and the
/// work that is left in this round.
pub(crate) struct Dma<'a> {
    pub(crate) table: &'a DmaTable,
    pub(crate) faults: &'a mut FaultLog,
    pub(crate) late: &'a mut LateWrites,
    pub(crate) budget: &'a mut Budget,
}

impl Dma<'_> {
    /// Counts the searches for maps since the last call as work. A search takes longer among many
    /// maps.
    #[inline(always)]
    pub(crate) fn spend_searches(&mut self) {
        let searches = self.table.take_searches();
        if searches > 0 {
            self.budget
                .spend(searches * (SMALL_FRAME + self.table.len() / 64));
        }
    }
}

/// Where generated frames of 60 bytes come from. They all go to one queue.
pub(crate) trait SmallFrameSource {
    /// The part that all frames have in common.
    fn fixed(&self) -> Fixed;
    /// The next frames: the first one's own part, their number, and their hash. The number is at
    /// most `max`. Each frame is one step further than the one before.
    fn run(&self, max: usize) -> (Own, usize, Hash);
    /// Goes on by `count` frames of a run.
    fn advance(&mut self, count: usize);
}

impl RxQueue {
    /// A queue that has just been enabled. `get` reads a register.
    ///
    /// # Errors
    /// What is wrong with the queue's registers, in words.
    pub(crate) fn new(queue: u32, get: impl Fn(u32) -> u32) -> Result<Self, String> {
        let ring = Ring::new(
            get(r::RDBAL(queue)),
            get(r::RDBAH(queue)),
            get(r::RDLEN(queue)),
            get(r::RDH(queue)),
        )?;
        let control = get(r::SRRCTL(queue));
        let buffer_len = r::field_get(r::SRRCTL_BSIZEPACKET, control) as usize * 1024;
        if buffer_len == 0 || buffer_len > 16 << 10 {
            return Err(format!(
                "SRRCTL.BSIZEPACKET stands for {buffer_len} bytes; 1024 to 16384 are possible"
            ));
        }
        let format = match control & r::SRRCTL_DESCTYPE {
            r::SRRCTL_DESCTYPE_LEGACY => Format::Legacy,
            r::SRRCTL_DESCTYPE_ADVANCED_ONE_BUFFER => Format::Advanced,
            other => {
                let kind = r::field_get(r::SRRCTL_DESCTYPE, other);
                return Err(format!("SRRCTL.DESCTYPE {kind}: only 0 (legacy) and 1 (advanced, one buffer) are modelled"));
            }
        };
        Ok(Self {
            queue,
            ring,
            buffer_len,
            format,
            strip_tags: get(r::RXDCTL(queue)) & r::RXDCTL_VME != 0,
            halted: false,
            fault: None,
            relaxed: false,
            withhold: 0,
            withheld: Vec::new(),
        })
    }

    /// Sets whether VLAN tags go to the descriptor. A driver may change that at any time.
    pub(crate) fn set_strip_tags(&mut self, on: bool) {
        self.strip_tags = on;
    }

    /// The value for RDH.
    #[inline(always)]
    pub(crate) fn head(&self) -> u32 {
        self.ring.head()
    }

    /// Descriptors in the ring.
    pub(crate) fn len(&self) -> u32 {
        self.ring.len()
    }

    /// Number of descriptors that the card may receive into.
    #[inline(always)]
    pub(crate) fn available(&self, tail: u32) -> u32 {
        if self.halted {
            0
        } else {
            self.ring.available(tail)
        }
    }

    /// Descriptors that so many bytes fill.
    pub(crate) fn descriptors_for(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.buffer_len).max(1)
    }

    /// Whether [`RxQueue::fill_small`] can write frames to this queue.
    #[inline(always)]
    pub(crate) fn takes_small(&self) -> bool {
        self.format == Format::Advanced && self.fault.is_none() && !self.relaxed
    }

    /// Lets packets arrive after their descriptors from now on, or no longer.
    pub(crate) fn set_relaxed(&mut self, on: bool) {
        self.relaxed = on;
    }

    /// Writes false values back to descriptors from now on, or true ones again.
    pub(crate) fn set_fault(&mut self, fault: Option<ReceiveFault>) {
        self.fault = fault;
    }

    /// Keeps the next `count` write-backs of [`RxQueue::deliver`] out of the driver's sight.
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

    /// Receives generated frames of 60 bytes into `count` descriptors, which must be available. It logs
    /// no DMA: [`RxQueue::deliver`] does.
    /// Returns the number of frames. It is below `count` only if the card cannot reach the ring.
    ///
    /// Measurements need a card that is faster than every driver. The time goes into cache lines
    /// that the driver has written or polls. So the card prefetches descriptors two batches ahead and
    /// buffers one batch ahead. It writes many descriptors back together, after all their packets.
    /// Otherwise a driver that waits for the next descriptor follows close behind and takes
    /// descriptors one by one, and both processors contend for each cache line.
    pub(crate) fn fill_small(
        &mut self,
        dma: &mut Dma<'_>,
        frames: &mut impl SmallFrameSource,
        count: u32,
    ) -> u32 {
        let mut finder = dma.table.small_buffers();
        let mut done = 0;
        while done < count {
            let want = self.ring.contiguous(count - done).min(WRITE_BACK);
            let Some(descriptors) = self.descriptors(dma, want) else {
                return done;
            };
            prefetch(&descriptors[..descriptors.len().min(2 * BATCH)]);
            let mut next = buffers_of(&mut finder, descriptors);
            let mut first_words = [0; WRITE_BACK];
            let mut words = &mut first_words[..];
            for (batch, later) in batches(descriptors) {
                let current = next;
                prefetch(&later[later.len().min(BATCH)..later.len().min(2 * BATCH)]);
                next = buffers_of(&mut finder, later);
                let (here, rest) = words.split_at_mut(batch.len().min(words.len()));
                self.fill_batch(dma, frames, batch, &current, here);
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
    fn fill_batch(
        &self,
        dma: &mut Dma<'_>,
        frames: &mut impl SmallFrameSource,
        mut descriptors: &[Descriptor],
        mut buffers: &[Option<SmallBuffer<'_>>],
        mut words: &mut [u64],
    ) {
        while !descriptors.is_empty() {
            let (own, len, hash) = frames.run(descriptors.len());
            let first = advanced_first(hash, Verdict::GENERATED.kind);
            let mut written =
                write_run(frames.fixed(), own, buffers.get(..len).unwrap_or_default());
            if written == 0 {
                let head = Head {
                    fixed: frames.fixed(),
                    own,
                };
                write_packet(dma, self.queue, descriptors[0].address(), &head.to_bytes());
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

    /// Receives one frame of any length, if `available` descriptors are enough. The frame includes
    /// its CRC if the driver gets it.
    pub(crate) fn deliver(
        &mut self,
        dma: &mut Dma<'_>,
        frame: &[u8],
        hash: Hash,
        verdict: &Verdict,
        available: u32,
    ) -> Delivery {
        if self.halted {
            return Delivery::Halted;
        }
        if let Some(tag) = verdict.vlan.filter(|_| self.strip_tags) {
            let (addresses, rest) = frame.split_at(TYPE_OFFSET.min(frame.len()));
            let frame = [addresses, rest.get(TAG_LEN..).unwrap_or_default()].concat();
            return self.store(dma, &frame, hash, verdict, tag, available);
        }
        self.store(dma, frame, hash, verdict, 0, available)
    }

    fn store(
        &mut self,
        dma: &mut Dma<'_>,
        frame: &[u8],
        hash: Hash,
        verdict: &Verdict,
        tag: u16,
        available: u32,
    ) -> Delivery {
        let needed = self.descriptors_for(frame.len());
        if (available as usize) < needed {
            return Delivery::NoDescriptor;
        }
        let mut parts = frame.chunks(self.buffer_len).peekable();
        while let Some(part) = parts.next() {
            let Some([descriptor, ..]) = self.descriptors(dma, 1) else {
                return Delivery::Halted;
            };
            let address = descriptor.address();
            if !self.relaxed || !dma.late.delay_packet(self.queue, address, part) {
                write_packet(dma, self.queue, address, part);
            }
            let last = parts.peek().is_none();
            // The last descriptor reports on the whole packet.
            let (bits, tag) = if last { (verdict.bits, tag) } else { (0, 0) };
            let words = match self.format {
                Format::Advanced => [
                    advanced_first(hash, verdict.kind),
                    advanced_status(part.len(), last, bits) | r::field64(r::RXD_VLAN, tag.into()),
                ],
                Format::Legacy => legacy(address, part.len(), last, bits, tag),
            };
            let words = self.fault.map_or(words, |fault| fault.falsify(words));
            if self.withhold > 0 {
                self.withhold -= 1;
                self.withheld.push((self.ring.iova(), words));
            } else {
                descriptor.write(words);
            }
            dma.table
                .log
                .write(self.ring.iova(), DESCRIPTOR_LEN as usize);
            self.ring.advance(1);
        }
        Delivery::Done
    }

    /// The descriptors from the head on: at most `max`, and only those in one DMA map. If the card
    /// cannot reach the first one, the queue halts and the result is `None`.
    #[inline(always)]
    fn descriptors<'d>(&mut self, dma: &mut Dma<'d>, max: usize) -> Option<&'d [Descriptor]> {
        match dma.table.descriptors(self.ring.iova(), max) {
            Ok(descriptors) => {
                dma.table
                    .log
                    .read(self.ring.iova(), size_of_val(descriptors));
                Some(descriptors)
            }
            Err(refusal) => {
                self.halted = true;
                dma.faults.record(DmaFault {
                    iova: self.ring.iova(),
                    len: DESCRIPTOR_LEN,
                    direction: Direction::Read,
                    purpose: Purpose::RxDescriptor,
                    queue: self.queue,
                    refusal,
                });
                None
            }
        }
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

/// Writes packet bytes. A refused write is lost and recorded: writes on a bus are posted, so hardware
/// does not notice.
#[inline(never)]
pub(crate) fn write_packet(dma: &mut Dma<'_>, queue: u32, iova: u64, bytes: &[u8]) {
    if let Err(refusal) = dma.table.write(iova, bytes) {
        dma.faults.record(DmaFault {
            iova,
            len: bytes.len() as u64,
            direction: Direction::Write,
            purpose: Purpose::RxPacket,
            queue,
            refusal,
        });
    }
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
