//! Packet buffers: 2 KiB each, with 64 bytes of headroom in front of the data.
//!
//! A packet is an owned value. It borrows its pool, so the pool outlives it. It returns to the pool
//! when it is dropped. A pool and its packets belong to one thread. A
//! [`RemotePacket`](crate::rooms::pipeline::RemotePacket) may be in another.
//!
//! So many mistakes of a C program with a packet do not compile; `tests/compile_fail` has a twin
//! without the mistake for each. A reference to a packet cannot be held while the packet is sent:
//!
//! ```compile_fail,E0499
//! # use ixgbe::{driver::device::Device, driver::mempool::Packet};
//! fn send<'p>(device: &mut Device<'p>, packets: &mut Vec<Packet<'p>>) {
//!     let first = &mut packets[0];
//!     device.tx_batch(0, packets).unwrap();
//!     first.change_at(0, |_| 1);
//! }
//! ```
//!
//! It cannot outlive its pool:
//!
//! ```compile_fail,E0597
//! # use ixgbe::{driver::mempool::Mempool, vfio::Container};
//! let packet = {
//!     let pool = Mempool::create(&Container::new(), 64).unwrap();
//!     pool.alloc().unwrap()
//! };
//! ```
//!
//! Another thread cannot use it:
//!
//! ```compile_fail,E0277
//! # use ixgbe::{driver::mempool::Mempool, vfio::Container};
//! let pool = Mempool::create(&Container::new(), 64).unwrap();
//! let packet = pool.alloc().unwrap();
//! std::thread::scope(|scope| {
//!     scope.spawn(move || packet.size());
//! });
//! ```
#![forbid(unsafe_code)]

use std::marker::PhantomData;
use std::rc::Rc;

use crate::error::{Error, Result};
use crate::sys::buffers::{Buffer, BufferStore, BUFFER_SIZE};
use crate::sys::dma::DmaMemory;
use crate::vfio::Container;

pub use crate::sys::buffers::{
    BUFFER_SIZE as PACKET_BUFFER_SIZE, HEADROOM, MAX_SIZE, STRIDE_ODD as PACKET_STRIDE_ODD,
};

/// The largest pool, in packets: 2 GiB of memory. A device with 16 queues of 4096 descriptors each way
/// holds an eighth of that.
pub const MAX_CAPACITY: u32 = 1 << 20;

/// A pool of packets.
pub struct Mempool {
    pub(crate) buffers: BufferStore,
    container: Rc<Container>,
}

impl Mempool {
    /// Allocates a pool of `capacity` packets, 1 to [`MAX_CAPACITY`], all of them free.
    ///
    /// # Errors
    /// If the capacity is out of range, or there is no memory or no IOVA for the pool.
    pub fn create(container: &Rc<Container>, capacity: u32) -> Result<Self> {
        Self::create_strided(container, capacity, BUFFER_SIZE)
    }

    /// The same with `stride` bytes from one buffer to the next, at least [`PACKET_BUFFER_SIZE`], in whole cache lines.
    ///
    /// # Errors
    /// As for [`Mempool::create`].
    pub fn create_strided(container: &Rc<Container>, capacity: u32, stride: usize) -> Result<Self> {
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            return Err(Box::new(Error::Argument(format!(
                "a pool has 1 to {MAX_CAPACITY} packets, not {capacity}"
            ))));
        }
        let dma = DmaMemory::alloc(container, capacity as usize * stride)?;
        Ok(Self {
            buffers: BufferStore::new(dma, capacity as usize, stride),
            container: Rc::clone(container),
        })
    }

    /// Whether the devices of `container` reach the packets.
    pub(crate) fn is_in(&self, container: &Rc<Container>) -> bool {
        Rc::ptr_eq(&self.container, container)
    }

    /// Whether a device that reaches this pool reaches `packet` too.
    pub(crate) fn is_beside(&self, packet: &Packet<'_>) -> bool {
        self.container.owns_iova(packet.iova())
    }

    /// The number of packets.
    pub fn capacity(&self) -> usize {
        self.buffers.capacity()
    }

    /// The number of free packets. 0 while another thread has the pool.
    pub fn free_count(&self) -> usize {
        self.buffers.local().map_or(0, |stack| stack.free_count())
    }

    /// Frees the packets that other threads have returned.
    #[inline]
    pub fn take_returned(&self) {
        if let Some(stack) = self.buffers.local() {
            stack.take_returned();
        }
    }

    /// Takes a packet, or `None` if the pool is empty or another thread has it. Its size and contents are
    /// those of its last use.
    #[inline]
    pub fn alloc(&self) -> Option<Packet<'_>> {
        self.buffers.local()?.take().map(Packet::new)
    }
}

/// For a [`Packet`] that stays in its thread.
pub struct OneThread(PhantomData<*const ()>);

/// For a [`RemotePacket`](crate::rooms::pipeline::RemotePacket).
pub struct AnyThread;

/// A packet: its data, without CRC. The methods that take an offset reach it. It is a slice only
/// with one of the features `trusted-device` and `untrusted-device-copy`.
pub struct Packet<'p, In = OneThread> {
    pub(crate) buffer: Buffer<'p>,
    threads: PhantomData<In>,
}

impl<'p> From<Buffer<'p>> for Packet<'p> {
    #[inline]
    fn from(buffer: Buffer<'p>) -> Self {
        Self::new(buffer)
    }
}

impl<'p, In> Packet<'p, In> {
    #[inline]
    pub(crate) fn new(buffer: Buffer<'p>) -> Self {
        Self {
            buffer,
            threads: PhantomData,
        }
    }

    /// The address of the data for the device.
    #[inline]
    pub(crate) fn iova(&self) -> u64 {
        self.buffer.iova()
    }

    /// Asks for the first line of the data, which the device has written.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.buffer.prefetch();
    }

    /// Completes a received packet. With the feature `untrusted-device-copy`, copies it out of the
    /// device's memory, after the read of its descriptor.
    #[inline]
    pub(crate) fn received(&mut self) {
        #[cfg(feature = "untrusted-device-copy")]
        {
            crate::sys::mmio::dma_read_barrier();
            self.buffer.copy_in();
        }
    }

    /// Prepares a packet for sending. With the feature `untrusted-device-copy`, copies it to the
    /// device's memory.
    #[inline]
    pub(crate) fn sending(&mut self) {
        #[cfg(feature = "untrusted-device-copy")]
        self.buffer.copy_out();
    }

    /// Bytes of data.
    #[inline]
    pub fn size(&self) -> usize {
        self.buffer.size()
    }

    /// Sets the number of bytes of data. Returns false and changes nothing if they are more than
    /// [`MAX_SIZE`].
    #[inline]
    #[must_use]
    pub fn set_size(&mut self, size: usize) -> bool {
        self.buffer.set_size(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::tx::TxQueue;
    use crate::test_queues::{cases, pool, Queues, POOL_CAPACITY};
    use proptest::prelude::*;

    #[test]
    fn packets_lie_apart_and_come_back() {
        let pool = pool(100);
        let mut packets: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
        assert_eq!(packets.len(), 100);
        assert!(pool.alloc().is_none());
        for (i, packet) in packets.iter_mut().enumerate() {
            // All bytes can be written, and none of them belongs to the next packet.
            assert!(packet.set_size(MAX_SIZE));
            assert!(packet.write_at(0, &[i as u8; MAX_SIZE]));
        }
        let first = packets[0].iova();
        for (i, packet) in packets.iter().enumerate() {
            assert_eq!(packet.iova(), first + (i * PACKET_BUFFER_SIZE) as u64);
            assert_eq!(packet.to_vec(), [i as u8; MAX_SIZE]);
        }
        drop(packets);
        assert_eq!(pool.free_count(), 100);
    }

    #[test]
    fn the_packet_freed_last_is_the_next() {
        let pool = pool(100);
        let (first, second) = (pool.alloc().unwrap(), pool.alloc().unwrap());
        let (first_iova, second_iova) = (first.iova(), second.iova());
        drop(second);
        drop(first);
        let again = (pool.alloc().unwrap(), pool.alloc().unwrap());
        assert_eq!((again.0.iova(), again.1.iova()), (first_iova, second_iova));
    }

    #[test]
    fn a_capacity_out_of_range_is_refused_without_allocating() {
        for capacity in [0, MAX_CAPACITY + 1, u32::MAX] {
            let Err(error) = Mempool::create(&Container::new(), capacity) else {
                panic!("a pool of {capacity}")
            };
            let expected = format!("a pool has 1 to 1048576 packets, not {capacity}");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_size_beyond_the_buffer_is_refused() {
        let pool = pool(1);
        let mut packet = pool.alloc().unwrap();
        assert!(packet.set_size(7));
        assert!(!packet.set_size(MAX_SIZE + 1));
        assert!(!packet.set_size(usize::MAX));
        assert_eq!(packet.size(), 7);
    }

    /// Takes all buffers of a pool in another thread, and drops them there.
    fn taken_elsewhere(pool: &Mempool) -> usize {
        let buffers = &pool.buffers;
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| {
                let stack = buffers.local()?;
                let taken: Vec<_> = std::iter::from_fn(|| stack.take()).collect();
                Some(taken.len())
            });
            taken.join().unwrap().unwrap_or(0)
        })
    }

    #[test]
    fn another_thread_gets_the_packets_of_a_leased_pool_only() {
        let pool = pool(8);
        assert_eq!(taken_elsewhere(&pool), 0);
        let held = pool.alloc().unwrap();
        // This thread uses the stack.
        let stack = pool.buffers.local();
        drop(pool.buffers.lease());
        assert_eq!(taken_elsewhere(&pool), 0);
        drop(stack);
        let lease = pool.buffers.lease();
        assert_eq!(taken_elsewhere(&pool), 7);
        // The other thread still has the stack, so this one returns the packet.
        drop(held);
        assert_eq!((pool.free_count(), pool.alloc().is_none()), (0, true));
        drop(lease);
    }

    #[test]
    fn a_pool_comes_back_with_its_packets_from_a_thread_that_drops_the_lease() {
        let pool = pool(8);
        let held = pool.alloc().unwrap();
        let lease = pool.buffers.lease();
        std::thread::scope(|scope| {
            let buffers = &pool.buffers;
            scope.spawn(move || {
                let lease = lease;
                let taken = buffers.local().and_then(|stack| stack.take());
                assert!(taken.is_some());
                drop(lease);
            });
        });
        drop(held);
        assert_eq!(pool.free_count(), 8);
    }

    /// Sends 40 packets, of which the device takes 35, and lets another thread do something with the queue.
    /// Returns the packets that came home meanwhile, and what the thread returned.
    fn sent_elsewhere<'p, R: Send>(
        pool: &'p Mempool,
        work: impl FnOnce(TxQueue<'p>) -> R + Send,
    ) -> (usize, R) {
        let mut queues = Queues::new(pool);
        let mut packets: Vec<_> = std::iter::from_fn(|| pool.alloc()).take(40).collect();
        assert_eq!(queues.tx.tx_batch(&mut packets).unwrap(), 40);
        (0..35).for_each(|i| queues.device_sends(i));
        let free = pool.free_count();
        let tx = queues.tx;
        let found = std::thread::scope(|scope| scope.spawn(move || work(tx)).join()).unwrap();
        assert_eq!(pool.free_count(), free);
        pool.take_returned();
        (pool.free_count() - free, found)
    }

    /// Whatever `tx.rs` does with a sent packet, it comes home.
    #[test]
    fn a_queue_frees_packets_in_any_thread() {
        let pool = pool(POOL_CAPACITY);
        let (home, tx) = sent_elsewhere(&pool, |mut tx| {
            tx.tx_batch(&mut Vec::new()).unwrap();
            tx.tx_reclaim();
            tx
        });
        assert_eq!(home, 35);
        drop(tx);
        assert_eq!(pool.free_count(), POOL_CAPACITY as usize);
    }

    #[test]
    #[cfg_attr(feature = "fuzzing", ignore = "the ring's memory leaks on purpose")]
    fn a_queue_frees_its_packets_where_it_is_dropped() {
        let (home, ()) = sent_elsewhere(&pool(POOL_CAPACITY), drop);
        assert_eq!(home, 40);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(2)))]

        /// Each packet is in one place, in whatever order packets are taken and dropped.
        #[test]
        fn packets_are_never_shared(steps in prop::collection::vec(any::<(bool, u8)>(), 0..400)) {
            let pool = pool(16);
            let mut held: Vec<Packet<'_>> = Vec::new();
            for (take, which) in steps {
                if take {
                    held.extend(pool.alloc());
                } else if !held.is_empty() {
                    held.swap_remove(usize::from(which) % held.len());
                }
                prop_assert_eq!(held.len() + pool.free_count(), 16);
                let mut addresses: Vec<_> = held.iter().map(Packet::iova).collect();
                addresses.sort_unstable();
                addresses.dedup();
                prop_assert_eq!(addresses.len(), held.len());
            }
        }
    }
}
