//! Packets by exchange: no buffer is ever taken from a pool or given back.
//!
//! A packet is a place: the offset of its data in the memory of a lane. Every container always holds the same number of
//! places: each ring one for each descriptor, and a batch as many as it has room for. `TunedRx::rx_batch` swaps empty
//! places of the batch for full ones of the ring. `TunedTx::tx_batch` swaps full ones for those whose packets were sent.
//! What the TX ring does not take stays in the batch, as an empty place: dropping costs nothing.
#![forbid(unsafe_code)]

use crate::sys::places::Places;

/// The room of a batch.
pub const MAX_BATCH: usize = 512;

/// A batch: packets, and room for more.
pub struct Batch<'p> {
    /// The first `count` are packets, the others are empty.
    pub(super) places: Places<'p>,
    /// Bytes of each packet, without CRC.
    pub(super) sizes: Box<[u32; MAX_BATCH]>,
    pub(super) count: usize,
}

impl<'p> Batch<'p> {
    /// An empty batch of [`MAX_BATCH`] places.
    pub(super) fn new(places: Places<'p>) -> Self {
        Self {
            places,
            sizes: Box::new([0; MAX_BATCH]),
            count: 0,
        }
    }

    /// Changes byte `INDEX` of each packet.
    #[inline(always)]
    pub fn change_each<const INDEX: usize>(&mut self, change: impl Fn(u8) -> u8) {
        self.places.change_each::<INDEX>(self.count, change);
    }
}
