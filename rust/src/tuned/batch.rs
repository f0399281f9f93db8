//! Packets by exchange: no buffer is ever taken from a pool or given back.
//!
//! A packet is a place: the offset of its data in the memory of a lane. Every container always holds the same number of
//! places: each ring one for each descriptor, and a batch as many as it has room for. `TunedRx::rx_batch` swaps empty
//! places of the batch for full ones of the ring. `TunedTx::tx_batch` swaps full ones for those whose packets were sent.
//! What the TX ring does not take stays in the batch, as an empty place: dropping costs nothing.
#![forbid(unsafe_code)]

use crate::sys::places::{BatchPlaces, Places};

pub use crate::sys::places::MAX_BATCH;

/// A batch: packets, and room for more.
pub struct Batch<'p> {
    /// The first `count` are packets, the others are empty.
    pub(super) places: BatchPlaces<'p>,
    pub(super) count: usize,
}

impl<'p> Batch<'p> {
    /// An empty batch, or `None` unless there are [`MAX_BATCH`] places.
    pub(super) fn new(places: Places<'p>) -> Option<Self> {
        let places = BatchPlaces::new(places)?;
        Some(Self { places, count: 0 })
    }

    /// Changes byte `INDEX` of each packet.
    #[inline(always)]
    pub fn change_each<const INDEX: usize>(&mut self, change: impl Fn(u8) -> u8) {
        self.places.change_each::<INDEX>(self.count, change);
    }
}
