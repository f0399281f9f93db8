//! A ring of descriptors in the driver's memory: what receive and transmit queues have in common. The
//! card owns the descriptors from the head up to, but not including, the tail.

use crate::device::dma_port::DmaPort;
use crate::device::registers as r;
use crate::memory::dma_fault::{Direction, Purpose};
use crate::memory::shared::{prefetch, Descriptor};

/// Bytes of a descriptor.
pub(crate) const DESCRIPTOR_LEN: u64 = 16;

/// Descriptors in a batch. While the card works on one batch, it prefetches the next one.
pub(crate) const BATCH: usize = 32;

/// The registers of a queue's ring, by the queue's number.
pub(crate) struct RingRegisters {
    purpose: Purpose,
    pub(crate) base: [fn(u32) -> u32; 2],
    pub(crate) len: fn(u32) -> u32,
    pub(crate) head: fn(u32) -> u32,
    pub(crate) tail: fn(u32) -> u32,
    pub(crate) control: fn(u32) -> u32,
    pub(crate) enable: u32,
}

pub(crate) const RECEIVE: RingRegisters = RingRegisters {
    purpose: Purpose::RxDescriptor,
    base: [r::RDBAL, r::RDBAH],
    len: r::RDLEN,
    head: r::RDH,
    tail: r::RDT,
    control: r::RXDCTL,
    enable: r::RXDCTL_ENABLE,
};

pub(crate) const TRANSMIT: RingRegisters = RingRegisters {
    purpose: Purpose::TxDescriptor,
    base: [r::TDBAL, r::TDBAH],
    len: r::TDLEN,
    head: r::TDH,
    tail: r::TDT,
    control: r::TXDCTL,
    enable: r::TXDCTL_ENABLE,
};

impl RingRegisters {
    /// The ring's address. `get` reads a register.
    pub(crate) fn base(&self, queue: u32, get: impl Fn(u32) -> u32) -> u64 {
        let [low, high] = self.base.map(|at| u64::from(get(at(queue))));
        low | high << 32
    }
}

/// A ring. The card read its place and length when the queue was enabled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring {
    pub(crate) queue: u32,
    purpose: Purpose,
    base: u64,
    len: u32,
    head: u32,
    /// The card could not reach a descriptor. The queue does nothing until it is enabled again.
    pub(crate) halted: bool,
    /// Writes may arrive out of order.
    pub(crate) relaxed: bool,
}

impl Ring {
    /// The ring of a queue that has just been enabled. `get` reads a register.
    ///
    /// # Errors
    /// What is wrong with the queue's registers, in words.
    pub(crate) fn new(
        registers: &RingRegisters,
        queue: u32,
        get: impl Fn(u32) -> u32,
    ) -> Result<Self, String> {
        let base = registers.base(queue, &get);
        if base % 128 != 0 {
            return Err(format!("ring base {base:#x} is not a multiple of 128"));
        }
        let bytes = get((registers.len)(queue));
        if bytes == 0 || bytes % 128 != 0 || bytes > 1 << 20 {
            return Err(format!(
                "ring length {bytes:#x} is not a multiple of 128 from 0x80 to 0x100000"
            ));
        }
        let (len, head) = (bytes / DESCRIPTOR_LEN as u32, get((registers.head)(queue)));
        if head >= len {
            return Err(format!("head {head} is outside the ring of {len}"));
        }
        Ok(Self {
            queue,
            purpose: registers.purpose,
            base,
            len,
            head,
            halted: false,
            relaxed: false,
        })
    }

    /// Descriptors in the ring.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Index of the next descriptor that the card takes.
    #[inline(always)]
    pub(crate) fn head(&self) -> u32 {
        self.head
    }

    /// Number of descriptors that the card owns and may take; 0 if the tail lies outside the ring.
    #[inline(always)]
    pub(crate) fn available(&self, tail: u32) -> u32 {
        if tail >= self.len || self.halted {
            0
        } else if tail >= self.head {
            tail - self.head
        } else {
            tail + self.len - self.head
        }
    }

    /// The descriptors from the head on: at most `max`, and only those in one DMA map. If the card
    /// cannot reach the first one, the queue halts.
    #[inline(always)]
    pub(crate) fn descriptors<'d>(
        &mut self,
        dma: &'d DmaPort,
        max: usize,
    ) -> Option<&'d [Descriptor]> {
        let of = (self.purpose, self.queue);
        let found = dma.descriptors(of, Direction::Read, self.iova(), max);
        match found {
            Some(found) => dma.table.log.read(self.iova(), size_of_val(found)),
            None => self.halted = true,
        }
        found
    }

    /// The descriptor `distance` places behind the head, to be written back. If the card cannot reach
    /// it, the queue halts.
    pub(crate) fn descriptor_behind<'d>(
        &mut self,
        dma: &'d DmaPort,
        distance: u32,
    ) -> Option<&'d Descriptor> {
        let index = u64::from(self.index_behind(distance));
        let iova = self.base.wrapping_add(index * DESCRIPTOR_LEN);
        let of = (self.purpose, self.queue);
        let found = dma.descriptors(of, Direction::Write, iova, 1);
        match found {
            Some(_) => dma.table.log.write(iova, DESCRIPTOR_LEN as usize),
            None => self.halted = true,
        }
        found.and_then(<[_]>::first)
    }

    /// Number of the next `count` descriptors that lie before the end of the ring's memory.
    #[inline(always)]
    pub(crate) fn contiguous(&self, count: u32) -> usize {
        count.min(self.len - self.head) as usize
    }

    /// Address of the descriptor at the head.
    #[inline(always)]
    pub(crate) fn iova(&self) -> u64 {
        self.base
            .wrapping_add(u64::from(self.head) * DESCRIPTOR_LEN)
    }

    /// Index of the descriptor `distance` places behind the head.
    pub(crate) fn index_behind(&self, distance: u32) -> u32 {
        (self.head + self.len - distance % self.len) % self.len
    }

    /// Number of places from the head to the descriptor at this address.
    pub(crate) fn distance_to(&self, iova: u64) -> u32 {
        let place = iova.wrapping_sub(self.base) / DESCRIPTOR_LEN;
        let index = (place % u64::from(self.len)) as u32;
        (index + self.len - self.head) % self.len
    }

    /// Moves the head by `count` descriptors, at most to the end of the ring's memory.
    #[inline(always)]
    pub(crate) fn advance(&mut self, count: u32) {
        self.head += count;
        if self.head >= self.len {
            self.head -= self.len;
        }
    }
}

/// Splits descriptors into batches, and prefetches two batches ahead. Each comes with all descriptors
/// after it.
#[inline(always)]
pub(crate) fn batches(
    descriptors: &[Descriptor],
) -> impl Iterator<Item = (&[Descriptor], &[Descriptor])> {
    let mut rest = descriptors;
    prefetch(&rest[..rest.len().min(2 * BATCH)]);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (batch, later) = rest.split_at(rest.len().min(BATCH));
        prefetch(&later[later.len().min(BATCH)..later.len().min(2 * BATCH)]);
        rest = later;
        Some((batch, later))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(base: u64, bytes: u32, head: u32) -> Result<Ring, String> {
        Ring::new(&RECEIVE, 0, |register| match register {
            _ if register == r::RDBAL(0) => base as u32,
            _ if register == r::RDBAH(0) => (base >> 32) as u32,
            _ if register == r::RDLEN(0) => bytes,
            _ => head,
        })
    }

    #[test]
    fn the_card_owns_the_descriptors_from_head_to_tail() {
        let mut ring = ring(0x1_0000_1000, 0x80, 0).unwrap();
        assert_eq!((ring.len(), ring.iova()), (8, 0x1_0000_1000));
        assert_eq!([0, 7, 8].map(|tail| ring.available(tail)), [0, 7, 0]);
        ring.advance(6);
        assert_eq!([7, 5].map(|tail| ring.available(tail)), [1, 7]);
        assert_eq!(ring.contiguous(7), 2);
        assert_eq!(ring.distance_to(0x1_0000_1060), 0);
        assert_eq!(ring.distance_to(0x1_0000_1050), 7);
        ring.advance(2);
        assert_eq!((ring.head(), ring.index_behind(1)), (0, 7));
        ring.halted = true;
        assert_eq!(ring.available(7), 0);
    }

    #[test]
    fn malformed_rings_are_refused() {
        assert!(ring(0x1040, 0x80, 0).is_err());
        for bytes in [0, 0x88, !127] {
            assert!(ring(0x1000, bytes, 0).is_err());
        }
        assert!(ring(0x1000, 0x80, 8).is_err());
    }
}
