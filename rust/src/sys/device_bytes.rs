//! Packet bytes in memory that the device may write at any time: volatile accesses only.

use std::marker::PhantomData;
use std::ptr::NonNull;

/// The size of the words that copies use.
const WORD: usize = size_of::<u64>();

/// The bytes of a packet. Each access reads or writes memory exactly once.
pub struct DeviceBytes<'b> {
    address: NonNull<u8>,
    size: usize,
    buffer: PhantomData<&'b ()>,
}

/// One of the [`DeviceBytes`].
pub struct DeviceByte<'b> {
    address: NonNull<u8>,
    buffer: PhantomData<&'b ()>,
}

impl DeviceByte<'_> {
    /// Reads the byte. The next read may return another value.
    #[inline]
    pub fn load(&self) -> u8 {
        // SAFETY: the address is that of a byte of `DeviceBytes`.
        unsafe { self.address.read_volatile() }
    }

    /// Writes the byte.
    #[inline]
    pub fn store(&self, value: u8) {
        // SAFETY: as for `load`.
        unsafe { self.address.write_volatile(value) }
    }
}

impl<'b> DeviceBytes<'b> {
    /// # Safety
    /// For `'b`, `size` bytes at `address` can be read and written, and no reference covers them.
    #[inline]
    pub(super) unsafe fn new(address: NonNull<u8>, size: usize) -> Self {
        Self {
            address,
            size,
            buffer: PhantomData,
        }
    }

    /// The address of the first byte. Who reads or writes there must expect that the device writes, too.
    #[inline]
    pub fn as_mut_ptr(&self) -> *mut u8 {
        self.address.as_ptr()
    }

    /// Byte `index`, or `None` beyond the end.
    #[inline]
    pub fn get(&self, index: usize) -> Option<DeviceByte<'b>> {
        (index < self.size).then(|| DeviceByte {
            // SAFETY: the index is inside.
            address: unsafe { self.address.add(index) },
            buffer: PhantomData,
        })
    }

    /// Copies the bytes from `offset` on to `into`, most of them by 64-bit words. Returns false and
    /// copies nothing if they are not all inside.
    pub fn read_at(&self, offset: usize, into: &mut [u8]) -> bool {
        if !self.holds(offset, into.len()) {
            return false;
        }
        let mut at = offset;
        let (head, rest) = into.split_at_mut(self.head(offset).min(into.len()));
        let mut words = rest.chunks_exact_mut(WORD);
        // SAFETY: the bytes from `offset` on are inside, and `at` moves on by as many as are read.
        // Behind the head, `at` is aligned for words.
        unsafe {
            for byte in head {
                *byte = self.load(at);
                at += 1;
            }
            for word in &mut words {
                word.copy_from_slice(&self.load::<u64>(at).to_ne_bytes());
                at += WORD;
            }
            for byte in words.into_remainder() {
                *byte = self.load(at);
                at += 1;
            }
        }
        true
    }

    /// Copies `from` to the bytes from `offset` on, most of them by 64-bit words. Returns false and
    /// copies nothing if they are not all inside.
    pub fn write_at(&self, offset: usize, from: &[u8]) -> bool {
        if !self.holds(offset, from.len()) {
            return false;
        }
        let mut at = offset;
        let (head, rest) = from.split_at(self.head(offset).min(from.len()));
        let words = rest.chunks_exact(WORD);
        let tail = words.remainder();
        // SAFETY: as in `read_at`.
        unsafe {
            for byte in head {
                self.store(at, *byte);
                at += 1;
            }
            for word in words {
                let mut value = [0; WORD];
                value.copy_from_slice(word);
                self.store(at, u64::from_ne_bytes(value));
                at += WORD;
            }
            for byte in tail {
                self.store(at, *byte);
                at += 1;
            }
        }
        true
    }

    /// Whether `count` bytes at `offset` are inside.
    fn holds(&self, offset: usize, count: usize) -> bool {
        offset
            .checked_add(count)
            .is_some_and(|end| end <= self.size)
    }

    /// The number of bytes from `offset` to the next address that is aligned for words.
    fn head(&self, offset: usize) -> usize {
        (self.address.as_ptr() as usize)
            .wrapping_add(offset)
            .wrapping_neg()
            % WORD
    }

    /// # Safety
    /// The value lies inside and is aligned, and every pattern of bits is a value.
    #[inline]
    unsafe fn load<T>(&self, offset: usize) -> T {
        // SAFETY: the caller guarantees it.
        unsafe { self.address.add(offset).cast().read_volatile() }
    }

    /// # Safety
    /// The value lies inside and is aligned.
    #[inline]
    unsafe fn store<T>(&self, offset: usize, value: T) {
        // SAFETY: the caller guarantees it.
        unsafe { self.address.add(offset).cast().write_volatile(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_moves_the_bytes_of_its_range_and_no_others() {
        let mut memory = [0u64; 8];
        for offset in 0..20 {
            for count in 0..=40 - offset {
                memory.fill(0);
                let address = NonNull::from(&mut memory).cast::<u8>();
                // SAFETY: the array lives until the end of the loop, and no reference is used meanwhile.
                let bytes = unsafe { DeviceBytes::new(address, 40) };
                let from: Vec<u8> = (1..=count as u8).collect();
                assert!(bytes.write_at(offset, &from));
                let mut all = [0xff; 40];
                assert!(bytes.read_at(0, &mut all));
                let written = offset..offset + count;
                for (index, byte) in all.into_iter().enumerate() {
                    let expected = if written.contains(&index) {
                        index - offset + 1
                    } else {
                        0
                    };
                    assert_eq!(usize::from(byte), expected, "{offset}, {count}");
                }
                let mut back = vec![0; count];
                assert!(bytes.read_at(offset, &mut back));
                assert_eq!(back, from);
            }
        }
    }

    #[test]
    fn a_range_beyond_the_end_is_refused() {
        let mut memory = [7u64; 2];
        let address = NonNull::from(&mut memory).cast::<u8>();
        // SAFETY: as above.
        let bytes = unsafe { DeviceBytes::new(address, 12) };
        for (offset, count) in [
            (0, 13),
            (12, 1),
            (13, 0),
            (usize::MAX, 2),
            (5, usize::MAX >> 1),
        ] {
            let mut into = vec![9; count.min(20)];
            if count <= 20 {
                assert!(!bytes.read_at(offset, &mut into) && !bytes.write_at(offset, &into));
                assert!(into.iter().all(|byte| *byte == 9));
            }
            assert!(!bytes.holds(offset, count));
        }
        assert!(bytes.read_at(12, &mut []) && bytes.get(12).is_none());
        assert_eq!(bytes.get(0).map(|byte| byte.load()), Some(7));
    }
}
