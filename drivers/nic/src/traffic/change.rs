//! The change that a driver makes to the frames that it forwards.
//!
//! A change of bytes that all frames share goes into the verifier's template, so that it costs
//! nothing. A change of other bytes is taken back before a frame is read: such bytes say which frame
//! it is.

use crate::config::Expected;
use crate::traffic::frame::{station_address, Head, Template, MIN_FRAME, OWN_OFFSET};

/// The change that the sender of checked frames makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    expected: Expected,
    /// The port that sends the frames.
    sender: usize,
    /// The bits of the touched byte in a frame. All are 0 if the change is in shared bytes.
    touched: Head,
}

impl Change {
    /// The change that `expected` means for frames that port `sender` sends.
    pub(crate) fn new(expected: Expected, sender: usize) -> Self {
        let mut touched = [0; MIN_FRAME];
        if let Expected::Touch(byte) = expected {
            let own = &mut touched[OWN_OFFSET..];
            if let Some(bits) = usize::from(byte)
                .checked_sub(OWN_OFFSET)
                .and_then(|at| own.get_mut(at))
            {
                *bits = 0xff;
            }
        }
        Self {
            expected,
            sender,
            touched: Head::from_bytes(&touched),
        }
    }

    /// Whether the change concerns only bytes that all frames share, so that nothing is to be undone.
    #[inline(always)]
    pub(crate) fn is_in_shared_bytes(&self) -> bool {
        self.touched.own == [0; 8]
    }

    /// The template of changed frames, as far as the change is in shared bytes.
    pub(crate) fn applied_to(&self, template: Template) -> Template {
        match self.expected {
            Expected::Unchanged => template,
            Expected::Touch(byte) => template.edited(|bytes| {
                if let Some(byte) = bytes.get_mut(usize::from(byte)) {
                    *byte = byte.wrapping_add(1);
                }
            }),
            Expected::Mac => template.edited(|bytes| {
                bytes[..6].copy_from_slice(&[2, 0, 0, 0, 0, self.sender as u8]);
                bytes[6..12].copy_from_slice(&station_address(self.sender));
            }),
        }
    }

    /// A frame without the change, as far as the change is not in shared bytes.
    #[inline(always)]
    pub(crate) fn undone(&self, head: Head) -> Head {
        let word = |word: u32, bits: u32| {
            // The lowest bit of the byte, or 0.
            let one = bits & 0x0101_0101;
            word & !bits | word.wrapping_sub(one) & bits
        };
        Head {
            fixed: std::array::from_fn(|nth| word(head.fixed[nth], self.touched.fixed[nth])),
            own: std::array::from_fn(|nth| word(head.own[nth], self.touched.own[nth])),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Expected, VerifyMode};
    use crate::traffic::frame::numbered as frame;
    use crate::traffic::verify::{Verifier, VerifyCounts};

    const FRAMES: u64 = 600;

    fn counts(expected: Expected, frames: impl Iterator<Item = Vec<u8>>) -> VerifyCounts {
        let mut verifier = Verifier::new((0, 1), 7, VerifyMode::Full, expected);
        for frame in frames {
            verifier.check_frame(&frame, &mut None);
        }
        verifier.counts()
    }

    fn touched(sequence: u64, len: usize, byte: usize) -> Vec<u8> {
        let mut frame = frame(sequence, len);
        frame[byte] = frame[byte].wrapping_add(1);
        frame
    }

    #[test]
    fn a_touch_of_any_byte_is_expected_or_an_alteration() {
        for byte in 0..60 {
            for len in [60, 61, 1514] {
                let frames = (0..FRAMES).map(|nth| touched(nth, len, byte));
                let seen = counts(Expected::Touch(byte as u8), frames);
                assert_eq!(
                    (seen.ok, seen.clean()),
                    (FRAMES, true),
                    "byte {byte} of {len}"
                );
            }
            let untouched = (0..FRAMES).map(|nth| frame(nth, 60));
            let seen = counts(Expected::Touch(byte as u8), untouched);
            assert_eq!(seen.ok, 0, "byte {byte}");
            let other = (0..FRAMES).map(|nth| touched(nth, 60, (byte + 1) % 60));
            let seen = counts(Expected::Touch(byte as u8), other);
            assert_eq!(seen.ok, 0, "byte {byte}");
        }
    }

    #[test]
    fn the_mode_mac_wants_both_addresses_of_the_sending_port() {
        let forwarded = |sequence| {
            let mut frame = frame(sequence, 60);
            frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
            frame[6..12].copy_from_slice(&[0x02, 0x82, 0x59, 0x90, 0x00, 1]);
            frame
        };
        let seen = counts(Expected::Mac, (0..FRAMES).map(forwarded));
        assert_eq!((seen.ok, seen.clean()), (FRAMES, true));
        for at in 0..12 {
            let wrong = (0..1).map(|sequence| {
                let mut frame = forwarded(sequence);
                frame[at] ^= 1;
                frame
            });
            assert_eq!(counts(Expected::Mac, wrong).altered, 1, "byte {at}");
        }
        let unchanged = (0..FRAMES).map(|nth| frame(nth, 60));
        assert_eq!(counts(Expected::Mac, unchanged).altered, FRAMES);
    }
}
