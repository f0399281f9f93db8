//! What has to be known of a frame before the stack sees it.

use smoltcp::wire::{
    EthernetFrame, EthernetProtocol, Icmpv4Packet, IpProtocol, Ipv4Packet, TcpPacket, UdpPacket,
};

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A checksum of IPv4, TCP, UDP or ICMP is wrong. The stack would drop the frame without a word.
    Corrupt,
    /// It asks for a new TCP connection.
    Opens,
    /// Everything else, also frames that are cut off. The stack checks fragments, once it has all of them.
    Other,
}

/// Tells what a frame is.
pub fn kind(frame: &[u8]) -> Kind {
    let Ok(frame) = EthernetFrame::new_checked(frame) else {
        return Kind::Other;
    };
    if frame.ethertype() != EthernetProtocol::Ipv4 {
        return Kind::Other;
    }
    let Ok(packet) = Ipv4Packet::new_checked(frame.payload()) else {
        return Kind::Other;
    };
    if !packet.verify_checksum() {
        return Kind::Corrupt;
    }
    if packet.frag_offset() != 0 || packet.more_frags() {
        return Kind::Other;
    }
    let ends = (packet.src_addr().into(), packet.dst_addr().into());
    let payload = packet.payload();
    let (is_right, opens) = match packet.next_header() {
        IpProtocol::Tcp => TcpPacket::new_checked(payload).map(|segment| {
            (
                segment.verify_checksum(&ends.0, &ends.1),
                segment.syn() && !segment.ack(),
            )
        }),
        IpProtocol::Udp => UdpPacket::new_checked(payload)
            .map(|datagram| (datagram.verify_checksum(&ends.0, &ends.1), false)),
        IpProtocol::Icmp => {
            Icmpv4Packet::new_checked(payload).map(|message| (message.verify_checksum(), false))
        }
        _ => return Kind::Other,
    }
    .unwrap_or((true, false));
    match (is_right, opens) {
        (false, _) => Kind::Corrupt,
        (true, true) => Kind::Opens,
        (true, false) => Kind::Other,
    }
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

    #[test]
    fn a_syn_opens_a_connection_and_nothing_else_does() {
        assert_eq!(kind(&segment(0x02)), Kind::Opens);
        assert_eq!(kind(&segment(0xc2)), Kind::Opens, "with ECN");
        for flags in [0x12, 0x10, 0x04, 0x01, 0x18] {
            assert_eq!(kind(&segment(flags)), Kind::Other, "{flags:#x}");
        }
        let mut fragment = segment(0x02);
        fragment[21] = 1;
        assert_eq!(kind(&complete(fragment)), Kind::Other);
    }

    #[test]
    fn a_wrong_checksum_is_seen_in_every_protocol() {
        // UDP from port 1 to port 2, with a checksum and without, and an echo request (RFC 768, RFC 792).
        let with = datagram(17, &[0, 1, 0, 2, 0, 9, 0xff, 0xd9, 0]);
        let without = datagram(17, &[0, 1, 0, 2, 0, 9, 0, 0, 7]);
        let echo = datagram(1, &[8, 0, 0xf7, 0xff, 0, 0, 0, 0]);
        for good in [segment(0x10), with, without, echo] {
            assert_eq!(kind(&good), Kind::Other, "{good:?}");
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
        assert_eq!(kind(&first), Kind::Other);
        first[24] ^= 1;
        assert_eq!(kind(&first), Kind::Corrupt);
    }

    proptest! {
        #[test]
        fn one_wrong_byte_of_a_segment_is_always_seen(at in 34..54_usize, flip in 1..=255_u8) {
            let mut frame = segment(0x02);
            frame[at] ^= flip;
            // A length of the header beyond its end makes it no segment.
            prop_assert_ne!(kind(&frame), Kind::Opens);
        }

        #[test]
        fn no_frame_is_read_beyond_its_end(frame: Vec<u8>, length in 0..54_usize) {
            kind(&frame);
            kind(&segment(0x02)[..length]);
        }
    }
}
