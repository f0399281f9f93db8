//! Tests of the transpiled pool and rings. The test plays the device.
//!
//! `drivers/conformance` checks that the transpiled driver behaves like the other two. These tests find
//! mistakes of C2Rust: in volatile accesses, in masks, and in the structures, of which each module has a copy.
// SAFETY, for all blocks below: the pointers come from boxes and pools that the test keeps alive.
#![allow(clippy::undocumented_unsafe_blocks)]

use core::mem::zeroed;

use crate::gen::driver::{mempool, rx, tx};
use crate::gen::vfio::vfio;

const RING_SIZE: usize = 64;
const CAPACITY: u32 = 256;

const DD: u64 = 1;
const EOP: u64 = 2;
const TX_DD: u64 = 1 << 32;

/// A pool of a container that has no devices.
struct Pool {
    pool: Box<mempool::mempool>,
    _container: Box<vfio::vfio_container>,
}

impl Pool {
    fn create(capacity: u32) -> Self {
        unsafe {
            let mut container: Box<vfio::vfio_container> = Box::new(zeroed());
            vfio::vfio_container_init(&mut *container);
            let mut pool: Box<mempool::mempool> = Box::new(zeroed());
            let mut error = zeroed();
            let container_pointer = (&raw mut *container).cast();
            let result =
                mempool::mempool_create(&mut *pool, container_pointer, capacity, &mut error);
            assert_eq!(result, 0);
            Self {
                pool,
                _container: container,
            }
        }
    }

    fn take(&mut self) -> *mut tx::packet {
        assert!(self.pool.free_count > 0);
        self.pool.free_count -= 1;
        unsafe { (*self.pool.free.add(self.pool.free_count as usize)).cast() }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        unsafe { mempool::mempool_destroy(&mut *self.pool) }
    }
}

/// A receive queue over `ring`, whose tail register is `rdt`.
unsafe fn rx_queue(
    pool: &mut Pool,
    ring: &mut [rx::descriptor; RING_SIZE],
    packets: &mut [*mut rx::packet; RING_SIZE],
    rdt: &mut u32,
) -> rx::rx_queue {
    for (descriptor, packet) in ring.iter_mut().zip(packets.iter_mut()) {
        *packet = pool.take().cast();
        descriptor.lower = unsafe { (**packet).iova };
    }
    let mut queue: rx::rx_queue = unsafe { zeroed() };
    queue.ring = ring.as_mut_ptr();
    queue.packets = packets.as_mut_ptr();
    queue.pool = (&raw mut *pool.pool).cast();
    queue.tail = rdt;
    queue.mask = RING_SIZE as u32 - 1;
    queue
}

#[test]
fn the_pool_is_a_stack_of_separate_packets() {
    let mut pool = Pool::create(CAPACITY);
    let first = pool.take();
    let second = pool.take();
    unsafe {
        assert_eq!((*second).iova - (*first).iova, 2048);
        assert_eq!((*first).pool.cast(), &raw mut *pool.pool);
    }
    assert_eq!(pool.pool.free_count, CAPACITY - 2);
}

#[test]
fn received_packets_are_exchanged_around_the_ring() {
    let mut pool = Pool::create(CAPACITY);
    let mut ring = unsafe { zeroed() };
    let mut packets = unsafe { zeroed() };
    let mut rdt = RING_SIZE as u32 - 1;
    unsafe {
        let mut queue = rx_queue(&mut pool, &mut ring, &mut packets, &mut rdt);
        let mut batch: [*mut rx::packet; 4] = zeroed();
        for round in 0..25 * RING_SIZE {
            let index = round % RING_SIZE;
            let held = *queue.packets.add(index);
            (*queue.ring.add(index)).upper = (60 + index as u64) << 32 | DD | EOP;
            assert_eq!(rx::rx_batch(&mut queue, batch.as_mut_ptr(), 4), 1);
            assert_eq!(batch[0], held);
            assert_eq!((*held).size as usize, 60 + index);
            assert_ne!(*queue.packets.add(index), held);
            assert_eq!(
                (*queue.ring.add(index)).lower,
                (**queue.packets.add(index)).iova
            );
            assert_eq!((*queue.ring.add(index)).upper, 0);
            assert_eq!(*queue.tail as usize, index);
            // Back to the pool.
            *pool.pool.free.add(pool.pool.free_count as usize) = held.cast();
            pool.pool.free_count += 1;
        }
        assert_eq!(rx::rx_batch(&mut queue, batch.as_mut_ptr(), 4), 0);
    }
}

#[test]
fn an_empty_pool_and_a_frame_of_several_descriptors_are_handled() {
    let mut pool = Pool::create(RING_SIZE as u32 + 1);
    let mut ring = unsafe { zeroed() };
    let mut packets = unsafe { zeroed() };
    let mut rdt = RING_SIZE as u32 - 1;
    unsafe {
        let mut queue = rx_queue(&mut pool, &mut ring, &mut packets, &mut rdt);
        let mut batch: [*mut rx::packet; 4] = zeroed();
        pool.pool.free_count = 0;
        (*queue.ring).upper = 2048 << 32 | DD;
        (*queue.ring.add(1)).upper = 10 << 32 | DD | EOP;
        (*queue.ring.add(2)).upper = 60 << 32 | DD | EOP;
        assert_eq!(rx::rx_batch(&mut queue, batch.as_mut_ptr(), 4), 0);
        assert_eq!((queue.discarded, queue.pool_empty), (0, 1));
        assert_eq!(*queue.tail as usize, RING_SIZE - 1);
        pool.pool.free_count = 1;
        (*queue.ring.add(3)).upper = 60 << 32 | DD | EOP;
        assert_eq!(rx::rx_batch(&mut queue, batch.as_mut_ptr(), 4), 1);
        assert_eq!((queue.discarded, queue.pool_empty), (1, 2));
        assert_eq!(*queue.tail, 2);
    }
}

#[test]
fn sent_packets_come_back_and_a_full_ring_takes_no_more() {
    let mut pool = Pool::create(CAPACITY);
    let mut ring: [tx::descriptor; RING_SIZE] = unsafe { zeroed() };
    let mut packets: [*mut tx::packet; RING_SIZE] = unsafe { zeroed() };
    let mut tdt = 0;
    unsafe {
        let mut queue: tx::tx_queue = zeroed();
        queue.ring = ring.as_mut_ptr();
        queue.packets = packets.as_mut_ptr();
        queue.tail = &mut tdt;
        queue.mask = RING_SIZE as u32 - 1;
        let mut batch: Vec<_> = (0..RING_SIZE).map(|_| pool.take()).collect();
        for packet in &batch {
            (**packet).size = 1514;
        }
        let sent = tx::tx_batch(&mut queue, batch.as_mut_ptr(), RING_SIZE as u32);
        assert_eq!(sent as usize, RING_SIZE - 1);
        assert_eq!(*queue.tail as usize, RING_SIZE - 1);
        // 7.2.3.2.4: DTALEN; DTYP 3, EOP, IFCS, RS, DEXT; PAYLEN.
        assert_eq!((*queue.ring).upper, 1514 | 0x2b30_0000 | 1514 << 46);
        assert_eq!((*queue.ring).lower, (*batch[0]).iova);

        let last = &raw mut batch[RING_SIZE - 1];
        for index in 0..31 {
            (*queue.ring.add(index)).upper |= TX_DD;
        }
        // 31 are sent: too few to check.
        assert_eq!(tx::tx_batch(&mut queue, last, 1), 0);
        let free = pool.pool.free_count;
        (*queue.ring.add(31)).upper |= TX_DD;
        assert_eq!(tx::tx_batch(&mut queue, last, 1), 1);
        assert_eq!(pool.pool.free_count, free + 32);
        assert_eq!(*queue.tail, 0);

        (*queue.ring.add(32)).upper |= TX_DD;
        tx::tx_reclaim(&mut queue);
        assert_eq!(queue.clean_index, 33);
    }
}
