//! Taking packets out of a TX ring in a thread that does not have their pool.
#![forbid(unsafe_code)]

use crate::driver::tx::TxQueue;
use crate::sys::buffers::Buffer;

impl<'p> TxQueue<'p> {
    /// Takes `count` sent packets out of the ring instead of freeing them, or `None` if the device has sent
    /// fewer. For a thread that does not have the packets' pool, and returns them all at once.
    #[inline]
    pub(crate) fn tx_take(
        &mut self,
        count: usize,
    ) -> Option<impl Iterator<Item = Buffer<'p>> + '_> {
        let first = self.clean_index;
        // TRUST-TX-ORDER, as in `tx_clean`.
        let all_done = (self.index.wrapping_sub(first) & self.mask) >= count
            && self.tx_done((first + count - 1) & self.mask);
        if !all_done {
            return None;
        }
        self.clean_index = (first + count) & self.mask;
        self.done += count as u64;
        let mut entries = self.ring.entries();
        let sent = first..first + count;
        Some(sent.filter_map(move |index| entries.entry(index).slot.take()))
    }
}
