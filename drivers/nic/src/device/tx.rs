//! Transmitting: one transmit queue, from its descriptors to a frame.

use crate::device::offload::{self, Context, OffloadSettings};
use crate::device::registers as r;
use crate::device::ring::{batches, Ring, BATCH, DESCRIPTOR_LEN};
use crate::device::rx::Dma;
use crate::device::statistics::{Batch, CRC_LEN};
use crate::memory::dma::SmallFrameTranslator;
use crate::memory::dma_fault::{Direction, DmaFault, Purpose, Refusal};
use crate::memory::shared::{prefetch, Descriptor, SmallFrame};
use crate::traffic::frame::MIN_FRAME;

/// Longest frame that the device sends: the 82599's limit for jumbo frames, CRC not counted.
const MAX_SENT: usize = 15_872 - CRC_LEN as usize;
/// Longest packet that the device segments: PAYLEN's range, and headers.
const MAX_SEGMENTED: usize = (256 << 10) + 1024;
/// Contexts of a queue.
const CONTEXTS: usize = 2;

/// Where sent frames go.
pub(crate) trait Wire {
    /// Frames of exactly 60 bytes, which is what almost all are under load. Returns what they were.
    fn send_small(&mut self, frames: &[Option<SmallFrame<'_>>]) -> Sorted;
    /// A frame of any length. The CRC is not included, unless the driver made it itself and
    /// `own_crc` says so.
    fn send(&mut self, frame: &[u8], own_crc: bool);
}

/// How many of some frames were of which kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sorted {
    pub(crate) unicast: u64,
    pub(crate) multicast: u64,
    pub(crate) broadcast: u64,
}

/// The parts of HLREG0 that concern sending.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MacSettings {
    /// Frames below 60 bytes are filled up with zeros.
    pub(crate) pad: bool,
    /// The device adds the CRC to frames that ask for it.
    pub(crate) insert_crc: bool,
}

/// What a queue needs to know of the device.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TxSettings {
    pub(crate) mac: MacSettings,
    pub(crate) offload: OffloadSettings,
}

/// When descriptors are written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteBack {
    /// WTHRESH is 0: those with RS, at once.
    Requested,
    /// All of them, so many at a time; RS does not matter.
    Accumulated(u32),
    /// None: instead, after a descriptor with RS, the head goes to that address.
    Head(u64),
}

/// A transmit queue that is enabled.
#[derive(Clone, Debug)]
pub(crate) struct TxQueue {
    queue: u32,
    ring: Ring,
    write_back: WriteBack,
    /// Descriptors done but not written back yet.
    unwritten: u32,
    /// What offloads refer to.
    contexts: [Context; CONTEXTS],
    /// The second word of the frame's first descriptor, which says what it asks for.
    first: u64,
    /// The frame whose end has not come yet.
    partial: Vec<u8>,
    /// Whether part of the frame could not be read, or it is too long: it will not be sent.
    spoilt: bool,
    /// Whether there is a frame whose end has not come yet, even if none of its bytes could be
    /// read.
    within_frame: bool,
    /// A descriptor could not be reached: the queue does nothing more until it is enabled anew.
    halted: bool,
}

/// What a queue did in one go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TxProgress {
    /// Descriptors taken.
    pub(crate) descriptors: u32,
    /// Whether anything was written back, which is a cause for an interrupt.
    pub(crate) written_back: bool,
    /// Why a frame could not be sent as asked, if one could not.
    pub(crate) complaint: Option<&'static str>,
}

impl TxQueue {
    /// A queue that has just been enabled, from its registers; or a text that says what is wrong
    /// with them.
    pub(crate) fn new(queue: u32, get: impl Fn(u32) -> u32) -> Result<Self, String> {
        let ring = Ring::new(
            get(r::TDBAL(queue)),
            get(r::TDBAH(queue)),
            get(r::TDLEN(queue)),
            get(r::TDH(queue)),
        )?;
        let threshold = r::field_get(r::TXDCTL_WTHRESH, get(r::TXDCTL(queue)));
        let head_address = get(r::TDWBAL(queue));
        let write_back = if head_address & r::TDWBAL_HEAD_WB_EN != 0 {
            let low = u64::from(head_address & r::TDWBAL_HEADWB_LOW);
            WriteBack::Head(low | u64::from(get(r::TDWBAH(queue))) << 32)
        } else if threshold == 0 {
            WriteBack::Requested
        } else {
            WriteBack::Accumulated(threshold.min(ring.len() - 1))
        };
        Ok(Self {
            queue,
            ring,
            write_back,
            unwritten: 0,
            contexts: [Context::default(); CONTEXTS],
            first: 0,
            partial: Vec::new(),
            spoilt: false,
            within_frame: false,
            halted: false,
        })
    }

    /// What TDH should read.
    #[inline(always)]
    pub(crate) fn head(&self) -> u32 {
        self.ring.head()
    }

    /// Descriptors in the ring.
    pub(crate) fn len(&self) -> u32 {
        self.ring.len()
    }

    /// How many descriptors there are to send.
    #[inline(always)]
    pub(crate) fn available(&self, tail: u32) -> u32 {
        if self.halted {
            0
        } else {
            self.ring.available(tail)
        }
    }

    /// Sends what `count` descriptors describe, which must be available.
    pub(crate) fn drain(
        &mut self,
        dma: &mut Dma<'_>,
        settings: &TxSettings,
        wire: &mut impl Wire,
        statistics: &mut Batch,
        count: u32,
    ) -> TxProgress {
        let mut progress = TxProgress::default();
        let mut finder = dma.table.small_frames();
        while progress.descriptors < count {
            let want = self.ring.contiguous(count - progress.descriptors);
            let Some(stretch) = self.descriptors(dma, want) else {
                break;
            };
            // As in receiving: descriptors are asked for two batches ahead, packets one.
            prefetch(&stretch[..stretch.len().min(2 * BATCH)]);
            let mut next = frames_of(&mut finder, stretch);
            for (batch, later) in batches(stretch) {
                let (frames, small) = next;
                prefetch(&later[later.len().min(BATCH)..later.len().min(2 * BATCH)]);
                next = frames_of(&mut finder, later);
                if small
                    && self.write_back == WriteBack::Requested
                    && !self.within_frame
                    && settings.mac.insert_crc
                {
                    let sorted = wire.send_small(&frames[..batch.len().min(BATCH)]);
                    count_small(self.queue, sorted, statistics);
                    for descriptor in batch {
                        descriptor.write_status(r::TXD_DD);
                    }
                    progress.written_back = true;
                } else {
                    let taken = self.take_all(dma, settings, wire, statistics, batch);
                    progress.written_back |= taken.written_back;
                    progress.complaint = progress.complaint.or(taken.complaint);
                }
                self.ring.advance(batch.len() as u32);
                if let WriteBack::Accumulated(threshold) = self.write_back {
                    self.unwritten += batch.len() as u32;
                    let due = self.unwritten - self.unwritten % threshold;
                    progress.written_back |= self.write_back_oldest(dma, due);
                }
            }
            progress.descriptors += stretch.len() as u32;
        }
        progress
    }

    /// Takes descriptors of any kind one by one.
    #[inline(never)]
    fn take_all(
        &mut self,
        dma: &mut Dma<'_>,
        settings: &TxSettings,
        wire: &mut impl Wire,
        statistics: &mut Batch,
        descriptors: &[Descriptor],
    ) -> TxProgress {
        let mut progress = TxProgress {
            descriptors: descriptors.len() as u32,
            ..TxProgress::default()
        };
        let mut head_due = None;
        for (nth, descriptor) in descriptors.iter().enumerate() {
            let words = [descriptor.address(), descriptor.command()];
            if let Err(complaint) = self.take(dma, settings, wire, statistics, words) {
                progress.complaint = Some(complaint);
            }
            if words[1] & r::TXD_RS == 0 {
                continue;
            }
            match self.write_back {
                WriteBack::Requested => {
                    descriptor.write_status(r::TXD_DD);
                    progress.written_back = true;
                }
                WriteBack::Head(address) => head_due = Some((address, nth as u32 + 1)),
                WriteBack::Accumulated(_) => {}
            }
        }
        if let Some((address, taken)) = head_due {
            let mut ring = self.ring;
            ring.advance(taken);
            self.write_head(dma, address, ring.head());
            progress.written_back = true;
        }
        progress
    }

    /// Whether there are descriptors that are done and not written back.
    #[inline(always)]
    pub(crate) fn has_unwritten(&self) -> bool {
        self.unwritten > 0
    }

    /// Writes back everything that is done, however little.
    pub(crate) fn flush(&mut self, dma: &mut Dma<'_>) {
        let all = self.unwritten;
        self.write_back_oldest(dma, all);
    }

    /// Writes back the `count` oldest descriptors that have not been.
    fn write_back_oldest(&mut self, dma: &mut Dma<'_>, count: u32) -> bool {
        let mut distance = self.unwritten;
        for _ in 0..count {
            let iova = self.ring.behind(distance);
            match dma.table.descriptors(iova, 1) {
                Ok(descriptors) => descriptors[0].write_status(r::TXD_DD),
                Err(refusal) => {
                    self.fault(
                        dma,
                        iova,
                        DESCRIPTOR_LEN,
                        Direction::Write,
                        Purpose::TxDescriptor,
                        refusal,
                    );
                    self.halted = true;
                    break;
                }
            }
            distance -= 1;
        }
        self.unwritten -= count;
        count > 0
    }

    fn write_head(&self, dma: &mut Dma<'_>, address: u64, head: u32) {
        if let Err(refusal) = dma.table.write_u32(address, head) {
            self.fault(
                dma,
                address,
                4,
                Direction::Write,
                Purpose::HeadWriteBack,
                refusal,
            );
        }
    }

    /// Takes one descriptor of any kind.
    fn take(
        &mut self,
        dma: &mut Dma<'_>,
        settings: &TxSettings,
        wire: &mut impl Wire,
        statistics: &mut Batch,
        descriptor: [u64; 2],
    ) -> Result<(), &'static str> {
        let [address, command] = descriptor;
        let context = command & r::TXD_DEXT != 0 && command & r::TXD_DTYP == r::TXD_DTYP_CONTEXT;
        if context {
            let index = r::field64_get(r::TXD_IDX, command) as usize;
            self.contexts[index % CONTEXTS] = Context::of(descriptor);
            return Ok(());
        }
        if !self.within_frame {
            self.first = command;
        }
        self.within_frame = true;
        self.append(dma, address, (command & r::TXD_DTALEN) as usize);
        if command & r::TXD_EOP == 0 {
            return Ok(());
        }
        let mut frame = std::mem::take(&mut self.partial);
        let spoilt = std::mem::take(&mut self.spoilt);
        self.within_frame = false;
        let mut outcome = Ok(());
        if !spoilt && !frame.is_empty() {
            let own_crc = command & r::TXD_IFCS == 0 || !settings.mac.insert_crc;
            let mut put_on_wire = |frame: &mut Vec<u8>| {
                self.put_on_wire(frame, own_crc, settings.mac, wire, statistics)
            };
            let asks = if self.first & r::TXD_DEXT != 0 {
                offload::ASKS
            } else {
                offload::LEGACY_ASKS
            };
            if self.first & asks == 0 {
                put_on_wire(&mut frame);
            } else {
                let index = r::field64_get(r::TXD_IDX, self.first) as usize;
                outcome = offload::send(
                    &mut frame,
                    self.first,
                    &self.contexts[index % CONTEXTS],
                    &settings.offload,
                    put_on_wire,
                );
            }
        }
        // The memory is kept for the next frame.
        frame.clear();
        self.partial = frame;
        outcome
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

    #[inline(always)]
    fn descriptors<'d>(&mut self, dma: &mut Dma<'d>, max: usize) -> Option<&'d [Descriptor]> {
        match dma.table.descriptors(self.ring.iova(), max) {
            Ok(descriptors) => Some(descriptors),
            Err(refusal) => {
                self.halted = true;
                let iova = self.ring.iova();
                self.fault(
                    dma,
                    iova,
                    DESCRIPTOR_LEN,
                    Direction::Read,
                    Purpose::TxDescriptor,
                    refusal,
                );
                None
            }
        }
    }

    fn fault(
        &self,
        dma: &mut Dma<'_>,
        iova: u64,
        len: u64,
        direction: Direction,
        purpose: Purpose,
        refusal: Refusal,
    ) {
        dma.faults.record(DmaFault {
            iova,
            len,
            direction,
            purpose,
            queue: self.queue,
            refusal,
        });
    }
}

/// The packets of the first batch of descriptors, as far as they can be read; their lines are on
/// their way. And whether they all are [`SMALL`].
#[inline(always)]
fn frames_of<'d>(
    finder: &mut SmallFrameTranslator<'d>,
    descriptors: &[Descriptor],
) -> ([Option<SmallFrame<'d>>; BATCH], bool) {
    let mut frames = [None; BATCH];
    let mut differences = 0;
    for (descriptor, frame) in descriptors.iter().zip(&mut frames) {
        differences |= descriptor.command() & SMALL_MASK ^ SMALL;
        *frame = finder.frame(descriptor.address());
        match frame {
            Some(found) => found.prefetch(),
            None => differences = 1,
        }
    }
    (frames, differences == 0)
}

/// The bits of a descriptor's second word that say whether it is a [`SMALL`] frame.
const SMALL_MASK: u64 = r::TXD_DTALEN
    | r::TXD_DTYP
    | r::TXD_EOP
    | r::TXD_IFCS
    | r::TXD_RS
    | r::TXD_DEXT
    | offload::ASKS;
/// A whole frame of 60 bytes, in an advanced data descriptor, that asks for a CRC and to be written
/// back.
const SMALL: u64 =
    MIN_FRAME as u64 | r::TXD_DTYP_DATA | r::TXD_EOP | r::TXD_IFCS | r::TXD_RS | r::TXD_DEXT;

/// Adds small frames to the statistics.
fn count_small(queue: u32, sorted: Sorted, statistics: &mut Batch) {
    let wire_len = MIN_FRAME as u64 + CRC_LEN;
    statistics.sent_alike(queue as usize, sorted.unicast, wire_len, 0, false);
    if sorted.multicast + sorted.broadcast > 0 {
        statistics.sent_alike(queue as usize, sorted.multicast, wire_len, 1, false);
        statistics.sent_alike(queue as usize, sorted.broadcast, wire_len, 1, true);
    }
}
