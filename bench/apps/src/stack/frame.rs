//! What has to be known of a frame before the stack sees it.

use smoltcp::wire::{EthernetFrame, EthernetProtocol, IpProtocol, Ipv4Packet, TcpPacket};

/// Whether a frame asks for a new TCP connection. A broken frame does not.
pub fn opens_connection(frame: &[u8]) -> bool {
    let Ok(frame) = EthernetFrame::new_checked(frame) else {
        return false;
    };
    if frame.ethertype() != EthernetProtocol::Ipv4 {
        return false;
    }
    let Ok(packet) = Ipv4Packet::new_checked(frame.payload()) else {
        return false;
    };
    if packet.next_header() != IpProtocol::Tcp || packet.frag_offset() != 0 {
        return false;
    }
    TcpPacket::new_checked(packet.payload()).is_ok_and(|segment| segment.syn() && !segment.ack())
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
        frame
    }

    #[test]
    fn a_syn_opens_a_connection_and_nothing_else_does() {
        assert!(opens_connection(&segment(0x02)));
        assert!(opens_connection(&segment(0xc2)), "with ECN");
        for flags in [0x12, 0x10, 0x04, 0x01, 0x18] {
            assert!(!opens_connection(&segment(flags)), "{flags:#x}");
        }
        let mut udp = segment(0x02);
        udp[23] = 17;
        assert!(!opens_connection(&udp));
        let mut fragment = segment(0x02);
        fragment[21] = 1;
        assert!(!opens_connection(&fragment));
    }

    proptest! {
        #[test]
        fn no_frame_is_read_beyond_its_end(frame: Vec<u8>, length in 0..54_usize) {
            opens_connection(&frame);
            opens_connection(&segment(0x02)[..length]);
        }
    }
}
