//! What others ask of a store: where its buffers lie, and which are its own.

use std::ptr::NonNull;

use super::{Buffer, BufferStore};

/// Bytes from one buffer to the next that do not alias: 33 cache lines, an odd number. With
/// [`BUFFER_SIZE`](super::BUFFER_SIZE), 32 lines, the first lines of all buffers share two of the 64 sets of an L1 cache.
pub const STRIDE_ODD: usize = 2112;

impl BufferStore {
    /// The number of buffers.
    pub fn capacity(&self) -> usize {
        self.headers.len()
    }

    /// Bytes from one buffer to the next.
    pub(in crate::sys) fn stride(&self) -> usize {
        self.stride
    }

    /// The memory of all buffers, and its address for the device.
    pub(in crate::sys) fn memory(&self) -> (NonNull<u8>, u64) {
        (self.dma.address(), self.dma.iova())
    }

    /// Whether a buffer is one of this store.
    pub(in crate::sys) fn owns(&self, buffer: &Buffer<'_>) -> bool {
        buffer.header.free == self.free
    }
}
