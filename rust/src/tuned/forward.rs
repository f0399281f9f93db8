//! A lane of the tuned path: what forwards between two queue pairs by exchange. batch.rs explains the exchange.
#![forbid(unsafe_code)]

use std::mem;

use crate::driver::rx::RxQueue;
use crate::driver::tx::TxQueue;
use crate::error::Result;
use crate::sys::buffers::{Buffer, LocalStack};
use crate::sys::places::Places;
use crate::tuned::batch::{Batch, MAX_BATCH};
use crate::tuned::rx::TunedRx;
use crate::tuned::tx::TunedTx;

/// The forwarder changes this byte of every packet, so that its data reaches the L1 cache.
pub(crate) const TOUCHED_BYTE: usize = 1;

/// All rings of a lane, and its batch, hold places of one memory. So both directions share the batch.
pub(crate) struct TunedLane<'p> {
    /// Of each device.
    pub(super) rx: [TunedRx<'p>; 2],
    pub(super) tx: [TunedTx<'p>; 2],
    pub(super) batch: Batch<'p>,
}

/// Takes buffers out of the pool for good, or `None` if it has too few.
pub(super) fn take<'p>(pool: &LocalStack<'p>, count: usize) -> Option<Vec<Buffer<'p>>> {
    (0..count).map(|_| pool.take()).collect()
}

impl<'p> TunedLane<'p> {
    /// Turns the buffers of running queues into places, with others of their pool. Both RX queues have the same pool,
    /// with buffers [`PACKET_STRIDE_ODD`](crate::driver::mempool::PACKET_STRIDE_ODD) apart. Returns `None` if they have
    /// not, or if there is too little memory.
    pub(crate) fn new(rx: [&mut RxQueue<'p>; 2], tx: [&TxQueue<'p>; 2]) -> Option<Self> {
        let store = rx[0].pool;
        let pool = store.local()?;
        let init_rx = |queue: &mut RxQueue<'p>| {
            let mut buffers = take(&pool, queue.mask + 1)?;
            // The device has the buffers in the slots. The slots get others, which receive nothing.
            for (index, buffer) in buffers.iter_mut().enumerate() {
                mem::swap(buffer, queue.ring.entry(index).slot);
            }
            let places = Places::new(store, buffers)?;
            Some(TunedRx { places })
        };
        let init_tx = |queue: &TxQueue<'p>| {
            let places = Places::new(store, take(&pool, queue.mask + 1)?)?;
            Some(TunedTx { places })
        };
        let ([rx_a, rx_b], [tx_a, tx_b]) = (rx, tx);
        Some(Self {
            rx: [init_rx(rx_a)?, init_rx(rx_b)?],
            tx: [init_tx(tx_a)?, init_tx(tx_b)?],
            batch: Batch::new(Places::new(store, take(&pool, MAX_BATCH)?)?)?,
        })
    }

    /// Forwards up to `wanted` packets from device `FROM` to the other. `rx` and `tx` are the queues of this lane.
    /// Returns how many it received, and how many it sent. The others are dropped.
    ///
    /// # Errors
    /// If a device can no longer be reached.
    #[inline(always)]
    pub(crate) fn forward<const FROM: usize>(
        &mut self,
        rx: &mut RxQueue<'p>,
        tx: &mut TxQueue<'p>,
        wanted: usize,
    ) -> Result<(usize, usize)> {
        let received = self.rx[FROM].rx_batch(rx, &mut self.batch, wanted)?;
        if received == 0 {
            return Ok((0, 0));
        }
        self.batch
            .change_each::<TOUCHED_BYTE>(|byte| byte.wrapping_add(1));
        let sent = self.tx[1 - FROM].tx_batch(tx, &mut self.batch)?;
        Ok((received, sent))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashSet, VecDeque};

    use proptest::prelude::*;

    use super::*;
    use crate::driver::descriptor::Descriptor;
    use crate::driver::mempool::{Mempool, PACKET_STRIDE_ODD};
    use crate::driver::registers::{field64_get, RXD_DD, RXD_EOP, TXD_DTALEN, TXD_RS};
    use crate::test_queues::{cases, Queues, RING_SIZE};
    use crate::vfio::Container;

    /// A lane whose device the test plays. Only one direction has frames.
    struct Played<'p> {
        a: Queues<'p>,
        b: Queues<'p>,
        lane: TunedLane<'p>,
        /// RDH and TDH.
        heads: [usize; 2],
        /// Addresses and sizes of frames that the driver has not received.
        waiting: VecDeque<(u64, u64)>,
    }

    fn with_lane(test: impl FnOnce(&mut Played<'_>)) {
        let capacity = (6 * RING_SIZE + MAX_BATCH) as u32;
        let pool = Mempool::create_strided(&Container::new(), capacity, PACKET_STRIDE_ODD).unwrap();
        let (mut a, mut b) = (Queues::new(&pool), Queues::new(&pool));
        let lane = TunedLane::new([&mut a.rx, &mut b.rx], [&a.tx, &b.tx]).unwrap();
        test(&mut Played {
            a,
            b,
            lane,
            heads: [0, 0],
            waiting: VecDeque::new(),
        });
    }

    impl Played<'_> {
        /// A frame arrives, or a part of one. Returns whether there was a descriptor.
        fn receives(&mut self, size: u64, last: bool) -> bool {
            let head = self.heads[0];
            if head == self.a.rdt.get() as usize {
                return false;
            }
            let address = self.a.rx.ring.entry(head).descriptor.load().lower;
            if last && (1..=2048).contains(&size) {
                self.waiting.push_back((address, size));
            }
            self.a.device_receives(head, size, last);
            self.heads[0] = (head + 1) % RING_SIZE;
            true
        }

        /// The device sends up to `count` packets. It reports those with RS.
        fn sends(&mut self, count: usize) {
            for _ in 0..count {
                let head = self.heads[1];
                if head == self.b.tdt.get() as usize {
                    break;
                }
                if self.b.tx.ring.entry(head).descriptor.load_upper() & TXD_RS != 0 {
                    self.b.device_sends(head);
                }
                self.heads[1] = (head + 1) % RING_SIZE;
            }
        }

        /// Forwards, and checks that what was sent are the frames, in their order.
        fn forward(&mut self, wanted: usize) -> (usize, usize) {
            let first = self.b.tdt.get() as usize;
            let (a, b) = (&mut self.a, &mut self.b);
            let (received, sent) = self
                .lane
                .forward::<0>(&mut a.rx, &mut b.tx, wanted)
                .unwrap();
            assert!(sent <= received && received <= wanted);
            for (nth, (address, size)) in self.waiting.drain(..received).enumerate() {
                if nth < sent {
                    let entry = self.b.tx.ring.entry((first + nth) % RING_SIZE);
                    let Descriptor { lower, upper } = entry.descriptor.load();
                    assert_eq!((lower, field64_get(TXD_DTALEN, upper)), (address, size));
                }
            }
            assert_eq!(self.b.tdt.get() as usize, (first + sent) % RING_SIZE);
            (received, sent)
        }

        /// Whether each buffer is in one place.
        fn has_all_places(&self) -> bool {
            let TunedLane { rx, tx, batch } = &self.lane;
            let rings = [&rx[0].places, &rx[1].places, &tx[0].places, &tx[1].places];
            let rings = rings
                .into_iter()
                .flat_map(|places| (0..RING_SIZE).map(|i| places.offset(i)));
            let all = rings.chain(batch.places.offsets().iter().copied());
            all.collect::<HashSet<_>>().len() == 4 * RING_SIZE + MAX_BATCH
        }
    }

    #[test]
    fn only_every_32nd_descriptor_asks_for_a_report() {
        with_lane(|played| {
            (0..60).for_each(|_| assert!(played.receives(60, true)));
            assert_eq!(played.forward(32), (32, 32));
            assert_eq!(played.forward(32), (28, 28));
            let ring = &mut played.b.tx.ring;
            let asks = |index: &usize| ring.entry(*index).descriptor.load_upper() & TXD_RS != 0;
            assert_eq!((0..60).filter(asks).collect::<Vec<_>>(), [31]);
        });
    }

    #[test]
    fn a_group_counts_only_when_all_four_are_done() {
        with_lane(|played| {
            for _ in 0..4 {
                played.receives(60, true);
            }
            // The third one is late.
            let upper = |played: &mut Played<'_>, value| {
                let descriptor = played.a.rx.ring.entry(2).descriptor;
                let before = descriptor.load_upper();
                descriptor.store_upper(value);
                before
            };
            let written_back = upper(played, 0);
            assert_eq!(played.forward(32), (2, 2));
            assert_eq!(played.forward(32), (0, 0));
            upper(played, written_back);
            assert_eq!(played.forward(32), (2, 2));
            assert_eq!(written_back & (RXD_DD | RXD_EOP), RXD_DD | RXD_EOP);
        });
    }

    #[test]
    fn impossible_lengths_and_parts_are_dropped() {
        with_lane(|played| {
            for (size, last) in [
                (60, true),
                (0, true),
                (2048, true),
                (2049, true),
                (0xffff, true),
            ] {
                played.receives(size, last);
            }
            for (size, last) in [(2048, false), (100, true), (61, true), (62, true)] {
                played.receives(size, last);
            }
            // The end of the frame in two parts is no frame of its own.
            played.waiting.remove(2);
            assert_eq!(played.forward(32), (4, 4));
            assert_eq!(played.a.rx.discard.discarded, 4);
            // The next batch begins at a multiple of four again.
            (0..43).for_each(|_| assert!(played.receives(60, true)));
            played.forward(32);
            assert_eq!(played.a.rx.index % 4, 0);
        });
    }

    #[test]
    fn a_full_ring_drops_and_goes_on() {
        with_lane(|played| {
            (0..63).for_each(|_| assert!(played.receives(60, true)));
            assert_eq!(played.forward(63), (60, 60));
            assert_eq!(played.forward(32), (3, 3));
            (0..32).for_each(|_| assert!(played.receives(60, true)));
            // Three less, so that the next batch begins at a multiple of four.
            assert_eq!(played.forward(32), (29, 0));
            assert!(played.has_all_places());
            played.sends(32);
            (0..31).for_each(|_| assert!(played.receives(60, true)));
            assert_eq!(played.forward(32), (32, 32));
            assert_eq!(played.b.tx.done, 32);
        });
    }

    #[test]
    fn queues_of_different_pools_are_refused() {
        let pools = [(); 2]
            .map(|()| Mempool::create_strided(&Container::new(), 1024, PACKET_STRIDE_ODD).unwrap());
        let (mut a, mut b) = (Queues::new(&pools[0]), Queues::new(&pools[1]));
        assert!(TunedLane::new([&mut a.rx, &mut b.rx], [&a.tx, &b.tx]).is_none());
    }

    #[test]
    fn buffers_that_are_too_small_are_refused() {
        let pool = Mempool::create(&Container::new(), 1024).unwrap();
        let (mut a, mut b) = (Queues::new(&pool), Queues::new(&pool));
        assert!(TunedLane::new([&mut a.rx, &mut b.rx], [&a.tx, &b.tx]).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases(2)))]

        /// Whatever the device does, frames are sent in their order, and no buffer is lost or shared.
        #[test]
        fn buffers_are_only_exchanged(
            steps in prop::collection::vec((0..40usize, 1..3000u64, 1..=64usize, 0..64usize), 1..60),
        ) {
            with_lane(|played| {
                for (frames, size, wanted, sent) in &steps {
                    for _ in 0..*frames {
                        played.receives(*size, true);
                    }
                    played.forward(*wanted);
                    played.sends(*sent);
                }
                assert!(played.has_all_places());
            });
        }
    }
}
