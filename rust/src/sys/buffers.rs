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
//! A device may write to a buffer after giving it back. By default that causes no undefined
//! behaviour, because no reference ever covers this memory. Only the volatile accesses of
//! `super::device_bytes` reach it, as they reach descriptors. A volatile read returns some value once,
//! whatever the device writes, and every value is a valid byte. Two reads of one byte may differ, so
//! an application that checks a byte and then uses it reads it once.
//!
//! Two features make slices of packets:
//!
//! - `trusted-device`: `Buffer::bytes` makes slices of this memory. A late write of the device is
//!   then undefined behaviour: the compiler may assume that the bytes under a slice do not change.
//! - `untrusted-device-copy`: each buffer also has private memory, an ordinary allocation that is
//!   not mapped for the device. `Buffer::copy_in` copies a received packet there by volatile
//!   reads, and `Buffer::copy_out` copies a packet back before it is sent. The slices cover only
//!   private memory, so a later write by the device has no effect on them. What the application
//!   checked is what the driver sends, until the driver hands the packet to the device.
//!
//! In all three, sizes stay in the header. The driver reads a length once from the descriptor, checks
//! the value that it read, and never reads it again.
//!
//! One thread at a time has the stack of a store, and changes it without a lock: the thread that made the store,
//! until it calls [`BufferStore::lease`], and then the first that asks. A [`Buffer`] may be in any thread.
//! Dropping it asks which thread has the stack. In another one the buffer goes onto the return list, by an
//! atomic access, and the thread of the stack takes it from there.
//!
//! The stack is indexed by `get_unchecked`: its `count` never exceeds the number of places, because
//! a header is pushed only by the one `Buffer` that was popped for it. The rung
//! `13-pool-bounds` of the ladder (bench/ladder) measures the cost of the check.

#[cfg(all(feature = "trusted-device", feature = "untrusted-device-copy"))]
compile_error!("choose one of the features trusted-device and untrusted-device-copy");

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::dma::DmaMemory;
#[cfg(feature = "untrusted-device-copy")]
use super::lines::Line;
use super::mmio::dma_prefetch;
use super::return_list::{ReturnList, NONE};

/// A device that a test plays.
#[cfg(any(test, feature = "fuzzing"))]
mod played_device;
mod store;
#[cfg(not(feature = "trusted-device"))]
mod untrusted;

pub use store::STRIDE_ODD;

/// Bytes of a buffer, and from one to the next.
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

/// The count of a stack that a batch has: it takes several buffers, and keeps the count in a register. Meanwhile no
/// other code takes a buffer, and one that is freed goes onto the return list.
const LENT: usize = usize::MAX;

thread_local! {
    /// Its address tells threads apart.
    static HERE: Cell<u8> = const { Cell::new(0) };
}

/// A number of this thread, not 0. No other thread has it at the same time. A later thread may get it, but not
/// before this one has ended, so what this one did has happened before.
#[inline]
fn this_thread() -> usize {
    HERE.with(|here| ptr::from_ref(here).addr())
}

/// No thread has the stack.
const NO_THREAD: usize = 0;

/// The free buffers. The cache most likely holds the one freed last, so that one is on top. The stack
/// of another thread's pool lies at least two cache lines away (false sharing).
///
/// Only the thread whose number is in `owner` uses the cells.
#[repr(align(128))]
struct FreeStack {
    /// The places below `count` point to headers of the store.
    headers: Box<[Place]>,
    /// [`LENT`] while a batch has the stack.
    count: Cell<usize>,
    /// The [`LocalStack`]s. While there is one, the owner stays.
    users: Cell<usize>,
    owner: AtomicUsize,
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

impl FreeStack {
    /// The stack, or `None` if another thread has it.
    #[inline]
    fn local(&self) -> Option<LocalStack<'_>> {
        if !self.is_here() && !self.adopt() {
            return None;
        }
        self.users.set(self.users.get() + 1);
        Some(LocalStack {
            free: self,
            one_thread: PhantomData,
        })
    }

    /// Whether this thread has the stack. Only this thread writes its own number, so an old value tells that too.
    #[inline]
    fn is_here(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == this_thread()
    }

    /// Takes the stack if no thread has it. Returns whether this thread has it then.
    #[cold]
    fn adopt(&self) -> bool {
        let adopted = self.owner.compare_exchange(
            NO_THREAD,
            this_thread(),
            // Shows what the last owner did with the stack.
            Ordering::Acquire,
            Ordering::Relaxed,
        );
        if adopted.is_ok() {
            // SAFETY: this thread has the stack.
            unsafe { self.take_returned() };
        }
        adopted.is_ok()
    }

    /// # Safety
    /// This thread has the stack.
    #[inline]
    unsafe fn take_returned(&self) {
        let mut number = self.returns.list.take();
        while number != NONE {
            // SAFETY: only numbers of this store's headers are on its list. Each stands for a buffer that
            // was returned and has no other owner, so it is not on the stack. The thread that returned it
            // does not use it again, and the list shows what it wrote before.
            unsafe {
                let header = self.returns.headers.get().add(number as usize);
                number = header.as_ref().next.get();
                self.push(header);
            }
        }
    }

    /// # Safety
    /// This thread has the stack. The header belongs to the store and is not on the stack.
    #[inline]
    unsafe fn push(&self, header: NonNull<Header>) {
        let top = self.count.get();
        if top == LENT {
            // SAFETY: the caller owns the header, which lives as long as the stack.
            return unsafe { header.as_ref() }.return_alone();
        }
        // SAFETY: there is a place for each header of the store, and this one is not on the stack.
        // So `count` is below the number of places.
        unsafe { self.headers.get_unchecked(top) }.0.set(header);
        self.count.set(top + 1);
    }

    /// # Safety
    /// This thread has the stack.
    #[inline]
    unsafe fn pop(&self) -> Option<NonNull<Header>> {
        let count = Some(self.count.get()).filter(|&count| count != LENT)?;
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
    /// Bytes from one buffer to the next.
    stride: usize,
    dma: DmaMemory,
}

impl BufferStore {
    /// Cuts `dma` into `capacity` free buffers, or fewer if not all fit. They are `stride` bytes apart, at least
    /// [`BUFFER_SIZE`].
    pub fn new(dma: DmaMemory, capacity: usize, stride: usize) -> Self {
        let stride = stride.max(BUFFER_SIZE);
        let capacity = capacity.min(dma.size() / stride);
        let free = NonNull::from(Box::leak(Box::new(FreeStack {
            headers: (0..capacity)
                .map(|_| Place(Cell::new(NonNull::dangling())))
                .collect(),
            count: Cell::new(0),
            users: Cell::new(0),
            owner: AtomicUsize::new(this_thread()),
            returns: Returns {
                list: ReturnList::new(),
                headers: Cell::new(NonNull::dangling()),
            },
        })));
        #[cfg(feature = "untrusted-device-copy")]
        let private = NonNull::from(Box::leak(Line::zeroed(capacity * LINES)));
        let headers: Box<[Header]> = (0..capacity)
            .map(|i| {
                let offset = i * stride + HEADROOM;
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
            stride,
            dma,
        };
        store.free().returns.headers.set(store.headers.cast());
        // SAFETY: only `drop` frees the headers, and all references to them are shared ones.
        let headers = unsafe { store.headers.as_ref() };
        // The lowest address is on top, so that the first use is in ascending order.
        for header in headers.iter().rev() {
            // SAFETY: this thread has the stack, and the loop pushes each header once.
            unsafe { store.free().push(NonNull::from(header)) };
        }
        store
    }

    /// The stack, or `None` if another thread has it.
    #[inline]
    pub fn local(&self) -> Option<LocalStack<'_>> {
        self.free().local()
    }

    /// Lets another thread have the stack.
    pub fn lease(&self) -> Lease<'_> {
        self.release();
        Lease(self)
    }

    /// Does nothing if this thread does not have the stack, or uses it meanwhile.
    fn release(&self) {
        let free = self.free();
        if free.is_here() && free.users.get() == 0 {
            // Shows the next owner what this thread did with the stack.
            free.owner.store(NO_THREAD, Ordering::Release);
        }
    }

    #[inline]
    fn free(&self) -> &FreeStack {
        // SAFETY: only `drop` frees the stack, and all references to it are shared ones.
        unsafe { self.free.as_ref() }
    }
}

/// A stack for another thread: the first thread that asks after [`BufferStore::lease`] has it, until it drops the
/// lease.
pub struct Lease<'s>(&'s BufferStore);

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

// SAFETY: the methods change only atomics, and the cells of the stack in the thread that has it. All else stays
// as it was made. Nothing writes to `dma`.
unsafe impl Sync for BufferStore {}

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

/// The stack of a store, in the thread that has it.
pub struct LocalStack<'s> {
    free: &'s FreeStack,
    one_thread: PhantomData<*const ()>,
}

impl<'s> LocalStack<'s> {
    /// Takes a buffer, or `None` if none is free. Its size and contents are those of its last use.
    #[inline]
    pub fn take(&self) -> Option<Buffer<'s>> {
        // SAFETY: this thread has the stack while `self` is there, because `release` looks at `users`.
        let header = unsafe { self.free.pop() }?;
        // SAFETY: the stack holds headers of its store, which lives as long as the Buffer borrows
        // it. This header was just popped, so it has no other Buffer. References to headers are
        // shared ones; a Cell holds the part that changes.
        let header = unsafe { header.as_ref() };
        Some(Buffer { header })
    }

    /// Frees the buffers that other threads have returned.
    #[inline]
    pub fn take_returned(&self) {
        // SAFETY: as in `take`.
        unsafe { self.free.take_returned() }
    }

    /// The number of free buffers.
    pub fn free_count(&self) -> usize {
        match self.free.count.get() {
            LENT => 0,
            count => count,
        }
    }

    /// Lends the stack to a batch, which gives it back by [`LocalStack::give_back`]: its places, and the number of
    /// those with a free buffer. Of two batches at a time, the second gets nothing.
    #[inline]
    pub(super) fn lend(&self) -> Option<(NonNull<Place>, usize)> {
        let count = self.free.count.replace(LENT);
        (count != LENT).then(|| (NonNull::from(&*self.free.headers).cast(), count))
    }

    /// Ends [`LocalStack::lend`].
    ///
    /// # Safety
    /// The stack is lent to the caller, and no Buffer has the headers in its first `count` places.
    #[inline]
    pub(super) unsafe fn give_back(&self, count: usize) {
        self.free.count.set(count);
    }
}

impl Drop for LocalStack<'_> {
    #[inline]
    fn drop(&mut self) {
        self.free.users.set(self.free.users.get() - 1);
    }
}

/// The ownership of a packet buffer.
pub struct Buffer<'s> {
    /// The header of no other Buffer.
    header: &'s Header,
}

// SAFETY: the bytes and the changing part of the header have one owner, which is this value. It shares the rest of
// the store only by its methods and when it is dropped, and `Drop` works in every thread. The lifetime keeps the
// store alive.
unsafe impl Send for Buffer<'_> {}

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
    #[cfg(feature = "trusted-device")]
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
    #[cfg(feature = "trusted-device")]
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`; and `&mut self` makes this the only slice of the buffer.
        unsafe { std::slice::from_raw_parts_mut(self.header.data.as_ptr(), self.size()) }
    }
}

impl Drop for Buffer<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the stack lives as long as the header, which `self` borrows.
        let free = unsafe { self.header.free.as_ref() };
        if free.is_here() {
            // SAFETY: the header was popped for `self`, and only this pushes it back, once.
            unsafe { free.push(NonNull::from(self.header)) };
        } else {
            self.header.return_alone();
        }
    }
}

impl Header {
    /// The return list of the store.
    fn returns(&self) -> &Returns {
        // SAFETY: the stack lives as long as this header. All threads may use this part of it.
        unsafe { &(*self.free.as_ptr()).returns }
    }

    /// The number of this header.
    fn number(&self) -> u32 {
        let first = self.returns().headers.get();
        // SAFETY: both are headers of one allocation, and `first` is the first one.
        unsafe { NonNull::from(self).offset_from(first) as u32 }
    }

    /// Returns this header.
    #[cold]
    #[inline(never)]
    fn return_alone(&self) {
        self.return_list(self);
    }

    /// Returns the list from this header to `last`.
    fn return_list(&self, last: &Header) {
        let returns = self.returns();
        returns
            .list
            .add(self.number(), |before| last.next.set(before));
    }
}

/// Drops the buffers in these slots. It looks for the thread of a stack once for all buffers in a row that are of one
/// store.
#[inline]
pub fn buffers_free(slots: &mut [Option<Buffer<'_>>]) {
    let mut done = 0;
    while let Some(slot) = slots.get_mut(done) {
        done += 1;
        let Some(buffer) = slot.take() else { continue };
        // SAFETY: the stack lives as long as the header, which `buffer` borrows.
        let free = unsafe { buffer.header.free.as_ref() };
        drop(buffer);
        if free.is_here() {
            done += free.take_run(&mut slots[done..]);
        }
    }
}

impl FreeStack {
    /// Pushes the buffers of this stack in the first slots, until a slot has none. Returns their number.
    #[inline]
    fn take_run(&self, slots: &mut [Option<Buffer<'_>>]) -> usize {
        let first = self.count.get();
        if first == LENT {
            return 0;
        }
        let places = &*self.headers;
        let mut done = 0;
        for slot in slots {
            let Some(buffer) = slot else { break };
            let header = NonNull::from(buffer.header);
            if !ptr::eq(buffer.header.free.as_ptr(), self) {
                break;
            }
            std::mem::forget(slot.take());
            // SAFETY: as in `push`: the header was popped for its buffer, which is forgotten. Nothing else changes
            // `count` meanwhile.
            unsafe { places.get_unchecked(first + done) }.0.set(header);
            done += 1;
        }
        self.count.set(first + done);
        done
    }
}

/// Returns buffers to their stores, in any thread: there they are free only after
/// [`LocalStack::take_returned`]. All buffers in a row that are of one store need one atomic write.
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

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::super::dma::Ring;
    use super::super::home::Home;
    use super::*;

    /// Does not compile if the type is `Send`: then two implementations apply, and which is meant cannot be inferred.
    macro_rules! assert_not_send {
        ($type:ty) => {
            const _: fn() = || {
                trait Unless<Which> {
                    fn check() {}
                }
                struct IfSend;
                impl<T: ?Sized> Unless<()> for T {}
                impl<T: ?Sized + Send> Unless<IfSend> for T {}
                let _ = <$type as Unless<_>>::check;
            };
        };
    }

    // A thread must not take its right to a stack elsewhere, nor values that are not `Send` with a ring.
    assert_not_send!(LocalStack<'static>);
    assert_not_send!(Ring<Rc<()>>);
    // Two threads would have the value of a home.
    assert_not_send!(&'static Home<Rc<()>>);
}
