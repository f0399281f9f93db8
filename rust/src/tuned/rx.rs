//! The tuned receive path (datasheet 7.1). driver/rx.rs explains the ring protocol, batch.rs the exchange.
//!
//! Four descriptors are received at once: they start at a multiple of four, so they never span the ring's end. They
//! count only if the device has written all four back.
#![forbid(unsafe_code)]

use crate::driver::descriptor::Descriptor;
use crate::driver::registers::{field64, field64_get, RXD_DD, RXD_EOP, RXD_LENGTH};
use crate::driver::rx::RxQueue;
use crate::error::Result;
use crate::sys::mmio::{dma_read_barrier, dma_write_barrier};
use crate::sys::places::{Places, GROUP, ROOM};
use crate::sys::quad::Quad64;
use crate::tuned::batch::{Batch, MAX_BATCH};

/// A packet has 1 to 2048 bytes: BSIZEPACKET, and the room behind each place.
const RX_MIN_SIZE: u64 = 1;
const RX_MAX_SIZE: u64 = ROOM as u64;

/// 7.1.6.2 write-back format. The upper word of a packet that arrived as a whole, minus `RX_WHOLE`, has none of the bits
/// of `RX_WRONG`: DD and EOP become 0, and the length minus 1 is below 2048.
pub(super) const RX_WHOLE: u64 = RXD_DD | RXD_EOP | field64(RXD_LENGTH, RX_MIN_SIZE);
pub(super) const RX_WRONG: u64 =
    RXD_DD | RXD_EOP | RXD_LENGTH & !field64(RXD_LENGTH, RX_MAX_SIZE - RX_MIN_SIZE);

/// Whether a descriptor has a whole packet, of a possible length.
pub(super) fn rx_is_whole(upper: u64) -> bool {
    upper.wrapping_sub(RX_WHOLE) & RX_WRONG == 0
}

/// The tuned side of a receive queue.
pub(super) struct TunedRx<'p> {
    /// Descriptor i points to place i.
    pub(super) places: Places<'p>,
}

impl<'p> TunedRx<'p> {
    /// Receives groups of four, until one is not whole. `index` is a multiple of four, and the groups end at the ring's
    /// end at the latest. Returns the number of packets.
    #[inline(always)]
    fn rx_groups(
        &mut self,
        queue: &mut RxQueue<'p>,
        batch: &mut Batch<'p>,
        received: usize,
        index: usize,
        groups: usize,
    ) -> usize {
        let iova = Quad64::splat(self.places.iova());
        let minus_whole = Quad64::splat(RX_WHOLE.wrapping_neg());
        let wrong = Quad64::splat(RX_WRONG);
        let slots = (&mut self.places, index);
        let Some(mut exchange) =
            queue
                .ring
                .exchange::<true>(slots, (&mut batch.places, received), groups)
        else {
            return 0;
        };
        for i in 0..groups {
            // DD proves that the device gave the descriptor back (TRUST-DD). A group counts only if all four are done,
            // because the device writes them one by one.
            let upper = exchange.ring.load_upper(i);
            if !upper.add(minus_whole).has_none_of(wrong) {
                return GROUP * i;
            }
            *exchange.sizes(i) = upper.bits_32_to_47();
            let empty = exchange.swap(i);
            // 7.1.6.1 read format: the address, and a header address of 0, which clears DD
            exchange
                .ring
                .store(i, Quad64::widen(empty).add(iova), Quad64::splat(0));
        }
        GROUP * groups
    }

    /// Goes on where a group was not whole: receives one descriptor at a time until the index is a multiple of four
    /// again. Drops frames that span several descriptors, and those of an impossible length.
    #[cold]
    #[inline(never)]
    fn rx_more(&mut self, queue: &mut RxQueue<'p>, batch: &mut Batch<'p>, mut count: usize) {
        let (mut index, mut received) = (queue.index, batch.count);

        while received < count {
            let status = queue.ring.entry(index).descriptor.load_upper();
            let is_end = status & RXD_EOP != 0;
            if status & RXD_DD == 0 {
                break;
            }
            if queue.discard.discarding || !rx_is_whole(status) {
                queue.discard.discarding = !is_end;
                queue.discard.discarded += u64::from(is_end);
                // Counts against the batch, so that such frames cannot keep the loop going.
                count -= 1;
            } else {
                self.places.exchange(index, &mut batch.places, received);
                batch.places.sizes()[received] = field64_get(RXD_LENGTH, status) as u32;
                received += 1;
            }
            queue.ring.entry(index).descriptor.store(Descriptor {
                lower: self.places.iova() + u64::from(self.places.offset(index)),
                upper: 0,
            });
            index = (index + 1) & queue.mask;
            if index % GROUP == 0 && !queue.discard.discarding && received < count {
                let to_end = queue.mask + 1 - index;
                let groups = (count - received).min(to_end) / GROUP;
                let whole = self.rx_groups(queue, batch, received, index, groups);
                received += whole;
                index = (index + whole) & queue.mask;
            }
        }
        queue.index = index;
        batch.count = received;
    }

    /// Exchanges up to `count` received packets, at most [`MAX_BATCH`], for empty places of the batch. Ends on a
    /// multiple of four descriptors if it can, so that the next call starts on one. Returns the number of packets.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    #[inline(always)]
    pub(super) fn rx_batch(
        &mut self,
        queue: &mut RxQueue<'p>,
        batch: &mut Batch<'p>,
        count: usize,
    ) -> Result<usize> {
        let (first, mask) = (queue.index, queue.mask);
        let to_end = mask + 1 - first;
        let mut count = count.min(MAX_BATCH);
        let end = (first + count) & !(GROUP - 1);
        let mut received = 0;

        // Ends on a multiple of four, so that the next batch starts on one.
        if end > first {
            count = end - first;
        }
        if first % GROUP == 0 && !queue.discard.discarding {
            received = self.rx_groups(queue, batch, 0, first, count.min(to_end) / GROUP);
        }
        batch.count = received;
        queue.index = (first + received) & mask;
        if received != count {
            self.rx_more(queue, batch, count);
            if queue.index == first {
                return Ok(0);
            }
        }
        // Orders the reads of DD above before the caller's reads of the packets' data, and earlier reads of recycled
        // buffers before RDT, which lets the device fill them again (TRUST-RING-PROTOCOL).
        dma_read_barrier();
        // Orders the writes of the descriptors above before the write of RDT.
        dma_write_barrier();
        // 7.1.9: RDT is the last refilled descriptor, one behind the next.
        queue
            .tail
            .write((queue.index.wrapping_sub(1) & mask) as u32)?;
        Ok(batch.count)
    }
}
