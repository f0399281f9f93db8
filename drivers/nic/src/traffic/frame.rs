//! The frames that the generator makes and the verifier checks.
//!
//! A frame is UDP over IPv4, with at least 60 bytes without CRC. Its length and a few values in it
//! determine the whole frame, so any altered byte shows:
//!
//! | bytes | content |
//! |---|---|
//! | 0..14 | Ethernet: from the link partner's to the port's MAC address |
//! | 14..34 | IPv4 without options, checksum included; addresses name the port |
//! | 34..42 | UDP without checksum; the source port names the flow |
//! | 42 | the port that received the frame from the wire |
//! | 43 | the stream: the receive queue of the frame |
//! | 44..48 | first check word, little-endian |
//! | 48..56 | sequence number in the stream, little-endian |
//! | 56..60 | second check word, little-endian |
//! | 60.. | pattern, from the check words and the position |
//!
//! Flow, sequence number and check words lie in aligned 32-bit words, and each rises by a constant
//! from frame to frame. So the next frame is the last one plus a constant vector ([`Own`]). Making
//! or checking a frame costs no more than copying it.

/// Bytes in the smallest frame, without CRC.
pub(crate) const MIN_FRAME: usize = 60;
/// Bytes in the largest frame that is not a jumbo frame, without CRC.
pub(crate) const MAX_FRAME: usize = 1514;
/// UDP port of flow 0, with swapped bytes. Adding the number of a flow gives the bytes of its port.
const FIRST_UDP_PORT: u16 = 0x0004;

/// The values that identify a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The port that received the frame from the wire.
    pub port: u8,
    /// The receive queue of the frame.
    pub stream: u8,
    /// The flow of the frame.
    pub flow: u16,
    /// The frame's number in the stream.
    pub sequence: u64,
}

/// MAC address of a port after a reset.
pub(crate) fn station_address(port: usize) -> [u8; 6] {
    [0x02, 0x82, 0x59, 0x90, 0x00, port as u8]
}

/// Bytes 0 to 31 of a frame, as little-endian words: the same in all frames of one port and length.
pub(crate) type Fixed = [u32; 8];

/// Bytes 28 to 59 of a frame, as little-endian words. They contain all values that differ between
/// frames.
pub(crate) type Own = [u32; 8];

/// Offset of [`Own`] in a frame.
pub(crate) const OWN_OFFSET: usize = 28;

/// Indices of the words of [`Own`].
const UDP: usize = 1;
const PORT: usize = 3;
const CHECK_1: usize = 4;
const SEQUENCE_LOW: usize = 5;
const SEQUENCE_HIGH: usize = 6;
const CHECK_2: usize = 7;
/// Bit offsets of UDP source port, port and stream in their words.
const UDP_SHIFT: u32 = 16;
const PORT_SHIFT: u32 = 16;
const STREAM_SHIFT: u32 = 24;

/// Odd factors of port and stream, flow, and the halves of the sequence number. A check word is the
/// sum of these values, each times its factor, so a change of a single value changes both check words.
type Factors = [u32; 4];

const FACTORS_1: Factors = [0x9e37_79b9, 0x85eb_ca6b, 0xc2b2_ae35, 0x27d4_eb2f];
const FACTORS_2: Factors = [0x1656_67b1, 0xd3a2_646d, 0xfd70_46c5, 0xb55a_4f09];

/// The difference between the [`Own`] of a frame and that of the next one, which has the next
/// sequence number and the next flow. Valid if neither wraps.
const STEP: Own = [
    0,
    1 << UDP_SHIFT,
    0,
    0,
    FACTORS_1[1].wrapping_add(FACTORS_1[2]),
    1,
    0,
    FACTORS_2[1].wrapping_add(FACTORS_2[2]),
];

/// [`STEP`], hidden from the compiler. If the compiler saw the zeros, it would split the vector
/// into words.
#[inline(always)]
pub(crate) fn opaque_step() -> Own {
    std::hint::black_box(STEP)
}

/// The [`Own`] of the next frame; see [`STEP`].
#[inline(always)]
pub(crate) fn add(own: Own, step: Own) -> Own {
    std::array::from_fn(|nth| own[nth].wrapping_add(step[nth]))
}

/// Number of frames, from this one on, that differ by [`STEP`]. A run ends with the last flow, or
/// where the lower half of the sequence number wraps.
#[inline(always)]
pub(crate) fn run_length(flow: u16, flows: u16, sequence: u64) -> usize {
    let until_wrap = u64::from(u32::MAX) + 1 - (sequence & u64::from(u32::MAX));
    usize::from(flows.saturating_sub(flow))
        .min(until_wrap as usize)
        .max(1)
}

/// The first 60 bytes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) fixed: Fixed,
    pub(crate) own: Own,
}

impl Head {
    pub(crate) fn from_bytes(bytes: &[u8; MIN_FRAME]) -> Self {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        Self {
            fixed: std::array::from_fn(|nth| word(4 * nth)),
            own: std::array::from_fn(|nth| word(OWN_OFFSET + 4 * nth)),
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; MIN_FRAME] {
        let mut bytes = [0; MIN_FRAME];
        let words = self.fixed.into_iter().chain(self.own.into_iter().skip(1));
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The values that identify the frame. They mean nothing if another source made the frame.
    pub(crate) fn identity(&self) -> Identity {
        Identity {
            port: (self.own[PORT] >> PORT_SHIFT) as u8,
            stream: (self.own[PORT] >> STREAM_SHIFT) as u8,
            flow: ((self.own[UDP] >> UDP_SHIFT) as u16).wrapping_sub(FIRST_UDP_PORT),
            sequence: u64::from(self.own[SEQUENCE_LOW]) | u64::from(self.own[SEQUENCE_HIGH]) << 32,
        }
    }

    /// The check words in the frame.
    pub(crate) fn check(&self) -> Check {
        [self.own[CHECK_1], self.own[CHECK_2]]
    }

    /// Whether the destination is a group address.
    #[inline(always)]
    pub(crate) fn is_to_group(&self) -> bool {
        self.fixed[0] & 1 == 1
    }

    /// Whether the destination is the broadcast address.
    pub(crate) fn is_to_all(&self) -> bool {
        self.fixed[0] == u32::MAX && self.fixed[1] as u16 == u16::MAX
    }
}

/// The check words of a frame.
pub(crate) type Check = [u32; 2];

/// The first 60 bytes that all frames of one port and one length have in common. Stream, flow,
/// sequence number and check words are 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Template {
    head: Head,
    /// Length of a frame.
    pub(crate) len: usize,
}

impl Template {
    /// The template of frames of `len` bytes, 60 to 1514.
    pub(crate) fn new(port: usize, len: usize) -> Self {
        let mut bytes = [0; MIN_FRAME];
        let ip_len = (len - 14) as u16;
        let udp_len = (len - 34) as u16;
        bytes[0..6].copy_from_slice(&station_address(port));
        // The link partner at the other end of the wire.
        bytes[6..12].copy_from_slice(&[0x02, 0x82, 0x59, 0x91, 0x00, port as u8]);
        bytes[12..14].copy_from_slice(&[0x08, 0x00]);
        bytes[14] = 0x45;
        bytes[16..18].copy_from_slice(&ip_len.to_be_bytes());
        bytes[22] = 64;
        bytes[23] = 17;
        bytes[26..30].copy_from_slice(&[10, 0, port as u8, 2]);
        bytes[30..34].copy_from_slice(&[10, 0, port as u8, 1]);
        let sum = ip_checksum(&bytes[14..34]);
        bytes[24..26].copy_from_slice(&sum.to_be_bytes());
        bytes[36..38].copy_from_slice(&9_u16.to_be_bytes());
        bytes[38..40].copy_from_slice(&udp_len.to_be_bytes());
        bytes[42] = port as u8;
        Self {
            head: Head::from_bytes(&bytes),
            len,
        }
    }

    /// The template with other Ethernet addresses or other bytes up to byte 27. `edit` changes the
    /// first 28 bytes, which all frames share.
    pub(crate) fn edited(mut self, edit: impl FnOnce(&mut [u8; OWN_OFFSET])) -> Self {
        let mut bytes = self.head.to_bytes();
        if let Some(shared) = bytes.first_chunk_mut() {
            edit(shared);
        }
        self.head = Head::from_bytes(&bytes);
        self
    }

    /// The part that all frames share.
    #[inline(always)]
    pub(crate) fn fixed(&self) -> Fixed {
        self.head.fixed
    }

    /// The part that differs between frames.
    #[inline(always)]
    pub(crate) fn own(&self, identity: Identity) -> Own {
        let mut own = self.head.own;
        own[UDP] |= u32::from(FIRST_UDP_PORT.wrapping_add(identity.flow)) << UDP_SHIFT;
        own[PORT] |= u32::from(identity.stream) << STREAM_SHIFT;
        own[SEQUENCE_LOW] = identity.sequence as u32;
        own[SEQUENCE_HIGH] = (identity.sequence >> 32) as u32;
        [own[CHECK_1], own[CHECK_2]] = identity.check();
        own
    }

    /// The first 60 bytes of a frame.
    pub(crate) fn head(&self, identity: Identity) -> Head {
        Head {
            fixed: self.fixed(),
            own: self.own(identity),
        }
    }

    /// Whether every byte of the head follows from the values in it.
    pub(crate) fn matches(&self, head: &Head) -> bool {
        self.head(head.identity()) == *head
    }
}

fn ip_checksum(header: &[u8]) -> u16 {
    let pairs = header.chunks_exact(2);
    let words = pairs.map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    !(((sum & 0xffff) + (sum >> 16)) as u16)
}

impl Identity {
    /// The check words of the frame.
    pub(crate) fn check(self) -> Check {
        let origin = u32::from(self.port) << 8 | u32::from(self.stream);
        let word = |factors: Factors| {
            (origin.wrapping_add(0x8259_9825).wrapping_mul(factors[0]))
                .wrapping_add(u32::from(self.flow).wrapping_mul(factors[1]))
                .wrapping_add((self.sequence as u32).wrapping_mul(factors[2]))
                .wrapping_add(((self.sequence >> 32) as u32).wrapping_mul(factors[3]))
        };
        [word(FACTORS_1), word(FACTORS_2)]
    }
}

/// Fills the bytes of a frame from 60 on with the pattern.
pub(crate) fn fill_tail(tail: &mut [u8], check: Check) {
    let mut pattern = pattern(check);
    let mut chunks = tail.chunks_exact_mut(8);
    for (chunk, word) in chunks.by_ref().zip(&mut pattern) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    let rest = chunks.into_remainder();
    let last = pattern.next().unwrap_or_default().to_le_bytes();
    rest.copy_from_slice(&last[..rest.len()]);
}

/// Whether the bytes of a frame from 60 on are the pattern of [`fill_tail`].
pub(crate) fn tail_matches(tail: &[u8], check: Check) -> bool {
    let mut pattern = pattern(check);
    let mut chunks = tail.chunks_exact(8);
    let mut difference = 0;
    for (chunk, word) in chunks.by_ref().zip(&mut pattern) {
        difference |= u64::from_le_bytes(chunk.try_into().unwrap_or_default()) ^ word;
    }
    let (rest, last) = (chunks.remainder(), pattern.next().unwrap_or_default());
    difference == 0 && *rest == last.to_le_bytes()[..rest.len()]
}

/// The pattern of a frame with these check words. The factor is odd, so that its multiples differ at every
/// position of a frame.
fn pattern([low, high]: Check) -> impl Iterator<Item = u64> {
    let check = u64::from(low) | u64::from(high) << 32;
    (1_u64..).map(move |nth| check ^ nth.wrapping_mul(0xa076_1d64_78bd_642f))
}

#[cfg(test)]
pub(crate) fn build(identity: Identity, len: usize) -> Vec<u8> {
    let template = Template::new(usize::from(identity.port), len);
    let mut frame = template.head(identity).to_bytes().to_vec();
    frame.resize(len, 0);
    fill_tail(&mut frame[MIN_FRAME..], identity.check());
    frame
}

/// Frame number `sequence` of port 0, of `len` bytes, in one of 7 flows.
#[cfg(test)]
pub(crate) fn numbered(sequence: u64, len: usize) -> Vec<u8> {
    let identity = Identity {
        port: 0,
        stream: 0,
        flow: (sequence % 7) as u16,
        sequence,
    };
    build(identity, len)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Identity = Identity {
        port: 1,
        stream: 3,
        flow: 17,
        sequence: 0x0123_4567_89ab,
    };

    fn intact(frame: &[u8]) -> bool {
        let head = Head::from_bytes(frame[..MIN_FRAME].try_into().unwrap());
        let template = Template::new(1, frame.len());
        template.matches(&head) && tail_matches(&frame[MIN_FRAME..], head.check())
    }

    #[test]
    fn a_frame_carries_its_identity() {
        let frame = build(SOME, 60);
        let head = Head::from_bytes(frame[..60].try_into().unwrap());
        assert_eq!((head.identity(), head.check()), (SOME, SOME.check()));
        assert_eq!(head.to_bytes(), frame[..]);
        assert!(intact(&frame));
    }

    #[test]
    fn every_altered_byte_shows() {
        for len in [60, 61, 64, 67, 68, 127, 1514] {
            let frame = build(SOME, len);
            assert!(intact(&frame), "{len}");
            for at in 0..len {
                for change in [1, 0x80, 0xff] {
                    let mut altered = frame.clone();
                    altered[at] ^= change;
                    assert!(!intact(&altered), "length {len}, byte {at} xor {change:#x}");
                }
            }
        }
    }

    #[test]
    fn the_next_frame_is_one_step_further() {
        let template = Template::new(1, 60);
        for (flow, sequence) in [
            (0, 0),
            (17, 0x0123_4567_89ab),
            (1022, u64::from(u32::MAX) - 1),
        ] {
            let own = |nth: u16| {
                let mut identity = SOME;
                identity.flow = flow + nth;
                identity.sequence = sequence + u64::from(nth);
                template.own(identity)
            };
            assert_eq!(add(own(0), opaque_step()), own(1));
        }
        assert_eq!(run_length(0, 1024, 0), 1024);
        assert_eq!(run_length(1023, 1024, 0), 1);
        assert_eq!(run_length(0, 1024, u64::from(u32::MAX)), 1);
        assert_eq!(run_length(2000, 1024, 0), 1);
    }

    #[test]
    fn the_ip_header_sums_to_zero() {
        let frame = build(SOME, 1000);
        assert_eq!(ip_checksum(&frame[14..34]), 0);
        assert_eq!(u16::from_be_bytes([frame[16], frame[17]]), 986);
    }
}
