//! A ring of descriptors in the driver's memory, for receive and transmit queues. The card owns the
//! descriptors from the head up to, but not including, the tail.

use crate::memory::shared::Descriptor;

/// Bytes of a descriptor.
pub(crate) const DESCRIPTOR_LEN: u64 = 16;
/// Descriptors in a batch. While the card works on one batch, it prefetches the next one.
pub(crate) const BATCH: usize = 32;

/// A ring. The card read its place and length when the queue was enabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ring {
    base: u64,
    len: u32,
    head: u32,
}

impl Ring {
    /// A ring from the values of the queue's registers.
    ///
    /// # Errors
    /// What is wrong with the values, in words.
    pub(crate) fn new(low: u32, high: u32, bytes: u32, head: u32) -> Result<Self, String> {
        let base = u64::from(low) | u64::from(high) << 32;
        if base % 128 != 0 {
            return Err(format!("ring base {base:#x} is not a multiple of 128"));
        }
        if bytes == 0 || bytes % 128 != 0 || bytes > 1 << 20 {
            return Err(format!(
                "ring length {bytes:#x} is not a multiple of 128 from 0x80 to 0x100000"
            ));
        }
        let len = bytes / DESCRIPTOR_LEN as u32;
        if head >= len {
            return Err(format!("head {head} is outside the ring of {len}"));
        }
        Ok(Self { base, len, head })
    }

    /// Descriptors in the ring.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Index of the next descriptor that the card takes.
    pub(crate) fn head(&self) -> u32 {
        self.head
    }

    /// Number of descriptors that the card owns; 0 if the tail lies outside the ring.
    #[inline(always)]
    pub(crate) fn available(&self, tail: u32) -> u32 {
        if tail >= self.len {
            0
        } else if tail >= self.head {
            tail - self.head
        } else {
            tail + self.len - self.head
        }
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

    /// Address of the descriptor `distance` places behind the head.
    pub(crate) fn behind(&self, distance: u32) -> u64 {
        let index = self.index_behind(distance);
        self.base.wrapping_add(u64::from(index) * DESCRIPTOR_LEN)
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

/// Splits descriptors into batches. Each comes with all descriptors after it.
#[inline(always)]
pub(crate) fn batches(
    descriptors: &[Descriptor],
) -> impl Iterator<Item = (&[Descriptor], &[Descriptor])> {
    let mut rest = descriptors;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (batch, later) = rest.split_at(rest.len().min(BATCH));
        rest = later;
        Some((batch, later))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_owns_the_descriptors_from_head_to_tail() {
        let mut ring = Ring::new(0x1000, 1, 0x80, 0).unwrap();
        assert_eq!((ring.len(), ring.iova()), (8, 0x1_0000_1000));
        assert_eq!(ring.available(0), 0);
        assert_eq!(ring.available(7), 7);
        assert_eq!(ring.available(8), 0);
        ring.advance(6);
        assert_eq!(ring.available(7), 1);
        assert_eq!(ring.available(5), 7);
        assert_eq!(ring.contiguous(7), 2);
        assert_eq!(ring.distance_to(0x1_0000_1060), 0);
        assert_eq!(ring.distance_to(0x1_0000_1050), 7);
        ring.advance(2);
        assert_eq!(ring.head(), 0);
        assert_eq!(ring.behind(1), 0x1_0000_1070);
    }

    #[test]
    fn malformed_rings_are_refused() {
        assert!(Ring::new(0x1040, 0, 0x80, 0).is_err());
        assert!(Ring::new(0x1000, 0, 0, 0).is_err());
        assert!(Ring::new(0x1000, 0, 0x88, 0).is_err());
        assert!(Ring::new(0x1000, 0, !127, 0).is_err());
        assert!(Ring::new(0x1000, 0, 0x80, 8).is_err());
    }
}
