//! Reads values from the front of an input.

/// The rest of an input. Past its end, every value is zero.
#[derive(Debug)]
pub struct Input<'a>(pub &'a [u8]);

impl Input<'_> {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let taken = self.take(N);
        bytes[..taken.len()].copy_from_slice(&taken);
        bytes
    }

    /// The next `count` bytes, or fewer at the end of the input.
    pub fn take(&mut self, count: usize) -> Vec<u8> {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken.to_vec()
    }

    /// The next byte.
    pub fn u8(&mut self) -> u8 {
        self.bytes::<1>()[0]
    }

    /// The next two bytes, little endian.
    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.bytes())
    }

    /// The next four bytes, little endian.
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    /// The next eight bytes, little endian.
    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    /// An index below `limit`, which is at least 1. Takes one byte.
    pub fn index(&mut self, limit: usize) -> usize {
        usize::from(self.u8()) % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_from_the_front_and_are_zero_past_the_end() {
        let mut input = Input(&[1, 2, 3, 4, 5, 6]);
        assert_eq!((input.u8(), input.u16(), input.index(3)), (1, 0x0302, 1));
        assert_eq!(input.u32(), 0x0605);
        assert_eq!((input.u64(), input.take(3)), (0, Vec::new()));
    }
}
