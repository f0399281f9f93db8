//! The receive path (datasheet 7.1).
#![forbid(unsafe_code)]

use std::mem;

use crate::descriptor::Descriptor;
use crate::device::Tail;
use crate::error::Result;
use crate::mempool::{Mempool, Packet};
use crate::registers::{field64_get, RXD_DD, RXD_EOP, RXD_LENGTH};
use crate::sys::batch::Batch;
use crate::sys::dma::{Entries, Entry, Ring};
use crate::sys::mmio::{dma_read_barrier, dma_write_barrier};

/// A receive queue.
pub struct RxQueue<'p> {
    /// The descriptors, and the packet that each points to.
    pub(crate) ring: Ring<Packet<'p>>,
    /// Where fresh packets come from.
    pub(crate) pool: &'p Mempool,
    /// RDT.
    pub(crate) tail: Tail,
    /// Ring size - 1.
    pub(crate) mask: usize,
    /// The descriptor that the device writes back next.
    pub(crate) index: usize,
    /// Calls that stopped early because the pool was empty.
    pub(crate) pool_empty: u64,
    pub(crate) discard: Discard,
}

/// What becomes of frames that cannot be received.
#[derive(Default)]
pub(crate) struct Discard {
    /// In the middle of a frame that spans descriptors.
    pub(crate) discarding: bool,
    /// Frames that did not fit into one buffer, or whose length was a lie.
    pub(crate) discarded: u64,
}

/// Takes the device's write-back out of a descriptor and points it to the packet at `iova`.
#[inline]
fn descriptor_refill<T>(entry: &Entry<'_, T>, iova: u64) {
    // 7.1.6.1 read format: the packet's address, and a header address of 0, which also clears DD
    entry.store(Descriptor {
        lower: iova,
        upper: 0,
    });
}

/// Gives back the buffers of a frame that spans several descriptors. BSIZEPACKET holds
/// any frame that MAXFRS lets through, so only a broken device sends one; it is dropped.
/// Returns the index after the descriptors it has consumed.
#[cold]
fn rx_discard(
    entries: &mut Entries<'_, Packet<'_>>,
    discard: &mut Discard,
    mut index: usize,
) -> usize {
    for _ in 0..entries.len() {
        let entry = entries.entry(index);
        let status = entry.load_upper();
        discard.discarding = true;
        if status & RXD_DD == 0 {
            break;
        }
        descriptor_refill(&entry, entry.slot.iova());
        index += 1;
        if status & RXD_EOP != 0 {
            discard.discarding = false;
            discard.discarded += 1;
            break;
        }
    }
    index
}

impl<'p> RxQueue<'p> {
    /// Takes up to `count` received packets, appends them to `packets`, and gives the device
    /// fresh buffers for them. Returns how many. Fewer may be returned than are there if the device
    /// lied about one.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn rx_batch(&mut self, packets: &mut Vec<Packet<'p>>, count: usize) -> Result<usize> {
        let pool = self.pool;
        let mut index = self.index;
        let mut entries = self.ring.entries();

        if self.discard.discarding {
            index = rx_discard(&mut entries, &mut self.discard, index);
        }
        let mut batch = Batch::new(packets, count);
        while batch.has_room() {
            let entry = entries.entry(index);
            // 7.1.6.2 write-back format. One 64-bit read takes DD, EOP and the length together,
            // so no barrier is needed between them.
            let status = entry.load_upper();
            if status & RXD_DD == 0 {
                break;
            }
            if status & RXD_EOP == 0 {
                index = rx_discard(&mut entries, &mut self.discard, index);
                if self.discard.discarding {
                    break;
                }
                continue;
            }
            // A received packet leaves the ring only in exchange for a fresh buffer.
            let Some(fresh) = pool.alloc() else {
                self.pool_empty += 1;
                break;
            };
            descriptor_refill(&entry, fresh.iova());
            let mut packet = mem::replace(entry.slot, fresh);
            index += 1;
            // No length, or one beyond the buffer, is a lie. The packet goes back to the pool, and the
            // batch ends: going on here would cost every honest packet six instructions.
            let size = field64_get(RXD_LENGTH, status) as usize;
            if size == 0 || !packet.set_size(size) {
                self.discard.discarded += 1;
                break;
            }
            batch.push(packet);
        }
        let received = batch.count();
        if index != self.index {
            self.index = index & self.mask;
            // Orders the reads of DD above before the caller's reads of the packets' data.
            dma_read_barrier();
            // Orders the writes of the descriptors above before the write of RDT.
            dma_write_barrier();
            // 7.1.9 RDH == RDT would mean that the device has no descriptor, so RDT is the last
            // one refilled, one behind the next.
            self.tail
                .write((index.wrapping_sub(1) & self.mask) as u32)?;
        }
        Ok(received)
    }
}

#[cfg(test)]
mod tests {
    use crate::mempool::MAX_SIZE;
    use crate::test_queues::{pool, Queues, POOL_CAPACITY, RING_SIZE};

    #[test]
    fn nothing_received_writes_nothing() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        queues.rdt.set(12345);
        assert_eq!(queues.rx.rx_batch(&mut Vec::new(), RING_SIZE).unwrap(), 0);
        assert_eq!(queues.rdt.get(), 12345);
    }

    #[test]
    fn a_packet_is_exchanged_for_a_fresh_buffer() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let mut packets = Vec::new();
        let held = queues.rx.ring.entry(0).slot.iova();
        queues.device_receives(0, 60, true);
        assert_eq!(queues.rx.rx_batch(&mut packets, RING_SIZE).unwrap(), 1);
        assert_eq!(packets[0].iova(), held);
        assert_eq!(packets[0].len(), 60);
        assert_ne!(queues.rx.ring.entry(0).slot.iova(), held);
        assert_eq!(queues.rx.ring.entry(0).load_upper(), 0);
        assert_eq!(queues.rdt.get(), 0);
    }

    #[test]
    fn a_batch_is_not_exceeded_and_the_ring_wraps() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let (mut next, mut received) = (0, 0);
        for _ in 0..25 * RING_SIZE / 10 {
            let mut packets = Vec::new();
            for _ in 0..15 {
                queues.device_receives(next, 60 + next as u64, true);
                next = (next + 1) % RING_SIZE;
            }
            assert_eq!(queues.rx.rx_batch(&mut packets, 10).unwrap(), 10);
            assert_eq!(queues.rx.rx_batch(&mut packets, 10).unwrap(), 5);
            for packet in packets {
                assert_eq!(packet.len(), 60 + received % RING_SIZE);
                received += 1;
            }
            assert_eq!(queues.rdt.get() as usize, (received - 1) % RING_SIZE);
        }
    }

    #[test]
    fn an_empty_pool_leaves_packets_in_the_ring() {
        let pool = pool(RING_SIZE as u32 + 1);
        let mut queues = Queues::new(&pool);
        let mut packets = Vec::new();
        for i in 0..4 {
            queues.device_receives(i, 60 + i as u64, true);
        }
        assert_eq!(queues.rx.rx_batch(&mut packets, 4).unwrap(), 1);
        assert_eq!(queues.rx.pool_empty, 1);
        assert_eq!(queues.rx.rx_batch(&mut packets, 4).unwrap(), 0);
        for i in 0..3 {
            packets.clear();
            assert_eq!(queues.rx.rx_batch(&mut packets, 4).unwrap(), 1);
            assert_eq!(packets[0].len(), 61 + i);
        }
    }

    #[test]
    fn a_frame_of_several_descriptors_is_dropped() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let mut packets = Vec::new();
        queues.device_receives(0, 60, true);
        queues.device_receives(1, 2048, false);
        queues.device_receives(2, 100, true);
        queues.device_receives(3, 61, true);
        // The start of another, whose end comes later.
        queues.device_receives(4, 2048, false);
        assert_eq!(queues.rx.rx_batch(&mut packets, 8).unwrap(), 2);
        assert_eq!((packets[0].len(), packets[1].len()), (60, 61));
        assert_eq!(queues.rx.discard.discarded, 1);
        assert_eq!(queues.rdt.get(), 4);
        queues.device_receives(5, 2048, false);
        assert_eq!(queues.rx.rx_batch(&mut packets, 8).unwrap(), 0);
        assert_eq!(queues.rdt.get(), 5);
        queues.device_receives(6, 10, true);
        queues.device_receives(7, 62, true);
        assert_eq!(queues.rx.rx_batch(&mut packets, 8).unwrap(), 1);
        assert_eq!(packets[2].len(), 62);
        assert_eq!(queues.rx.discard.discarded, 2);
    }

    #[test]
    fn a_ring_that_only_continues_ends() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        for i in 0..RING_SIZE {
            queues.device_receives(i, 2048, false);
        }
        assert_eq!(queues.rx.rx_batch(&mut Vec::new(), 8).unwrap(), 0);
    }

    #[test]
    fn a_packet_without_bytes_is_none() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        queues.device_receives(0, 0, true);
        assert_eq!(queues.rx.rx_batch(&mut Vec::new(), 8).unwrap(), 0);
        assert_eq!(queues.rx.discard.discarded, 1);
        assert_eq!(queues.rdt.get(), 0);
        assert_eq!(pool.free_count(), pool.capacity() - RING_SIZE);
    }

    #[test]
    fn a_length_beyond_the_buffer_is_not_believed() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let mut packets = Vec::new();
        queues.device_receives(0, MAX_SIZE as u64, true);
        queues.device_receives(1, MAX_SIZE as u64 + 1, true);
        queues.device_receives(2, 0xffff, true);
        queues.device_receives(3, 60, true);
        // Each lie ends a batch.
        assert_eq!(queues.rx.rx_batch(&mut packets, 8).unwrap(), 1);
        assert_eq!(queues.rx.rx_batch(&mut packets, 8).unwrap(), 0);
        assert_eq!(queues.rdt.get(), 2);
        assert_eq!(queues.rx.rx_batch(&mut packets, 8).unwrap(), 1);
        assert_eq!((packets[0].len(), packets[1].len()), (MAX_SIZE, 60));
        assert_eq!(queues.rx.discard.discarded, 2);
        assert_eq!(pool.free_count(), pool.capacity() - RING_SIZE - 2);
    }
}
