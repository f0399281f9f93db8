//! Queues without a device: rings in the DMA memory of a container without devices, and variables
//! as tail registers. The test plays the device.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)] // for tests
#![cfg_attr(not(test), allow(dead_code))] // some of it is for unit tests only

#[cfg(test)]
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

#[cfg(test)]
use rustix::fs::{fcntl_add_seals, ftruncate, memfd_create, MemfdFlags, SealFlags};

use crate::driver::descriptor::Descriptor;
use crate::driver::mempool::Mempool;
use crate::driver::register_access::Tail;
use crate::driver::registers::{RXD_DD, RXD_EOP, TXD_DD};
use crate::driver::rx::{Discard, RxQueue};
use crate::driver::tx::TxQueue;
use crate::sys::dma::Ring;
#[cfg(test)]
use crate::sys::mmio::{Area, BarFile, Register};
use crate::vfio::Container;

pub(crate) const RING_SIZE: usize = 64;
/// How often tests go round a ring. Miri is slow, so it does fewer rounds.
pub(crate) const ROUNDS: usize = if cfg!(miri) { 2 } else { 25 };

/// The number of random inputs of a test: `IXGBE_TEST_CASES`, or else 256, or fewer under Miri.
#[cfg(test)]
pub(crate) fn cases(under_miri: u32) -> u32 {
    let given = std::env::var("IXGBE_TEST_CASES");
    let given = given.ok().and_then(|cases| cases.parse().ok());
    given.unwrap_or(if cfg!(miri) { under_miri } else { 256 })
}

pub(crate) const POOL_CAPACITY: u32 = 256;

/// A variable in place of a tail register.
#[derive(Clone)]
pub(crate) struct FakeTail(Arc<AtomicU32>);

impl FakeTail {
    pub(crate) fn new(value: u32) -> Self {
        Self(Arc::new(AtomicU32::new(value)))
    }

    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }
}

pub(crate) struct Queues<'p> {
    pub(crate) rx: RxQueue<'p>,
    pub(crate) tx: TxQueue<'p>,
    pub(crate) rdt: FakeTail,
    pub(crate) tdt: FakeTail,
}

pub(crate) fn pool(capacity: u32) -> Mempool {
    Mempool::create(&Container::new(), capacity).unwrap()
}

/// Two registers in a file.
#[cfg(test)]
pub(crate) fn registers() -> [Register; 2] {
    let size = 4096;
    let fd = memfd_create("registers", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&fd, size as u64).unwrap();
    fcntl_add_seals(&fd, SealFlags::SHRINK).unwrap();
    let file = BarFile::of_server(fd.as_fd()).unwrap();
    let area = Arc::new(Area::map(&file, 0, 0, size).unwrap());
    [0, 4].map(|offset| area.register(offset).unwrap())
}

impl<'p> Queues<'p> {
    pub(crate) fn new(pool: &'p Mempool) -> Self {
        let container = Container::new();
        let packets = (0..RING_SIZE).map(|_| pool.alloc().unwrap().buffer);
        let nothing = (0..RING_SIZE).map(|_| None).collect();
        let mut rx_ring = Ring::alloc(&container, packets.collect()).unwrap();
        let tx_ring = Ring::alloc(&container, nothing).unwrap();
        for i in 0..RING_SIZE {
            let entry = rx_ring.entry(i);
            let lower = entry.slot.iova();
            entry.descriptor.store(Descriptor { lower, upper: 0 });
        }
        let rdt = FakeTail::new(RING_SIZE as u32 - 1);
        let tdt = FakeTail::new(0);
        Self {
            rx: RxQueue {
                ring: rx_ring,
                pool: &pool.buffers,
                tail: Tail::Fake(rdt.clone()),
                mask: RING_SIZE - 1,
                index: 0,
                pool_empty: 0,
                discard: Discard::default(),
                suspect: None,
            },
            tx: TxQueue {
                ring: tx_ring,
                tail: Tail::Fake(tdt.clone()),
                mask: RING_SIZE - 1,
                index: 0,
                clean_index: 0,
                done: 0,
            },
            rdt,
            tdt,
        }
    }

    /// Writes back RX descriptor `index`: a frame of `size` bytes, or a part of one.
    pub(crate) fn device_receives(&mut self, index: usize, size: u64, last: bool) {
        let eop = if last { RXD_EOP } else { 0 };
        let upper = size << 32 | RXD_DD | eop;
        let entry = self.rx.ring.entry(index);
        entry.descriptor.store(Descriptor { lower: 0, upper });
    }

    /// Reports TX descriptor `index` as sent.
    pub(crate) fn device_sends(&mut self, index: usize) {
        let entry = self.tx.ring.entry(index);
        let upper = entry.descriptor.load_upper() | TXD_DD;
        entry.descriptor.store(Descriptor { lower: 0, upper });
    }
}
