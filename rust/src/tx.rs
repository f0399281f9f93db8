//! The transmit path (datasheet 7.2).
#![forbid(unsafe_code)]

use std::mem;

use crate::descriptor::Descriptor;
use crate::device::Tail;
use crate::error::Result;
use crate::mempool::Packet;
use crate::registers::{
    field64, TXD_DD, TXD_DEXT, TXD_DTALEN, TXD_DTYP_DATA, TXD_EOP, TXD_IFCS, TXD_PAYLEN, TXD_RS,
};
use crate::sys::dma::Ring;
use crate::sys::mmio::dma_write_barrier;

/// One look at DD for this many packets.
const TX_CLEAN_BATCH: usize = 32;

/// A transmit queue.
pub struct TxQueue<'p> {
    /// The descriptors, and the packet that is being sent from each.
    pub(crate) ring: Ring<Option<Packet<'p>>>,
    /// TDT.
    pub(crate) tail: Tail,
    /// Ring size - 1.
    pub(crate) mask: usize,
    /// The descriptor to write next.
    pub(crate) index: usize,
    /// The oldest one whose packet was not taken back.
    pub(crate) clean_index: usize,
    /// Packets that the device has reported as sent.
    pub(crate) done: u64,
}

impl<'p> TxQueue<'p> {
    /// Takes back the packets of `count` descriptors, whose DD was seen.
    #[inline]
    fn tx_free(&mut self, count: usize) {
        let mut index = self.clean_index;
        let mut entries = self.ring.entries();
        for _ in 0..count {
            *entries.entry(index).slot = None;
            index += 1;
        }
        self.clean_index = index & self.mask;
        self.done += count as u64;
    }

    /// Whether the device has sent from descriptor `index`.
    #[inline]
    fn tx_done(&mut self, index: usize) -> bool {
        // 7.2.3.2.4 write-back format
        self.ring.entry(index).load_upper() & TXD_DD != 0
    }

    /// Takes back sent packets, 32 at a time: the device sends in order, so the DD of every
    /// 32nd descriptor stands for those before it.
    #[inline]
    fn tx_clean(&mut self) {
        while (self.index.wrapping_sub(self.clean_index) & self.mask) >= TX_CLEAN_BATCH
            && self.tx_done((self.clean_index + TX_CLEAN_BATCH - 1) & self.mask)
        {
            self.tx_free(TX_CLEAN_BATCH);
        }
    }

    /// Takes back all packets that were sent, also if they are fewer than 32.
    pub fn tx_reclaim(&mut self) {
        while self.clean_index != self.index && self.tx_done(self.clean_index) {
            self.tx_free(1);
        }
    }

    /// Hands packets to the device, from the front of `packets`, as many as the ring can
    /// take. Returns how many; the others stay the caller's. Takes back packets that were
    /// sent, 32 at a time.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    pub fn tx_batch(&mut self, packets: &mut Vec<Packet<'p>>) -> Result<usize> {
        self.tx_clean();

        let mut index = self.index;
        // 7.2.1.2 TDH == TDT means empty, so one descriptor stays free.
        let space = self.clean_index.wrapping_sub(index).wrapping_sub(1) & self.mask;
        let sent = packets.len().min(space);

        let mut entries = self.ring.entries();
        for packet in packets.drain(..sent) {
            let entry = entries.entry(index);
            let size = packet.size() as u64;
            // 7.2.3.2.4 advanced data descriptor: one buffer, which is the whole frame
            entry.store(Descriptor {
                lower: packet.iova(),
                upper: TXD_DTYP_DATA
                    | TXD_DEXT
                    | TXD_RS
                    | TXD_IFCS
                    | TXD_EOP
                    | field64(TXD_PAYLEN, size)
                    | field64(TXD_DTALEN, size),
            });
            // A free descriptor has no packet, so there is none to drop here.
            mem::forget(entry.slot.replace(packet));
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
    use crate::mempool::Mempool;
    use crate::test_queues::{pool, Queues, POOL_CAPACITY, RING_SIZE, ROUNDS};

    fn packet_of(pool: &Mempool, size: usize) -> Packet<'_> {
        let mut packet = pool.alloc().unwrap();
        assert!(packet.set_size(size));
        packet
    }

    #[test]
    fn a_descriptor_says_what_is_to_be_sent() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let mut packets = vec![packet_of(&pool, 1514)];
        assert_eq!(queues.tx.tx_batch(&mut packets).unwrap(), 1);
        assert!(packets.is_empty());
        // 7.2.3.2.4: DTALEN; DTYP 3, EOP, IFCS, RS, DEXT; PAYLEN.
        let expected = 1514 | 0x2b30_0000 | 1514 << 46;
        assert_eq!(queues.tx.ring.entry(0).load_upper(), expected);
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
        // 31 are sent: too few to look at.
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
            let size = queues.tx.ring.entry(round % RING_SIZE).load_upper() & 0xffff;
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
    fn reclaiming_stops_at_what_was_not_sent() {
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
