//! The frames of the self-test, and what may have happened to them.
//!
//! A frame is Ethernet of the type for local experiments. Its header says which port sent it in which
//! run, and its number. Number, port and run determine every other byte, so that the receiver knows
//! what must arrive.
//!
//! ```text
//! 0  destination  6  source  12  type 0x88b5  14  "TRIP"  18  run  22  port  23  number  31  bytes
//! ```

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::Serialize;

/// Bytes of the shortest frame, without CRC.
pub(crate) const MIN_SIZE: usize = 60;
/// Bytes of the longest frame, without CRC.
pub(crate) const MAX_SIZE: usize = 1514;
/// Number of sizes. Any run of so many frames has each size once.
pub const SIZES: u64 = (MAX_SIZE - MIN_SIZE + 1) as u64;

/// IEEE 802 local experimental EtherType 1, and the mark of these frames.
const TYPE_AND_MARK: &[u8] = b"\x88\xb5TRIP";
/// Bytes of the header, up to the number's end.
const HEADER: usize = 31;
/// A step through the sizes. It has no divisor in common with [`SIZES`], so that all sizes occur, and
/// short and long frames alternate.
const SIZE_STEP: u64 = 682;

/// The frames that one port sends in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stream {
    /// A random number for the run, which tells its frames from those of other runs.
    pub(crate) run: u32,
    /// The sending port, 0 or 1.
    pub(crate) port: u8,
}

impl Stream {
    /// Bytes of a frame, without CRC.
    fn size(number: u64) -> usize {
        MIN_SIZE + (number % SIZES * SIZE_STEP % SIZES) as usize
    }

    /// What the header of each frame begins with.
    fn prefix(self) -> Vec<u8> {
        // Locally administered addresses. The port is their last byte.
        let address = |port: u8| [0x02, 0x54, 0x52, 0x49, 0x50, port];
        let mut prefix = [address(1 - self.port), address(self.port)].concat();
        prefix.extend(TYPE_AND_MARK);
        prefix.extend(self.run.to_le_bytes());
        prefix.push(self.port);
        prefix
    }

    /// Writes a frame into `frame`.
    pub(crate) fn write(self, number: u64, frame: &mut Vec<u8>) {
        frame.clear();
        frame.extend(self.prefix());
        frame.extend(number.to_le_bytes());
        frame.resize(Self::size(number), 0);
        let seed = u64::from(self.run) << 32 ^ u64::from(self.port) << 63 ^ number;
        fastrand::Rng::with_seed(seed).fill(&mut frame[HEADER..]);
    }

    /// The number in a frame's header, or `None` if the frame is not of this stream.
    pub(crate) fn number(self, frame: &[u8]) -> Option<u64> {
        // Switches may change the addresses.
        let header = frame.get(12..HEADER)?;
        let number = header.strip_prefix(&self.prefix()[12..])?;
        Some(u64::from_le_bytes(number.try_into().ok()?))
    }
}

/// What can happen to a frame on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Damage {
    /// It did not arrive.
    Lost,
    /// It arrived more than once.
    Duplicated,
    /// It arrived after a frame that was sent later.
    Reordered,
    /// It arrived with other bytes.
    Corrupted,
    /// It arrived with bytes after its end.
    Padded,
    /// It arrived without its last bytes.
    Truncated,
    /// A frame arrived that this run did not send.
    Foreign,
}

/// How often a kind of damage occurred, and its first frame.
#[derive(Debug, Serialize)]
pub(crate) struct Damaged {
    pub(crate) count: u64,
    /// The first frame, in words.
    pub(crate) first: String,
}

/// The first bytes of a frame, as hexadecimal digits.
fn head(frame: &[u8]) -> String {
    let bytes = frame.iter().take(HEADER + 1);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// The difference of a received frame from the one that was sent, and its place. `None` if they are equal.
fn difference(sent: &[u8], received: &[u8]) -> Option<(Damage, String)> {
    // Most frames are equal, and one comparison of all bytes is the fastest.
    if sent == received {
        return None;
    }
    let differ = sent
        .iter()
        .zip(received)
        .zip(0..)
        .find(|((a, b), _)| a != b);
    if let Some(((sent, got), offset)) = differ {
        let place = format!(" has 0x{got:02x} instead of 0x{sent:02x} at offset {offset}");
        return Some((Damage::Corrupted, place));
    }
    match received.len().cmp(&sent.len()) {
        Ordering::Less => Some((Damage::Truncated, String::new())),
        Ordering::Greater => Some((Damage::Padded, String::new())),
        Ordering::Equal => None,
    }
}

/// Whether two frames have most of the bytes after the header in common. All headers are alike.
fn is_similar(sent: &[u8], received: &[u8]) -> bool {
    let pairs = sent.iter().zip(received).skip(HEADER);
    let equal = pairs.clone().filter(|(a, b)| a == b).count();
    2 * equal > pairs.count()
}

/// The frames of a stream that have arrived.
#[derive(Debug)]
pub(crate) struct Verifier {
    stream: Stream,
    /// Whether each number has arrived.
    seen: Vec<bool>,
    /// The number after the highest one that has arrived.
    next: u64,
    /// The frame that was recognised last, as it was sent.
    expected: Vec<u8>,
    pub(crate) damages: BTreeMap<Damage, Damaged>,
    /// Frames that arrived once, complete and unchanged.
    pub(crate) intact: u64,
    /// Frames that arrived, in any state.
    pub(crate) received: u64,
    /// Frames of the stream that arrived, each once.
    pub(crate) arrived: u64,
}

impl Verifier {
    /// Before the first frame.
    pub(crate) fn new(stream: Stream) -> Self {
        Self {
            stream,
            seen: Vec::new(),
            next: 0,
            expected: Vec::with_capacity(MAX_SIZE),
            damages: BTreeMap::new(),
            intact: 0,
            received: 0,
            arrived: 0,
        }
    }

    /// Takes a received frame, when `sent` frames have been sent.
    pub(crate) fn take(&mut self, received: &[u8], sent: u64) {
        self.received += 1;
        let size = received.len();
        let Some(number) = self.recognise(received, sent) else {
            return self.note(Damage::Foreign, 1, || {
                format!("a frame of {size} bytes begins with {}", head(received))
            });
        };
        let frame = match self.expected.len() {
            expected if expected == size => format!("frame {number} of {size} bytes"),
            expected => format!("frame {number} of {expected} bytes arrived with {size}"),
        };
        if self.has_arrived(number) {
            return self.note(Damage::Duplicated, 1, || frame);
        }
        let index = number as usize;
        self.seen.resize(self.seen.len().max(index + 1), false);
        self.seen[index] = true;
        self.arrived += 1;
        if number < self.next {
            self.note(Damage::Reordered, 1, || frame.clone());
        }
        self.next = self.next.max(number + 1);
        match difference(&self.expected, received) {
            Some((damage, place)) => self.note(damage, 1, || frame + &place),
            None => self.intact += 1,
        }
    }

    /// Counts the frames that have not arrived, after the last one.
    pub(crate) fn finish(&mut self, sent: u64) {
        let is_lost = |number: &u64| !self.has_arrived(*number);
        let lost: Vec<u64> = (0..sent).filter(is_lost).collect();
        if let Some(first) = lost.first() {
            let text = || format!("frame {first} of {} bytes", Stream::size(*first));
            self.note(Damage::Lost, lost.len() as u64, text);
        }
    }

    /// The number of a frame of the stream, which is then in `expected` as it was sent.
    fn recognise(&mut self, received: &[u8], sent: u64) -> Option<u64> {
        let (stream, expected) = (self.stream, &mut self.expected);
        // A damaged header may claim another number, or none. Then it is most likely the next frame.
        let candidates = stream.number(received).into_iter().chain([self.next]);
        candidates.filter(|number| *number < sent).find(|number| {
            stream.write(*number, expected);
            received == expected.as_slice() || is_similar(expected, received)
        })
    }

    fn has_arrived(&self, number: u64) -> bool {
        self.seen.get(number as usize).is_some_and(|seen| *seen)
    }

    fn note(&mut self, damage: Damage, count: u64, first: impl FnOnce() -> String) {
        let new = || Damaged {
            count: 0,
            first: first(),
        };
        self.damages.entry(damage).or_insert_with(new).count += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: Stream = Stream { run: 7, port: 0 };
    const SENT: u64 = 10;

    fn frame(number: u64) -> Vec<u8> {
        let mut frame = Vec::new();
        STREAM.write(number, &mut frame);
        frame
    }

    /// The damage that a verifier finds in frames, if `change` changes the ten that were sent.
    fn found(change: impl FnOnce(&mut Vec<Vec<u8>>)) -> Vec<String> {
        let mut frames = (0..SENT).map(frame).collect();
        change(&mut frames);
        let mut verifier = Verifier::new(STREAM);
        frames.iter().for_each(|frame| verifier.take(frame, SENT));
        verifier.finish(SENT);
        assert_eq!(verifier.received, frames.len() as u64);
        let damages = verifier.damages.iter();
        damages
            .map(|(damage, it)| format!("{} {damage}: {}", it.count, it.first))
            .collect()
    }

    #[test]
    fn every_size_occurs_once_in_each_round() {
        let mut sizes: Vec<_> = (0..SIZES).map(|number| frame(number).len()).collect();
        sizes.sort_unstable();
        assert!(sizes.into_iter().eq(MIN_SIZE..=MAX_SIZE));
    }

    #[test]
    fn each_kind_of_damage_has_its_own_name() {
        type Change = fn(&mut Vec<Vec<u8>>);
        let cases: [(Change, &str); 9] = [
            (|it| drop(it.remove(3)), "1 lost: frame 3 of "),
            (|it| it.truncate(4), "6 lost: frame 4 of "),
            (|it| it.clear(), "10 lost: frame 0 of 60 bytes"),
            (|it| it.insert(5, frame(2)), "1 duplicated: frame 2 of "),
            (|it| it.swap(4, 5), "1 reordered: frame 4 of "),
            (|it| it[0].push(0), "1 padded: frame 0 of 60"),
            (|it| it[0].truncate(59), "1 truncated: frame 0 of"),
            (
                |it| it.push(vec![0xff; 60]),
                "1 foreign: a frame of 60 bytes begins with ffff",
            ),
            // A frame of another run.
            (
                |it| {
                    it.push(Vec::new());
                    Stream { run: 8, port: 0 }.write(0, &mut it[10]);
                },
                "1 foreign: a frame of 60 bytes begins with 0254",
            ),
        ];
        assert!(found(|_| ()).is_empty());
        for (change, says) in cases {
            let found = found(change);
            assert!(
                found.len() == 1 && found[0].starts_with(says),
                "{says}: {found:?}"
            );
        }
    }

    #[test]
    fn any_flipped_bit_is_corruption_and_its_place_is_named() {
        for number in [0, 3] {
            for offset in 0..frame(number).len() {
                let found = found(|frames| frames[number as usize][offset] ^= 0x10).concat();
                let end = format!(" at offset {offset}");
                assert!(found.starts_with("1 corrupted: ") && found.ends_with(&end));
            }
        }
    }
}
