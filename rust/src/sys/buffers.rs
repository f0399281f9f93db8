//! Packet buffers: pieces of DMA memory, each with exactly one owner.
//!
//! A buffer is free, and then it is on its store's stack; or it is taken, and then there is one
//! [`Buffer`] of it. A `Buffer` cannot be copied, and dropping it puts it back. So its owner is
//! the only one on the CPU's side that reaches the bytes, and may hand them out as slices under
//! the usual rules of borrowing.
//!
//! The device's side is the ring protocol's promise: it writes only to buffers that were
//! handed to it, and no longer to one that it has given back. A driver hands a buffer over
//! by writing its IOVA to a descriptor, and keeps the `Buffer` untouched until it is given
//! back. A device that breaks the promise (or an IOVA written wrongly) can change the bytes
//! of packets, but nothing else: the IOMMU confines it to this memory, where no Rust object
//! lives. Bytes may have any value, and no index, length or address is ever taken from them here.
//! That is why a buffer's header is not in front of its data, as it is in C, but in memory of its
//! own.

use std::cell::Cell;
use std::ptr::NonNull;

use super::dma::DmaMemory;

/// Bytes from one buffer to the next.
pub const BUFFER_SIZE: usize = 2048;

/// Bytes in front of the data. The C driver keeps the header there; here they are free, but the
/// data lies at the same place.
pub const HEADROOM: usize = 64;

/// The most bytes of data that a buffer holds.
pub const MAX_SIZE: usize = BUFFER_SIZE - HEADROOM;

/// What is known of a buffer.
struct Header {
    /// `MAX_SIZE` bytes of the store's memory, which no other header points to.
    data: NonNull<u8>,
    /// The data's address as the device sees it.
    iova: u64,
    /// At most `MAX_SIZE`.
    size: Cell<u32>,
    /// The store's stack; it lives as long as this header does.
    free: NonNull<FreeStack>,
}

/// The buffers that are free. The one freed last is the likeliest in the cache.
struct FreeStack {
    /// Those below `count` point to headers of the store.
    headers: Box<[Cell<NonNull<Header>>]>,
    count: Cell<usize>,
}

impl FreeStack {
    /// # Safety
    /// The header is one of the store's and not on the stack.
    #[inline]
    unsafe fn push(&self, header: NonNull<Header>) {
        let top = self.count.get();
        // SAFETY: the header's buffer is not on the stack, so no more than all but one are, and
        // there is a place for each.
        unsafe { self.headers.get_unchecked(top) }.set(header);
        self.count.set(top + 1);
    }

    #[inline]
    fn pop(&self) -> Option<NonNull<Header>> {
        let top = self.count.get().checked_sub(1)?;
        // SAFETY: `count` is at most the number of places, and it was not 0.
        let header = unsafe { self.headers.get_unchecked(top) }.get();
        self.count.set(top);
        Some(header)
    }
}

/// Memory cut into buffers, and which of them are free.
pub struct BufferStore {
    /// From `Box::leak`, and only here: headers and stack point to each other, which a `Box`
    /// that moves with the store does not allow.
    headers: NonNull<[Header]>,
    /// The same.
    free: NonNull<FreeStack>,
    _dma: DmaMemory,
}

impl BufferStore {
    /// Cuts `dma` into `capacity` buffers, or as many as fit, all of them free.
    pub fn new(dma: DmaMemory, capacity: usize) -> Self {
        let capacity = capacity.min(dma.size() / BUFFER_SIZE);
        let free = NonNull::from(Box::leak(Box::new(FreeStack {
            headers: vec![Cell::new(NonNull::dangling()); capacity].into_boxed_slice(),
            count: Cell::new(0),
        })));
        let headers: Box<[Header]> = (0..capacity)
            .map(|i| {
                let offset = i * BUFFER_SIZE + HEADROOM;
                Header {
                    // SAFETY: buffer `i` is one of those that fit, so this is inside the memory.
                    data: unsafe { dma.address().add(offset) },
                    iova: dma.iova() + offset as u64,
                    size: Cell::new(0),
                    free,
                }
            })
            .collect();
        let store = Self {
            // From the exclusive reference: what came from a shared one could not be freed.
            headers: NonNull::from(Box::leak(headers)),
            free,
            _dma: dma,
        };
        // SAFETY: it is freed in `drop` only, and only shared references to it are ever made.
        let headers = unsafe { store.headers.as_ref() };
        // The lowest address is on top, so that buffers are first used in ascending order.
        for header in headers.iter().rev() {
            // SAFETY: each header once.
            unsafe { store.free().push(NonNull::from(header)) };
        }
        store
    }

    /// How many buffers there are.
    pub fn capacity(&self) -> usize {
        self.headers.len()
    }

    /// How many of them are free.
    pub fn free_count(&self) -> usize {
        self.free().count.get()
    }

    /// A buffer, or `None` if none is free. Its size and contents are left from earlier.
    #[inline]
    pub fn take(&self) -> Option<Buffer<'_>> {
        let header = self.free().pop()?;
        // SAFETY: what is on the stack are headers of this store, which lives as long as the
        // Buffer borrows it. This one has just been taken off, so there is no other Buffer of it.
        // A header is only ever shared; what changes in it is a Cell.
        let header = unsafe { header.as_ref() };
        Some(Buffer { header })
    }

    #[inline]
    fn free(&self) -> &FreeStack {
        // SAFETY: it is freed in `drop` only; shared references to it are all there ever are.
        unsafe { self.free.as_ref() }
    }
}

impl Drop for BufferStore {
    fn drop(&mut self) {
        // SAFETY: both came from `Box::leak`. Buffers borrow the store, so there are none left to
        // use them.
        unsafe {
            drop(Box::from_raw(self.headers.as_ptr()));
            drop(Box::from_raw(self.free.as_ptr()));
        }
    }
}

/// A packet buffer and its owner.
pub struct Buffer<'s> {
    /// The header of no other Buffer.
    header: &'s Header,
}

impl Buffer<'_> {
    /// The data's address as the device sees it.
    #[inline]
    pub fn iova(&self) -> u64 {
        self.header.iova
    }

    /// Bytes of data.
    #[inline]
    pub fn size(&self) -> usize {
        self.header.size.get() as usize
    }

    /// Says how many bytes of data there are. False, and nothing changed, if they do not fit.
    #[inline]
    #[must_use]
    pub fn set_size(&mut self, size: usize) -> bool {
        let fits = size <= MAX_SIZE;
        if fits {
            self.header.size.set(size as u32);
        }
        fits
    }

    /// The data.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `data` is valid for `MAX_SIZE >= size` bytes while the store lives, which `self`
        // borrows; they are initialized (the memory comes zeroed, and only bytes are written to
        // it); no other Buffer has them, so while `&self` lives nothing on this side writes to
        // them, and by the promise in the module's text nor does the device: a buffer that it has
        // lies in a ring's slot, and nobody takes the bytes of a packet there.
        unsafe { std::slice::from_raw_parts(self.header.data.as_ptr(), self.size()) }
    }

    /// The data, to change.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`; and `&mut self` makes this the only slice of the buffer.
        unsafe { std::slice::from_raw_parts_mut(self.header.data.as_ptr(), self.size()) }
    }
}

impl Drop for Buffer<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the stack lives as long as the header, which `self` borrows. The header was taken
        // off it when `self` was made, and nobody puts it back but this, once.
        unsafe {
            let free = self.header.free.as_ref();
            free.push(NonNull::from(self.header));
        }
    }
}
