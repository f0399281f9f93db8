//! Frames of clients and backends, for tests and fuzzing.

use std::net::{Ipv4Addr, SocketAddrV4};

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, IpProtocol, Ipv4Packet, Ipv4Repr, TcpControl,
    TcpPacket, TcpRepr, TcpSeqNumber,
};

/// Bytes of the Ethernet header.
const ETHERNET: usize = EthernetFrame::<&[u8]>::header_len();

pub const OWN_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 2]);
pub const OWN_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// A frame with a segment to the balancer.
pub fn frame(
    mac: EthernetAddress,
    from: SocketAddrV4,
    port: u16,
    control: TcpControl,
    ack: bool,
    payload: &[u8],
) -> Vec<u8> {
    let tcp = TcpRepr {
        src_port: from.port(),
        dst_port: port,
        control,
        seq_number: TcpSeqNumber(1000),
        ack_number: ack.then_some(TcpSeqNumber(2000)),
        window_len: 100,
        window_scale: None,
        max_seg_size: None,
        sack_permitted: false,
        sack_ranges: [None; 3],
        timestamp: None,
        payload,
    };
    let ip = Ipv4Repr {
        src_addr: *from.ip(),
        dst_addr: OWN_IP,
        next_header: IpProtocol::Tcp,
        payload_len: tcp.buffer_len(),
        hop_limit: 17,
    };
    let mut bytes = vec![0; ETHERNET + ip.buffer_len() + tcp.buffer_len()];
    let mut ethernet = EthernetFrame::new_unchecked(&mut bytes);
    ethernet.set_src_addr(mac);
    ethernet.set_dst_addr(OWN_MAC);
    ethernet.set_ethertype(EthernetProtocol::Ipv4);
    let mut packet = Ipv4Packet::new_unchecked(ethernet.payload_mut());
    let checksums = ChecksumCapabilities::default();
    ip.emit(&mut packet, &checksums);
    tcp.emit(
        &mut TcpPacket::new_unchecked(packet.payload_mut()),
        &ip.src_addr.into(),
        &ip.dst_addr.into(),
        &checksums,
    );
    bytes
}

/// The addresses and ports of a frame, whose checksums have to be right.
pub fn ends(frame: &[u8]) -> (SocketAddrV4, SocketAddrV4) {
    let ethernet = EthernetFrame::new_checked(frame).unwrap();
    let packet = Ipv4Packet::new_checked(ethernet.payload()).unwrap();
    assert!(packet.verify_checksum(), "IP checksum");
    let segment = TcpPacket::new_checked(packet.payload()).unwrap();
    let (source, destination) = (packet.src_addr(), packet.dst_addr());
    assert!(
        segment.verify_checksum(&source.into(), &destination.into()),
        "TCP checksum"
    );
    (
        SocketAddrV4::new(source, segment.src_port()),
        SocketAddrV4::new(destination, segment.dst_port()),
    )
}
