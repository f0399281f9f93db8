//! The bytes of a [`Packet`]. The methods here exist in every build, so that an application compiles
//! with each set of features. With `trusted-device` or `untrusted-device-copy`, a packet is also a slice.
#![forbid(unsafe_code)]

use crate::driver::mempool::Packet;

#[cfg(any(feature = "trusted-device", feature = "untrusted-device-copy"))]
mod slices {
    use std::ops::{Deref, DerefMut};

    use super::Packet;

    impl<In> Deref for Packet<'_, In> {
        type Target = [u8];

        #[inline]
        fn deref(&self) -> &[u8] {
            self.buffer.bytes()
        }
    }

    impl<In> DerefMut for Packet<'_, In> {
        #[inline]
        fn deref_mut(&mut self) -> &mut [u8] {
            self.buffer.bytes_mut()
        }
    }

    impl<In> Packet<'_, In> {
        /// Copies the bytes from `offset` on to `into`. Returns false and copies nothing if they are
        /// not all inside the packet.
        #[inline]
        #[must_use]
        pub fn read_at(&self, offset: usize, into: &mut [u8]) -> bool {
            let from = self.get(offset..).and_then(|rest| rest.get(..into.len()));
            if let Some(from) = from {
                into.copy_from_slice(from);
            }
            from.is_some()
        }

        /// Copies `from` to the bytes from `offset` on. Returns false and copies nothing if they are
        /// not all inside the packet.
        #[inline]
        #[must_use]
        pub fn write_at(&mut self, offset: usize, from: &[u8]) -> bool {
            let rest = self.get_mut(offset..);
            let into = rest.and_then(|rest| rest.get_mut(..from.len()));
            let inside = into.is_some();
            if let Some(into) = into {
                into.copy_from_slice(from);
            }
            inside
        }

        /// Replaces byte `index` by what `change` makes of it. Returns false if the packet is shorter.
        #[inline]
        pub fn change_at(&mut self, index: usize, change: impl FnOnce(u8) -> u8) -> bool {
            match self.get_mut(index) {
                Some(byte) => {
                    *byte = change(*byte);
                    true
                }
                None => false,
            }
        }
    }
}

#[cfg(not(any(feature = "trusted-device", feature = "untrusted-device-copy")))]
impl<In> Packet<'_, In> {
    /// Copies the bytes from `offset` on to `into`. Returns false and copies nothing if they are not
    /// all inside the packet. The device may write to the packet meanwhile: each byte is then from
    /// before or after.
    #[inline]
    #[must_use]
    pub fn read_at(&self, offset: usize, into: &mut [u8]) -> bool {
        self.buffer.device_bytes().read_at(offset, into)
    }

    /// Copies `from` to the bytes from `offset` on. Returns false and copies nothing if they are not
    /// all inside the packet.
    #[inline]
    #[must_use]
    pub fn write_at(&mut self, offset: usize, from: &[u8]) -> bool {
        self.buffer.device_bytes().write_at(offset, from)
    }

    /// Replaces byte `index` by what `change` makes of it. Returns false if the packet is shorter.
    #[inline]
    pub fn change_at(&mut self, index: usize, change: impl FnOnce(u8) -> u8) -> bool {
        match self.buffer.device_bytes().get(index) {
            Some(byte) => {
                byte.store(change(byte.load()));
                true
            }
            None => false,
        }
    }

    /// The address of the packet's [`size`](Packet::size) bytes, for a library in another language. The
    /// library then has to trust the device, or to expect its writes.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.buffer.device_bytes().as_mut_ptr()
    }

    /// A copy of the packet, which the device cannot change any more.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut copy = vec![0; self.size()];
        let _ = self.read_at(0, &mut copy);
        copy
    }
}

#[cfg(any(test, feature = "fuzzing"))]
impl Packet<'_> {
    /// Plays the device: writes a byte to all of the buffer in the device's memory.
    pub(crate) fn device_fill(&self, value: u8) {
        self.buffer.device_fill(value);
    }
}

#[cfg(test)]
mod tests {
    use crate::driver::mempool::{Packet, MAX_SIZE};
    use crate::test_queues::{pool, Queues, POOL_CAPACITY};

    const SIZES: [usize; 5] = [1, 60, 64, 65, MAX_SIZE];

    /// Receives a packet of `size` bytes from a device that has filled it with `value`.
    fn received<'p>(queues: &mut Queues<'p>, nth: usize, size: usize, value: u8) -> Packet<'p> {
        queues.rx.ring.entry(nth).slot.device_fill(value);
        queues.device_receives(nth, size as u64, true);
        let mut packets = Vec::new();
        assert_eq!(queues.rx.rx_batch(&mut packets, 1).unwrap(), 1);
        packets.pop().unwrap()
    }

    /// What reaches the wire: the bytes in the device's memory once the driver has sent the packet.
    fn sent<'p>(queues: &mut Queues<'p>, packet: Packet<'p>) -> Vec<u8> {
        let nth = queues.tx.index;
        assert_eq!(queues.tx.tx_batch(&mut vec![packet]).unwrap(), 1);
        let entry = queues.tx.ring.entry(nth);
        let packet = entry.slot.as_ref().unwrap();
        let mut bytes = packet.device_memory();
        bytes.truncate(packet.size());
        bytes
    }

    #[test]
    fn a_packet_goes_from_wire_to_wire_with_the_change_of_the_application() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        for (nth, size) in SIZES.into_iter().enumerate() {
            let value = nth as u8 + 10;
            let mut packet = received(&mut queues, nth, size, value);
            let mut expected = vec![value; size];
            assert_eq!(packet.to_vec(), expected);
            assert!(packet.change_at(size - 1, |byte| byte + 1));
            expected[size - 1] += 1;
            assert_eq!(packet.to_vec(), expected);
            assert_eq!(sent(&mut queues, packet), expected);
        }
    }

    #[test]
    fn an_access_beyond_the_size_changes_nothing() {
        let pool = pool(1);
        let mut packet = pool.alloc().unwrap();
        assert!(packet.set_size(60));
        let mut byte = [9];
        for offset in [60, 61, MAX_SIZE, usize::MAX] {
            assert!(!packet.read_at(offset, &mut byte));
            assert!(!packet.write_at(offset, &[1]));
            assert!(!packet.change_at(offset, |_| 1));
        }
        assert!(!packet.write_at(59, &[1, 1]));
        assert!(!packet.read_at(59, &mut [0, 0]));
        assert_eq!((byte, packet.to_vec()), ([9], vec![0; 60]));
        assert!(packet.read_at(60, &mut []) && packet.write_at(0, &[1; 60]));
    }

    /// TRUST-RING-PROTOCOL: a device that writes to a buffer after DD changes the packet. Where
    /// packets are slices of the device's memory, that is undefined behaviour as soon as a slice is
    /// alive; no slice is alive here.
    #[cfg(not(feature = "untrusted-device-copy"))]
    #[test]
    fn a_write_after_dd_changes_the_packet() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let packet = received(&mut queues, 0, 60, 1);
        assert_eq!(packet.to_vec(), [1; 60]);
        packet.device_fill(2);
        assert_eq!(packet.to_vec(), [2; 60]);
        assert_eq!(sent(&mut queues, packet), [2; 60]);
    }

    /// The driver takes the value once. What it took does not change any more.
    #[cfg(not(feature = "trusted-device"))]
    #[test]
    fn a_change_takes_its_value_once() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        let mut packet = received(&mut queues, 0, 60, 1);
        let taken = packet.to_vec();
        let iova = packet.iova();
        packet.device_fill(2);
        assert_eq!(taken, [1; 60]);
        let mut seen = 0;
        assert!(packet.change_at(7, |byte| {
            seen += 1;
            byte
        }));
        assert_eq!((seen, packet.size(), packet.iova()), (1, 60, iova));
    }

    #[cfg(feature = "untrusted-device-copy")]
    #[test]
    fn a_write_after_dd_has_no_effect_on_the_copy() {
        let pool = pool(POOL_CAPACITY);
        let mut queues = Queues::new(&pool);
        for (nth, size) in SIZES.into_iter().enumerate() {
            let packet = received(&mut queues, nth, size, 1);
            packet.device_fill(2);
            assert_eq!(packet.to_vec(), vec![1; size]);
            // A slice may stay alive while the device writes.
            let slice: &[u8] = &packet;
            packet.device_fill(3);
            assert_eq!(slice, vec![1; size]);
            assert_eq!(sent(&mut queues, packet), vec![1; size]);
        }
    }
}
