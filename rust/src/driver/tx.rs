//! The transmit path (datasheet 7.2).
//!
//! The ring protocol is that of rx.rs, with full descriptors in place of empty ones. The device
//! owns the descriptors from the head, TDH, up to the tail, TDT, without TDT itself. It sends
//! their packets in order and reports each by DD in its descriptor. The driver owns the others.
//! It writes a descriptor at `index`, hands it over by moving TDT, and takes packets back from
//! `clean_index` on once DD is there.
//!
//! TDH == TDT means that the ring is empty, so one descriptor always stays with the driver.
#![forbid(unsafe_code)]

use std::mem;

use crate::driver::descriptor::Descriptor;
use crate::driver::mempool::Packet;
use crate::driver::register_access::Tail;
use crate::driver::registers::{
    field64, TXD_DD, TXD_DEXT, TXD_DTALEN, TXD_DTYP_DATA, TXD_EOP, TXD_IFCS, TXD_PAYLEN, TXD_RS,
};
use crate::error::Result;
use crate::sys::buffers::{buffers_free, Buffer};
use crate::sys::dma::Ring;
use crate::sys::mmio::dma_write_barrier;

/// The driver checks DD once for this many packets.
const TX_CLEAN_BATCH: usize = 32;

/// A transmit queue. The next queue in memory may belong to another thread, so a queue shares no pair of
/// cache lines with it.
#[repr(align(128))]
pub struct TxQueue<'p> {
    /// The descriptors. Slot i holds the buffer that is sent from descriptor i.
    pub(crate) ring: Ring<Option<Buffer<'p>>>,
    /// TDT.
    pub(crate) tail: Tail,
    /// Ring size - 1.
    pub(crate) mask: usize,
    /// The descriptor to write next.
    pub(crate) index: usize,
    /// The oldest descriptor whose packet was not taken back.
    pub(crate) clean_index: usize,
    /// Packets that the device has reported as sent.
    pub(crate) done: u64,
}

impl<'p> TxQueue<'p> {
    /// Takes back the packets of `count` descriptors that the device has sent.
    #[inline]
    fn tx_free(&mut self, count: usize) {
        let mut left = count;
        while left > 0 {
            let slots = self.ring.slots_from(self.clean_index, left);
            self.clean_index = (self.clean_index + slots.len()) & self.mask;
            left -= slots.len();
            buffers_free(slots);
        }
        self.done += count as u64;
    }

    /// Whether the device has sent from descriptor `index`.
    #[inline]
    pub(crate) fn tx_done(&mut self, index: usize) -> bool {
        // 7.2.3.2.4 write-back format. DD proves that the packet was sent (TRUST-DD). The buffer may
        // then be written. That needs no barrier: a store waits for the branch before it.
        self.ring.entry(index).descriptor.load_upper() & TXD_DD != 0
    }

    /// Whether the device has sent the next `count` packets. It sends in order, so the DD of the last one's
    /// descriptor stands for those before it (TRUST-TX-ORDER).
    #[inline]
    pub(crate) fn tx_all_done(&mut self, count: usize) -> bool {
        (self.index.wrapping_sub(self.clean_index) & self.mask) >= count
            && self.tx_done((self.clean_index + count - 1) & self.mask)
    }

    /// Takes sent packets back, 32 at a time.
    #[inline]
    fn tx_clean(&mut self) {
        while self.tx_all_done(TX_CLEAN_BATCH) {
            self.tx_free(TX_CLEAN_BATCH);
        }
    }

    /// Takes all sent packets back, even fewer than 32.
    pub fn tx_reclaim(&mut self) {
        while self.clean_index != self.index && self.tx_done(self.clean_index) {
            self.tx_free(1);
        }
    }

    /// Hands packets from the front of `packets` to the device. Returns the number of packets that
    /// it took; the caller keeps the others. Takes sent packets back, 32 at a time.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    // In line, because a turn of the forwarder is one function: see there.
    #[inline(always)]
    pub fn tx_batch(&mut self, packets: &mut Vec<Packet<'p>>) -> Result<usize> {
        self.tx_clean();
        let sent = packets.len().min(self.tx_space());
        self.tx_put(packets.drain(..sent), sent)
    }

    /// The packets that the ring can take.
    #[inline]
    pub(crate) fn tx_space(&self) -> usize {
        // 7.2.1.2: TDH == TDT means empty, so one descriptor stays free.
        self.clean_index.wrapping_sub(self.index).wrapping_sub(1) & self.mask
    }

    /// Hands `sent` packets to the device, at most [`TxQueue::tx_space`]. Returns their number.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    #[inline]
    pub(crate) fn tx_put<In>(
        &mut self,
        packets: impl Iterator<Item = Packet<'p, In>>,
        sent: usize,
    ) -> Result<usize> {
        let mut index = self.index;

        let mut entries = self.ring.entries();
        for mut packet in packets {
            packet.sending();
            let entry = entries.entry(index);
            // TRUST-SIZE: the size comes from the application, but `Packet::set_size` has refused
            // any size beyond the buffer.
            let size = packet.size() as u64;
            // 7.2.3.2.4 advanced data descriptor: one buffer, which is the whole frame
            entry.descriptor.store(Descriptor {
                lower: packet.iova(),
                upper: TXD_DTYP_DATA
                    | TXD_DEXT
                    | TXD_RS
                    | TXD_IFCS
                    | TXD_EOP
                    | field64(TXD_PAYLEN, size)
                    | field64(TXD_DTALEN, size),
            });
            // The slot of a free descriptor is `None`. `forget` says so to the compiler, which then
            // leaves out the code that would drop an old packet.
            mem::forget(entry.slot.replace(packet.buffer));
            // `Entries::entry` masks at every access, to stay inside the ring.
            index += 1;
        }
        if sent > 0 {
            self.index = index & self.mask;
            // Orders the writes of the descriptors and packets above before the write of TDT.
            dma_write_barrier();
            self.tail.write(self.index as u32)?;
        }
        Ok(sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::mempool::Mempool;
    use crate::test_queues::{pool, Queues, POOL_CAPACITY, RING_SIZE, ROUNDS};

    fn packet_of(pool: &Mempool, size: usize) -> Packet<'_> {
        let mut packet = pool.alloc().unwrap();
        assert!(packet.set_size(size));
        packet
    }

    #[test]
    fn a_descriptor_describes_the_packet() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let mut packets = vec![packet_of(&pool, 1514)];
        assert_eq!(queues.tx.tx_batch(&mut packets).unwrap(), 1);
        assert!(packets.is_empty());
        // 7.2.3.2.4: DTALEN; DTYP 3, EOP, IFCS, RS, DEXT; PAYLEN.
        let expected = 1514 | 0x2b30_0000 | 1514 << 46;
        assert_eq!(queues.tx.ring.entry(0).descriptor.load_upper(), expected);
        assert_eq!(queues.tdt.get(), 1);
    }

    #[test]
    fn nothing_sent_writes_nothing() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        queues.tdt.set(12345);
        assert_eq!(queues.tx.tx_batch(&mut Vec::new()).unwrap(), 0);
        assert_eq!(queues.tdt.get(), 12345);
    }

    #[test]
    fn a_full_ring_takes_no_more() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let mut packets: Vec<_> = (0..RING_SIZE).map(|_| packet_of(&pool, 60)).collect();
        // One descriptor stays free.
        assert_eq!(queues.tx.tx_batch(&mut packets).unwrap(), RING_SIZE - 1);
        assert_eq!(queues.tdt.get() as usize, RING_SIZE - 1);
        assert_eq!(queues.tx.tx_batch(&mut packets).unwrap(), 0);
        // 31 are sent: too few to check.
        for i in 0..31 {
            queues.device_sends(i);
        }
        assert_eq!(queues.tx.tx_batch(&mut packets).unwrap(), 0);
        let free_before = pool.free_count();
        queues.device_sends(31);
        assert_eq!(queues.tx.tx_batch(&mut packets).unwrap(), 1);
        assert_eq!(pool.free_count(), free_before + 32);
        assert_eq!(queues.tdt.get(), 0);
    }

    #[test]
    fn the_ring_wraps_and_packets_come_back() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        for round in 0..ROUNDS * RING_SIZE {
            let mut packets = vec![packet_of(&pool, 60 + round % 1000)];
            assert_eq!(queues.tx.tx_batch(&mut packets).unwrap(), 1);
            let size = queues
                .tx
                .ring
                .entry(round % RING_SIZE)
                .descriptor
                .load_upper()
                & 0xffff;
            assert_eq!(size as usize, 60 + round % 1000);
            queues.device_sends(round % RING_SIZE);
            assert_eq!(queues.tdt.get() as usize, (round + 1) % RING_SIZE);
        }
        assert!(pool.free_count() >= pool.capacity() - RING_SIZE - 32);
        queues.tx.tx_reclaim();
        assert_eq!(pool.free_count(), pool.capacity() - RING_SIZE);
        drop(queues);
        assert_eq!(pool.free_count(), pool.capacity());
    }

    #[test]
    fn reclaiming_stops_at_the_first_unsent_packet() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let mut packets: Vec<_> = (0..3).map(|_| packet_of(&pool, 60)).collect();
        assert_eq!(queues.tx.tx_batch(&mut packets).unwrap(), 3);
        queues.device_sends(0);
        queues.device_sends(1);
        queues.tx.tx_reclaim();
        assert_eq!(queues.tx.clean_index, 2);
    }
}
