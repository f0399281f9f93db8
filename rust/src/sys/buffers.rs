//! Packet buffers: pieces of DMA memory, each with exactly one owner.
//!
//! A buffer is free, and then its number is on the store's stack; or it is taken, and then
//! there is one [`Buffer`] of that number. Buffers cannot be copied, and dropping one puts
//! its number back. So the owner of a `Buffer` is the only one on the CPU's side that
//! reaches its bytes, and may hand them out as slices under the usual rules of borrowing.
//!
//! The device's side is the ring protocol's promise: it writes only to buffers that were
//! handed to it, and no longer to one that it has given back. A driver hands a buffer over
//! by writing its IOVA to a descriptor, and keeps the `Buffer` untouched until it is given
//! back. A device that breaks the promise (or an IOVA written wrongly) can change the bytes
//! of packets, but nothing else: the IOMMU confines it to this memory, where no Rust object
//! lives.

use std::cell::Cell;
use std::ptr::NonNull;

use super::dma::DmaMemory;

/// Bytes from one buffer to the next.
pub const BUFFER_SIZE: usize = 2048;

/// Bytes in front of the data. The C driver keeps its metadata there; here they are free,
/// but the data lies at the same place.
pub const HEADROOM: usize = 64;

/// The most bytes of data that a buffer holds.
pub const MAX_SIZE: usize = BUFFER_SIZE - HEADROOM;

/// Memory cut into buffers, and which of them are free.
pub struct BufferStore {
    memory: NonNull<u8>,
    iova: u64,
    /// A stack: the buffer freed last is the likeliest in the cache.
    free: Box<[Cell<u32>]>,
    free_count: Cell<usize>,
    _dma: DmaMemory,
}

impl BufferStore {
    /// Cuts `dma` into buffers, all of them free.
    pub fn new(dma: DmaMemory, capacity: u32) -> Self {
        let fitting = u32::try_from(dma.size() / BUFFER_SIZE).unwrap_or(u32::MAX);
        let capacity = capacity.min(fitting);
        // The lowest address is on top, so that buffers are first used in ascending order.
        let free: Box<[Cell<u32>]> = (0..capacity).rev().map(Cell::new).collect();
        Self {
            memory: dma.address(),
            iova: dma.iova(),
            free_count: Cell::new(free.len()),
            free,
            _dma: dma,
        }
    }

    /// How many buffers there are.
    pub fn capacity(&self) -> usize {
        self.free.len()
    }

    /// How many of them are free.
    pub fn free_count(&self) -> usize {
        self.free_count.get()
    }

    /// A buffer, or `None` if none is free. Its size and contents are left from earlier.
    #[inline]
    pub fn take(&self) -> Option<Buffer<'_>> {
        let top = self.free_count.get().checked_sub(1)?;
        let number = self.free.get(top)?.get();
        self.free_count.set(top);
        Some(Buffer {
            store: self,
            number,
            size: 0,
        })
    }

    /// Puts a buffer's number back on the stack. For [`Buffer::drop`] alone.
    #[inline]
    fn put(&self, number: u32) {
        let top = self.free_count.get();
        // There are no more buffers than places on the stack.
        if let Some(place) = self.free.get(top) {
            place.set(number);
            self.free_count.set(top + 1);
        }
    }
}

/// A packet buffer and its owner.
pub struct Buffer<'s> {
    store: &'s BufferStore,
    /// Below the store's capacity, and that of no other buffer.
    number: u32,
    /// At most `MAX_SIZE`.
    size: u32,
}

impl Buffer<'_> {
    /// The data's address as the device sees it.
    #[inline]
    pub fn iova(&self) -> u64 {
        self.store.iova + self.offset() as u64
    }

    /// Bytes of data.
    #[inline]
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// Says how many bytes of data there are. False, and nothing changed, if they do not fit.
    #[inline]
    #[must_use]
    pub fn set_size(&mut self, size: usize) -> bool {
        let fits = size <= MAX_SIZE;
        if fits {
            self.size = size as u32;
        }
        fits
    }

    /// The data.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the buffer lies in the store's memory, which outlives the store that `self`
        // borrows; it is initialized (a memfd is zeroed); `size` is within the buffer; no one
        // else has this number, so while `&self` lives nothing on this side writes to it, and
        // by the promise in the module's text nor does the device.
        unsafe { std::slice::from_raw_parts(self.data().as_ptr(), self.size as usize) }
    }

    /// The data, to change.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`; and `&mut self` makes this the only slice of the buffer.
        unsafe { std::slice::from_raw_parts_mut(self.data().as_ptr(), self.size as usize) }
    }

    #[inline]
    fn data(&self) -> NonNull<u8> {
        // SAFETY: the number is below the capacity, so the buffer is inside the memory.
        unsafe { self.store.memory.add(self.offset()) }
    }

    /// From the start of the memory to the data. No overflow: it is within an allocation.
    #[inline]
    fn offset(&self) -> usize {
        (self.number as usize * BUFFER_SIZE) + HEADROOM
    }
}

impl Drop for Buffer<'_> {
    #[inline]
    fn drop(&mut self) {
        self.store.put(self.number);
    }
}
