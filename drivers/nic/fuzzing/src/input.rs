//! Reads the fuzzer's input from its front.

/// IOVAs at which inputs often place maps, rings and buffers.
const IOVAS: [u64; 6] = [
    0x1_0000,
    0x2_0000,
    0,
    0x1000,
    1 << 40,
    0u64.wrapping_sub(0x1_0000),
];

/// The rest of an input. Past its end, every value is zero.
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

    pub fn u8(&mut self) -> u8 {
        self.bytes::<1>()[0]
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.bytes())
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.bytes())
    }

    /// An index below `limit`.
    pub fn index(&mut self, limit: usize) -> usize {
        usize::from(self.u8()) % limit
    }

    /// A likely IOVA, or any.
    pub fn iova(&mut self) -> u64 {
        match IOVAS.get(usize::from(self.u8() % 8)) {
            Some(iova) => *iova,
            None => self.u64(),
        }
    }
}
