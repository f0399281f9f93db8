//! The buffers between the core and its caches, which LLVM's scheduling model lacks.

use std::collections::VecDeque;

use crate::cpu::Core;
use crate::stream::Access;

/// Requests of which only so many may be on their way at a time.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    limit: usize,
    /// Start and end of the requests that may still be on their way.
    active: Vec<(u64, u64)>,
}

impl Requests {
    pub fn new(limit: u32) -> Self {
        Self {
            limit: limit.max(1) as usize,
            active: Vec::new(),
        }
    }

    /// Forgets the requests that ended before `cycle`. No later request may start before it.
    pub fn forget_before(&mut self, cycle: u64) {
        self.active.retain(|(_, end)| *end > cycle);
    }

    /// Starts a request of `cycles` as early as possible from `ready` on, and returns its start.
    ///
    /// Requests come in program order, not in the order of time. So a request may start before others that are known.
    pub fn start(&mut self, ready: u64, cycles: u64) -> u64 {
        let mut start = ready;
        loop {
            let overlapping = self
                .active
                .iter()
                .filter(|(from, to)| *from < start + cycles && start < *to);
            if overlapping.clone().count() < self.limit {
                self.active.push((start, start + cycles));
                return start;
            }
            // The next chance is the first end of a request in the way.
            start = overlapping.map(|(_, to)| *to).min().unwrap_or(start + 1);
        }
    }
}

/// A store between its execution and its way into the cache.
#[derive(Clone, Copy, Debug)]
struct Store {
    address: u64,
    bytes: u64,
    /// The cycle in which its data are known.
    data: u64,
    /// The cycle in which its instruction retires.
    retired: u64,
    /// The cycle in which it leaves the buffer.
    left: u64,
}

impl Store {
    /// Whether it writes a byte that `load` reads, as far as the bits of `mask` can tell.
    fn overlaps(&self, load: &Access, mask: u64) -> bool {
        let (store, load_from) = (self.address & mask, load.address & mask);
        store < load_from + u64::from(load.bytes) && load_from < store + self.bytes
    }
}

/// What a load finds in the store buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forwarding {
    /// No store to these bytes.
    Nothing,
    /// A store wrote all bytes. They are known in this cycle.
    From(u64),
    /// A store wrote some of the bytes. The load waits until the store has left the buffer.
    BlockedUntil(u64),
}

/// The stores in program order. They leave the buffer in this order.
#[derive(Clone, Debug)]
pub(super) struct StoreBuffer {
    size: usize,
    stores: VecDeque<Store>,
    last_left: u64,
    /// Whether hits keep misses apart.
    hits_part_misses: bool,
    /// Requests of stores that miss start from this cycle on.
    misses_from: u64,
    /// The bits of an address by which a load first looks for a store.
    aliasing_mask: u64,
}

impl StoreBuffer {
    pub fn new(core: &Core) -> Self {
        Self {
            size: core.store_buffer.max(1) as usize,
            aliasing_mask: match core.aliasing_bits {
                bits @ 1..=63 => (1 << bits) - 1,
                _ => u64::MAX,
            },
            stores: VecDeque::new(),
            last_left: 0,
            hits_part_misses: core.hits_part_store_misses,
            misses_from: 0,
        }
    }

    /// The first cycle in which the buffer has a free entry. The caller then adds a store.
    pub fn free_from(&mut self) -> u64 {
        let mut free = 0;
        while self.stores.len() >= self.size {
            free = self.stores.pop_front().map_or(free, |store| store.left);
        }
        free
    }

    /// Adds a store. Its data are known in the cycle `data`, its instruction retires in the cycle `retired`, and its line is
    /// there in the cycle `line`. Then it holds the head of the buffer for `holds` cycles, at least one.
    pub fn add(&mut self, access: &Access, data: u64, retired: u64, line: u64, holds: u64) {
        self.last_left = self.last_left.max(line) + holds.max(1);
        self.stores.push_back(Store {
            address: access.address,
            bytes: u64::from(access.bytes),
            data,
            retired,
            left: self.last_left,
        });
    }

    /// The last store found its line in L1.
    pub fn last_hit(&mut self) {
        if self.hits_part_misses {
            self.misses_from = self.last_left;
        }
    }

    /// The first cycle in which a store that misses may request its line.
    pub fn misses_from(&self) -> u64 {
        self.misses_from
    }

    /// The cycle in which the last store leaves the buffer.
    pub fn empty_from(&self) -> u64 {
        self.last_left
    }

    /// The cycle from which a load may start that is ready in the cycle `at`. The low bits of its address may equal those of
    /// an earlier store to another address. The load then waits until that store retires.
    pub fn aliased_until(&self, load: &Access, at: u64) -> u64 {
        let newest = self
            .stores
            .iter()
            .rev()
            .take_while(|store| store.left > at)
            .find(|store| store.overlaps(load, self.aliasing_mask));
        match newest {
            Some(store) if !store.overlaps(load, u64::MAX) => at.max(store.retired),
            _ => at,
        }
    }

    /// What a load in the cycle `at` finds.
    pub fn forward(&self, load: &Access, at: u64) -> Forwarding {
        let end = load.address + u64::from(load.bytes);
        let newest = self
            .stores
            .iter()
            .rev()
            .take_while(|store| store.left > at)
            .find(|store| store.overlaps(load, u64::MAX));
        match newest {
            None => Forwarding::Nothing,
            Some(store) if store.address <= load.address && end <= store.address + store.bytes => {
                Forwarding::From(store.data)
            }
            Some(store) => Forwarding::BlockedUntil(store.left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Cpu;
    use crate::stream::{AccessKind, Memory};

    fn buffer(size: u32) -> StoreBuffer {
        let mut core = Cpu::named("haswell").unwrap().core;
        core.store_buffer = size;
        core.hits_part_store_misses = false;
        StoreBuffer::new(&core)
    }

    fn access(address: u64, bytes: u16) -> Access {
        Access {
            address,
            bytes,
            kind: AccessKind::Store,
            memory: Memory::WriteBack,
        }
    }

    #[test]
    fn requests_beyond_the_limit_wait_for_the_first_end() {
        let mut requests = Requests::new(2);
        let starts: Vec<u64> = (0..5).map(|_| requests.start(10, 30)).collect();
        assert_eq!(starts, [10, 10, 40, 40, 70]);
    }

    #[test]
    fn an_earlier_request_fits_before_later_ones() {
        let mut requests = Requests::new(1);
        assert_eq!(requests.start(100, 30), 100);
        assert_eq!(requests.start(10, 30), 10);
        assert_eq!(requests.start(80, 30), 130);
    }

    #[test]
    fn stores_leave_in_order_and_free_their_entries() {
        let mut buffer = buffer(2);
        buffer.add(&access(0, 8), 5, 5, 100, 1);
        buffer.add(&access(64, 8), 6, 6, 7, 1);
        assert_eq!(buffer.free_from(), 101);
        buffer.add(&access(128, 8), 8, 8, 9, 50);
        assert_eq!(buffer.empty_from(), 152);
        assert_eq!(buffer.free_from(), 102);
    }

    #[test]
    fn a_load_takes_its_bytes_from_the_newest_store() {
        let mut buffer = buffer(4);
        buffer.add(&access(0x100, 8), 5, 5, 50, 1);
        buffer.add(&access(0x100, 4), 9, 9, 50, 1);
        assert_eq!(buffer.forward(&access(0x100, 4), 10), Forwarding::From(9));
        assert_eq!(buffer.forward(&access(0x104, 4), 10), Forwarding::From(5));
        assert_eq!(
            buffer.forward(&access(0x100, 8), 10),
            Forwarding::BlockedUntil(52)
        );
        assert_eq!(buffer.forward(&access(0x108, 8), 10), Forwarding::Nothing);
        assert_eq!(buffer.forward(&access(0x100, 4), 60), Forwarding::Nothing);
    }

    #[test]
    fn a_load_waits_for_a_store_with_the_same_low_bits() {
        let mut buffer = buffer(4);
        buffer.add(&access(0x1100, 8), 5, 30, 50, 1);
        assert_eq!(buffer.aliased_until(&access(0x2104, 4), 10), 30);
        assert_eq!(buffer.aliased_until(&access(0x2104, 4), 40), 40);
        assert_eq!(buffer.aliased_until(&access(0x2108, 4), 10), 10);
        // The same address is no alias: the store forwards.
        assert_eq!(buffer.aliased_until(&access(0x1104, 4), 10), 10);
        // Nor is one that a newer store to the same address hides.
        buffer.add(&access(0x2100, 8), 6, 32, 50, 1);
        assert_eq!(buffer.aliased_until(&access(0x2104, 4), 10), 10);
    }
}
