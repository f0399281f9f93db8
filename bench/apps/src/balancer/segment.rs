//! TCP segments in Ethernet frames: reading them, translating their addresses, and turning them into resets.

use std::net::{Ipv4Addr, SocketAddrV4};

use super::neighbour;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, IpProtocol, Ipv4Packet, Ipv4Repr, TcpControl,
    TcpPacket, TcpRepr, TcpSeqNumber,
};

/// Bytes of the Ethernet header.
const ETHERNET: usize = EthernetFrame::<&[u8]>::header_len();

/// Bytes of a reset: Ethernet, IPv4 and TCP headers without options.
const RESET: usize = ETHERNET + 20 + 20;

/// Hops of a reset. The balancer's other segments keep those of the sender.
const HOPS: u8 = 64;

/// A TCP segment to the balancer's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The sender's Ethernet address.
    pub mac: EthernetAddress,
    /// The sender.
    pub from: SocketAddrV4,
    /// The port to which it goes.
    pub port: u16,
    /// The number after the segment: that of the next byte, SYN or FIN of the sender.
    pub end: TcpSeqNumber,
    pub syn: bool,
    pub ack: bool,
    pub fin: bool,
    pub rst: bool,
    /// Bytes of the payload.
    pub payload: usize,
    /// Bytes of the frame, without padding.
    pub size: usize,
}

/// What a frame is to the balancer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// Nothing that it forwards.
    Other,
    /// An ARP packet, by which a neighbour says its addresses.
    Neighbour(Ipv4Addr, EthernetAddress),
    /// A part of a datagram with TCP.
    Fragment,
    /// A TCP segment that no sender should have sent.
    Malformed,
    /// A segment.
    Segment(Segment),
}

/// Reads a frame. The checksum of the segment stays unread: translating keeps a wrong one wrong.
pub fn parse(frame: &[u8], own_mac: EthernetAddress, own_ip: Ipv4Addr) -> Parsed {
    let Ok(ethernet) = EthernetFrame::new_checked(frame) else {
        return Parsed::Other;
    };
    match ethernet.ethertype() {
        EthernetProtocol::Ipv4 if ethernet.dst_addr() == own_mac => {}
        EthernetProtocol::Arp => {
            let neighbour = neighbour::parse(ethernet.payload());
            return neighbour.map_or(Parsed::Other, |(ip, mac)| Parsed::Neighbour(ip, mac));
        }
        _ => return Parsed::Other,
    }
    let Ok(packet) = Ipv4Packet::new_checked(ethernet.payload()) else {
        return Parsed::Other;
    };
    if packet.dst_addr() != own_ip || packet.next_header() != IpProtocol::Tcp {
        return Parsed::Other;
    }
    if packet.version() != 4 || !packet.verify_checksum() {
        return Parsed::Malformed;
    }
    if packet.more_frags() || packet.frag_offset() != 0 {
        return Parsed::Fragment;
    }
    let Ok(segment) = TcpPacket::new_checked(packet.payload()) else {
        return Parsed::Malformed;
    };
    let (source, mac) = (packet.src_addr(), ethernet.src_addr());
    let conflict = segment.syn() && (segment.fin() || segment.rst());
    let from_one = mac.is_unicast() && !source.is_multicast() && !source.is_broadcast();
    if conflict || !from_one || segment.src_port() == 0 || segment.dst_port() == 0 {
        return Parsed::Malformed;
    }
    Parsed::Segment(Segment {
        mac,
        from: SocketAddrV4::new(source, segment.src_port()),
        port: segment.dst_port(),
        end: segment.seq_number() + segment.segment_len(),
        syn: segment.syn(),
        ack: segment.ack(),
        fin: segment.fin(),
        rst: segment.rst(),
        payload: segment.payload().len(),
        size: ETHERNET + usize::from(packet.total_len()),
    })
}

/// The addresses that a segment gets.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The balancer's Ethernet address, and the receiver's.
    pub macs: [EthernetAddress; 2],
    /// The balancer's side.
    pub from: SocketAddrV4,
    /// The receiver.
    pub to: SocketAddrV4,
}

/// Translates the addresses of a segment that [`parse`] has read.
pub fn translate(frame: &mut [u8], route: &Route) {
    let mut ethernet = EthernetFrame::new_unchecked(frame);
    ethernet.set_src_addr(route.macs[0]);
    ethernet.set_dst_addr(route.macs[1]);
    let mut packet = Ipv4Packet::new_unchecked(ethernet.payload_mut());
    let old = address_words(packet.src_addr(), packet.dst_addr());
    let new = address_words(*route.from.ip(), *route.to.ip());
    packet.set_src_addr(*route.from.ip());
    packet.set_dst_addr(*route.to.ip());
    packet.set_checksum(updated(packet.checksum(), old, new));
    let mut segment = TcpPacket::new_unchecked(packet.payload_mut());
    let old_ports = [segment.src_port(), segment.dst_port()];
    let new_ports = [route.from.port(), route.to.port()];
    segment.set_src_port(new_ports[0]);
    segment.set_dst_port(new_ports[1]);
    // The pseudo header has the addresses too (RFC 9293, 3.1).
    let checksum = updated(segment.checksum(), old, new);
    segment.set_checksum(updated(checksum, old_ports, new_ports));
}

fn address_words(source: Ipv4Addr, destination: Ipv4Addr) -> [u16; 4] {
    let [a, b, c, d] = source.octets();
    let [e, f, g, h] = destination.octets();
    [[a, b], [c, d], [e, f], [g, h]].map(u16::from_be_bytes)
}

/// A checksum after some words of its data have changed (RFC 1624, equation 3).
fn updated<const N: usize>(checksum: u16, old: [u16; N], new: [u16; N]) -> u16 {
    let mut sum = u32::from(!checksum);
    for (old, new) in old.into_iter().zip(new) {
        sum += u32::from(!old) + u32::from(new);
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Turns a segment that [`parse`] has read into the reset that answers it (RFC 9293, 3.10.7.1). Returns the bytes
/// of the frame, or `None` if there is no answer: a reset has none.
pub fn reset(frame: &mut [u8]) -> Option<usize> {
    let mut ethernet = EthernetFrame::new_unchecked(frame);
    let (mac, own_mac) = (ethernet.src_addr(), ethernet.dst_addr());
    ethernet.set_src_addr(own_mac);
    ethernet.set_dst_addr(mac);
    let mut packet = Ipv4Packet::new_unchecked(ethernet.payload_mut());
    let (client, own) = (packet.src_addr(), packet.dst_addr());
    let segment = TcpPacket::new_unchecked(packet.payload_mut());
    if segment.rst() {
        return None;
    }
    let numbers = match segment.ack() {
        true => (segment.ack_number(), None),
        false => (
            TcpSeqNumber::default(),
            Some(segment.seq_number() + segment.segment_len()),
        ),
    };
    let from = SocketAddrV4::new(own, segment.dst_port());
    let to = SocketAddrV4::new(client, segment.src_port());
    write_reset(&mut packet, from, to, numbers);
    Some(RESET)
}

/// A frame with a reset, whose sequence number is `number`.
pub fn new_reset(route: &Route, number: TcpSeqNumber) -> Vec<u8> {
    let mut frame = vec![0; RESET];
    let mut ethernet = EthernetFrame::new_unchecked(&mut frame);
    ethernet.set_src_addr(route.macs[0]);
    ethernet.set_dst_addr(route.macs[1]);
    ethernet.set_ethertype(EthernetProtocol::Ipv4);
    let mut packet = Ipv4Packet::new_unchecked(ethernet.payload_mut());
    write_reset(&mut packet, route.from, route.to, (number, None));
    frame
}

/// Writes a reset with a sequence number, and perhaps an acknowledgement.
fn write_reset(
    packet: &mut Ipv4Packet<&mut [u8]>,
    from: SocketAddrV4,
    to: SocketAddrV4,
    (seq_number, ack_number): (TcpSeqNumber, Option<TcpSeqNumber>),
) {
    let tcp = TcpRepr {
        src_port: from.port(),
        dst_port: to.port(),
        control: TcpControl::Rst,
        seq_number,
        ack_number,
        window_len: 0,
        window_scale: None,
        max_seg_size: None,
        sack_permitted: false,
        sack_ranges: [None; 3],
        timestamp: None,
        payload: &[],
    };
    let ip = Ipv4Repr {
        src_addr: *from.ip(),
        dst_addr: *to.ip(),
        next_header: IpProtocol::Tcp,
        payload_len: tcp.buffer_len(),
        hop_limit: HOPS,
    };
    let checksums = ChecksumCapabilities::default();
    ip.emit(packet, &checksums);
    tcp.emit(
        &mut TcpPacket::new_unchecked(packet.payload_mut()),
        &ip.src_addr.into(),
        &ip.dst_addr.into(),
        &checksums,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::frames::{ends, frame, OWN_IP, OWN_MAC};
    use proptest::prelude::*;

    fn client() -> (EthernetAddress, SocketAddrV4) {
        (
            EthernetAddress([2, 0, 0, 0, 0, 1]),
            "10.0.0.1:4000".parse().unwrap(),
        )
    }

    #[test]
    fn a_segment_is_read() {
        let (mac, from) = client();
        let mut bytes = frame(mac, from, 80, TcpControl::Syn, false, b"");
        bytes.resize(60, 0);
        let expected = Segment {
            mac,
            from,
            port: 80,
            end: TcpSeqNumber(1001),
            syn: true,
            ack: false,
            fin: false,
            rst: false,
            payload: 0,
            size: 54,
        };
        assert_eq!(parse(&bytes, OWN_MAC, OWN_IP), Parsed::Segment(expected));
    }

    #[test]
    fn only_good_segments_to_the_balancer_are_taken() {
        let (mac, from) = client();
        let good = frame(mac, from, 80, TcpControl::Psh, true, b"abc");
        let changed = |at: usize, value: u8| {
            let mut bytes = good.clone();
            bytes[at] = value;
            // Only a wrong checksum of the header is to be one.
            if at != 24 {
                let mut packet = Ipv4Packet::new_unchecked(&mut bytes[ETHERNET..]);
                packet.fill_checksum();
            }
            parse(&bytes, OWN_MAC, OWN_IP)
        };
        assert_eq!(changed(0, 9), Parsed::Other, "another receiver");
        assert_eq!(changed(13, 6), Parsed::Other, "no ARP after all");
        assert_eq!(changed(23, 17), Parsed::Other, "UDP");
        assert_eq!(changed(33, 3), Parsed::Other, "another address");
        assert_eq!(changed(20, 0x20), Parsed::Fragment, "more fragments");
        assert_eq!(changed(21, 1), Parsed::Fragment, "a later fragment");
        assert_eq!(changed(24, 1), Parsed::Malformed, "a wrong checksum");
        assert_eq!(changed(46, 0x40), Parsed::Malformed, "a short header");
        assert_eq!(changed(46, 0xf0), Parsed::Malformed, "a long header");
        assert_eq!(changed(47, 0x03), Parsed::Malformed, "SYN and FIN");
        assert_eq!(changed(26, 224), Parsed::Malformed, "from a group");
        assert_eq!(changed(6, 1), Parsed::Malformed, "from a group of Ethernet");
        assert_eq!(changed(37, 0), Parsed::Malformed, "to port 0");
    }

    #[test]
    fn a_reset_answers_what_a_segment_acknowledges_or_sends() {
        let (mac, from) = client();
        for (ack, sequence, acknowledges) in [(true, 2000, None), (false, 0, Some(1004))] {
            let mut bytes = frame(mac, from, 80, TcpControl::Fin, ack, b"abc");
            let size = reset(&mut bytes).unwrap();
            let bytes = &bytes[..size];
            let own = SocketAddrV4::new(OWN_IP, 80);
            assert_eq!(ends(bytes), (own, from));
            let segment = TcpPacket::new_checked(&bytes[34..]).unwrap();
            assert!(segment.rst());
            assert_eq!(segment.seq_number(), TcpSeqNumber(sequence));
            assert_eq!(
                segment.ack().then(|| segment.ack_number()),
                acknowledges.map(TcpSeqNumber)
            );
        }
        let mut bytes = frame(mac, from, 80, TcpControl::Rst, true, b"");
        assert_eq!(reset(&mut bytes), None);
    }

    proptest! {
        #[test]
        fn a_translated_segment_has_right_checksums(
            a: u32, b: u32, c: u32, ports: [u16; 3], payload in prop::collection::vec(any::<u8>(), 0..50),
        ) {
            let from = SocketAddrV4::new(a.into(), ports[0]);
            let mut bytes = frame(client().0, from, 80, TcpControl::Psh, true, &payload);
            let route = Route {
                macs: [OWN_MAC, client().0],
                from: SocketAddrV4::new(b.into(), ports[1]),
                to: SocketAddrV4::new(c.into(), ports[2]),
            };
            translate(&mut bytes, &route);
            prop_assert_eq!(ends(&bytes), (route.from, route.to));
        }

        #[test]
        fn no_frame_is_read_or_written_beyond_its_end(mut bytes: Vec<u8>, changes: Vec<(u8, u8)>, size in 0..60_usize) {
            parse(&bytes, OWN_MAC, OWN_IP);
            bytes = frame(client().0, client().1, 80, TcpControl::Psh, true, b"abcdef");
            for (at, value) in changes {
                if let Some(byte) = bytes.get_mut(usize::from(at)) {
                    *byte = value;
                }
            }
            bytes.truncate(size);
            if let Parsed::Segment(segment) = parse(&bytes, OWN_MAC, OWN_IP) {
                prop_assert!(segment.size <= bytes.len() && segment.payload < segment.size);
                let mut copy = bytes.clone();
                let route = Route {
                    macs: [OWN_MAC; 2],
                    from: segment.from,
                    to: segment.from,
                };
                translate(&mut copy, &route);
                prop_assert!(reset(&mut bytes).is_none_or(|size| size <= bytes.len()));
            }
        }
    }
}
