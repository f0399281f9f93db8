//! One transmit queue: its descriptors and their write-backs. `tx_frames.rs` makes frames of them.

use crate::device::dma_port::{DmaPort, SMALL_FRAME};
use crate::device::offload::{self, Context, OffloadSettings};
use crate::device::registers as r;
use crate::device::ring::{batches, Ring, BATCH, DESCRIPTOR_LEN, TRANSMIT};
use crate::device::segmentation::Unfinished;
use crate::device::statistics::{Batch, CRC_LEN};
use crate::memory::dma::SmallFrameTranslator;
use crate::memory::dma_fault::Purpose;
use crate::memory::shared::{Descriptor, SmallFrame};
use crate::traffic::frame::MIN_FRAME;

/// Offload contexts of a queue.
pub(super) const CONTEXTS: usize = 2;

/// What takes the sent frames.
pub(crate) trait FrameSink {
    /// Sends frames of exactly 60 bytes, the usual length under load. Returns their kinds.
    fn send_small(&mut self, frames: &[Option<SmallFrame<'_>>]) -> Sorted;
    /// Sends a frame of any length. It includes its CRC only if the driver has made the CRC itself,
    /// as `own_crc` says.
    fn send(&mut self, frame: &[u8], own_crc: bool);
}

/// Numbers of frames by kind of destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sorted {
    pub(crate) unicast: u64,
    pub(crate) multicast: u64,
    pub(crate) broadcast: u64,
}

/// The port's settings for its transmit queues.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TxSettings {
    /// The card pads frames below 60 bytes with zeros.
    pub(crate) pad: bool,
    /// The card adds the CRC to frames that ask for it.
    pub(crate) insert_crc: bool,
    pub(crate) offload: OffloadSettings,
}

/// A queue's way from the driver's memory to the wire.
pub(crate) struct Way<'a, S> {
    pub(crate) dma: &'a DmaPort,
    pub(crate) settings: &'a TxSettings,
    pub(crate) sink: &'a mut S,
    pub(crate) statistics: &'a mut Batch,
}

/// When the card writes descriptors back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WriteBack {
    /// WTHRESH is 0: at once, descriptors with RS only.
    Requested,
    /// In groups of this size, all descriptors: RS does not matter.
    Accumulated(u32),
    /// Never. After a descriptor with RS, the card writes the head to this address instead.
    Head(u64),
}

/// A transmit queue that is enabled.
#[derive(Clone, Debug)]
pub(crate) struct TxQueue {
    pub(crate) ring: Ring,
    write_back: WriteBack,
    /// Finished descriptors that the card has not written back.
    unwritten: u32,
    /// Whether full groups are written back a round later, and how many of the oldest descriptors that concerns.
    late: bool,
    overdue: u32,
    /// The contexts that offloads refer to.
    pub(super) contexts: [Context; CONTEXTS],
    /// The second word of the frame's first descriptor, which requests the offloads.
    pub(super) first: u64,
    /// The bytes of a frame without its end.
    pub(super) partial: Vec<u8>,
    /// The frame is too long, or part of it could not be read: the card does not send it.
    pub(super) spoilt: bool,
    /// The card has taken the start of a frame and not its end.
    pub(super) within_frame: bool,
    /// The frame of the descriptor at the head, if some of its segments have to be sent yet.
    pub(super) unfinished: Option<Box<Unfinished>>,
}

/// What a queue has written back. Any write-back is an interrupt cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WrittenBack {
    /// Writes on PCI Express. One write carries all descriptors of a group, or a head.
    pub(crate) writes: u32,
    /// Descriptors in these writes, of 16 bytes each.
    pub(crate) descriptors: u32,
}

impl WrittenBack {
    fn add(&mut self, writes: u32, descriptors: u32) {
        self.writes += writes;
        self.descriptors += descriptors;
    }
}

/// The progress of a queue in one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TxProgress {
    /// Descriptors that the card has taken.
    pub(crate) descriptors: u32,
    pub(crate) written_back: WrittenBack,
    /// The reason that a frame could not be sent as requested.
    pub(crate) complaint: Option<&'static str>,
}

impl TxQueue {
    /// A queue that has just been enabled. `get` reads a register.
    ///
    /// # Errors
    /// What is wrong with the queue's registers, in words.
    pub(crate) fn new(queue: u32, late: bool, get: impl Fn(u32) -> u32) -> Result<Self, String> {
        let ring = Ring::new(&TRANSMIT, queue, &get)?;
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
            ring,
            write_back,
            unwritten: 0,
            late,
            overdue: 0,
            contexts: [Context::default(); CONTEXTS],
            first: 0,
            partial: Vec::new(),
            spoilt: false,
            within_frame: false,
            unfinished: None,
        })
    }

    /// The head for a card on which TDH moves with write-backs.
    pub(crate) fn written_head(&self) -> u32 {
        self.ring.index_behind(self.unwritten)
    }

    /// Whether the card has sent some segments of a frame, and must send the others.
    #[inline(always)]
    pub(crate) fn is_within_segments(&self) -> bool {
        self.unfinished.is_some()
    }

    /// Whether the card owns the descriptor at this address.
    pub(crate) fn owns(&self, iova: u64, tail: u32) -> bool {
        self.ring.distance_to(iova) < self.ring.available(tail)
    }

    /// Sends the frames of `count` descriptors, which must be available. Stops earlier when the
    /// work of the round is done.
    pub(crate) fn drain(&mut self, way: &mut Way<'_, impl FrameSink>, count: u32) -> TxProgress {
        let dma = way.dma;
        let mut progress = TxProgress::default();
        let mut finder = dma.table.small_frames();
        while progress.descriptors < count {
            let want = self.ring.contiguous(count - progress.descriptors);
            let Some(descriptors) = self.ring.descriptors(dma, want) else {
                break;
            };
            // As in receiving, the card prefetches descriptors two batches ahead and packets one.
            let batches = batches(descriptors);
            let mut next = frames_of(&mut finder, descriptors);
            for (batch, later) in batches {
                if dma.is_spent() {
                    return progress;
                }
                let BatchOfFrames {
                    frames,
                    small,
                    all_request,
                } = next;
                next = frames_of(&mut finder, later);
                // Only the general path logs every transfer.
                let small = small && !dma.table.log.is_on();
                let fast = small && !self.within_frame && way.settings.insert_crc;
                let taken = if fast && !matches!(self.write_back, WriteBack::Head(_)) {
                    let sorted = way.sink.send_small(&frames[..batch.len().min(BATCH)]);
                    count_small(self.ring.queue, sorted, way.statistics);
                    if self.write_back == WriteBack::Requested {
                        let done = if all_request {
                            self.write_done(dma, batch, 0);
                            batch.len() as u32
                        } else {
                            self.write_requested(dma, batch)
                        };
                        progress.written_back.add(done, done);
                    }
                    dma.spend(batch.len() * SMALL_FRAME);
                    batch
                } else {
                    let taken = self.take_all(way, batch, &mut progress);
                    batch.get(..taken).unwrap_or(batch)
                };
                if let WriteBack::Accumulated(threshold) = self.write_back {
                    let done = self.write_back_groups(dma, taken, threshold);
                    progress.written_back.add(done.writes, done.descriptors);
                }
                self.ring.advance(taken.len() as u32);
                progress.descriptors += taken.len() as u32;
                if taken.len() < batch.len() {
                    return progress;
                }
            }
        }
        progress
    }

    /// The general path: takes descriptors of any kind, one by one, until the work of the round is
    /// done. Returns their number.
    #[inline(never)]
    fn take_all(
        &mut self,
        way: &mut Way<'_, impl FrameSink>,
        descriptors: &[Descriptor],
        progress: &mut TxProgress,
    ) -> usize {
        let mut taken = 0;
        let mut head_due = None;
        for (nth, descriptor) in descriptors.iter().enumerate() {
            if nth > 0 && way.dma.is_spent() {
                break;
            }
            let words = [descriptor.address(), descriptor.command()];
            match self.take(way, words) {
                Ok(true) => {}
                Ok(false) => break,
                Err(complaint) => progress.complaint = progress.complaint.or(Some(complaint)),
            }
            taken += 1;
            if words[1] & r::TXD_RS == 0 {
                continue;
            }
            match self.write_back {
                WriteBack::Requested => {
                    self.write_done(way.dma, &descriptors[nth..taken], nth as u64);
                    progress.written_back.add(1, 1);
                }
                WriteBack::Head(address) => head_due = Some((address, taken as u32)),
                WriteBack::Accumulated(_) => {}
            }
        }
        if let Some((address, taken)) = head_due {
            let mut ring = self.ring;
            ring.advance(taken);
            let of = (Purpose::HeadWriteBack, ring.queue);
            way.dma.write_u32(of, address, ring.head());
            progress.written_back.add(1, 0);
        }
        taken
    }

    /// Whether finished descriptors wait for their write-back.
    #[inline(always)]
    pub(crate) fn has_unwritten(&self) -> bool {
        self.unwritten > 0
    }

    /// Writes back that the card has sent the frames of these descriptors. The first one is
    /// `offset` descriptors behind the one at the head.
    #[inline(always)]
    fn write_done(&self, dma: &DmaPort, descriptors: &[Descriptor], offset: u64) {
        if self.ring.relaxed {
            return self.write_done_loosely(dma, descriptors, offset);
        }
        for descriptor in descriptors {
            descriptor.write_status(r::TXD_DD);
        }
        let first = self.ring.iova().wrapping_add(offset * DESCRIPTOR_LEN);
        dma.table.log.write(first, size_of_val(descriptors));
    }

    /// Writes those of a batch's descriptors back that have RS, and returns their number. A driver
    /// such as DPDK sets RS in one of 32.
    fn write_requested(&self, dma: &DmaPort, batch: &[Descriptor]) -> u32 {
        let mut done = 0;
        for (nth, descriptor) in batch.iter().enumerate() {
            if descriptor.command() & r::TXD_RS != 0 {
                self.write_done(dma, std::slice::from_ref(descriptor), nth as u64);
                done += 1;
            }
        }
        done
    }

    #[cold]
    fn write_done_loosely(&self, dma: &DmaPort, descriptors: &[Descriptor], offset: u64) {
        let mut late = dma.late.borrow_mut();
        for (nth, descriptor) in (offset..).zip(descriptors) {
            let iova = self.ring.iova().wrapping_add(nth * DESCRIPTOR_LEN);
            if !late.delay_write_back(self.ring.queue, iova) {
                descriptor.write_status(r::TXD_DD);
                dma.table.log.write(iova, DESCRIPTOR_LEN as usize);
            }
        }
    }

    /// Writes the groups of the last round back, if they are late.
    pub(crate) fn settle(&mut self, dma: &DmaPort) -> WrittenBack {
        let descriptors = std::mem::take(&mut self.overdue);
        let WriteBack::Accumulated(threshold) = self.write_back else {
            return WrittenBack::default();
        };
        self.write_back_oldest(dma, descriptors);
        WrittenBack {
            writes: descriptors / threshold,
            descriptors,
        }
    }

    /// Writes all finished descriptors back.
    pub(crate) fn flush(&mut self, dma: &DmaPort) -> WrittenBack {
        self.overdue = 0;
        let descriptors = self.unwritten;
        let writes = self.writes_of(descriptors);
        self.write_back_oldest(dma, descriptors);
        WrittenBack {
            writes,
            descriptors,
        }
    }

    /// 7.2.3.5.1: writes back groups of `threshold` descriptors. The card has just sent `batch`, and
    /// the head still stands at its start. Descriptors that fill no group stay unwritten.
    #[inline(always)]
    fn write_back_groups(
        &mut self,
        dma: &DmaPort,
        batch: &[Descriptor],
        threshold: u32,
    ) -> WrittenBack {
        let held = self.unwritten;
        let total = held + batch.len() as u32;
        let due = total - total % threshold;
        if self.late {
            self.overdue = due;
        }
        if due == 0 || self.late {
            self.unwritten = total;
            return WrittenBack::default();
        }
        // The first group may begin before the batch, even at the other end of the ring's memory.
        let mut writes = due / threshold;
        if held > 0 {
            writes += self.writes_of(held) - 1;
            writes += u32::from(self.ring.head() == 0);
            self.write_back_oldest(dma, held);
        }
        let here = due.saturating_sub(held) as usize;
        self.write_done(dma, batch.get(..here).unwrap_or_default(), 0);
        self.unwritten = total - due;
        WrittenBack {
            writes,
            descriptors: due,
        }
    }

    /// Number of writes for the `count` descriptors behind the head: their memory is contiguous
    /// unless the ring's end lies between them.
    fn writes_of(&self, count: u32) -> u32 {
        let head = self.ring.head();
        match count {
            0 => 0,
            _ if head == 0 || count <= head => 1,
            _ => 2,
        }
    }

    /// Writes the `count` oldest finished descriptors back.
    #[cold]
    fn write_back_oldest(&mut self, dma: &DmaPort, count: u32) {
        for nth in 0..count {
            match self.ring.descriptor_behind(dma, self.unwritten - nth) {
                Some(descriptor) => descriptor.write_status(r::TXD_DD),
                None => break,
            }
        }
        self.unwritten -= count;
    }
}

/// The packets of a batch of descriptors.
struct BatchOfFrames<'d> {
    /// The packets; `None` for one that the card may not read.
    frames: [Option<SmallFrame<'d>>; BATCH],
    /// Whether all descriptors are [`SMALL`].
    small: bool,
    /// Whether all descriptors request a write-back.
    all_request: bool,
}

/// Translates and prefetches the packets of the first batch of descriptors.
#[inline(always)]
fn frames_of<'d>(
    finder: &mut SmallFrameTranslator<'d>,
    descriptors: &[Descriptor],
) -> BatchOfFrames<'d> {
    let mut frames = [None; BATCH];
    let mut differences = 0;
    let mut common = r::TXD_RS;
    for (descriptor, frame) in descriptors.iter().zip(&mut frames) {
        let command = descriptor.command();
        differences |= command & SMALL_MASK ^ SMALL;
        common &= command;
        *frame = finder.frame(descriptor.address());
        match frame {
            Some(found) => found.prefetch(),
            None => differences = 1,
        }
    }
    BatchOfFrames {
        frames,
        small: differences == 0,
        all_request: common != 0,
    }
}

/// The bits of a descriptor's second word that distinguish a [`SMALL`] frame.
const SMALL_MASK: u64 =
    r::TXD_DTALEN | r::TXD_DTYP | r::TXD_EOP | r::TXD_IFCS | r::TXD_DEXT | offload::REQUESTS;
/// An advanced data descriptor with a whole frame of 60 bytes that requests a CRC, and nothing else
/// but perhaps a write-back.
const SMALL: u64 = MIN_FRAME as u64 | r::TXD_DTYP_DATA | r::TXD_EOP | r::TXD_IFCS | r::TXD_DEXT;

/// Adds small frames to the statistics.
fn count_small(queue: u32, sorted: Sorted, statistics: &mut Batch) {
    let wire_len = MIN_FRAME as u64 + CRC_LEN;
    statistics.sent(queue as usize, sorted.unicast, wire_len, 0, false);
    if sorted.multicast + sorted.broadcast > 0 {
        statistics.sent(queue as usize, sorted.multicast, wire_len, 1, false);
        statistics.sent(queue as usize, sorted.broadcast, wire_len, 1, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::map_request::{Permissions, PAGE_SIZE};

    const DESCRIPTORS: u32 = 128;

    /// Counts frames by the path that they take.
    #[derive(Default)]
    struct Paths {
        fast: usize,
        general: usize,
    }

    impl FrameSink for Paths {
        fn send_small(&mut self, frames: &[Option<SmallFrame<'_>>]) -> Sorted {
            self.fast += frames.len();
            Sorted::default()
        }

        fn send(&mut self, _frame: &[u8], _own_crc: bool) {
            self.general += 1;
        }
    }

    /// Sends 64 small frames from descriptor `first` on. Every `rs_every`-th requests a write-back, unless they come in
    /// groups of `threshold`. Returns the paths of the frames, the write-backs, and the frames whose descriptors are done.
    fn sent_with(rs_every: u64, first: u32, threshold: u32) -> (Paths, u32, Vec<u64>) {
        let memory = rustix::fs::memfd_create("tx test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&memory, 2 * PAGE_SIZE).unwrap();
        let mut dma = DmaPort::new();
        let permissions = Permissions {
            read: true,
            write: true,
        };
        let mapped = dma
            .table
            .map(0, 2 * PAGE_SIZE, permissions, Some(memory), 0);
        mapped.unwrap();
        let place = |nth: u64| (u64::from(first) + nth) % u64::from(DESCRIPTORS) * DESCRIPTOR_LEN;
        for nth in 0..64 {
            let rs = match (nth + 1) % rs_every {
                0 => r::TXD_RS,
                _ => 0,
            };
            let words = [PAGE_SIZE + 60 * nth, SMALL | rs].map(u64::to_le_bytes);
            dma.table.write(place(nth), &words.concat()).unwrap();
        }
        let length = DESCRIPTORS * DESCRIPTOR_LEN as u32;
        let registers = [
            (r::TDLEN(0), length),
            (r::TDH(0), first),
            (r::TXDCTL(0), r::field(r::TXDCTL_WTHRESH, threshold)),
        ];
        let register = |address| {
            let known = registers.iter().find(|(known, _)| *known == address);
            known.map_or(0, |(_, value)| *value)
        };
        let mut queue = TxQueue::new(0, false, register).unwrap();
        let (mut paths, mut statistics) = (Paths::default(), Batch::default());
        let settings = TxSettings {
            pad: true,
            insert_crc: true,
            ..TxSettings::default()
        };
        dma.allow(64 * SMALL_FRAME + 1000);
        let mut way = Way {
            dma: &dma,
            settings: &settings,
            sink: &mut paths,
            statistics: &mut statistics,
        };
        let progress = queue.drain(&mut way, 64);
        let done = |nth: &u64| {
            let mut bytes = [0; 8];
            dma.table.read(place(*nth) + 8, &mut bytes).unwrap();
            u64::from_le_bytes(bytes) == r::TXD_DD
        };
        let done = (0..64).filter(done).collect();
        (paths, progress.written_back.descriptors, done)
    }

    #[test]
    fn small_frames_take_the_fast_path_whichever_request_a_write_back() {
        for rs_every in [1, 2, 3, 32, 64, 100] {
            let (paths, written, done) = sent_with(rs_every, 0, 0);
            assert_eq!(
                (paths.fast, paths.general),
                (64, 0),
                "RS in 1 of {rs_every}"
            );
            let expected: Vec<u64> = (0..64).filter(|nth| (nth + 1) % rs_every == 0).collect();
            assert_eq!(done, expected, "RS in 1 of {rs_every}");
            assert_eq!(written, expected.len() as u32);
        }
    }
    #[test]
    fn groups_are_written_back_also_around_the_end_of_the_ring() {
        for first in [0, 60, 100, 124, 127] {
            let (paths, written, done) = sent_with(100, first, 8);
            assert_eq!((paths.fast, written), (64, 64), "from {first}");
            assert_eq!(done, (0..64).collect::<Vec<_>>(), "from {first}");
        }
    }
}
