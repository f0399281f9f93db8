//! Packet buffers: pieces of DMA memory, each with exactly one owner.
//!
//! A free buffer is on the stack of its store. A taken buffer has one [`Buffer`], which cannot be
//! copied; dropping it puts the buffer back. So only the owner of the `Buffer` reaches the bytes
//! from the CPU, and slices of them follow the usual rules of borrowing.
//!
//! The ring protocol covers the other side (TRUST-RING-PROTOCOL in drivers/ASSUMPTIONS.md): the
//! device writes only to buffers that the driver handed over, and stops when it gives one back. The
//! driver hands a buffer over by writing its IOVA to a descriptor. It keeps the `Buffer` in the
//! slot, untouched, until the device gives the buffer back.
//!
//! A device that breaks the protocol reaches packet bytes, but nothing else. The IOMMU confines it
//! to this memory, in which no Rust object lives. The driver takes no index, length or address from
//! the bytes. For that reason the header of a buffer has memory of its own. In C it lies in front
//! of the data, where the device can write.
//!
//! Without features, [`Buffer::bytes`] makes slices of this memory. A device that writes to a
//! buffer after giving it back then causes undefined behaviour: the compiler may assume that the
//! bytes under a slice do not change. Two features remove that trust:
//!
//! - `untrusted-device`: no reference ever covers this memory. Only the volatile accesses of
//!   [`super::device_bytes`] reach it, as they reach descriptors. A volatile read returns some
//!   value once, whatever the device writes, and every value is a valid byte. Two reads of one byte
//!   may differ, so an application that checks a byte and then uses it reads it once.
//! - `untrusted-device-copy`: each buffer also has private memory, an ordinary allocation that is
//!   not mapped for the device. [`Buffer::copy_in`] copies a received packet there by volatile
//!   reads, and [`Buffer::copy_out`] copies a packet back before it is sent. The slices cover only
//!   private memory, so a later write by the device has no effect on them. What the application
//!   checked is what the driver sends, until the driver hands the packet to the device.
//!
//! In both, sizes stay in the header. The driver reads a length once from the descriptor, checks
//! the value that it read, and never reads it again.
//!
//! A buffer whose owner is another thread does not go onto the stack, which belongs to the thread of the
//! store. [`buffers_return`] puts it onto the return list, from which that thread takes it.
//!
//! The stack is indexed by `get_unchecked`: its `count` never exceeds the number of places, because
//! a header is pushed only by the one `Buffer` that was popped for it. The rung
//! `12-pool-bounds` of the ladder (bench/ladder) measures the cost of the check.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::dma::DmaMemory;
#[cfg(feature = "untrusted-device-copy")]
use super::lines::Line;
use super::mmio::dma_prefetch;
use super::return_list::{ReturnList, NONE};

/// A device that a test plays.
#[cfg(any(test, feature = "fuzzing"))]
mod played_device;
#[cfg(feature = "untrusted-device")]
mod untrusted;

/// Bytes from one buffer to the next.
pub const BUFFER_SIZE: usize = 2048;

/// Bytes in front of the data. The C driver keeps the header there. Here they are unused, and the
/// data lies at the same offset.
pub const HEADROOM: usize = 64;

/// The capacity of a buffer, in bytes of data.
pub const MAX_SIZE: usize = BUFFER_SIZE - HEADROOM;

/// Lines in the data of a buffer. Whole lines stay inside it, and its data begins a line.
#[cfg(feature = "untrusted-device-copy")]
const LINES: usize = {
    let line = size_of::<Line>();
    assert!(MAX_SIZE % line == 0 && BUFFER_SIZE % line == 0 && HEADROOM % line == 0);
    MAX_SIZE / line
};

/// The metadata of a buffer.
struct Header {
    /// `MAX_SIZE` bytes of the store's memory. No other header points to them.
    data: NonNull<u8>,
    /// The address of the data for the device.
    iova: u64,
    /// At most `MAX_SIZE`.
    size: Cell<u32>,
    /// The number of the header that follows this one on the return list.
    next: Cell<u32>,
    /// The stack of the store. It lives as long as this header.
    free: NonNull<FreeStack>,
    /// [`LINES`] lines of the store's private memory. No other header points to them.
    #[cfg(feature = "untrusted-device-copy")]
    private: NonNull<Line>,
}

/// A place of the stack.
pub(super) struct Place(Cell<NonNull<Header>>);

impl Place {
    /// The buffer of the header in this place.
    ///
    /// # Safety
    /// The header has no Buffer. It lives for `'s`.
    #[inline]
    pub(super) unsafe fn buffer<'s>(&self) -> Buffer<'s> {
        // SAFETY: the caller guarantees it. References to headers are shared ones; a Cell holds the part that
        // changes.
        let header = unsafe { self.0.get().as_ref() };
        Buffer { header }
    }
}

/// The free buffers. The cache most likely holds the one freed last, so that one is on top. The stack
/// of another thread's pool lies at least two cache lines away (false sharing).
#[repr(align(128))]
struct FreeStack {
    /// The places below `count` point to headers of the store.
    headers: Box<[Place]>,
    /// [`LENT`] while a batch has the stack.
    count: Cell<usize>,
    returns: Returns,
}

/// The buffers that come home from other threads. They write to it, so it lies apart from the stack.
#[repr(align(128))]
struct Returns {
    /// The numbers of headers.
    list: ReturnList,
    /// All headers of the store: header `i` has the number `i`.
    headers: Cell<NonNull<Header>>,
}

/// The count of a stack that a batch has: it takes or frees several buffers, and keeps the count in a register.
/// Meanwhile no buffer is taken, and one that is freed goes onto the return list.
const LENT: usize = usize::MAX;

impl FreeStack {
    /// # Safety
    /// The header belongs to the store and is not on the stack.
    #[inline]
    unsafe fn push(&self, header: NonNull<Header>) {
        let top = self.count.get();
        if top == LENT {
            // SAFETY: the caller owns the header, which lives as long as the stack.
            let header = unsafe { header.as_ref() };
            return header.return_list(header);
        }
        // SAFETY: there is a place for each header of the store, and this one is not on the stack.
        // So `count` is below the number of places.
        unsafe { self.headers.get_unchecked(top) }.0.set(header);
        self.count.set(top + 1);
    }

    #[inline]
    fn pop(&self) -> Option<NonNull<Header>> {
        let count = self.count.get();
        if count == LENT {
            return None;
        }
        let top = count.checked_sub(1)?;
        // SAFETY: `count` is not 0 and at most the number of places.
        let header = unsafe { self.headers.get_unchecked(top) }.0.get();
        self.count.set(top);
        Some(header)
    }
}

/// DMA memory that is cut into buffers, and the stack of the free ones.
pub struct BufferStore {
    /// From `Box::leak`. Headers and stack point to each other, and a `Box` that moves with the
    /// store would invalidate those pointers.
    headers: NonNull<[Header]>,
    /// From `Box::leak`, for the same reason.
    free: NonNull<FreeStack>,
    /// From `Box::leak`, for the same reason: headers point into it.
    #[cfg(feature = "untrusted-device-copy")]
    private: NonNull<[Line]>,
    dma: DmaMemory,
}

impl BufferStore {
    /// Cuts `dma` into `capacity` free buffers, or fewer if not all fit.
    pub fn new(dma: DmaMemory, capacity: usize) -> Self {
        let capacity = capacity.min(dma.size() / BUFFER_SIZE);
        let free = NonNull::from(Box::leak(Box::new(FreeStack {
            headers: (0..capacity)
                .map(|_| Place(Cell::new(NonNull::dangling())))
                .collect(),
            count: Cell::new(0),
            returns: Returns {
                list: ReturnList::new(),
                headers: Cell::new(NonNull::dangling()),
            },
        })));
        #[cfg(feature = "untrusted-device-copy")]
        let private = NonNull::from(Box::leak(Line::zeroed(capacity * LINES)));
        let headers: Box<[Header]> = (0..capacity)
            .map(|i| {
                let offset = i * BUFFER_SIZE + HEADROOM;
                Header {
                    // SAFETY: buffer `i` fits, so this is inside the memory.
                    data: unsafe { dma.address().add(offset) },
                    iova: dma.iova() + offset as u64,
                    size: Cell::new(0),
                    next: Cell::new(NONE),
                    free,
                    // SAFETY: the memory has `LINES` lines for each header.
                    #[cfg(feature = "untrusted-device-copy")]
                    private: unsafe { private.cast().add(i * LINES) },
                }
            })
            .collect();
        let store = Self {
            // From the exclusive reference: a pointer from a shared one must not be used to free.
            headers: NonNull::from(Box::leak(headers)),
            free,
            #[cfg(feature = "untrusted-device-copy")]
            private,
            dma,
        };
        store.free().returns.headers.set(store.headers.cast());
        // SAFETY: only `drop` frees the headers, and all references to them are shared ones.
        let headers = unsafe { store.headers.as_ref() };
        // The lowest address is on top, so that the first use is in ascending order.
        for header in headers.iter().rev() {
            // SAFETY: the loop pushes each header once.
            unsafe { store.free().push(NonNull::from(header)) };
        }
        store
    }

    /// The number of buffers.
    pub fn capacity(&self) -> usize {
        self.headers.len()
    }

    /// The number of free buffers.
    pub fn free_count(&self) -> usize {
        match self.free().count.get() {
            LENT => 0,
            count => count,
        }
    }

    /// Lends the stack of free buffers to a batch, which gives it back by [`BufferStore::give_back`]: its places,
    /// and their number. Of two batches at a time, the second gets nothing.
    #[inline]
    pub(super) fn lend(&self) -> Option<(NonNull<Place>, usize)> {
        let free = self.free();
        let count = free.count.replace(LENT);
        (count != LENT).then(|| (NonNull::from(&*free.headers).cast(), count))
    }

    /// Ends [`BufferStore::lend`].
    ///
    /// # Safety
    /// The stack is lent to the caller, and no Buffer has the headers in its first `count` places.
    #[inline]
    pub(super) unsafe fn give_back(&self, count: usize) {
        self.free().count.set(count);
    }

    /// Whether a buffer with this IOVA is one of this store. No two stores of a thread share an IOVA.
    pub fn has_iova(&self, iova: u64) -> bool {
        let offset = iova.checked_sub(self.dma.iova());
        offset.is_some_and(|offset| offset < self.dma.size() as u64)
    }

    /// Takes a buffer, or `None` if none is free. Its size and contents are those of its last use.
    #[inline]
    pub fn take(&self) -> Option<Buffer<'_>> {
        let header = self.free().pop()?;
        // SAFETY: the stack holds headers of this store, which lives as long as the Buffer borrows
        // it. This header was just popped, so it has no other Buffer. References to headers are
        // shared ones; a Cell holds the part that changes.
        let header = unsafe { header.as_ref() };
        Some(Buffer { header })
    }

    /// Frees the buffers that other threads have returned.
    #[inline]
    pub fn take_returned(&self) {
        let free = self.free();
        let mut number = free.returns.list.take();
        while number != NONE {
            // SAFETY: only numbers of this store's headers are on its list. Each stands for a buffer that
            // was returned and has no other owner, so it is not on the stack. The thread that returned it
            // does not use it again, and the list shows what it wrote before.
            unsafe {
                let header = free.returns.headers.get().add(number as usize);
                number = header.as_ref().next.get();
                free.push(header);
            }
        }
    }

    #[inline]
    fn free(&self) -> &FreeStack {
        // SAFETY: only `drop` frees the stack, and all references to it are shared ones.
        unsafe { self.free.as_ref() }
    }
}

impl Drop for BufferStore {
    fn drop(&mut self) {
        // SAFETY: all came from `Box::leak`. Buffers borrow the store, so no Buffer is left to use
        // them.
        unsafe {
            drop(Box::from_raw(self.headers.as_ptr()));
            drop(Box::from_raw(self.free.as_ptr()));
            #[cfg(feature = "untrusted-device-copy")]
            drop(Box::from_raw(self.private.as_ptr()));
        }
    }
}

/// The ownership of a packet buffer.
pub struct Buffer<'s> {
    /// The header of no other Buffer.
    header: &'s Header,
}

impl Buffer<'_> {
    /// The address of the data for the device.
    #[inline]
    pub fn iova(&self) -> u64 {
        self.header.iova
    }

    /// Asks for the first line of the data.
    #[inline]
    pub fn prefetch(&self) {
        dma_prefetch(self.header.data);
    }

    /// Bytes of data.
    #[inline]
    pub fn size(&self) -> usize {
        self.header.size.get() as usize
    }

    /// Sets the number of bytes of data. Returns false and changes nothing if they do not fit.
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
    #[cfg(not(feature = "untrusted-device"))]
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `data` is valid for `MAX_SIZE >= size` bytes while the store lives, which `self`
        // borrows. The bytes are initialized: the memory starts zeroed, and only bytes are written
        // to it. No other Buffer has them, so while `&self` lives the CPU does not write to them.
        // TRUST-RING-PROTOCOL: the device does not either. While the device has the buffer, the
        // packet lies in the slot of a ring, where the driver does not use its bytes.
        unsafe { std::slice::from_raw_parts(self.header.data.as_ptr(), self.size()) }
    }

    /// The data, for changes.
    #[cfg(not(feature = "untrusted-device"))]
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`; and `&mut self` makes this the only slice of the buffer.
        unsafe { std::slice::from_raw_parts_mut(self.header.data.as_ptr(), self.size()) }
    }
}

impl Drop for Buffer<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the stack lives as long as the header, which `self` borrows. The header was popped
        // for `self`, and only this pushes it back, once.
        unsafe {
            let free = self.header.free.as_ref();
            free.push(NonNull::from(self.header));
        }
    }
}

impl Header {
    /// The return list of the store.
    fn returns(&self) -> &Returns {
        // SAFETY: the stack lives as long as this header. Other threads read only `returns` of it.
        unsafe { &(*self.free.as_ptr()).returns }
    }

    /// The number of this header.
    fn number(&self) -> u32 {
        let first = self.returns().headers.get();
        // SAFETY: both are headers of one allocation, and `first` is the first one.
        unsafe { NonNull::from(self).offset_from(first) as u32 }
    }

    /// Returns the list from this header to `last`.
    fn return_list(&self, last: &Header) {
        let returns = self.returns();
        returns
            .list
            .add(self.number(), |before| last.next.set(before));
    }
}

/// Buffers that are being freed, in the thread of their stores. Most in a row are of one store, whose stack stays
/// at hand: it is given back when this is dropped, or when a buffer of another store comes.
pub struct Freed<'s> {
    /// Null while none is lent.
    stack: *const FreeStack,
    /// Its first place.
    places: NonNull<Place>,
    /// The places below point to headers that no Buffer has.
    count: usize,
    buffers: PhantomData<Buffer<'s>>,
}

impl<'s> Freed<'s> {
    /// Nothing so far.
    #[inline]
    pub fn new() -> Self {
        Self {
            stack: std::ptr::null(),
            places: NonNull::dangling(),
            count: 0,
            buffers: PhantomData,
        }
    }

    /// Frees a buffer.
    #[inline]
    pub fn add(&mut self, buffer: Buffer<'s>) {
        // A forgotten `Buffer` does not go onto the stack.
        let header = ManuallyDrop::new(buffer).header;
        if self.stack != header.free.as_ptr() && !self.change(header) {
            return header.return_list(header);
        }
        // SAFETY: the stack has a place for each header of its store, and this header is not on it. So `count`
        // is below the number of places.
        unsafe { self.places.add(self.count).as_ref() }
            .0
            .set(NonNull::from(header));
        self.count += 1;
    }

    /// Gives the stack back, and borrows that of another header. False if a batch has it.
    #[cold]
    fn change(&mut self, header: &'s Header) -> bool {
        self.give_back();
        // SAFETY: the stack lives as long as its headers.
        let stack = unsafe { header.free.as_ref() };
        let count = stack.count.replace(LENT);
        if count != LENT {
            self.stack = stack;
        }
        self.places = NonNull::from(&*stack.headers).cast();
        self.count = count;
        count != LENT
    }

    #[inline]
    fn give_back(&mut self) {
        // SAFETY: the stack lives as long as its headers, which live for `'s`.
        if let Some(stack) = unsafe { self.stack.as_ref() } {
            stack.count.set(self.count);
            self.stack = std::ptr::null();
        }
    }
}

impl Drop for Freed<'_> {
    #[inline]
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Returns buffers to their stores, in any thread: there they are free only after
/// [`BufferStore::take_returned`]. All buffers in a row that are of one store need one atomic write.
pub fn buffers_return<'s>(buffers: impl Iterator<Item = Buffer<'s>>) {
    // A forgotten `Buffer` does not go onto the stack.
    let mut headers = buffers.map(|buffer| ManuallyDrop::new(buffer).header);
    let Some(mut first) = headers.next() else {
        return;
    };
    let mut last = first;
    for header in headers {
        if header.free == first.free {
            last.next.set(header.number());
        } else {
            first.return_list(last);
            first = header;
        }
        last = header;
    }
    first.return_list(last);
}
