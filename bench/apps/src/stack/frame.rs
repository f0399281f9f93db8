//! What has to be known of a frame before the stack sees it.

use std::net::{Ipv4Addr, SocketAddrV4};

use smoltcp::wire::{
    EthernetFrame, EthernetProtocol, Icmpv4Packet, IpProtocol, Ipv4Packet, TcpPacket, UdpPacket,
};

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A checksum of IPv4, TCP, UDP or ICMP is wrong. The stack would drop the frame without a word.
    Corrupt,
    /// A whole segment of TCP.
    Segment {
        /// Its connection.
        flow: Flow,
        /// Whether it asks for a new connection.
        opens: bool,
    },
    /// A part of a segment of TCP. The stack checks it, once it has all parts.
    Fragment {
        /// The sender, and its number of the whole packet.
        packet: (Ipv4Addr, u16),
        /// The connection, which only the first part names.
        flow: Option<Flow>,
    },
    /// Everything else, also frames that are cut off.
    Other,
}

/// A connection: the other side's address and port, and the own port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    /// The other side.
    pub remote: SocketAddrV4,
    /// The own port.
    pub port: u16,
}

/// Tells what a frame is.
pub fn kind(frame: &[u8]) -> Kind {
    read(frame).unwrap_or(Kind::Other)
}

fn read(frame: &[u8]) -> Option<Kind> {
    let frame = EthernetFrame::new_checked(frame).ok()?;
    if frame.ethertype() != EthernetProtocol::Ipv4 {
        return None;
    }
    let packet = Ipv4Packet::new_checked(frame.payload()).ok()?;
    if !packet.verify_checksum() {
        return Some(Kind::Corrupt);
    }
    let (source, payload) = (packet.src_addr(), packet.payload());
    let is_tcp = packet.next_header() == IpProtocol::Tcp;
    if packet.frag_offset() != 0 || packet.more_frags() {
        let ports = payload.first_chunk().filter(|_| packet.frag_offset() == 0);
        return is_tcp.then_some(Kind::Fragment {
            packet: (source, packet.ident()),
            flow: ports.map(|&[a, b, c, d]| Flow {
                remote: SocketAddrV4::new(source, u16::from_be_bytes([a, b])),
                port: u16::from_be_bytes([c, d]),
            }),
        });
    }
    let ends = (source.into(), packet.dst_addr().into());
    let (is_right, kind) = match packet.next_header() {
        IpProtocol::Tcp => {
            let segment = TcpPacket::new_checked(payload).ok()?;
            let flow = Flow {
                remote: SocketAddrV4::new(source, segment.src_port()),
                port: segment.dst_port(),
            };
            let opens = segment.syn() && !segment.ack() && !segment.rst() && !segment.fin();
            let is_right = segment.verify_checksum(&ends.0, &ends.1);
            (is_right, Kind::Segment { flow, opens })
        }
        IpProtocol::Udp => {
            let datagram = UdpPacket::new_checked(payload).ok()?;
            (datagram.verify_checksum(&ends.0, &ends.1), Kind::Other)
        }
        IpProtocol::Icmp => {
            let message = Icmpv4Packet::new_checked(payload).ok()?;
            (message.verify_checksum(), Kind::Other)
        }
        _ => return None,
    };
    Some(if is_right { kind } else { Kind::Corrupt })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An Ethernet frame with a TCP segment that has these flags (RFC 9293, 3.1).
    fn segment(flags: u8) -> Vec<u8> {
        let mut frame = vec![0; 54];
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        frame[14] = 0x45;
        frame[17] = 40;
        frame[22] = 64;
        frame[23] = 6;
        frame[46] = 5 << 4;
        frame[47] = flags;
        complete(frame)
    }

    /// Writes the checksums of a frame with a TCP segment.
    fn complete(mut frame: Vec<u8>) -> Vec<u8> {
        let mut packet = Ipv4Packet::new_unchecked(&mut frame[14..]);
        packet.fill_checksum();
        let (from, to) = (packet.src_addr().into(), packet.dst_addr().into());
        TcpPacket::new_unchecked(packet.payload_mut()).fill_checksum(&from, &to);
        frame
    }

    /// An Ethernet frame with a UDP datagram or an ICMP message, without checksums above IPv4's.
    fn datagram(protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = segment(0);
        frame.truncate(34);
        frame.extend_from_slice(payload);
        frame[17] = (20 + payload.len()) as u8;
        frame[23] = protocol;
        Ipv4Packet::new_unchecked(&mut frame[14..]).fill_checksum();
        frame
    }

    /// A segment of no address and no port.
    fn of(opens: bool) -> Kind {
        let remote = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);
        let flow = Flow { remote, port: 0 };
        Kind::Segment { flow, opens }
    }

    #[test]
    fn a_syn_opens_a_connection_and_nothing_else_does() {
        assert_eq!(kind(&segment(0x02)), of(true));
        assert_eq!(kind(&segment(0xc2)), of(true), "with ECN");
        for flags in [0x12, 0x10, 0x04, 0x01, 0x18, 0x06, 0x03] {
            assert_eq!(kind(&segment(flags)), of(false), "{flags:#x}");
        }
    }

    #[test]
    fn only_the_first_fragment_names_its_connection() {
        for (offset, named) in [(0x2000_u16, true), (0x2001, false), (0x0001, false)] {
            let mut fragment = segment(0x02);
            fragment[20..22].copy_from_slice(&offset.to_be_bytes());
            match kind(&complete(fragment)) {
                Kind::Fragment { flow, .. } => assert_eq!(flow.is_some(), named, "{offset:#x}"),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_wrong_checksum_is_seen_in_every_protocol() {
        // UDP from port 1 to port 2, with a checksum and without, and an echo request (RFC 768, RFC 792).
        let with = datagram(17, &[0, 1, 0, 2, 0, 9, 0xff, 0xd9, 0]);
        let without = datagram(17, &[0, 1, 0, 2, 0, 9, 0, 0, 7]);
        let echo = datagram(1, &[8, 0, 0xf7, 0xff, 0, 0, 0, 0]);
        for (good, expected) in [
            (segment(0x10), of(false)),
            (with, Kind::Other),
            (without, Kind::Other),
            (echo, Kind::Other),
        ] {
            assert_eq!(kind(&good), expected, "{good:?}");
            let mut header = good.clone();
            header[22] ^= 1;
            assert_eq!(kind(&header), Kind::Corrupt, "{header:?}");
        }
        let udp = datagram(17, &[0, 1, 0, 2, 0, 9, 0xff, 0xd9, 1]);
        let icmp = datagram(1, &[8, 0, 0xf7, 0xff, 0, 0, 0, 1]);
        let mut tcp = segment(0x10);
        tcp[53] ^= 1;
        for wrong in [udp, icmp, tcp] {
            assert_eq!(kind(&wrong), Kind::Corrupt, "{wrong:?}");
        }
    }

    #[test]
    fn a_fragment_has_only_the_checksum_of_its_header() {
        let mut first = segment(0x10);
        first[20] = 0x20;
        first[53] ^= 1;
        Ipv4Packet::new_unchecked(&mut first[14..]).fill_checksum();
        assert!(matches!(kind(&first), Kind::Fragment { .. }));
        first[24] ^= 1;
        assert_eq!(kind(&first), Kind::Corrupt);
    }

    proptest! {
        #[test]
        fn one_wrong_byte_of_a_segment_is_always_seen(at in 34..54_usize, flip in 1..=255_u8) {
            let mut frame = segment(0x02);
            frame[at] ^= flip;
            // A length of the header beyond its end makes it no segment.
            let opens = matches!(kind(&frame), Kind::Segment { opens: true, .. });
            prop_assert!(!opens);
        }

        #[test]
        fn no_frame_is_read_beyond_its_end(frame: Vec<u8>, length in 0..54_usize) {
            kind(&frame);
            kind(&segment(0x02)[..length]);
        }
    }
}
