//! The receive path (datasheet 7.1).
//!
//! The ring protocol. Driver and device share a ring of descriptors. Two indices divide the ring:
//! the head, RDH, which the device moves, and the tail, RDT, which the driver moves.
//!
//! - The device owns the descriptors from RDH up to RDT, without RDT itself. Each of them points
//!   to an empty buffer. The device fills the buffer and moves RDH. Then it writes the length and
//!   the status over the descriptor; the DD bit (descriptor done) gives the descriptor back.
//! - The driver owns the other descriptors. It polls DD at `index`, takes the packet, points the
//!   descriptor to an empty buffer, and hands the descriptor over by moving RDT.
//!
//! The owner of a descriptor owns its buffer. The other side must not touch the buffer then
//! (TRUST-RING-PROTOCOL).
//!
//! RDT stays one behind `index`, because RDH == RDT means that the device owns no descriptor.
//! If the driver handed over all descriptors, the device would take the full ring for an empty one.
//!
//! TRUST-... and DEVIATION-... are names of rows in drivers/ASSUMPTIONS.md.
#![forbid(unsafe_code)]

use std::mem;

use crate::driver::descriptor::Descriptor;
use crate::driver::mempool::Packet;
use crate::driver::register_access::{Registers, Tail};
use crate::driver::registers::{self as regs, field64_get, RXD_DD, RXD_EOP, RXD_LENGTH};
use crate::error::{Error, Result};
use crate::sys::batch::Batch;
use crate::sys::buffers::{Buffer, BufferStore};
use crate::sys::dma::{Entries, Ring, SharedDescriptor};
use crate::sys::mmio::{dma_read_barrier, dma_write_barrier};

/// A receive queue. The next queue in memory may belong to another thread, so a queue shares no pair of
/// cache lines with it.
#[repr(align(128))]
pub struct RxQueue<'p> {
    /// The descriptors. Slot i holds the buffer to which descriptor i points.
    pub(crate) ring: Ring<Buffer<'p>>,
    /// The source of empty buffers.
    pub(crate) pool: &'p BufferStore,
    /// RDT.
    pub(crate) tail: Tail,
    /// Ring size - 1.
    pub(crate) mask: usize,
    /// The descriptor that the device writes back next.
    pub(crate) index: usize,
    /// Calls that stopped early because the pool was empty.
    pub(crate) pool_empty: u64,
    pub(crate) discard: Discard,
    /// RDH and index at which the last check missed a write-back.
    pub(crate) suspect: Option<(u32, usize)>,
}

/// The state of dropping frames that cannot be received.
#[derive(Default)]
pub(crate) struct Discard {
    /// In the middle of a frame that spans descriptors.
    pub(crate) discarding: bool,
    /// Frames that did not fit into one buffer, or that had an impossible length.
    pub(crate) discarded: u64,
}

/// Replaces the device's write-back by the address of an empty buffer.
#[inline]
fn descriptor_refill(descriptor: &SharedDescriptor<'_>, packet: &Buffer<'_>) {
    // 7.1.6.1 read format: the packet's address, and a header address of 0, which clears DD
    descriptor.store(Descriptor {
        lower: packet.iova(),
        upper: 0,
    });
}

/// Drops a frame that spans several descriptors and refills them with their own buffers.
/// BSIZEPACKET holds any frame that MAXFRS lets through, so only a broken device sends one.
/// Returns the index after the last descriptor of the frame that is there.
#[cold]
fn rx_discard(
    entries: &mut Entries<'_, Buffer<'_>>,
    discard: &mut Discard,
    mut index: usize,
) -> usize {
    for _ in 0..entries.len() {
        let entry = entries.entry(index);
        let status = entry.descriptor.load_upper();
        discard.discarding = true;
        if status & RXD_DD == 0 {
            break;
        }
        descriptor_refill(&entry.descriptor, entry.slot);
        index += 1;
        if status & RXD_EOP != 0 {
            discard.discarding = false;
            discard.discarded += 1;
            break;
        }
    }
    index
}

#[cold]
fn pool_elsewhere() -> Box<Error> {
    let message = "another thread has the pool of this queue";
    Box::new(Error::Argument(message.to_owned()))
}

impl<'p> RxQueue<'p> {
    /// Appends up to `count` received packets to `packets`, and gives the device an empty buffer for
    /// each. Returns the number of packets. A wrong length ends the batch early. The call always
    /// returns, whatever the device writes.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    // In line, because a turn of the forwarder is one function: see there.
    #[inline(always)]
    pub fn rx_batch(&mut self, packets: &mut Vec<Packet<'p>>, count: usize) -> Result<usize> {
        let Some(stack) = self.pool.local() else {
            return Err(pool_elsewhere());
        };
        let mut index = self.index;
        let mut entries = self.ring.entries();

        if self.discard.discarding {
            index = rx_discard(&mut entries, &mut self.discard, index);
        }
        // The pool gets it back after the batch.
        let mut refused = None;
        // A received packet leaves the ring only in exchange for an empty buffer.
        let mut batch = Batch::new(packets, count, self.mask + 1, stack);
        while let Some(entry) = batch.entry(&mut entries, index) {
            // 7.1.6.2 write-back format. One 64-bit read takes DD, EOP and the length together, so
            // it needs no barrier between them. DD proves that the device gave the descriptor back
            // (TRUST-DD). Error bits are not read (TRUST-RX-ERRORS).
            let status = entry.descriptor.load_upper();
            if status & RXD_DD == 0 {
                break;
            }
            if status & RXD_EOP == 0 {
                index = rx_discard(&mut entries, &mut self.discard, index);
                if self.discard.discarding {
                    break;
                }
                // Counts against the batch, so that such frames cannot keep the loop going.
                batch.skip();
                continue;
            }
            let packet = entry.exchange(descriptor_refill);
            // No cache of this core has the packet. It comes while the rest of the batch is received.
            packet.prefetch();
            index += 1;
            // TRUST-LENGTH: a slice is no longer than its buffer. A length of 0 or beyond the buffer
            // sends the packet back to the pool and ends the batch. To go on with the batch would
            // cost six instructions for every good packet.
            let size = field64_get(RXD_LENGTH, status) as usize;
            if size == 0 || !packet.set_size(size) {
                self.discard.discarded += 1;
                refused = batch.take_back();
                break;
            }
            packet.received();
        }
        let received = batch.count();
        if batch.is_cut_short() {
            self.pool_empty += self.ring.entry(index).descriptor.load_upper() & RXD_DD;
        }
        drop(batch);
        drop(refused);
        if index != self.index {
            self.index = index & self.mask;
            // Orders the reads of DD above before the caller's reads of the packets' data.
            // From here the device leaves those packets alone (TRUST-RING-PROTOCOL). It also orders
            // earlier reads of recycled buffers before RDT, which lets the device fill them again.
            dma_read_barrier();
            // Orders the writes of the descriptors above before the write of RDT.
            dma_write_barrier();
            // 7.1.9: RDT is the last refilled descriptor, one behind the next. See the top.
            self.tail
                .write((index.wrapping_sub(1) & self.mask) as u32)?;
        }
        Ok(received)
    }

    /// Frees the queue, but keeps its packets out of the pool for good.
    pub(crate) fn lose_packets(self) {
        self.ring
            .into_slots()
            .into_vec()
            .into_iter()
            .for_each(mem::forget);
    }
}

/// Lets frames in, or keeps them out (4.6.7).
pub(crate) fn enable_rx(registers: &Registers, on: bool) -> Result<()> {
    // 4.6.7: RXCTRL.RXEN may change only while the security block is halted.
    registers.set(regs::SECRXCTRL, regs::SECRXCTRL_RX_DIS)?;
    registers.wait(
        regs::SECRXSTAT,
        regs::SECRXSTAT_SECRX_RDY,
        regs::SECRXSTAT_SECRX_RDY,
        "SECRXSTAT.SECRX_RDY",
    )?;
    if on {
        registers.set(regs::RXCTRL, regs::RXCTRL_RXEN)?;
    } else {
        registers.clear(regs::RXCTRL, regs::RXCTRL_RXEN)?;
    }
    registers.clear(regs::SECRXCTRL, regs::SECRXCTRL_RX_DIS)
}

#[cfg(test)]
mod tests {
    use crate::driver::mempool::MAX_SIZE;
    use crate::test_queues::{pool, Queues, POOL_CAPACITY, RING_SIZE, ROUNDS};

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
        assert_eq!(packets[0].size(), 60);
        assert_ne!(queues.rx.ring.entry(0).slot.iova(), held);
        assert_eq!(queues.rx.ring.entry(0).descriptor.load_upper(), 0);
        assert_eq!(queues.rdt.get(), 0);
    }

    #[test]
    fn a_batch_is_not_exceeded_and_the_ring_wraps() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let (mut next, mut received) = (0, 0);
        for _ in 0..ROUNDS * RING_SIZE / 10 {
            let mut packets = Vec::new();
            for _ in 0..15 {
                queues.device_receives(next, 60 + next as u64, true);
                next = (next + 1) % RING_SIZE;
            }
            assert_eq!(queues.rx.rx_batch(&mut packets, 10).unwrap(), 10);
            assert_eq!(queues.rx.rx_batch(&mut packets, 10).unwrap(), 5);
            for packet in packets {
                assert_eq!(packet.size(), 60 + received % RING_SIZE);
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
            assert_eq!(packets[0].size(), 61 + i);
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
        // The start of another frame, whose end comes later.
        queues.device_receives(4, 2048, false);
        assert_eq!(queues.rx.rx_batch(&mut packets, 8).unwrap(), 2);
        assert_eq!((packets[0].size(), packets[1].size()), (60, 61));
        assert_eq!(queues.rx.discard.discarded, 1);
        assert_eq!(queues.rdt.get(), 4);
        queues.device_receives(5, 2048, false);
        assert_eq!(queues.rx.rx_batch(&mut packets, 8).unwrap(), 0);
        assert_eq!(queues.rdt.get(), 5);
        queues.device_receives(6, 10, true);
        queues.device_receives(7, 62, true);
        assert_eq!(queues.rx.rx_batch(&mut packets, 8).unwrap(), 1);
        assert_eq!(packets[2].size(), 62);
        assert_eq!(queues.rx.discard.discarded, 2);
    }

    #[test]
    fn frames_of_several_descriptors_end_a_batch_too() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        for i in 0..RING_SIZE {
            queues.device_receives(i, 2048, i % 2 == 1);
        }
        assert_eq!(queues.rx.rx_batch(&mut Vec::new(), 8).unwrap(), 0);
        assert_eq!(queues.rx.discard.discarded, 8);
        assert_eq!(queues.rdt.get(), 15);
    }

    #[test]
    fn a_ring_full_of_frame_parts_ends_the_call() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        for i in 0..RING_SIZE {
            queues.device_receives(i, 2048, false);
        }
        assert_eq!(queues.rx.rx_batch(&mut Vec::new(), 8).unwrap(), 0);
    }

    #[test]
    fn a_packet_of_length_zero_is_dropped() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        queues.device_receives(0, 0, true);
        assert_eq!(queues.rx.rx_batch(&mut Vec::new(), 8).unwrap(), 0);
        assert_eq!(queues.rx.discard.discarded, 1);
        assert_eq!(queues.rdt.get(), 0);
        assert_eq!(pool.free_count(), pool.capacity() - RING_SIZE);
    }

    #[test]
    fn a_length_beyond_the_buffer_is_dropped() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let mut packets = Vec::new();
        queues.device_receives(0, MAX_SIZE as u64, true);
        queues.device_receives(1, MAX_SIZE as u64 + 1, true);
        queues.device_receives(2, 0xffff, true);
        queues.device_receives(3, 60, true);
        // Each wrong length ends a batch.
        assert_eq!(queues.rx.rx_batch(&mut packets, 8).unwrap(), 1);
        assert_eq!(queues.rx.rx_batch(&mut packets, 8).unwrap(), 0);
        assert_eq!(queues.rdt.get(), 2);
        assert_eq!(queues.rx.rx_batch(&mut packets, 8).unwrap(), 1);
        assert_eq!((packets[0].size(), packets[1].size()), (MAX_SIZE, 60));
        assert_eq!(queues.rx.discard.discarded, 2);
        assert_eq!(pool.free_count(), pool.capacity() - RING_SIZE - 2);
    }
}
