//! The driver's memory as the card reaches it: DMA maps, and what happens when memory disappears.

pub(crate) mod bus_error;
pub(crate) mod dma;
pub(crate) mod dma_fault;
pub(crate) mod dma_log;
mod file_mappings;
pub(crate) mod map_request;
pub(crate) mod placement;
pub(crate) mod shared;
mod translation_cache;
