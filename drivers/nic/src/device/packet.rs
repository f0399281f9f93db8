//! Packet parsing: the VLAN tag, the network header, the transport header, and the checksums.

use crate::device::registers as r;

/// Bytes of a VLAN tag, EtherType included.
pub(crate) const TAG_LEN: usize = 4;
/// Offset of the EtherType, or of a VLAN tag in its place.
pub(crate) const TYPE_OFFSET: usize = 12;

/// EtherType of VLAN tags after a reset.
pub(crate) const DEFAULT_VLAN_TYPE: u16 = 0x8100;

/// The packet type of IPv4 and of UDP in a receive descriptor.
const TYPE_IPV4: u64 = 0x01;
const TYPE_UDP: u64 = 0x20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V4,
    V6,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp,
    Udp,
    Sctp,
}

impl Transport {
    fn of(protocol: u8) -> Option<Self> {
        let mut all = [Self::Tcp, Self::Udp, Self::Sctp].into_iter();
        all.find(|transport| transport.protocol() == protocol)
    }

    /// The number of the protocol, bytes of the shortest header, offset of the checksum in the header,
    /// and the packet type.
    fn row(self) -> (u8, usize, usize, u64) {
        match self {
            Self::Tcp => (6, 20, 16, 0x10),
            Self::Udp => (17, 8, 6, TYPE_UDP),
            Self::Sctp => (132, 12, 8, 0x40),
        }
    }

    pub(super) fn protocol(self) -> u8 {
        self.row().0
    }

    fn least(self) -> usize {
        self.row().1
    }

    /// Offset of the checksum in the header.
    pub(crate) fn checksum_offset(self) -> usize {
        self.row().2
    }
}

/// An IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    pub(crate) version: Version,
    /// Offset of the header in the frame.
    pub(crate) at: usize,
    /// End of the IP packet in the frame. Padding follows.
    end: usize,
    /// Whether the header has options or extension headers.
    extended: bool,
    fragment: bool,
}

impl Network {
    /// Source and destination address.
    pub(crate) fn addresses<'a>(&self, frame: &'a [u8]) -> &'a [u8] {
        let range = match self.version {
            Version::V4 => self.at + 12..self.at + 20,
            Version::V6 => self.at + 8..self.at + 40,
        };
        frame.get(range).unwrap_or_default()
    }
}

/// The headers of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packet {
    /// The VLAN tag without its EtherType.
    pub(crate) vlan: Option<u16>,
    pub(crate) network: Option<Network>,
    /// The transport protocol and the offset of its header; `None` in a fragment.
    pub(crate) transport: Option<(Transport, usize)>,
}

pub(super) fn word16(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}

impl Packet {
    /// Parses a frame in which VLAN tags have this EtherType.
    pub(crate) fn of(frame: &[u8], vlan_type: u16) -> Self {
        let mut packet = Self::default();
        let mut at = TYPE_OFFSET;
        let mut ether_type = word16(frame, at);
        if ether_type == Some(vlan_type) {
            packet.vlan = word16(frame, at + 2);
            at += TAG_LEN;
            ether_type = word16(frame, at);
        }
        at += 2;
        let found = match ether_type {
            Some(0x0800) => ipv4(frame, at),
            Some(0x86dd) => ipv6(frame, at),
            _ => None,
        };
        if let Some((network, protocol, payload)) = found {
            packet.network = Some(network);
            packet.transport = Transport::of(protocol)
                .filter(|transport| !network.fragment && payload + transport.least() <= network.end)
                .map(|transport| (transport, payload));
        }
        packet
    }

    /// The packet type that goes into the receive descriptor.
    fn kind(&self) -> u64 {
        let network = match self.network.map(|it| (it.version, it.extended)) {
            None => return 0,
            Some((Version::V4, false)) => TYPE_IPV4,
            Some((Version::V4, true)) => 0x02,
            Some((Version::V6, false)) => 0x04,
            Some((Version::V6, true)) => 0x08,
        };
        let transport = self.transport.map_or(0, |(transport, _)| transport.row().3);
        network | transport
    }

    /// Whether the transport checksum is right; `None` if the frame has no checksum to check.
    fn transport_checksum(&self, frame: &[u8]) -> Option<bool> {
        let (network, (transport, at)) = (self.network?, self.transport?);
        let segment = frame.get(at..network.end)?;
        if transport == Transport::Sctp {
            return Some(sctp_checksum(segment) == segment[8..12]);
        }
        let segment = match transport {
            Transport::Udp => {
                if segment[6..8] == [0, 0] {
                    return None;
                }
                // The UDP length is normally that of the IP payload. A shorter one counts.
                segment.get(..usize::from(word16(segment, 4)?))?
            }
            _ => segment,
        };
        let addresses = network.addresses(frame);
        let pseudo = pseudo_header(addresses, transport.protocol(), segment.len());
        Some(fold(pseudo + sum(segment)) == 0xffff)
    }
}

fn ipv4(frame: &[u8], at: usize) -> Option<(Network, u8, usize)> {
    let header = frame.get(at..at + 20)?;
    let len = usize::from(header[0] & 0xf) * 4;
    let total = usize::from(word16(header, 2)?);
    if header[0] >> 4 != 4 || len < 20 || total < len || frame.len() < at + total {
        return None;
    }
    let network = Network {
        version: Version::V4,
        at,
        end: at + total,
        extended: len > 20,
        fragment: word16(header, 6)? & 0x3fff != 0,
    };
    Some((network, header[9], at + len))
}

fn ipv6(frame: &[u8], at: usize) -> Option<(Network, u8, usize)> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const DESTINATION: u8 = 60;
    let header = frame.get(at..at + 40)?;
    let end = at + 40 + usize::from(word16(header, 4)?);
    if header[0] >> 4 != 6 || frame.len() < end {
        return None;
    }
    let mut network = Network {
        version: Version::V6,
        at,
        end,
        extended: false,
        fragment: false,
    };
    let (mut protocol, mut next) = (header[6], at + 40);
    while matches!(protocol, HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION) {
        network.extended = true;
        let Some(extension) = frame.get(next..next + 8).filter(|_| next + 8 <= end) else {
            // The header is cut off, so the transport protocol is unknown.
            network.fragment = true;
            break;
        };
        if protocol == FRAGMENT {
            network.fragment = true;
            break;
        }
        protocol = extension[0];
        next += 8 + 8 * usize::from(extension[1]);
    }
    Some((network, protocol, next))
}

/// The receive descriptor's report on a frame's contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The packet type.
    pub(crate) kind: u64,
    /// Status and error bits, as in an advanced descriptor's second word.
    pub(crate) bits: u64,
    /// The VLAN tag without its EtherType.
    pub(crate) vlan: Option<u16>,
}

impl Verdict {
    /// The report on a frame from the wire.
    pub(crate) fn of(frame: &[u8], packet: &Packet) -> Self {
        let mut bits = 0;
        let v4 = packet.network.filter(|it| it.version == Version::V4);
        if let Some(Network { at, .. }) = v4 {
            let len = usize::from(frame[at] & 0xf) * 4;
            bits |= r::RXD_IPCS;
            if fold(sum(&frame[at..at + len])) != 0xffff {
                bits |= r::RXD_IPE;
            }
        }
        if let Some(right) = packet.transport_checksum(frame) {
            bits |= r::RXD_L4I;
            if matches!(packet.transport, Some((Transport::Udp, _))) {
                bits |= r::RXD_UDPCS | r::RXD_UDPV;
            }
            if !right {
                bits |= r::RXD_L4E;
            }
        }
        if packet.vlan.is_some() {
            bits |= r::RXD_VP;
        }
        Self {
            kind: packet.kind(),
            bits,
            vlan: packet.vlan,
        }
    }

    /// The report on the traffic generator's frames: UDP over IPv4, without a UDP checksum.
    pub(crate) const GENERATED: Self = Self {
        kind: TYPE_IPV4 | TYPE_UDP,
        bits: r::RXD_IPCS,
        vlan: None,
    };
}

/// The sum of 16-bit words under an Internet checksum, before folding.
pub(crate) fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(4);
    let rest = words.remainder();
    // Each step adds two 16-bit words at once. Folding adds the halves.
    let sum = words.fold(0_u64, |sum, word| {
        sum + u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
    });
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum + u64::from(u32::from_be_bytes(last))
}

/// Folds a sum to 16 bits.
pub(crate) fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The sum of the pseudo header in front of a TCP or UDP segment.
pub(crate) fn pseudo_header(addresses: &[u8], protocol: u8, len: usize) -> u64 {
    sum(addresses) + u64::from(protocol) + len as u64
}

/// An SCTP packet's CRC32c, in the byte order of its header. The field's own bytes count as 0.
pub(crate) fn sctp_checksum(packet: &[u8]) -> [u8; 4] {
    let without = |(at, byte)| if (8..12).contains(&at) { 0 } else { byte };
    let bytes = packet.iter().copied().enumerate().map(without);
    crc32c(bytes).to_le_bytes()
}

fn crc32c(bytes: impl Iterator<Item = u8>) -> u32 {
    let bit = |crc: u32| crc >> 1 ^ (0x82f6_3b78 & (crc & 1).wrapping_neg());
    let add = |crc: u32, byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| bit(crc));
    !bytes.fold(u32::MAX, add)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A frame with right checksums: Ethernet, perhaps a tag, IP, perhaps options or extension
    /// headers, TCP or UDP.
    pub(crate) fn frame(
        version: Version,
        transport: Transport,
        extra: usize,
        tag: Option<u16>,
        payload: &[u8],
    ) -> Vec<u8> {
        let mut frame = vec![0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2];
        if let Some(tag) = tag {
            frame.extend([0x81, 0x00]);
            frame.extend(tag.to_be_bytes());
        }
        let segment_len = transport.least() + payload.len();
        let at = frame.len() + 2;
        match version {
            Version::V4 => {
                frame.extend([0x08, 0x00, 0x45 + extra as u8, 0]);
                frame.extend(((20 + 4 * extra + segment_len) as u16).to_be_bytes());
                frame.extend([0x12, 0x34, 0x40, 0, 64, transport.protocol(), 0, 0]);
                frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
                frame.extend(vec![1; 4 * extra]);
                let checksum = !fold(sum(&frame[at..]));
                frame[at + 10..at + 12].copy_from_slice(&checksum.to_be_bytes());
            }
            Version::V6 => {
                frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
                frame.extend(((8 * extra + segment_len) as u16).to_be_bytes());
                let first = if extra > 0 { 60 } else { transport.protocol() };
                frame.extend([first, 64]);
                frame.extend((0..32).map(|n| 0xfd ^ n));
                if extra > 0 {
                    frame.extend([transport.protocol(), extra as u8 - 1]);
                    frame.extend(vec![0; 8 * extra - 2]);
                }
            }
        }
        let segment = frame.len();
        match transport {
            Transport::Tcp => {
                frame.extend([0x10, 0x01, 0x00, 0x50, 1, 2, 3, 4, 5, 6, 7, 8]);
                frame.extend([0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0]);
            }
            Transport::Udp => {
                frame.extend([0x10, 0x01, 0x00, 0x50]);
                frame.extend((segment_len as u16).to_be_bytes());
                frame.extend([0, 0]);
            }
            Transport::Sctp => frame.extend([0x10, 0x01, 0x00, 0x50, 9, 9, 9, 9, 0, 0, 0, 0]),
        }
        frame.extend(payload);
        let place = segment + transport.checksum_offset();
        if transport == Transport::Sctp {
            let checksum = sctp_checksum(&frame[segment..]);
            frame[place..place + 4].copy_from_slice(&checksum);
        } else {
            let addresses = match version {
                Version::V4 => &frame[at + 12..at + 20],
                Version::V6 => &frame[at + 8..at + 40],
            };
            let pseudo = pseudo_header(addresses, transport.protocol(), segment_len);
            let checksum = match !fold(pseudo + sum(&frame[segment..])) {
                // In UDP, 0 would mean "no checksum".
                0 if transport == Transport::Udp => 0xffff,
                other => other,
            };
            frame[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
        }
        frame
    }

    pub(crate) fn verdict(frame: &[u8]) -> Verdict {
        Verdict::of(frame, &Packet::of(frame, DEFAULT_VLAN_TYPE))
    }

    #[test]
    fn checksums_equal_published_ones() {
        // RFC 1071's example, and CRC32c's check value.
        let words = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(sum(&words)), 0xddf2);
        assert_eq!(crc32c(b"123456789".iter().copied()), 0xe306_9283);
    }

    #[test]
    fn fragments_have_no_transport_header() {
        let mut first = frame(Version::V4, Transport::Udp, 0, None, &[7; 32]);
        first[20] = 0x20;
        let packet = Packet::of(&first, DEFAULT_VLAN_TYPE);
        assert!(packet.network.is_some());
        assert_eq!(packet.transport, None);
        assert_eq!(verdict(&first).bits & (r::RXD_L4I | r::RXD_L4E), 0);
    }

    #[test]
    fn a_udp_packet_without_checksum_is_not_checked() {
        let mut frame = frame(Version::V4, Transport::Udp, 0, None, &[7; 32]);
        frame[40..42].fill(0);
        assert_eq!(verdict(&frame), Verdict::GENERATED);
    }

    fn versions() -> impl Strategy<Value = Version> {
        prop_oneof![Just(Version::V4), Just(Version::V6)]
    }

    pub(crate) fn transports() -> impl Strategy<Value = Transport> {
        prop_oneof![
            Just(Transport::Tcp),
            Just(Transport::Udp),
            Just(Transport::Sctp)
        ]
    }

    proptest! {
        /// Right checksums are found right, padded or not, and any flipped bit behind the Ethernet
        /// header that leaves the headers what they are is found.
        #[test]
        fn every_flipped_bit_is_found(
            version in versions(),
            transport in transports(),
            extra in 0..3_usize,
            tag in prop::option::of(any::<u16>()),
            payload in prop::collection::vec(any::<u8>(), 1..300),
            padding in 0..40_usize,
            at in any::<prop::sample::Index>(),
            bit in 0..8_u32,
        ) {
            let whole = frame(version, transport, extra, tag, &payload);
            let mut padded = whole.clone();
            padded.extend(vec![0xaa; padding]);
            let good = verdict(&padded);
            prop_assert_eq!(good.vlan, tag);
            prop_assert_ne!(good.bits & r::RXD_L4I, 0);
            prop_assert_eq!(good.bits & (r::RXD_L4E | r::RXD_IPE), 0);
            let mut bad = padded.clone();
            let place = whole.len() - payload.len() + at.index(payload.len());
            bad[place] ^= 1 << bit;
            let found = verdict(&bad);
            prop_assert_ne!(found.bits & r::RXD_L4E, 0);
            prop_assert_eq!(found.bits & !r::RXD_L4E, good.bits);
        }

        #[test]
        fn parsing_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..120), kind in 0..4_usize) {
            let mut bytes = bytes;
            let types: [&[u8]; 4] = [&[0x08, 0x00, 0x45], &[0x86, 0xdd, 0x60], &[0x81, 0x00], &[]];
            for (place, byte) in bytes.iter_mut().skip(TYPE_OFFSET).zip(types[kind]) {
                *place = *byte;
            }
            verdict(&bytes);
        }
    }
}
