//! Batches of received packets: appending to a vector in a tight loop, each in exchange for a free buffer.

use super::buffers::{Buffer, LocalStack, Place};
use super::dma::{Entries, SharedDescriptor};

/// Appends a limited number of packets to a vector. It reserves room once at the start and sets the length of the
/// vector once at the end. [`Vec::push`] would check the capacity and write the length for every packet. The rung
/// `15-vec-push` of the ladder (bench/ladder) measures its cost.
///
/// It also has the free buffers of the pool meanwhile, so that they are counted once at the end.
pub struct Batch<'v, 's, T: From<Buffer<'s>>> {
    values: &'v mut Vec<T>,
    stack: LocalStack<'s>,
    /// Place of the next value. The values before it are initialized.
    next: *mut T,
    /// The limit of `next`. The vector has room up to it, and so many buffers are free.
    end: *mut T,
    /// Packets beyond `end` that are wanted, but for which no buffer is free.
    unmet: usize,
    /// The stack of free buffers: its first place, and the place above the next free buffer.
    bottom: *const Place,
    top: *const Place,
}

impl<'v, 's, T: From<Buffer<'s>>> Batch<'v, 's, T> {
    /// Makes room for `count` more values, or for fewer if fewer buffers are free. If the vector has no room for
    /// them, the batch takes at most `most` values, so that a caller's count cannot exhaust the memory.
    #[inline]
    pub fn new(values: &'v mut Vec<T>, count: usize, most: usize, stack: LocalStack<'s>) -> Self {
        const { assert!(size_of::<T>() > 0, "a packet has a size") };
        let held = values.len();
        let count = match values.capacity() - held < count {
            true => make_room(values, count.min(most)),
            false => count,
        };
        let first = values.as_mut_ptr();
        let (bottom, free) = match stack.lend() {
            Some((bottom, free)) => (bottom.as_ptr().cast_const(), free),
            None => (std::ptr::null(), 0),
        };
        // SAFETY: the vector holds `held` values and has room for `count` more. The stack has `free` places
        // below its top.
        unsafe {
            Self {
                values,
                stack,
                next: first.add(held),
                end: first.add(held + count.min(free)),
                unmet: count.saturating_sub(free),
                bottom,
                top: bottom.add(free),
            }
        }
    }

    /// Whether another packet can be exchanged.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.next < self.end
    }

    /// Wants one packet less.
    #[inline]
    pub fn skip(&mut self) {
        if self.unmet > 0 {
            self.unmet -= 1;
        } else if self.has_room() {
            // SAFETY: `end` is beyond `next`, so the place before it is in the vector's memory.
            self.end = unsafe { self.end.sub(1) };
        }
    }

    /// Entry `index`, if the batch has room for its packet.
    #[inline]
    pub fn entry<'b, 'r>(
        &'b mut self,
        entries: &'r mut Entries<'_, Buffer<'s>>,
        index: usize,
    ) -> Option<BatchEntry<'b, 'r, 'v, 's, T>> {
        if !self.has_room() {
            return None;
        }
        let entry = entries.entry(index);
        Some(BatchEntry {
            descriptor: entry.descriptor,
            slot: entry.slot,
            batch: self,
        })
    }

    /// Takes the last packet out again.
    #[cold]
    #[inline(never)]
    pub fn take_back(&mut self) -> Option<T> {
        (self.count() > 0).then(|| {
            // SAFETY: the batch has appended a value, which is before `next`. No other code uses that place now.
            unsafe {
                self.next = self.next.sub(1);
                self.next.read()
            }
        })
    }

    /// Whether it ends early because the pool has no free buffer.
    #[inline]
    pub fn is_cut_short(&self) -> bool {
        self.unmet > 0 && !self.has_room()
    }

    /// The length of the vector with the appended values.
    #[inline]
    fn length(&self) -> usize {
        // SAFETY: both are places of one vector, and `next` is not before the first.
        unsafe { self.next.offset_from(self.values.as_ptr()) as usize }
    }

    /// The number of appended values.
    #[inline]
    pub fn count(&self) -> usize {
        self.length() - self.values.len()
    }
}

/// A descriptor, and its packet that may be exchanged.
pub struct BatchEntry<'b, 'r, 'v, 's, T: From<Buffer<'s>>> {
    /// The descriptor.
    pub descriptor: SharedDescriptor<'r>,
    /// The packet of the descriptor.
    pub slot: &'r mut Buffer<'s>,
    batch: &'b mut Batch<'v, 's, T>,
}

impl<'b, 'r, 's, T: From<Buffer<'s>>> BatchEntry<'b, 'r, '_, 's, T> {
    /// Puts a free packet into the ring, and appends the packet that was there. Shows the free one to `refill`
    /// before. Returns the appended packet.
    #[inline]
    pub fn exchange(self, refill: impl FnOnce(&SharedDescriptor<'r>, &Buffer<'s>)) -> &'b mut T {
        let batch = self.batch;
        // SAFETY: the batch had room for this entry, and nothing else changes it meanwhile, because the entry
        // borrows it. So `next` is below `end`, the vector has room there,
        // and a place is left below `top`. The batch borrows the vector, so its memory does not move, and this place
        // holds no value yet. The batch alone has the stack, so the header below `top` has no Buffer; the store, and
        // so the header, live for `'s`.
        unsafe {
            batch.top = batch.top.sub(1);
            let free = (*batch.top).buffer();
            refill(&self.descriptor, &free);
            let place = batch.next;
            place.write(T::from(std::mem::replace(self.slot, free)));
            batch.next = place.add(1);
            &mut *place
        }
    }
}

/// This runs after a panic too, so that the appended values are dropped.
impl<'s, T: From<Buffer<'s>>> Drop for Batch<'_, 's, T> {
    #[inline]
    fn drop(&mut self) {
        let length = self.length();
        // SAFETY: the first `length` values are initialized, and the vector has room for them. If a
        // batch is forgotten, its values leak, and so do the free buffers, which is safe. The stack is lent to
        // this batch unless `bottom` is null, and the places below `top` hold headers without a Buffer.
        unsafe {
            self.values.set_len(length);
            if !self.bottom.is_null() {
                self.stack
                    .give_back(self.top.offset_from(self.bottom) as usize);
            }
        }
    }
}

/// Makes room for `count` more values. Returns `count`.
#[cold]
#[inline(never)]
fn make_room<T>(values: &mut Vec<T>, count: usize) -> usize {
    values.reserve(count);
    count
}

#[cfg(test)]
mod tests {
    use std::panic::{catch_unwind, AssertUnwindSafe};

    use super::super::dma::Ring;
    use super::Batch;
    use crate::driver::mempool::{Mempool, Packet};
    use crate::sys::buffers::{buffers_free, Buffer};
    use crate::test_queues::pool;
    use crate::vfio::Container;

    const CAPACITY: u32 = 16;

    /// Exchanges the packet in a ring of one descriptor, if the batch has room.
    fn exchange<'p>(batch: &mut Batch<'_, 'p, Packet<'p>>, slot: &mut Ring<Buffer<'p>>) -> bool {
        let mut entries = slot.entries();
        let entry = batch.entry(&mut entries, 0);
        entry.map(|entry| entry.exchange(|_, _| {})).is_some()
    }

    /// A ring of one descriptor, which has a packet of the pool.
    fn slot(pool: &Mempool) -> Ring<Buffer<'_>> {
        let packet = pool.alloc().unwrap().buffer;
        Ring::alloc(&Container::new(), Box::new([packet])).unwrap()
    }

    #[test]
    fn it_takes_packets_up_to_its_limit() {
        let pool = pool(CAPACITY);
        let mut slot = slot(&pool);
        let mut packets = Vec::new();
        for (count, exchanges) in [(2, 1), (0, 3), (3, 3), (4, 9)] {
            let held = packets.len();
            let mut batch = Batch::new(&mut packets, count, 4, pool.buffers.local().unwrap());
            for nth in 0..exchanges {
                assert_eq!(batch.has_room(), nth < count);
                assert_eq!(exchange(&mut batch, &mut slot), nth < count);
                assert_eq!(batch.count(), count.min(nth + 1));
            }
            drop(batch);
            assert_eq!(packets.len(), held + count.min(exchanges));
        }
        assert_eq!(pool.free_count() + packets.len() + 1, CAPACITY as usize);
        drop((packets, slot));
        assert_eq!(pool.free_count(), CAPACITY as usize);
    }

    #[test]
    fn the_packet_of_the_slot_is_appended_and_a_free_one_takes_its_place() {
        let pool = pool(CAPACITY);
        let mut slot = slot(&pool);
        let (old, mut shown) = (slot.entry(0).slot.iova(), 0);
        let mut packets = Vec::<Packet<'_>>::new();
        let mut batch = Batch::new(&mut packets, 1, 1, pool.buffers.local().unwrap());
        let mut entries = slot.entries();
        let entry = batch.entry(&mut entries, 0).unwrap();
        let appended = entry.exchange(|_, fresh| shown = fresh.iova());
        assert_eq!(appended.iova(), old);
        assert!(slot.entry(0).slot.iova() == shown && shown != old);
        let taken_back = batch.take_back();
        assert_eq!(taken_back.map(|packet| packet.iova()), Some(old));
        assert!(batch.take_back().is_none() && batch.count() == 0);
        drop(batch);
        assert!(packets.is_empty());
    }

    #[test]
    fn skipping_lowers_the_limit() {
        let pool = pool(CAPACITY);
        let mut slot = slot(&pool);
        let mut packets = vec![pool.alloc().unwrap()];
        let mut batch = Batch::new(&mut packets, 3, 3, pool.buffers.local().unwrap());
        batch.skip();
        let exchanged = [(); 3].map(|()| exchange(&mut batch, &mut slot));
        batch.skip();
        assert_eq!(exchanged, [true, true, false]);
        assert!(!batch.has_room() && batch.count() == 2);
        drop(batch);
        assert_eq!(packets.len(), 3);
    }

    #[test]
    fn a_count_without_room_is_limited_and_so_is_one_without_buffers() {
        for count in [6, 1 << 40, isize::MAX as usize, usize::MAX] {
            let pool = pool(CAPACITY);
            let mut slot = slot(&pool);
            let mut packets = Vec::new();
            let mut batch = Batch::new(&mut packets, count, 5, pool.buffers.local().unwrap());
            let exchanged = [(); 7].map(|()| exchange(&mut batch, &mut slot));
            assert_eq!(exchanged, [true, true, true, true, true, false, false]);
            drop(batch);
            assert!(packets.capacity() < 100);
            let mut batch = Batch::new(&mut packets, 20, 20, pool.buffers.local().unwrap());
            while exchange(&mut batch, &mut slot) {}
            assert!(batch.is_cut_short() && batch.count() == CAPACITY as usize - 6);
        }
    }

    #[test]
    fn while_a_batch_has_the_buffers_others_find_none_and_return_theirs() {
        let pool = pool(CAPACITY);
        let (mut slot, other) = (slot(&pool), pool.alloc().unwrap());
        let freed_at_once = pool.alloc().unwrap();
        let (mut packets, mut more) = (Vec::new(), Vec::<Packet<'_>>::new());
        let mut batch = Batch::new(&mut packets, 2, 2, pool.buffers.local().unwrap());
        assert!(pool.alloc().is_none() && pool.free_count() == 0);
        assert!(!Batch::new(&mut more, 2, 2, pool.buffers.local().unwrap()).has_room());
        drop(other);
        drop(freed_at_once);
        assert!(exchange(&mut batch, &mut slot));
        drop(batch);
        // One is in the slot, one was received, and two are on the return list.
        assert_eq!(pool.free_count(), CAPACITY as usize - 4);
        pool.take_returned();
        assert_eq!(pool.free_count(), CAPACITY as usize - 2);
    }

    #[test]
    fn a_forgotten_batch_leaves_the_vector_as_it_was() {
        let pool = pool(CAPACITY);
        let mut slot = slot(&pool);
        let mut packets = vec![pool.alloc().unwrap()];
        let mut batch = Batch::new(&mut packets, 3, 3, pool.buffers.local().unwrap());
        assert!(exchange(&mut batch, &mut slot));
        std::mem::forget(batch);
        assert_eq!((packets.len(), pool.free_count()), (1, 0));
        drop((packets, slot));
        pool.take_returned();
        assert!(pool.alloc().is_none());
    }

    #[test]
    fn packets_appended_before_a_panic_are_freed_once() {
        let pool = pool(CAPACITY);
        let mut slot = slot(&pool);
        let mut packets = Vec::new();
        let result = catch_unwind(AssertUnwindSafe(|| {
            let mut batch = Batch::new(&mut packets, 10, 10, pool.buffers.local().unwrap());
            assert!(exchange(&mut batch, &mut slot) && exchange(&mut batch, &mut slot));
            panic!("on purpose");
        }));
        assert!(result.is_err());
        assert_eq!(
            (packets.len(), pool.free_count()),
            (2, CAPACITY as usize - 3)
        );
        drop(packets);
        assert_eq!(pool.free_count(), CAPACITY as usize - 1);
    }

    #[test]
    fn freed_buffers_go_to_their_own_pools() {
        let pools = [pool(CAPACITY), pool(CAPACITY)];
        let take = |pool: usize| Some(pools[pool].alloc().unwrap().buffer);
        let mut slots = [take(0), take(0), None, take(1), take(0), take(1), take(1)];
        buffers_free(&mut slots);
        assert!(slots.iter().all(Option::is_none));
        assert!(pools
            .iter()
            .all(|pool| pool.free_count() == CAPACITY as usize));
    }
}
