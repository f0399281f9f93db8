//! The frames of the self-test, and what may have happened to them.
//!
//! A frame is Ethernet of the type for local experiments. Its header says which port sent it in which
//! run, and its number. Number, port and run determine every other byte, so that the receiver knows
//! what must arrive.
//!
//! ```text
//! 0  destination  6  source  12  type 0x88b5  14  "TRIP"  18  run  22  port  23  number  31  bytes
//! ```

use serde::{Deserialize, Serialize};

/// Bytes of the shortest frame, without CRC.
pub const MIN_SIZE: usize = 60;
/// Bytes of the longest frame, without CRC.
pub const MAX_SIZE: usize = 1514;
/// Number of sizes. Any run of so many frames has each size once.
pub const SIZES: u64 = (MAX_SIZE - MIN_SIZE + 1) as u64;
/// Room for a received frame, for frames that are longer than they should be.
pub const ROOM: usize = 2048;

/// IEEE 802 local experimental EtherType 1.
const ETHER_TYPE: [u8; 2] = [0x88, 0xb5];
const MAGIC: [u8; 4] = *b"TRIP";
const RUN: usize = 18;
const PORT: usize = 22;
const NUMBER: usize = 23;
/// Bytes of the header, up to the number's end.
const HEADER: usize = 31;
/// A step through the sizes. It has no divisor in common with [`SIZES`], so that all sizes occur, and
/// short and long frames alternate.
const SIZE_STEP: u64 = 682;

/// The frames that one port sends in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    /// A random number for the run, which tells its frames from those of other runs.
    pub run: u32,
    /// The sending port, 0 or 1.
    pub port: u8,
}

impl Stream {
    /// Bytes of a frame, without CRC.
    pub fn size(number: u64) -> usize {
        MIN_SIZE + (number % SIZES * SIZE_STEP % SIZES) as usize
    }

    /// Writes a frame into `frame`.
    pub fn write(self, number: u64, frame: &mut Vec<u8>) {
        let size = Self::size(number);
        frame.clear();
        // Locally administered addresses. The port is their last byte.
        frame.extend([0x02, 0x54, 0x52, 0x49, 0x50, 1 - (self.port & 1)]);
        frame.extend([0x02, 0x54, 0x52, 0x49, 0x50, self.port]);
        frame.extend(ETHER_TYPE);
        frame.extend(MAGIC);
        frame.extend(self.run.to_le_bytes());
        frame.push(self.port);
        frame.extend(number.to_le_bytes());
        let mut random = Random::new(u64::from(self.run) << 8 ^ u64::from(self.port), number);
        while frame.len() < size {
            frame.extend(random.next().to_le_bytes());
        }
        frame.truncate(size);
    }

    /// The number in a frame's header, or `None` if the frame is not of this stream.
    fn number(self, frame: &[u8]) -> Option<u64> {
        let header = frame.get(..HEADER)?;
        let ours = header.get(12..14)? == ETHER_TYPE
            && header.get(14..RUN)? == MAGIC
            && header.get(RUN..PORT)? == self.run.to_le_bytes()
            && header.get(PORT) == Some(&self.port);
        let number: [u8; 8] = header.get(NUMBER..)?.try_into().ok()?;
        ours.then(|| u64::from_le_bytes(number))
    }
}

/// Pseudo-random numbers: SplitMix64.
struct Random(u64);

impl Random {
    fn new(stream: u64, number: u64) -> Self {
        let mut first = Self(stream);
        let mixed = first.next();
        Self(mixed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// What can happen to a frame on its way.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumIter,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Damage {
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

/// The first frame of a kind of damage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// What happened.
    pub damage: Damage,
    /// Its number, if it is known.
    pub number: Option<u64>,
    /// Bytes that it should have.
    pub expected_size: Option<usize>,
    /// Bytes that arrived.
    pub size: Option<usize>,
    /// The first byte that differs.
    pub offset: Option<usize>,
    /// The value of that byte when it was sent.
    pub expected: Option<u8>,
    /// The value that arrived.
    pub got: Option<u8>,
    /// The first bytes that arrived, as hexadecimal digits.
    pub head: String,
}

impl Example {
    fn new(damage: Damage, number: Option<u64>) -> Self {
        Self {
            damage,
            number,
            expected_size: number.map(Stream::size),
            size: None,
            offset: None,
            expected: None,
            got: None,
            head: String::new(),
        }
    }

    fn of(damage: Damage, number: Option<u64>, received: &[u8], size: usize) -> Self {
        let head = received.iter().take(HEADER + 1);
        Self {
            size: Some(size),
            head: head.map(|byte| format!("{byte:02x}")).collect(),
            ..Self::new(damage, number)
        }
    }

    fn at(mut self, offset: usize, expected: u8, got: u8) -> Self {
        (self.offset, self.expected, self.got) = (Some(offset), Some(expected), Some(got));
        self
    }

    /// The example in words.
    pub fn text(&self) -> String {
        let mut text = match self.number {
            Some(number) => format!("frame {number}"),
            None => "a frame".to_owned(),
        };
        match (self.expected_size, self.size) {
            (Some(expected), Some(size)) if expected != size => {
                text += &format!(" of {expected} bytes arrived with {size}");
            }
            (Some(size), _) | (None, Some(size)) => text += &format!(" of {size} bytes"),
            (None, None) => {}
        }
        if let (Some(offset), Some(expected), Some(got)) = (self.offset, self.expected, self.got) {
            text += &format!(" has 0x{got:02x} instead of 0x{expected:02x} at offset {offset}");
        }
        if self.damage == Damage::Foreign {
            text += &format!(" begins with {}", self.head);
        }
        text
    }
}

/// Compares a received frame with the one that was sent. `size` is its length, of which `received`
/// holds at most [`ROOM`] bytes. `None` if they are equal.
fn compare(number: u64, sent: &[u8], received: &[u8], size: usize) -> Option<Example> {
    let differs = sent.iter().zip(received).position(|(a, b)| a != b);
    if let Some(offset) = differs {
        let (expected, got) = (sent.get(offset)?, received.get(offset)?);
        let example = Example::of(Damage::Corrupted, Some(number), received, size);
        return Some(example.at(offset, *expected, *got));
    }
    let damage = match size.cmp(&sent.len()) {
        std::cmp::Ordering::Less => Damage::Truncated,
        std::cmp::Ordering::Greater => Damage::Padded,
        std::cmp::Ordering::Equal => return None,
    };
    Some(Example::of(damage, Some(number), received, size))
}

/// Whether two frames have most of the bytes after the header in common. All headers are alike.
fn is_similar(sent: &[u8], received: &[u8]) -> bool {
    let pairs = sent.iter().zip(received).skip(HEADER);
    let equal = pairs.clone().filter(|(a, b)| a == b).count();
    2 * equal > pairs.count()
}

/// The frames of a stream that have arrived.
#[derive(Debug)]
pub struct Verifier {
    stream: Stream,
    /// A bit for each number that has arrived.
    seen: Vec<u64>,
    /// The number after the highest one that has arrived.
    next: u64,
    expected: Vec<u8>,
    counts: [u64; 7],
    examples: Vec<Example>,
    /// Frames that arrived as they were sent, at their first arrival.
    intact: u64,
    received: u64,
    bytes: u64,
}

impl Verifier {
    /// Before the first frame.
    pub fn new(stream: Stream) -> Self {
        Self {
            stream,
            seen: Vec::new(),
            next: 0,
            expected: Vec::with_capacity(ROOM),
            counts: [0; 7],
            examples: Vec::new(),
            intact: 0,
            received: 0,
            bytes: 0,
        }
    }

    /// Frames that arrived, in any state.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Bytes of these frames, with four bytes of CRC each.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Frames of the stream that arrived, each once.
    pub fn arrived(&self) -> u64 {
        self.seen
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }

    /// How often a kind of damage occurred.
    pub fn count(&self, damage: Damage) -> u64 {
        self.counts.get(damage as usize).copied().unwrap_or(0)
    }

    /// The first frame of each kind of damage.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// Frames that arrived once, complete and unchanged.
    pub fn intact(&self) -> u64 {
        self.intact
    }

    /// Takes a received frame. `size` is its length, `received` its first bytes, `sent` how many
    /// frames have been sent.
    pub fn take(&mut self, received: &[u8], size: usize, sent: u64) {
        self.received += 1;
        self.bytes += size as u64 + 4;
        let Some((number, difference)) = self.recognise(received, size, sent) else {
            self.note(Example::of(Damage::Foreign, None, received, size));
            return;
        };
        if self.has_arrived(number) {
            self.note(Example::of(
                Damage::Duplicated,
                Some(number),
                received,
                size,
            ));
            return;
        }
        self.mark(number);
        if number < self.next {
            self.note(Example::of(Damage::Reordered, Some(number), received, size));
        }
        self.next = self.next.max(number + 1);
        match difference {
            Some(example) => self.note(example),
            None => self.intact += 1,
        }
    }

    /// Counts the frames that have not arrived, after the last one.
    pub fn finish(&mut self, sent: u64) {
        let lost = (0..sent).filter(|number| !self.has_arrived(*number));
        let lost: Vec<u64> = lost.collect();
        if let Some(first) = lost.first() {
            self.note(Example::new(Damage::Lost, Some(*first)));
            self.add(Damage::Lost, lost.len() as u64 - 1);
        }
    }

    /// The number of a frame of the stream, and how it differs from the one that was sent.
    fn recognise(
        &mut self,
        received: &[u8],
        size: usize,
        sent: u64,
    ) -> Option<(u64, Option<Example>)> {
        let stream = self.stream;
        let mut expected = std::mem::take(&mut self.expected);
        let mut try_number = |number: u64| {
            stream.write(number, &mut expected);
            if size == expected.len() && received == expected {
                return Some((number, None));
            }
            let similar = is_similar(&expected, received);
            similar.then(|| (number, compare(number, &expected, received, size)))
        };
        let claimed = stream.number(received).filter(|number| *number < sent);
        // A damaged header may claim another number, or none. Then it is most likely the next frame.
        let found = claimed
            .and_then(&mut try_number)
            .or_else(|| (self.next < sent).then(|| try_number(self.next)).flatten());
        self.expected = expected;
        found
    }

    fn has_arrived(&self, number: u64) -> bool {
        let word = self.seen.get((number / 64) as usize);
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    fn mark(&mut self, number: u64) {
        let index = (number / 64) as usize;
        if self.seen.len() <= index {
            self.seen.resize(index + 1, 0);
        }
        if let Some(word) = self.seen.get_mut(index) {
            *word |= 1 << (number % 64);
        }
    }

    fn note(&mut self, example: Example) {
        let damage = example.damage;
        if self.count(damage) == 0 {
            self.examples.push(example);
        }
        self.add(damage, 1);
    }

    fn add(&mut self, damage: Damage, number: u64) {
        if let Some(count) = self.counts.get_mut(damage as usize) {
            *count += number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::IntoEnumIterator;

    const STREAM: Stream = Stream { run: 7, port: 0 };
    const SENT: u64 = 10;

    fn frame(number: u64) -> Vec<u8> {
        let mut frame = Vec::new();
        STREAM.write(number, &mut frame);
        frame
    }

    /// The damage that a verifier finds in these frames, of ten that were sent.
    fn found(frames: &[Vec<u8>]) -> Vec<(Damage, u64)> {
        let mut verifier = Verifier::new(STREAM);
        for frame in frames {
            verifier.take(frame, frame.len(), SENT);
        }
        verifier.finish(SENT);
        assert_eq!(verifier.received(), frames.len() as u64);
        for example in verifier.examples() {
            assert!(verifier.count(example.damage) > 0);
        }
        let kinds = Damage::iter().map(|damage| (damage, verifier.count(damage)));
        kinds.filter(|(_, count)| *count > 0).collect()
    }

    fn all() -> Vec<Vec<u8>> {
        (0..SENT).map(frame).collect()
    }

    #[test]
    fn every_size_occurs_once_in_each_round() {
        let mut sizes: Vec<_> = (0..SIZES).map(Stream::size).collect();
        sizes.sort_unstable();
        let expected: Vec<_> = (MIN_SIZE..=MAX_SIZE).collect();
        assert_eq!(sizes, expected);
        assert_eq!(Stream::size(SIZES), Stream::size(0));
        for number in 0..SIZES {
            assert_eq!(frame(number).len(), Stream::size(number));
        }
    }

    #[test]
    fn intact_frames_are_found_intact() {
        assert_eq!(found(&all()), []);
    }

    #[test]
    fn each_kind_of_damage_has_its_own_name() {
        let mut lost = all();
        lost.remove(3);
        assert_eq!(found(&lost), [(Damage::Lost, 1)]);

        let mut duplicated = all();
        duplicated.insert(5, frame(2));
        assert_eq!(found(&duplicated), [(Damage::Duplicated, 1)]);

        let mut reordered = all();
        reordered.swap(4, 5);
        assert_eq!(found(&reordered), [(Damage::Reordered, 1)]);

        let mut padded = all();
        padded[6].extend([0; 4]);
        assert_eq!(found(&padded), [(Damage::Padded, 1)]);

        let mut truncated = all();
        truncated[7].pop();
        assert_eq!(found(&truncated), [(Damage::Truncated, 1)]);

        let mut foreign = all();
        foreign.push(vec![0xff; 60]);
        assert_eq!(found(&foreign), [(Damage::Foreign, 1)]);
        // A frame of another run is foreign, too.
        let mut other = Vec::new();
        Stream { run: 8, port: 0 }.write(0, &mut other);
        assert_eq!(
            found(&[all(), vec![other]].concat()),
            [(Damage::Foreign, 1)]
        );
    }

    #[test]
    fn any_flipped_bit_is_corruption_and_its_place_is_named() {
        for number in [0, 3] {
            for offset in 0..frame(number).len() {
                let mut frames = all();
                frames[number as usize][offset] ^= 0x10;
                let found = found(&frames);
                assert_eq!(
                    found,
                    [(Damage::Corrupted, 1)],
                    "frame {number}, byte {offset}"
                );
            }
        }
        let mut verifier = Verifier::new(STREAM);
        let mut bad = frame(0);
        let sent = bad[40];
        bad[40] = !sent;
        verifier.take(&bad, bad.len(), SENT);
        let example = &verifier.examples()[0];
        assert_eq!(example.offset, Some(40));
        assert_eq!((example.expected, example.got), (Some(sent), Some(!sent)));
        let text = example.text();
        assert!(text.contains("frame 0 of 60 bytes has 0x"), "{text}");
        assert!(text.contains("at offset 40"), "{text}");
    }

    #[test]
    fn lost_frames_at_the_end_are_lost_too() {
        assert_eq!(found(&all()[..4]), [(Damage::Lost, 6)]);
        assert_eq!(found(&[]), [(Damage::Lost, 10)]);
    }
}
