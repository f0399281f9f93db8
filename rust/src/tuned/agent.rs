//! The agent: descriptor i of an RX ring and of the other device's TX ring have the same buffer for ever, as in TinyNF.
//!
//! A packet is forwarded by writing its size from one ring into the other. No buffer moves, so there is neither a batch
//! nor an exchange. Both rings are always at the same index. So the agent sends all that it receives: it can drop no
//! packet, and skip no descriptor. While the TX ring is full, the device drops at the RX ring.
#![forbid(unsafe_code)]

use std::mem;

use crate::driver::descriptor::Descriptor;
use crate::driver::registers::{field64_get, RXD_DD, RXD_EOP, RXD_LENGTH};
use crate::driver::rx::RxQueue;
use crate::driver::tx::TxQueue;
use crate::error::{Error, Result};
use crate::sys::buffers::STRIDE_ODD;
use crate::sys::mmio::{dma_read_barrier, dma_write_barrier};
use crate::sys::places::{Block, GROUP};
use crate::sys::quad::{Quad32, Quad64};
use crate::tuned::forward::{take, TOUCHED_BYTE};
use crate::tuned::rx::{rx_is_whole, RX_WHOLE, RX_WRONG};
use crate::tuned::tx::{tx_hand_over, tx_upper_word, tx_upper_words, TX_RS_EVERY};

/// Of four buffers in a row, from the first.
const STRIDE: u32 = STRIDE_ODD as u32;
const OFFSETS: Quad32 = [0, STRIDE, 2 * STRIDE, 3 * STRIDE];

/// From the addresses of four buffers to those of the next four.
const NEXT: u64 = (GROUP * STRIDE_ODD) as u64;

/// An agent. The `clean_index` of its TX queue is also the RX descriptor to refill next.
pub(crate) struct Agent<'p> {
    buffers: Block<'p>,
}

impl<'p> Agent<'p> {
    /// Makes an agent of a running receive queue, or `None` if its buffers do not suit.
    pub(crate) fn new(rx: &mut RxQueue<'p>) -> Option<Self> {
        let store = rx.pool;
        let mut buffers = take(&store.local()?, rx.mask + 1)?;
        // The device has the buffers in the slots. The slots get others, which receive nothing.
        for (index, buffer) in buffers.iter_mut().enumerate() {
            mem::swap(buffer, rx.ring.entry(index).slot);
        }
        let buffers = Block::new(store, buffers)?;
        Some(Self { buffers })
    }

    /// The addresses of buffer `index` and the next three.
    #[inline(always)]
    fn four_addresses(&self, index: usize) -> Quad64 {
        Quad64::splat(self.buffers.iova(index)).add(Quad64::widen(OFFSETS))
    }

    /// Gives the buffers that were sent back to the receiving device, 32 at a time.
    #[inline(always)]
    fn agent_refill(&self, rx: &mut RxQueue<'p>, tx: &mut TxQueue<'p>) -> Result<()> {
        let before = tx.clean_index;

        // The device sends in order, so the DD of the 32nd stands for those before it (TRUST-TX-ORDER).
        while tx.tx_all_done(TX_RS_EVERY) {
            let mut addresses = self.four_addresses(tx.clean_index);
            let groups = TX_RS_EVERY / GROUP;
            if let Some(mut ring) = rx.ring.groups::<false>(tx.clean_index, groups) {
                for i in 0..groups {
                    // 7.1.6.1 read format: the address, and a header address of 0, which clears DD
                    ring.store(i, addresses, Quad64::splat(0));
                    addresses = addresses.add(Quad64::splat(NEXT));
                }
            }
            tx.clean_index = (tx.clean_index + TX_RS_EVERY) & tx.mask;
            tx.done += TX_RS_EVERY as u64;
        }
        if tx.clean_index != before {
            // Orders the writes of the descriptors above before the write of RDT.
            dma_write_barrier();
            // 7.1.9: RDT is the last refilled descriptor, one behind the next.
            rx.tail
                .write((tx.clean_index.wrapping_sub(1) & rx.mask) as u32)?;
        }
        Ok(())
    }

    /// Forwards groups of four, until one is not whole. `index` is a multiple of four, and `groups` end at the ring's end
    /// at the latest. Returns the number of packets.
    #[inline(always)]
    fn agent_groups(
        &mut self,
        rx: &mut RxQueue<'p>,
        tx: &mut TxQueue<'p>,
        index: usize,
        groups: usize,
    ) -> usize {
        let mut addresses = self.four_addresses(index);
        let minus_whole = Quad64::splat(RX_WHOLE.wrapping_neg());
        let wrong = Quad64::splat(RX_WRONG);
        let (Some(from), Some(mut to), Some(mut buffers)) = (
            rx.ring.groups::<true>(index, groups),
            tx.ring.groups::<false>(index, groups),
            self.buffers.groups(index, groups),
        ) else {
            return 0;
        };
        for i in 0..groups {
            // DD proves that the device gave the descriptor back (TRUST-DD).
            let upper = from.load_upper(i);
            if !upper.add(minus_whole).has_none_of(wrong) {
                return GROUP * i;
            }
            // Orders the reads of DD above before the reads of the packets' data.
            dma_read_barrier();
            buffers.change_each::<TOUCHED_BYTE>(i, |byte| byte.wrapping_add(1));
            to.store(i, addresses, tx_upper_words(upper.wide_bits_32_to_47()));
            addresses = addresses.add(Quad64::splat(NEXT));
        }
        GROUP * groups
    }

    /// Goes on where a group was not whole: one descriptor at a time until the index is a multiple of four again.
    #[cold]
    #[inline(never)]
    fn agent_more(
        &mut self,
        rx: &mut RxQueue<'p>,
        tx: &mut TxQueue<'p>,
        mut forwarded: usize,
        count: usize,
    ) -> usize {
        let mask = rx.mask;
        let mut index = (rx.index + forwarded) & mask;

        while forwarded < count {
            let status = rx.ring.entry(index).descriptor.load_upper();

            if !rx_is_whole(status) {
                break;
            }
            // Orders the read of DD above before the read of the packet's data.
            dma_read_barrier();
            self.buffers
                .change::<TOUCHED_BYTE>(index, |byte| byte.wrapping_add(1));
            tx.ring.entry(index).descriptor.store(Descriptor {
                lower: self.buffers.iova(index),
                upper: tx_upper_word(field64_get(RXD_LENGTH, status)),
            });
            forwarded += 1;
            index = (index + 1) & mask;
            if index % GROUP == 0 {
                let groups = (count - forwarded).min(mask + 1 - index) / GROUP;
                let whole = self.agent_groups(rx, tx, index, groups);

                forwarded += whole;
                index = (index + whole) & mask;
            }
        }
        forwarded
    }

    /// Forwards up to `count` packets from `rx`, which is that of [`Agent::new`], to `tx`. Ends on a multiple of four
    /// descriptors if it can. Returns the number of packets.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    #[inline(always)]
    pub(crate) fn agent_forward(
        &mut self,
        rx: &mut RxQueue<'p>,
        tx: &mut TxQueue<'p>,
        mut count: usize,
    ) -> Result<usize> {
        let (first, mask) = (rx.index, rx.mask);
        let to_end = mask + 1 - first;
        let end = (first + count) & !(GROUP - 1);
        let mut forwarded = 0;

        self.agent_refill(rx, tx)?;
        // Ends on a multiple of four, so that the next turn starts on one.
        if end > first {
            count = end - first;
        }
        // The others have an old DD: their packets are not sent yet. Only this limit keeps them from being sent again.
        count = count.min(tx.tx_space());
        if first % GROUP == 0 {
            forwarded = self.agent_groups(rx, tx, first, count.min(to_end) / GROUP);
        }
        if forwarded != count {
            forwarded = self.agent_more(rx, tx, forwarded, count);
        }
        if forwarded > 0 {
            rx.index = (first + forwarded) & mask;
            tx_hand_over(tx, forwarded)?;
        }
        Ok(forwarded)
    }
}

/// Checks that an agent does not stand at a frame that it cannot send: one that spans several descriptors, or has an
/// impossible length.
///
/// # Errors
/// If it does.
pub(crate) fn agent_check(rx: &mut RxQueue<'_>, address: &str, queue: u32) -> Result<()> {
    let index = rx.index;
    let status = rx.ring.entry(index).descriptor.load_upper();

    if status & RXD_DD == 0 || rx_is_whole(status) {
        return Ok(());
    }
    let frame = match status & RXD_EOP {
        0 => "a part of a frame",
        _ => "a frame",
    };
    let size = field64_get(RXD_LENGTH, status);
    Err(Error::device(
        address,
        format!(
            "descriptor {index} of RX queue {queue} has {frame} of {size} bytes, and the agent cannot drop it; \
             --path tuned drops such frames"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::driver::mempool::{Mempool, PACKET_STRIDE_ODD};
    use crate::driver::registers::{TXD_DTALEN, TXD_RS};
    use crate::test_queues::{cases, Queues, RING_SIZE};
    use crate::vfio::Container;

    /// An agent whose device the test plays.
    struct Played<'p> {
        queues: Queues<'p>,
        agent: Agent<'p>,
        /// RDH and TDH.
        heads: [usize; 2],
    }

    fn with_agent(test: impl FnOnce(&mut Played<'_>)) {
        let capacity = 2 * RING_SIZE as u32;
        let pool = Mempool::create_strided(&Container::new(), capacity, PACKET_STRIDE_ODD).unwrap();
        let mut queues = Queues::new(&pool);
        let agent = Agent::new(&mut queues.rx).unwrap();
        test(&mut Played {
            queues,
            agent,
            heads: [0, 0],
        });
    }

    impl Played<'_> {
        /// Up to `count` frames of `size` bytes arrive, or parts of one. Returns how many had a descriptor.
        fn receives(&mut self, count: usize, size: u64, last: bool) -> usize {
            for nth in 0..count {
                let head = self.heads[0];
                if head == self.queues.rdt.get() as usize {
                    return nth;
                }
                self.queues.device_receives(head, size, last);
                self.heads[0] = (head + 1) % RING_SIZE;
            }
            count
        }

        /// The device sends up to `count` packets, reports those with RS, and returns their sizes.
        fn sends(&mut self, count: usize) -> Vec<u64> {
            let mut sizes = Vec::new();
            while sizes.len() < count && self.heads[1] != self.queues.tdt.get() as usize {
                let head = self.heads[1];
                let Descriptor { lower, upper } = self.queues.tx.ring.entry(head).descriptor.load();
                assert_eq!(lower, self.agent.buffers.iova(head));
                if upper & TXD_RS != 0 {
                    self.queues.device_sends(head);
                }
                sizes.push(field64_get(TXD_DTALEN, upper));
                self.heads[1] = (head + 1) % RING_SIZE;
            }
            sizes
        }

        fn forward(&mut self, count: usize) -> usize {
            let Queues { rx, tx, .. } = &mut self.queues;
            self.agent.agent_forward(rx, tx, count).unwrap()
        }
    }

    /// A descriptor whose packet waits to be sent has an old DD. Only the limit keeps the agent from sending it again.
    #[test]
    fn the_agent_sends_no_packet_twice() {
        with_agent(|played| {
            assert_eq!(played.receives(63, 60, true), 63);
            assert_eq!([63, 32, 32].map(|count| played.forward(count)), [60, 3, 0]);
            assert_eq!(played.sends(31).len(), 31);
            assert_eq!(played.forward(32), 0);
            // The 32nd reports all of them.
            assert_eq!(played.sends(1).len(), 1);
            assert_eq!((played.forward(32), played.queues.rdt.get()), (0, 31));
            assert_eq!(played.receives(40, 60, true), 32);
            assert_eq!([32, 32, 32].map(|count| played.forward(count)), [29, 3, 0]);
        });
    }

    #[test]
    fn the_agent_stops_at_a_frame_that_it_cannot_send() {
        for (size, last) in [(0, true), (2049, true), (60, false)] {
            with_agent(|played| {
                played.receives(5, 2048, true);
                agent_check(&mut played.queues.rx, "a", 0).unwrap();
                played.receives(1, size, last);
                played.receives(3, 60, true);
                assert_eq!([32, 32].map(|count| played.forward(count)), [5, 0]);
                let error = agent_check(&mut played.queues.rx, "a", 0).unwrap_err();
                let text = error.to_string();
                assert!(text.contains("descriptor 5 of RX queue 0"), "{text}");
            });
        }
    }

    #[test]
    fn buffers_that_do_not_lie_in_a_row_are_refused() {
        let capacity = 2 * RING_SIZE as u32 + 1;
        let pool = Mempool::create_strided(&Container::new(), capacity, PACKET_STRIDE_ODD).unwrap();
        let first = pool.alloc().unwrap();
        let mut queues = Queues::new(&pool);
        let slot = queues.rx.ring.entry(7).slot;
        *slot = first.buffer;
        assert!(Agent::new(&mut queues.rx).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(2)))]

        /// Whatever the device does, each frame is sent once, from its buffer, in order.
        #[test]
        fn each_frame_is_sent_once(
            steps in prop::collection::vec((0..40usize, 1..=64usize, 0..64usize), 1..60),
        ) {
            with_agent(|played| {
                let (mut received, mut sent) = (Vec::new(), Vec::new());
                for (frames, count, sends) in &steps {
                    for _ in 0..*frames {
                        let size = 1 + received.len() as u64 % 2048;
                        if played.receives(1, size, true) == 1 {
                            received.push(size);
                        }
                    }
                    assert!(played.forward(*count) <= *count);
                    sent.extend(played.sends(*sends));
                }
                for _ in 0..4 {
                    while played.forward(64) > 0 {}
                    sent.extend(played.sends(64));
                }
                assert_eq!(sent, received);
            });
        }
    }
}
