//! Ethernet addresses of the backends, by ARP (RFC 826).
//!
//! The stack asks for one neighbour a second at most, which is too slow for many backends. So the balancer asks
//! itself. The stack reads the answers too.

use std::net::Ipv4Addr;

use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol,
};

/// Bytes of an ARP packet in its frame.
pub const SIZE: usize = 14 + 28;

/// The addresses of the sender of an ARP packet, which is the payload of a frame.
pub fn parse(payload: &[u8]) -> Option<(Ipv4Addr, EthernetAddress)> {
    let arp = ArpPacket::new_checked(payload).ok()?;
    match ArpRepr::parse(&arp) {
        Ok(ArpRepr::EthernetIpv4 {
            source_hardware_addr: mac,
            source_protocol_addr: ip,
            ..
        }) if mac.is_unicast() => Some((ip, mac)),
        _ => None,
    }
}

/// Writes a frame that asks for the address of `ip`. It has [`SIZE`] bytes.
pub fn ask(frame: &mut [u8], own_mac: EthernetAddress, own_ip: Ipv4Addr, ip: Ipv4Addr) {
    let mut ethernet = EthernetFrame::new_unchecked(frame);
    ethernet.set_src_addr(own_mac);
    ethernet.set_dst_addr(EthernetAddress::BROADCAST);
    ethernet.set_ethertype(EthernetProtocol::Arp);
    let request = ArpRepr::EthernetIpv4 {
        operation: ArpOperation::Request,
        source_hardware_addr: own_mac,
        source_protocol_addr: own_ip,
        target_hardware_addr: EthernetAddress([0; 6]),
        target_protocol_addr: ip,
    };
    request.emit(&mut ArpPacket::new_unchecked(ethernet.payload_mut()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_says_who_asks() {
        let (mac, ip) = (
            EthernetAddress([2, 0, 0, 0, 0, 2]),
            Ipv4Addr::new(10, 0, 0, 2),
        );
        let mut frame = [0; SIZE];
        ask(&mut frame, mac, ip, Ipv4Addr::new(10, 0, 0, 11));
        assert_eq!(parse(&frame[14..]), Some((ip, mac)));
        assert_eq!(frame[38..], [10, 0, 0, 11]);
        for size in 14..SIZE {
            assert_eq!(parse(&frame[14..size]), None);
        }
    }
}
