//! Access to the data of a buffer for a driver that does not trust the device. The head of
//! [`super`] explains why it is sound.

use super::Buffer;
#[cfg(not(feature = "untrusted-device-copy"))]
use crate::sys::device_bytes::DeviceBytes;
#[cfg(feature = "untrusted-device-copy")]
use crate::sys::lines::Line;

#[cfg(not(feature = "untrusted-device-copy"))]
impl Buffer<'_> {
    /// The data in the memory that the device may write.
    #[inline]
    pub fn device_bytes(&self) -> DeviceBytes<'_> {
        // SAFETY: `data` is valid for `MAX_SIZE >= size` bytes while the store lives, which `self`
        // borrows. In this build no reference covers those bytes.
        unsafe { DeviceBytes::new(self.header.data, self.size()) }
    }
}

#[cfg(feature = "untrusted-device-copy")]
impl Buffer<'_> {
    /// The private copy of the data.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `private` is valid for `MAX_SIZE >= size` initialized bytes while the store lives,
        // which `self` borrows. No device reaches them, and no other Buffer has them.
        unsafe { std::slice::from_raw_parts(self.header.private.cast().as_ptr(), self.size()) }
    }

    /// The private copy of the data, for changes.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`; and `&mut self` makes this the only slice of the buffer.
        unsafe { std::slice::from_raw_parts_mut(self.header.private.cast().as_ptr(), self.size()) }
    }

    /// Copies the data from the device's memory to the private memory, whole lines at a time.
    #[inline]
    pub fn copy_in(&mut self) {
        // SAFETY: both sides have `LINES` lines, which hold `size` bytes. The device's memory has the
        // alignment of a line, as buffers and their headroom are multiples of it. `&mut self` rules
        // out slices of the private memory.
        unsafe { Line::copy(self.header.data.cast(), self.header.private, self.size()) }
    }

    /// Copies the data from the private memory to the device's memory, whole lines at a time.
    #[inline]
    pub fn copy_out(&mut self) {
        // SAFETY: as for `copy_in`.
        unsafe { Line::copy(self.header.private, self.header.data.cast(), self.size()) }
    }
}
