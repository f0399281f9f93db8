//! What a device does to a buffer at any time, for tests that play the device.

use super::{Buffer, MAX_SIZE};

impl Buffer<'_> {
    /// Writes a byte to all of the device's memory of this buffer, as a device may at any time.
    pub(crate) fn device_fill(&self, value: u8) {
        for index in 0..MAX_SIZE {
            // SAFETY: `data` is valid for `MAX_SIZE` bytes. A slice of them would borrow the Buffer,
            // and no test holds one here.
            unsafe { self.header.data.add(index).write_volatile(value) };
        }
    }

    /// Reads all of the device's memory of this buffer, as a device may at any time.
    #[cfg(test)]
    pub(crate) fn device_memory(&self) -> Vec<u8> {
        let byte = |index| {
            // SAFETY: as for `device_fill`; a shared slice would do no harm.
            unsafe { self.header.data.add(index).read_volatile() }
        };
        (0..MAX_SIZE).map(byte).collect()
    }
}
