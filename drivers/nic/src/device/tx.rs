//! One transmit queue: its descriptors and their write-backs. `tx_frames.rs` makes frames of them.

use crate::device::budget::SMALL_FRAME;
use crate::device::offload::{self, Context, OffloadSettings};
use crate::device::registers as r;
use crate::device::ring::{batches, Ring, BATCH, DESCRIPTOR_LEN};
use crate::device::rx::Dma;
use crate::device::segmentation::Unfinished;
use crate::device::statistics::{Batch, CRC_LEN};
use crate::memory::dma::SmallFrameTranslator;
use crate::memory::dma_fault::{Direction, DmaFault, Purpose, Refusal};
use crate::memory::shared::{prefetch, Descriptor, SmallFrame};
use crate::traffic::frame::MIN_FRAME;

/// Offload contexts of a queue.
pub(super) const CONTEXTS: usize = 2;

/// The wire that takes the sent frames.
pub(crate) trait Wire {
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

/// The settings for sending in HLREG0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MacSettings {
    /// The card pads frames below 60 bytes with zeros.
    pub(crate) pad: bool,
    /// The card adds the CRC to frames that ask for it.
    pub(crate) insert_crc: bool,
}

/// The port's settings for its transmit queues.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TxSettings {
    pub(crate) mac: MacSettings,
    pub(crate) offload: OffloadSettings,
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
    pub(super) queue: u32,
    ring: Ring,
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
    /// The card could not reach a descriptor. The queue does nothing until it is enabled again.
    halted: bool,
    /// Write-backs may arrive out of order.
    relaxed: bool,
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
    /// Whether there is anything.
    pub(crate) fn any(self) -> bool {
        self.writes > 0
    }

    fn add(&mut self, more: Self) {
        self.writes += more.writes;
        self.descriptors += more.descriptors;
    }
}

/// The progress of a queue in one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TxProgress {
    /// Descriptors that the card has taken.
    pub(crate) descriptors: u32,
    /// What the card has written back.
    pub(crate) written_back: WrittenBack,
    /// The reason that a frame could not be sent as requested.
    pub(crate) complaint: Option<&'static str>,
}

impl TxQueue {
    /// A queue that has just been enabled. `get` reads a register.
    ///
    /// # Errors
    /// What is wrong with the queue's registers, in words.
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
            late: false,
            overdue: 0,
            contexts: [Context::default(); CONTEXTS],
            first: 0,
            partial: Vec::new(),
            spoilt: false,
            within_frame: false,
            unfinished: None,
            halted: false,
            relaxed: false,
        })
    }

    /// Lets write-backs arrive out of order from now on, or no longer.
    pub(crate) fn set_relaxed(&mut self, on: bool) {
        self.relaxed = on;
    }

    /// Lets full groups be written back a round later from now on, or no longer.
    pub(crate) fn set_late(&mut self, on: bool) {
        self.late = on;
    }

    /// The value for TDH.
    #[inline(always)]
    pub(crate) fn head(&self) -> u32 {
        self.ring.head()
    }

    /// The same for a card on which TDH moves with write-backs.
    pub(crate) fn written_head(&self) -> u32 {
        self.ring.index_behind(self.unwritten)
    }

    /// Descriptors in the ring.
    pub(crate) fn len(&self) -> u32 {
        self.ring.len()
    }

    /// Number of descriptors that the card may take.
    #[inline(always)]
    pub(crate) fn available(&self, tail: u32) -> u32 {
        if self.halted {
            0
        } else {
            self.ring.available(tail)
        }
    }

    /// Whether the card has sent some segments of a frame, and must send the others.
    #[inline(always)]
    pub(crate) fn is_within_segments(&self) -> bool {
        self.unfinished.is_some()
    }

    /// Whether the card owns the descriptor at this address.
    pub(crate) fn owns(&self, iova: u64, tail: u32) -> bool {
        self.ring.distance_to(iova) < self.available(tail)
    }

    /// Sends the frames of `count` descriptors, which must be available. Stops earlier when the
    /// budget of the round is spent.
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
            let Some(descriptors) = self.descriptors(dma, want) else {
                break;
            };
            // As in receiving, the card prefetches descriptors two batches ahead and packets one.
            prefetch(&descriptors[..descriptors.len().min(2 * BATCH)]);
            let mut next = frames_of(&mut finder, descriptors);
            for (batch, later) in batches(descriptors) {
                if dma.budget.is_spent() {
                    return progress;
                }
                let BatchOfFrames {
                    frames,
                    small,
                    all_request,
                } = next;
                prefetch(&later[later.len().min(BATCH)..later.len().min(2 * BATCH)]);
                next = frames_of(&mut finder, later);
                // Only the general path logs every transfer.
                let small = small && !dma.table.log.is_on();
                let fast = small && !self.within_frame && settings.mac.insert_crc;
                let taken = if fast && !matches!(self.write_back, WriteBack::Head(_)) {
                    let sorted = wire.send_small(&frames[..batch.len().min(BATCH)]);
                    count_small(self.queue, sorted, statistics);
                    if self.write_back == WriteBack::Requested {
                        let done = match all_request {
                            true => {
                                self.write_done(dma, batch, 0);
                                batch.len() as u32
                            }
                            false => self.write_requested(dma, batch),
                        };
                        progress.written_back.writes += done;
                        progress.written_back.descriptors += done;
                    }
                    dma.budget.spend(batch.len() * SMALL_FRAME);
                    batch
                } else {
                    let taken = self.take_all(dma, settings, wire, statistics, batch);
                    progress.written_back.add(taken.written_back);
                    progress.complaint = progress.complaint.or(taken.complaint);
                    batch.get(..taken.descriptors as usize).unwrap_or(batch)
                };
                dma.spend_searches();
                if let WriteBack::Accumulated(threshold) = self.write_back {
                    let written_back = self.write_back_groups(dma, taken, threshold);
                    progress.written_back.add(written_back);
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

    /// The general path: takes descriptors of any kind, one by one, until the budget is spent.
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
            if nth > 0 && dma.budget.is_spent() {
                progress.descriptors = nth as u32;
                break;
            }
            let words = [descriptor.address(), descriptor.command()];
            match self.take(dma, settings, wire, statistics, words) {
                Ok(true) => {}
                Ok(false) => {
                    progress.descriptors = nth as u32;
                    break;
                }
                Err(complaint) => progress.complaint = Some(complaint),
            }
            if words[1] & r::TXD_RS == 0 {
                continue;
            }
            match self.write_back {
                WriteBack::Requested => {
                    self.write_done(dma, &descriptors[nth..=nth], nth as u64);
                    progress.written_back.writes += 1;
                    progress.written_back.descriptors += 1;
                }
                WriteBack::Head(address) => head_due = Some((address, nth as u32 + 1)),
                WriteBack::Accumulated(_) => {}
            }
        }
        if let Some((address, taken)) = head_due {
            let mut ring = self.ring;
            ring.advance(taken);
            self.write_head(dma, address, ring.head());
            progress.written_back.writes += 1;
        }
        progress
    }

    /// Whether finished descriptors wait for their write-back.
    #[inline(always)]
    pub(crate) fn has_unwritten(&self) -> bool {
        self.unwritten > 0
    }

    /// Writes back that the card has sent the frames of these descriptors. The first one is
    /// `offset` descriptors behind the one at the head.
    #[inline(always)]
    fn write_done(&self, dma: &mut Dma<'_>, descriptors: &[Descriptor], offset: u64) {
        if self.relaxed {
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
    fn write_requested(&self, dma: &mut Dma<'_>, batch: &[Descriptor]) -> u32 {
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
    fn write_done_loosely(&self, dma: &mut Dma<'_>, descriptors: &[Descriptor], offset: u64) {
        for (nth, descriptor) in (offset..).zip(descriptors) {
            let iova = self.ring.iova().wrapping_add(nth * DESCRIPTOR_LEN);
            if !dma.late.delay_write_back(self.queue, iova) {
                descriptor.write_status(r::TXD_DD);
                dma.table.log.write(iova, DESCRIPTOR_LEN as usize);
            }
        }
    }

    /// Writes the groups of the last round back, if they are late.
    pub(crate) fn settle(&mut self, dma: &mut Dma<'_>) -> WrittenBack {
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
    pub(crate) fn flush(&mut self, dma: &mut Dma<'_>) -> WrittenBack {
        self.overdue = 0;
        let count = self.unwritten;
        let writes = self.writes_of(count);
        self.write_back_oldest(dma, count);
        WrittenBack {
            writes,
            descriptors: count,
        }
    }

    /// 7.2.3.5.1: writes back groups of `threshold` descriptors. The card has just sent `batch`, and
    /// the head still stands at its start. Descriptors that fill no group stay unwritten.
    #[inline(always)]
    fn write_back_groups(
        &mut self,
        dma: &mut Dma<'_>,
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
    fn write_back_oldest(&mut self, dma: &mut Dma<'_>, count: u32) {
        let mut distance = self.unwritten;
        for _ in 0..count {
            let iova = self.ring.behind(distance);
            match dma.table.descriptors(iova, 1) {
                Ok(descriptors) => {
                    descriptors[0].write_status(r::TXD_DD);
                    dma.table.log.write(iova, DESCRIPTOR_LEN as usize);
                }
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

    pub(super) fn fault(
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
    statistics.sent_alike(queue as usize, sorted.unicast, wire_len, 0, false);
    if sorted.multicast + sorted.broadcast > 0 {
        statistics.sent_alike(queue as usize, sorted.multicast, wire_len, 1, false);
        statistics.sent_alike(queue as usize, sorted.broadcast, wire_len, 1, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::budget::Budget;
    use crate::device::late_writes::LateWrites;
    use crate::memory::dma::DmaTable;
    use crate::memory::dma_fault::FaultLog;
    use crate::memory::map_request::{Permissions, PAGE_SIZE};

    const DESCRIPTORS: u32 = 128;

    /// Counts frames by the path that they take.
    #[derive(Default)]
    struct Paths {
        fast: usize,
        general: usize,
    }

    impl Wire for Paths {
        fn send_small(&mut self, frames: &[Option<SmallFrame<'_>>]) -> Sorted {
            self.fast += frames.len();
            Sorted::default()
        }

        fn send(&mut self, _frame: &[u8], _own_crc: bool) {
            self.general += 1;
        }
    }

    /// Sends 64 small frames. Every `rs_every`-th requests a write-back. Returns the paths of the
    /// frames, the write-backs, and the descriptors that are done.
    fn sent_with(rs_every: u64) -> (Paths, u32, Vec<u64>) {
        let memory = rustix::fs::memfd_create("tx test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&memory, 2 * PAGE_SIZE).unwrap();
        let mut table = DmaTable::new();
        let permissions = Permissions {
            read: true,
            write: true,
        };
        table
            .map(0, 2 * PAGE_SIZE, permissions, Some(memory), 0)
            .unwrap();
        for nth in 0..64 {
            let rs = if (nth + 1) % rs_every == 0 {
                r::TXD_RS
            } else {
                0
            };
            let words = [PAGE_SIZE + 60 * nth, SMALL | rs];
            let at = nth * DESCRIPTOR_LEN;
            table
                .write(at, &words.map(u64::to_le_bytes).concat())
                .unwrap();
        }
        let length = DESCRIPTORS * DESCRIPTOR_LEN as u32;
        let register = |address| if address == r::TDLEN(0) { length } else { 0 };
        let mut queue = TxQueue::new(0, register).unwrap();
        let (mut paths, mut statistics) = (Paths::default(), Batch::default());
        let settings = TxSettings {
            mac: MacSettings {
                pad: true,
                insert_crc: true,
            },
            ..TxSettings::default()
        };
        let mut dma = Dma {
            table: &table,
            faults: &mut FaultLog::default(),
            late: &mut LateWrites::default(),
            budget: &mut Budget::of(64 * SMALL_FRAME + 1000),
        };
        let progress = queue.drain(&mut dma, &settings, &mut paths, &mut statistics, 64);
        let done = |nth: &u64| {
            let mut bytes = [0; 8];
            table.read(nth * DESCRIPTOR_LEN + 8, &mut bytes).unwrap();
            u64::from_le_bytes(bytes) == r::TXD_DD
        };
        let done = (0..64).filter(done).collect();
        (paths, progress.written_back.descriptors, done)
    }

    #[test]
    fn small_frames_take_the_fast_path_whichever_request_a_write_back() {
        for rs_every in [1, 2, 3, 32, 64, 100] {
            let (paths, written, done) = sent_with(rs_every);
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
}
