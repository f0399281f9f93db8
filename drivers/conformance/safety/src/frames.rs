//! Frames that the lab recognises: number and length determine every byte.

use std::collections::HashMap;

/// Ethertype for local experiments (IEEE 802).
const ETHERTYPE: [u8; 2] = [0x88, 0xb5];
/// Bytes in front of the pattern: addresses, type, number, length.
const HEADER: usize = 24;

/// Makes frame `number` with `len` bytes, without CRC. The shortest frame has 24 bytes.
pub fn frame(number: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0x02, 0x10, 0, 0, 0, 2, 0x02, 0, 0, 0, 0, 1];
    bytes.extend(ETHERTYPE);
    bytes.extend(number.to_be_bytes());
    bytes.extend((len as u16).to_be_bytes());
    while bytes.len() < len {
        let at = bytes.len() as u64;
        bytes.push((number.wrapping_mul(131) ^ at.wrapping_mul(29)) as u8);
    }
    bytes.truncate(len.max(HEADER));
    bytes
}

/// The frame that the driver should send for a received one: it adds 1 to byte 1.
fn touched(mut frame: Vec<u8>) -> Vec<u8> {
    if let Some(byte) = frame.get_mut(1) {
        *byte = byte.wrapping_add(1);
    }
    frame
}

/// The frames that came back, counted by their condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReturnedFrames {
    /// Correct frames, each counted once.
    pub ok: u64,
    /// Correct frames that had already come back.
    pub duplicated: u64,
    /// Frames with wrong bytes, and frames that the lab never sent.
    pub altered: u64,
    /// Frames with bytes added at the end.
    pub longer: u64,
    /// Frames with bytes missing at the end.
    pub shorter: u64,
}

/// The frames that the lab put on the wire, and those that came back.
#[derive(Default)]
pub struct FrameLedger {
    /// The frames that should come back, and whether they have.
    expected: HashMap<Vec<u8>, bool>,
    /// The frame that should come back for each number.
    numbered: HashMap<u64, Vec<u8>>,
    next: u64,
    pub returned: ReturnedFrames,
}

impl FrameLedger {
    /// Makes the next frame with `len` bytes and enters it as one that should come back.
    pub fn next(&mut self, len: usize) -> Vec<u8> {
        let made = frame(self.next, len);
        self.numbered.insert(self.next, touched(made.clone()));
        self.next += 1;
        self.enter(made.clone());
        made
    }

    /// Enters a frame of any kind as one that should come back.
    pub fn enter(&mut self, frame: Vec<u8>) {
        self.expected.insert(touched(frame), false);
    }

    /// How many frames should come back in all.
    pub fn entered(&self) -> u64 {
        self.expected.len() as u64
    }

    /// How many frames have not come back.
    pub fn lost(&self) -> u64 {
        self.expected.values().filter(|seen| !**seen).count() as u64
    }

    /// Counts a frame that the driver sent.
    pub fn take(&mut self, frame: &[u8]) {
        if let Some(seen) = self.expected.get_mut(frame) {
            let count = if std::mem::replace(seen, true) {
                &mut self.returned.duplicated
            } else {
                &mut self.returned.ok
            };
            *count += 1;
            return;
        }
        // The frame is wrong. Its number shows which frame it should have been.
        let original = frame
            .get(14..22)
            .and_then(|bytes| bytes.try_into().ok())
            .and_then(|bytes| self.numbered.get(&u64::from_be_bytes(bytes)));
        let count = match original {
            Some(original) if frame.len() > original.len() => &mut self.returned.longer,
            Some(original) if frame.len() < original.len() => &mut self.returned.shorter,
            _ => &mut self.returned.altered,
        };
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_counts_each_frame_by_its_condition() {
        let mut ledger = FrameLedger::default();
        let frames: Vec<_> = (0..6).map(|_| touched(ledger.next(60))).collect();
        ledger.take(&frames[0]);
        ledger.take(&frames[0]);
        ledger.take(&[frames[1].as_slice(), &[0xc4; 9]].concat());
        ledger.take(&frames[2][..40]);
        let mut altered = frames[3].clone();
        altered[30] ^= 1;
        ledger.take(&altered);
        ledger.take(&frame(4, 60)); // Not touched.
        ledger.take(&[0; 60]);
        let expected = ReturnedFrames {
            ok: 1,
            duplicated: 1,
            altered: 3,
            longer: 1,
            shorter: 1,
        };
        assert_eq!(ledger.returned, expected);
        assert_eq!(ledger.lost(), 5);
    }
}
