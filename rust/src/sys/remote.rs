//! Packets in other threads than that of their pool, and the ends of a pipeline of threads.
//!
//! A [`Packet`] changes the free stack of its pool when it is dropped, without a lock. So it stays in the
//! thread of the pool. A [`RemotePacket`] goes onto the pool's return list instead, from which that thread
//! takes it (`Mempool::take_returned`). So it is `Send`, and any thread may drop it.

use std::mem::ManuallyDrop;

use super::buffers::buffers_return;
use super::mmio::Register;
use crate::driver::mempool::Packet;
use crate::driver::rx::RxQueue;
use crate::driver::tx::TxQueue;
use crate::error::Result;

/// Sent packets come home so many at a time: one look at DD and one atomic access for all.
const TAKE_BATCH: usize = 32;

/// A packet that may move to another thread. It comes home to its pool wherever it is dropped.
///
/// ```
/// # use ixgbe::{driver::mempool::Mempool, rooms::pipeline::RemotePacket, vfio::Container};
/// let pool = Mempool::create(&Container::new(), 64).unwrap();
/// let mut packet = RemotePacket::from(pool.alloc().unwrap());
/// std::thread::scope(|scope| {
///     scope.spawn(move || packet.change_at(0, |byte| byte + 1));
/// });
/// assert_eq!(pool.free_count(), 63);
/// pool.take_returned();
/// assert_eq!(pool.free_count(), 64);
/// ```
///
/// A device does not take it, because the packets in its rings come back to the thread of the device:
///
/// ```compile_fail,E0308
/// # use ixgbe::{driver::device::Device, rooms::pipeline::RemotePacket};
/// fn send<'p>(device: &mut Device<'p>, packets: &mut Vec<RemotePacket<'p>>) {
///     device.tx_batch(0, packets).unwrap();
/// }
/// ```
///
/// It cannot outlive its pool either:
///
/// ```compile_fail,E0597
/// # use ixgbe::{driver::mempool::Mempool, rooms::pipeline::RemotePacket, vfio::Container};
/// let packet = {
///     let pool = Mempool::create(&Container::new(), 64).unwrap();
///     RemotePacket::from(pool.alloc().unwrap())
/// };
/// ```
pub struct RemotePacket<'p> {
    /// Never dropped, but for its way back through the return list.
    packet: ManuallyDrop<Packet<'p>>,
}

// SAFETY: the packet's bytes, size and link have one owner, which is this value. The rest of its header
// never changes. It shares its pool with other threads only when it is dropped, and then only the return
// list, whose accesses are atomic. The lifetime keeps the pool alive. A `&mut Packet`, by which safe code
// could take the packet out, stays in this file.
unsafe impl Send for RemotePacket<'_> {}

impl<'p> From<Packet<'p>> for RemotePacket<'p> {
    #[inline]
    fn from(packet: Packet<'p>) -> Self {
        Self {
            packet: ManuallyDrop::new(packet),
        }
    }
}

impl Drop for RemotePacket<'_> {
    fn drop(&mut self) {
        // SAFETY: this is the last use of the field.
        let packet = unsafe { ManuallyDrop::take(&mut self.packet) };
        buffers_return(std::iter::once(packet.buffer));
    }
}

impl<'p> RemotePacket<'p> {
    /// Bytes of data.
    #[inline]
    pub fn size(&self) -> usize {
        self.packet.size()
    }

    /// Copies the bytes from `offset` on to `into`. Returns false and copies nothing if they are not all
    /// inside the packet.
    #[inline]
    #[must_use]
    pub fn read_at(&self, offset: usize, into: &mut [u8]) -> bool {
        self.packet.read_at(offset, into)
    }

    /// Copies `from` to the bytes from `offset` on. Returns false and copies nothing if they are not all
    /// inside the packet.
    #[inline]
    #[must_use]
    pub fn write_at(&mut self, offset: usize, from: &[u8]) -> bool {
        self.packet.write_at(offset, from)
    }

    /// Replaces byte `index` by what `change` makes of it. Returns false if the packet is shorter.
    #[inline]
    pub fn change_at(&mut self, index: usize, change: impl FnOnce(u8) -> u8) -> bool {
        self.packet.change_at(index, change)
    }

    /// The packet, without the way back through the return list.
    ///
    /// # Safety
    /// Only the thread of the pool may drop the packet.
    #[inline]
    unsafe fn into_local(self) -> Packet<'p> {
        let mut remote = ManuallyDrop::new(self);
        // SAFETY: `remote` is not used again, and not dropped.
        unsafe { ManuallyDrop::take(&mut remote.packet) }
    }
}

/// A receive queue and its pool, borrowed from their device. It gives out remote packets only.
pub struct RxEnd<'f, 'p> {
    rx: &'f mut RxQueue<'p>,
    /// RDH. The caller has it only if the doorbells are mapped too.
    head: &'f Register,
    /// Empty between two calls, but after an error.
    received: Vec<Packet<'p>>,
}

// SAFETY: as for `LaneQueues`: `new` has checked that all packets of the pool that are not remote are
// free or in this ring, and no call lets such a packet out. So only the thread that has this value changes
// the free stack. It owns the packets in `received`, too. The other owner of the pool, the forwarder, is
// borrowed until all ends of its pipeline are gone.
unsafe impl Send for RxEnd<'_, '_> {}

impl<'f, 'p> RxEnd<'f, 'p> {
    /// `None` if a packet of the pool is elsewhere, or a packet in the ring is of another pool. A remote
    /// packet that has not come home counts as elsewhere.
    pub fn new(rx: &'f mut RxQueue<'p>, head: &'f Register, batch: usize) -> Option<Self> {
        let pool = rx.pool;
        pool.take_returned();
        let slots = rx.ring.slots();
        let all_inside = pool.free_count() + slots.len() == pool.capacity();
        if !all_inside || !slots.iter().all(|packet| pool.owns(packet)) {
            return None;
        }
        Some(Self {
            rx,
            head,
            received: Vec::with_capacity(batch),
        })
    }

    /// Frees the packets that have come home, and receives up to `count` packets.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    #[inline]
    pub fn receive(
        &mut self,
        count: usize,
    ) -> Result<impl ExactSizeIterator<Item = RemotePacket<'p>> + '_> {
        self.rx.pool.take_returned();
        self.rx.rx_batch(&mut self.received, count)?;
        Ok(self.received.drain(..).map(RemotePacket::from))
    }

    /// The packets of the pool.
    pub fn capacity(&self) -> usize {
        self.rx.pool.capacity()
    }

    /// Checks that the queue is not stalled.
    ///
    /// # Errors
    /// If it is, in two calls in a row.
    pub fn check(&mut self, address: &str, queue: u32) -> Result<()> {
        let head = self.head;
        self.rx.rx_check_stall(address, queue, || Ok(head.load()))
    }
}

/// A transmit queue, borrowed from its device. It takes remote packets, and returns them to their pools.
pub struct TxEnd<'f, 'p> {
    tx: &'f mut TxQueue<'p>,
}

// SAFETY: `new` has checked that the ring was empty. So all packets in it came by `send`, and leave it by
// `take_sent`, or in the thread of the device, which is also that of the pools by then: it has the queue
// again only when all ends of the pipeline are gone. No call drops a packet in the ring. Doorbells are
// mapped registers, as for `RxEnd`.
unsafe impl Send for TxEnd<'_, '_> {}

impl<'f, 'p> TxEnd<'f, 'p> {
    /// `None` if there are packets in the ring. The doorbells must be mapped.
    pub fn new(tx: &'f mut TxQueue<'p>) -> Option<Self> {
        tx.tx_reclaim();
        let empty = tx.in_flight().next().is_none();
        empty.then_some(Self { tx })
    }

    /// Returns sent packets to their pools.
    #[inline]
    pub fn take_sent(&mut self) {
        while let Some(sent) = self.tx.tx_take(TAKE_BATCH) {
            buffers_return(sent.map(|packet| packet.buffer));
        }
    }

    /// The packets that the ring can take.
    #[inline]
    pub fn space(&self) -> usize {
        self.tx.tx_space()
    }

    /// Hands packets to the device, as many as the ring can take. Returns their number. The others stay in
    /// the iterator.
    ///
    /// # Errors
    /// If the device can no longer be reached.
    #[inline]
    pub fn send(
        &mut self,
        packets: impl ExactSizeIterator<Item = RemotePacket<'p>>,
    ) -> Result<usize> {
        let sent = packets.len().min(self.space());
        // SAFETY: `tx_put` moves each packet into the ring, where nothing drops it.
        let packets = packets.map(|packet| unsafe { packet.into_local() });
        self.tx.tx_put(packets.take(sent), sent)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::super::mmio::tests::area_of_a_page;
    use super::*;
    use crate::test_queues::{pool, Queues, POOL_CAPACITY, RING_SIZE};

    /// A register in a file.
    fn head() -> Register {
        let area = area_of_a_page();
        area.register(0).unwrap()
    }

    #[test]
    fn packets_come_home_from_any_thread() {
        let pool = pool(POOL_CAPACITY);
        let rounds = if cfg!(miri) { 2 } else { 20 };
        for round in 0..rounds {
            let packets = std::iter::from_fn(|| pool.alloc());
            let mut packets: Vec<_> = packets.map(RemotePacket::from).collect();
            assert_eq!((packets.len(), pool.free_count()), (pool.capacity(), 0));
            thread::scope(|scope| {
                for _ in 0..3 {
                    let part = packets.split_off(packets.len() - POOL_CAPACITY as usize / 4);
                    scope.spawn(move || {
                        for (index, mut packet) in part.into_iter().enumerate() {
                            assert!(packet.packet.set_size(60) && packet.size() == 60);
                            assert!(packet.write_at(0, &[round, index as u8]));
                        }
                    });
                }
                // Meanwhile, the pool's thread takes what is there.
                pool.take_returned();
            });
            drop(packets);
            pool.take_returned();
            assert_eq!(pool.free_count(), pool.capacity());
            pool.take_returned();
            assert_eq!(pool.free_count(), pool.capacity());
        }
    }

    #[test]
    fn a_panic_in_another_thread_loses_no_packet() {
        let pool = pool(POOL_CAPACITY);
        let packet = RemotePacket::from(pool.alloc().unwrap());
        let result = thread::scope(|scope| {
            let thread = scope.spawn(move || {
                let _held = packet;
                panic!("on purpose");
            });
            thread.join()
        });
        assert!(result.is_err());
        pool.take_returned();
        assert_eq!(pool.free_count(), pool.capacity());
    }

    #[test]
    fn packets_of_two_pools_come_home_to_theirs() {
        let pools = [pool(8), pool(8)];
        let packets: Vec<_> = [0, 0, 1, 1, 1, 0]
            .map(|which: usize| pools[which].alloc().unwrap())
            .into();
        buffers_return(packets.into_iter().map(|packet| packet.buffer));
        for pool in &pools {
            pool.take_returned();
            assert_eq!(pool.free_count(), 8);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn the_ends_of_a_pipeline_work_in_other_threads() {
        let pool = pool(POOL_CAPACITY);
        let head = head();
        let mut queues = Queues::new(&pool);
        for i in 0..40 {
            queues.device_receives(i, 60, true);
        }
        let Queues { rx, tx, .. } = &mut queues;
        let mut rx_end = RxEnd::new(rx, &head, 32).unwrap();
        let mut tx_end = TxEnd::new(tx).unwrap();
        let (sent, tx_end) = thread::scope(|scope| {
            let packets: Vec<_> = rx_end.receive(40).unwrap().collect();
            let thread = scope.spawn(move || {
                assert_eq!(tx_end.space(), RING_SIZE - 1);
                let sent = tx_end.send(packets.into_iter()).unwrap();
                tx_end.take_sent();
                (sent, tx_end)
            });
            thread.join().unwrap()
        });
        assert_eq!((sent, tx_end.space()), (40, RING_SIZE - 41));
        // Back in the thread of the device.
        for i in 0..40 {
            queues.device_sends(i);
        }
        let mut tx_end = TxEnd { tx: &mut queues.tx };
        thread::scope(|scope| {
            scope.spawn(move || tx_end.take_sent());
        });
        let free = pool.free_count();
        pool.take_returned();
        assert_eq!(pool.free_count(), free + 32);
        drop(queues);
        assert_eq!(pool.free_count(), pool.capacity());
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps a file")]
    fn a_packet_elsewhere_keeps_the_ends() {
        let pool = pool(POOL_CAPACITY);
        let head = head();
        let mut queues = Queues::new(&pool);
        let held = pool.alloc().unwrap();
        assert!(RxEnd::new(&mut queues.rx, &head, 32).is_none());
        // A remote packet that has come home does not.
        drop(RemotePacket::from(held));
        assert!(RxEnd::new(&mut queues.rx, &head, 32).is_some());
        let mut packets = vec![pool.alloc().unwrap()];
        assert_eq!(queues.tx.tx_batch(&mut packets).unwrap(), 1);
        assert!(TxEnd::new(&mut queues.tx).is_none());
        queues.device_sends(0);
        assert!(TxEnd::new(&mut queues.tx).is_some());
    }
}
