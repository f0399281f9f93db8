//! The driver's memory as the card reaches it: DMA mappings, and what happens when one disappears.

pub(crate) mod bus_error;
pub(crate) mod dma;
pub(crate) mod shared;
