//! The tuned transmit path (datasheet 7.2). driver/tx.rs explains the ring protocol, batch.rs the exchange.
//!
//! The device reports only every 32nd descriptor (RS), and the driver looks only there. It needs TXDCTL.WTHRESH 0: with
//! a threshold, the device would report all descriptors (7.2.3.4.2). So DD never shows the last 1 to 31 packets; the
//! stop of the queue goes by TDH.
#![forbid(unsafe_code)]

use crate::driver::descriptor::Descriptor;
use crate::driver::registers::{
    field64, TXD_DEXT, TXD_DTALEN, TXD_DTYP_DATA, TXD_EOP, TXD_IFCS, TXD_PAYLEN, TXD_RS,
};
use crate::driver::tx::TxQueue;
use crate::error::Result;
use crate::sys::mmio::dma_write_barrier;
use crate::sys::places::{Places, GROUP};
use crate::sys::quad::Quad64;
use crate::tuned::batch::Batch;

/// 7.2.3.2.4: one descriptor in so many has RS.
pub(super) const TX_RS_EVERY: usize = 32;

/// 7.2.3.2.4 advanced data descriptor: one buffer, which is the whole frame
const TX_COMMAND: u64 = TXD_DTYP_DATA | TXD_DEXT | TXD_IFCS | TXD_EOP;
const TX_PAYLEN_SHIFT: i32 = TXD_PAYLEN.trailing_zeros() as i32;

const _: () = assert!(field64(TXD_DTALEN, 1) == 1, "DTALEN is the lowest field");

/// The upper words for frames of four sizes. Command and lengths share no bit, so the sum has all their bits.
#[inline(always)]
pub(super) fn tx_upper_words(sizes: Quad64) -> Quad64 {
    let command = Quad64::splat(TX_COMMAND);
    sizes
        .add(command)
        .add(sizes.shift_left::<TX_PAYLEN_SHIFT>())
}

/// The same for one.
pub(super) fn tx_upper_word(size: u64) -> u64 {
    TX_COMMAND | field64(TXD_PAYLEN, size) | field64(TXD_DTALEN, size)
}

/// Hands the next `count` descriptors, which are written, to the device.
///
/// # Errors
/// If it can no longer be reached.
#[inline(always)]
pub(super) fn tx_hand_over(queue: &mut TxQueue<'_>, count: usize) -> Result<()> {
    let first = queue.index;

    // RS comes before TDT, from which on the device may read the descriptors.
    let mut last = first | (TX_RS_EVERY - 1);
    while last - first < count {
        let descriptor = queue.ring.entry(last).descriptor;
        descriptor.store_upper(descriptor.load_upper() | TXD_RS);
        last += TX_RS_EVERY;
    }
    queue.index = (first + count) & queue.mask;
    // Orders the writes of the descriptors and packets above before the write of TDT.
    dma_write_barrier();
    queue.tail.write(queue.index as u32)
}

/// The tuned side of a transmit queue, whose `clean_index` is a multiple of 32.
pub(super) struct TunedTx<'p> {
    /// Descriptor i points to place i, or did, if its packet was sent.
    pub(super) places: Places<'p>,
}

impl<'p> TunedTx<'p> {
    /// Sends groups of four. They end at the ring's end at the latest. `index` need not be a multiple of four.
    #[inline(always)]
    fn tx_groups(
        &mut self,
        queue: &mut TxQueue<'p>,
        batch: &mut Batch<'p>,
        sent: usize,
        index: usize,
        groups: usize,
    ) {
        let iova = Quad64::splat(self.places.iova());
        let slots = (&mut self.places, index);
        let Some(mut exchange) =
            queue
                .ring
                .exchange::<false>(slots, (&mut batch.places, sent), groups)
        else {
            return;
        };
        for i in 0..groups {
            let size = Quad64::widen(*exchange.sizes(i));
            let full = exchange.swap(i);
            exchange
                .ring
                .store(i, Quad64::widen(full).add(iova), tx_upper_words(size));
        }
    }

    /// Sends the rest of a batch that does not consist of groups, or spans the ring's end.
    #[cold]
    #[inline(never)]
    fn tx_more(
        &mut self,
        queue: &mut TxQueue<'p>,
        batch: &mut Batch<'p>,
        mut index: usize,
        mut sent: usize,
        count: usize,
    ) {
        while sent < count {
            let to_end = queue.mask + 1 - index;
            let groups = (count - sent).min(to_end) / GROUP;
            let mut done = GROUP * groups;

            self.tx_groups(queue, batch, sent, index, groups);
            if groups == 0 {
                self.places.exchange(index, &mut batch.places, sent);
                queue.ring.entry(index).descriptor.store(Descriptor {
                    lower: self.places.iova() + u64::from(self.places.offset(index)),
                    upper: tx_upper_word(batch.places.sizes()[sent].into()),
                });
                done = 1;
            }
            sent += done;
            index = (index + done) & queue.mask;
        }
    }

    /// Exchanges the packets of the batch for empty places, as many as the ring can take. Returns their number. The
    /// others are dropped: they stay in the batch as empty places.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    #[inline(always)]
    pub(super) fn tx_batch(
        &mut self,
        queue: &mut TxQueue<'p>,
        batch: &mut Batch<'p>,
    ) -> Result<usize> {
        let (first, mask) = (queue.index, queue.mask);

        // The device sends in order, so the DD of the 32nd stands for those before it (TRUST-TX-ORDER).
        while queue.tx_all_done(TX_RS_EVERY) {
            queue.clean_index = (queue.clean_index + TX_RS_EVERY) & mask;
            queue.done += TX_RS_EVERY as u64;
        }
        let count = batch.count.min(queue.tx_space());
        let groups = count.min(mask + 1 - first) / GROUP;

        if count == 0 {
            return Ok(0);
        }
        self.tx_groups(queue, batch, 0, first, groups);
        if GROUP * groups != count {
            self.tx_more(
                queue,
                batch,
                (first + GROUP * groups) & mask,
                GROUP * groups,
                count,
            );
        }
        tx_hand_over(queue, count)?;
        Ok(count)
    }
}
