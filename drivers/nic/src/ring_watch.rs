//! Views of a port's first two rings, for a program that shows what driver and card share.
//!
//! A driver changes descriptors and then writes a register, all in one call. So a program that only
//! looks between two calls misses the states in between. It can have the card look for it: whenever
//! the driver writes one of the watched registers, just before the write takes effect.

use crate::device::card::Device;
use crate::device::registers as r;
use crate::device::ring::DESCRIPTOR_LEN;
use crate::device::ring_views::{RingView, RingViews, WatchedWrite};
use crate::port::Port;

impl Device {
    /// Both rings at this moment.
    fn ring_views(&mut self) -> RingViews {
        self.publish();
        let view = |low, high, len, head, tail| {
            let peek = |address| self.registers.peek(address);
            let base = u64::from(peek(low)) | u64::from(peek(high)) << 32;
            let count = u64::from(peek(len)) / DESCRIPTOR_LEN;
            let descriptors = (0..count).map_while(|nth| {
                let mut bytes = [0; DESCRIPTOR_LEN as usize];
                let at = base.checked_add(nth * DESCRIPTOR_LEN)?;
                self.dma.read(at, &mut bytes).ok()?;
                let both = u128::from_le_bytes(bytes);
                Some([both as u64, (both >> 64) as u64])
            });
            RingView {
                head: peek(head),
                tail: peek(tail),
                descriptors: descriptors.collect(),
            }
        };
        RingViews {
            receive: view(r::RDBAL(0), r::RDBAH(0), r::RDLEN(0), r::RDH(0), r::RDT(0)),
            transmit: view(r::TDBAL(0), r::TDBAH(0), r::TDLEN(0), r::TDH(0), r::TDT(0)),
        }
    }

    /// Notes a driver's write, before its effect, if the register is watched.
    pub(crate) fn note_watched(&mut self, address: u32, value: u32) {
        if self.watch.addresses.contains(&address) {
            let rings = self.ring_views();
            self.watch.writes.push(WatchedWrite {
                address,
                value,
                rings,
            });
        }
    }
}

impl Port {
    /// Both rings of queue 0 at this moment. This has no side effects.
    pub fn rings(&self) -> RingViews {
        self.device().ring_views()
    }

    /// From now on, keeps the rings as they are just before each driver's write to one of these
    /// registers. In shared mode the card does not see the writes to the queues' registers
    /// ([`MmioMode`](crate::MmioMode)).
    pub fn watch(&self, addresses: &[u32]) {
        self.device().watch.addresses = addresses.to_vec();
    }

    /// The watched writes since the last call, in their order.
    pub fn take_watched(&self) -> Vec<WatchedWrite> {
        std::mem::take(&mut self.device().watch.writes)
    }
}
