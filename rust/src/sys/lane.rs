//! Queues that move to another thread.
//!
//! A packet changes the free stack of its pool when it is dropped, without a lock. So a pool, its
//! packets, and the rings that hold them may only move together. A *lane* is such a set: queue `i` of
//! both devices with their two pools. It is `Send`; a queue, a pool and a packet alone are not.

use super::mmio::Register;
use crate::driver::mempool::Mempool;
use crate::driver::rx::RxQueue;
use crate::driver::tx::TxQueue;

/// The queues of a lane, borrowed from their devices, and the state of the forwarder in `state`.
pub struct LaneQueues<'f, 'p, S> {
    /// The receive queues of both devices.
    pub rx: [&'f mut RxQueue<'p>; 2],
    /// The transmit queues of both devices.
    pub tx: [&'f mut TxQueue<'p>; 2],
    /// RDH of both receive queues. The caller has them only if the doorbells are mapped too.
    pub heads: &'f [Register; 2],
    /// What the forwarder keeps for the lane.
    pub state: &'f mut S,
}

// SAFETY: this is a set of borrows, so dropping it in another thread frees nothing, and no other code
// reaches the queues and the state while it lives. `new` has checked the rest:
// - All packets of the two pools are in these rings or free. A turn moves packets between these rings
//   and pools, and the caller lets none out. So only the lane's thread changes the two free stacks.
// - The pools' other owners leave them alone: `forwarder.rs` keeps them private, and its own methods
//   borrow the forwarder, which `'f` forbids.
// - The doorbells are mapped registers, as `heads` shows. A store to one does not count references, and
//   the other fields with a count (`Rc`) are used only when a queue is made or dropped, by the thread of
//   the device.
// - `S` holds packets and plain numbers: only `forwarder.rs` makes a lane.
unsafe impl<S> Send for LaneQueues<'_, '_, S> {}

/// The packets of `pool` in the rings of these queues. `None` if a packet is of neither pool.
fn in_rings(rx: &[&mut RxQueue<'_>; 2], tx: &[&mut TxQueue<'_>; 2]) -> Option<[usize; 2]> {
    let pools = [rx[0].pool, rx[1].pool];
    let mut counts = [0; 2];
    let received = rx.iter().flat_map(|queue| queue.ring.slots());
    let sent = tx.iter().flat_map(|queue| queue.in_flight());
    for packet in received.chain(sent) {
        let of = |pool: &&Mempool| pool.owns(packet);
        counts[pools.iter().position(of)?] += 1;
    }
    Some(counts)
}

impl<'f, 'p, S> LaneQueues<'f, 'p, S> {
    /// Makes a lane of queues. `None` if a packet of the two pools is not in the rings of these queues, or
    /// a packet in them is of another pool.
    pub fn new(
        rx: [&'f mut RxQueue<'p>; 2],
        tx: [&'f mut TxQueue<'p>; 2],
        heads: &'f [Register; 2],
        state: &'f mut S,
    ) -> Option<Self> {
        let counts = in_rings(&rx, &tx)?;
        let all_inside = |(queue, count): (&&mut RxQueue<'p>, usize)| {
            queue.pool.free_count() + count == queue.pool.capacity()
        };
        if std::ptr::eq(rx[0].pool, rx[1].pool) || !rx.iter().zip(counts).all(all_inside) {
            return None;
        }
        Some(Self {
            rx,
            tx,
            heads,
            state,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::mmio::tests::area_of_a_page;
    use super::*;
    use crate::test_queues::{pool, Queues, POOL_CAPACITY};

    /// Registers in a file.
    fn heads() -> [Register; 2] {
        let area = area_of_a_page();
        [0, 4].map(|offset| area.register(offset).unwrap())
    }

    /// Whether the queues of `a` and `b` make a lane.
    fn is_lane<'p>(a: &mut Queues<'p>, b: &mut Queues<'p>) -> bool {
        let (rx, tx) = ([&mut a.rx, &mut b.rx], [&mut a.tx, &mut b.tx]);
        LaneQueues::new(rx, tx, &heads(), &mut ()).is_some()
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn queues_with_all_their_packets_make_a_lane() {
        let pools = [pool(POOL_CAPACITY), pool(POOL_CAPACITY)];
        let (mut a, mut b) = (Queues::new(&pools[0]), Queues::new(&pools[1]));
        assert!(is_lane(&mut a, &mut b));
        // Packets that were received from one device wait in the ring of the other.
        let mut packets = Vec::new();
        for i in 0..8 {
            a.device_receives(i, 60, true);
        }
        assert_eq!(a.rx.rx_batch(&mut packets, 8).unwrap(), 8);
        assert!(!is_lane(&mut a, &mut b));
        assert_eq!(b.tx.tx_batch(&mut packets).unwrap(), 8);
        assert!(is_lane(&mut a, &mut b));
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn a_packet_elsewhere_keeps_the_queues() {
        let pools = [pool(POOL_CAPACITY), pool(POOL_CAPACITY)];
        let (mut a, mut b) = (Queues::new(&pools[0]), Queues::new(&pools[1]));
        let held = pools[1].alloc().unwrap();
        assert!(!is_lane(&mut a, &mut b));
        drop(held);
        assert!(is_lane(&mut a, &mut b));
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn a_packet_of_another_lane_keeps_the_queues() {
        let pools = [0; 3].map(|_| pool(POOL_CAPACITY));
        let (mut a, mut b) = (Queues::new(&pools[0]), Queues::new(&pools[1]));
        let mut foreign = vec![pools[2].alloc().unwrap()];
        assert_eq!(b.tx.tx_batch(&mut foreign).unwrap(), 1);
        assert!(!is_lane(&mut a, &mut b));
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn queues_of_one_pool_are_no_lane() {
        let pool = pool(POOL_CAPACITY);
        let (mut a, mut b) = (Queues::new(&pool), Queues::new(&pool));
        assert!(!is_lane(&mut a, &mut b));
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn a_lane_works_in_another_thread() {
        let pools = [pool(POOL_CAPACITY), pool(POOL_CAPACITY)];
        let (mut a, mut b) = (Queues::new(&pools[0]), Queues::new(&pools[1]));
        for i in 0..8 {
            a.device_receives(i, 60, true);
        }
        let heads = heads();
        let mut packets = Vec::new();
        let (rx, tx) = ([&mut a.rx, &mut b.rx], [&mut a.tx, &mut b.tx]);
        let mut lane = LaneQueues::new(rx, tx, &heads, &mut packets).unwrap();
        let sent = std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                let lane = &mut lane;
                lane.rx[0].rx_batch(lane.state, 8)?;
                lane.tx[1].tx_batch(lane.state)
            });
            thread.join().unwrap().unwrap()
        });
        assert_eq!(sent, 8);
        assert!(is_lane(&mut a, &mut b));
    }
}
