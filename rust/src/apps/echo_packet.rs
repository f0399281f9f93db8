//! Turning a frame into its answer: MAC echo, ARP (RFC 826), ICMP echo (RFC 792).
#![forbid(unsafe_code)]

use std::net::Ipv4Addr;
use std::ops::Range;

/// The bytes at the start of a frame that an answer may depend on: Ethernet, IPv4 with options, ICMP.
pub const ECHO_HEADERS: usize = 82;

/// Who answers.
#[derive(Clone, Copy, Debug)]
pub struct EchoAddress {
    pub mac: [u8; 6],
    /// Answers ARP and ICMP for this address; without one, returns each frame to its sender.
    pub ip: Option<Ipv4Addr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoAnswer {
    /// The frame is unchanged and needs no answer.
    None,
    Mac,
    Arp,
    Icmp,
}

// Ethernet: destination, source, type.
const MAC_SIZE: usize = 6;
const ETHERNET_SOURCE: Range<usize> = 6..12;
const ETHERNET_TYPE: usize = 12;
const ETHERNET_SIZE: usize = 14;
const TYPE_IPV4: u16 = 0x0800;
const TYPE_ARP: u16 = 0x0806;

// RFC 826, from the start of the frame.
/// Hardware and protocol, and the sizes of their addresses: Ethernet and IPv4.
const ARP_FORMAT: (Range<usize>, [u8; 6]) = (14..20, [0, 1, 8, 0, 6, 4]);
const ARP_OPERATION: usize = 20;
const ARP_SENDER_MAC: Range<usize> = 22..28;
const ARP_SENDER_IP: Range<usize> = 28..32;
const ARP_SENDER: Range<usize> = 22..32;
const ARP_TARGET: usize = 32;
const ARP_TARGET_IP: Range<usize> = 38..42;
const ARP_END: usize = 42;
const ARP_REQUEST: u16 = 1;
const ARP_REPLY: u16 = 2;

// RFC 791, from the start of the IPv4 header.
/// Without options.
const IP_SIZE: usize = 20;
const IP_TOTAL_LENGTH: usize = 2;
const IP_FRAGMENT: usize = 6;
/// More fragments, and the offset.
const IP_FRAGMENT_MASK: u16 = 0x3fff;
const IP_TTL: usize = 8;
const IP_PROTOCOL: usize = 9;
const IP_CHECKSUM: usize = 10;
const IP_SOURCE: usize = 12;
const IP_DESTINATION: Range<usize> = 16..20;
const PROTOCOL_ICMP: u8 = 1;
const ANSWER_TTL: u8 = 64;

// RFC 792, from the start of the ICMP header.
const ICMP_SIZE: usize = 8;
const ICMP_CHECKSUM: usize = 2;
const ICMP_ECHO_REQUEST: u8 = 8;
const ICMP_ECHO_REPLY: u8 = 0;

fn read16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn write16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// RFC 1071: the one's complement sum of 16-bit words, folded.
fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn sum_words(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2);
    fold(words.map(|word| u32::from(read16(word, 0))).sum())
}

/// Swaps `size` bytes at `at` with those behind them.
fn swap(bytes: &mut [u8], at: usize, size: usize) {
    let (a, b) = bytes[at..at + 2 * size].split_at_mut(size);
    a.swap_with_slice(b);
}

fn answer_arp(headers: &mut [u8], own: &EchoAddress, ip: Ipv4Addr) -> EchoAnswer {
    if headers.len() < ARP_END
        || headers[ARP_FORMAT.0] != ARP_FORMAT.1
        || read16(headers, ARP_OPERATION) != ARP_REQUEST
        || headers[ARP_TARGET_IP] != ip.octets()
    {
        return EchoAnswer::None;
    }
    headers.copy_within(ETHERNET_SOURCE, 0);
    headers[ETHERNET_SOURCE].copy_from_slice(&own.mac);
    write16(headers, ARP_OPERATION, ARP_REPLY);
    // The sender becomes the target, with both of its addresses.
    headers.copy_within(ARP_SENDER, ARP_TARGET);
    headers[ARP_SENDER_MAC].copy_from_slice(&own.mac);
    headers[ARP_SENDER_IP].copy_from_slice(&ip.octets());
    EchoAnswer::Arp
}

fn answer_icmp(headers: &mut [u8], size: usize, address: Ipv4Addr) -> EchoAnswer {
    if headers.len() < ETHERNET_SIZE + IP_SIZE + ICMP_SIZE {
        return EchoAnswer::None;
    }
    let (_, ip) = headers.split_at(ETHERNET_SIZE);
    let ip_size = usize::from(ip[0] & 0xf) * 4;
    let total = usize::from(read16(ip, IP_TOTAL_LENGTH));
    if ip[0] >> 4 != 4
        || ip_size < IP_SIZE
        || total < ip_size + ICMP_SIZE
        || total > size - ETHERNET_SIZE
        || sum_words(&ip[..ip_size]) != 0xffff
        || read16(ip, IP_FRAGMENT) & IP_FRAGMENT_MASK != 0
        || ip[IP_PROTOCOL] != PROTOCOL_ICMP
        || ip[IP_DESTINATION] != address.octets()
        || ip[ip_size] != ICMP_ECHO_REQUEST
        || ip[ip_size + 1] != 0
    {
        return EchoAnswer::None;
    }
    swap(headers, 0, MAC_SIZE);
    let (ip, icmp) = headers[ETHERNET_SIZE..].split_at_mut(ip_size);
    swap(ip, IP_SOURCE, address.octets().len());
    ip[IP_TTL] = ANSWER_TTL;
    write16(ip, IP_CHECKSUM, 0);
    let checksum = !sum_words(ip);
    write16(ip, IP_CHECKSUM, checksum);
    icmp[0] = ICMP_ECHO_REPLY;
    // RFC 1624: the checksum changes by what the type changed. So it still covers what the sender sent: if
    // a byte was damaged on the way here, the sender notices.
    let change = u32::from(ICMP_ECHO_REQUEST - ICMP_ECHO_REPLY) << 8;
    let checksum = fold(u32::from(read16(icmp, ICMP_CHECKSUM)) + change);
    write16(icmp, ICMP_CHECKSUM, checksum);
    EchoAnswer::Icmp
}

/// Turns the frame of `size` bytes that begins with `headers` into its answer. `headers` are its first
/// [`ECHO_HEADERS`] bytes, or all of it. An answer has the size of its request.
pub fn echo_packet(headers: &mut [u8], size: usize, own: &EchoAddress) -> EchoAnswer {
    if headers.len() < ETHERNET_SIZE {
        return EchoAnswer::None;
    }
    let to_us = headers[..MAC_SIZE] == own.mac;
    let to_all = headers[..MAC_SIZE] == [0xff; MAC_SIZE];
    // A sender's address has no group bit, or the answer would go to many.
    let from_one = headers[ETHERNET_SOURCE][0] & 1 == 0;
    if !from_one || (!to_us && !to_all) {
        return EchoAnswer::None;
    }
    match (own.ip, read16(headers, ETHERNET_TYPE)) {
        (Some(ip), TYPE_ARP) => answer_arp(headers, own, ip),
        (Some(ip), TYPE_IPV4) if to_us => answer_icmp(headers, size, ip),
        (None, _) if to_us => {
            swap(headers, 0, MAC_SIZE);
            EchoAnswer::Mac
        }
        _ => EchoAnswer::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OWN: [u8; 6] = [2, 0, 0, 0, 0, 1];
    const PEER: [u8; 6] = [2, 0, 0, 0, 0, 2];
    const IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const PEER_IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    fn own(ip: Option<Ipv4Addr>) -> EchoAddress {
        EchoAddress { mac: OWN, ip }
    }

    fn arp_request() -> Vec<u8> {
        let mut frame = [&[0xff; 6][..], &PEER, &[8, 6], &ARP_FORMAT.1, &[0, 1]].concat();
        frame.extend([&PEER[..], &PEER_IP.octets(), &[0; 6], &IP.octets()].concat());
        frame.resize(60, 0);
        frame
    }

    /// An ICMP echo request with `options` words of IPv4 options, this fragment field and this payload.
    fn ping_request(options: usize, fragment: u16, payload: &[u8]) -> Vec<u8> {
        let ip_size = IP_SIZE + 4 * options;
        let total = (ip_size + ICMP_SIZE + payload.len()) as u16;
        let mut ip = vec![0x45 + options as u8, 0, 0, 0, 0, 7, 0, 0, 63, 1, 0, 0];
        write16(&mut ip, IP_FRAGMENT, fragment);
        write16(&mut ip, IP_TOTAL_LENGTH, total);
        ip.extend([PEER_IP.octets(), IP.octets()].concat());
        ip.resize(ip_size, 1);
        let checksum = !sum_words(&ip);
        write16(&mut ip, IP_CHECKSUM, checksum);
        let mut icmp = [&[ICMP_ECHO_REQUEST, 0, 0, 0, 0, 5, 0, 6][..], payload].concat();
        let checksum = !sum_padded(&icmp);
        write16(&mut icmp, ICMP_CHECKSUM, checksum);
        [&OWN[..], &PEER, &[8, 0], &ip, &icmp].concat()
    }

    fn sum_padded(bytes: &[u8]) -> u16 {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(2), 0);
        sum_words(&bytes)
    }

    /// Answers a frame as the program does: with its first bytes only.
    fn answer(frame: &mut [u8], own: &EchoAddress) -> EchoAnswer {
        let size = frame.len();
        echo_packet(&mut frame[..size.min(ECHO_HEADERS)], size, own)
    }

    #[test]
    fn each_damaged_field_leaves_a_request_without_answer() {
        let arp: Vec<usize> = (0..6).chain(12..22).chain(ARP_TARGET_IP).collect();
        let ping: Vec<usize> = (0..6).chain(12..ETHERNET_SIZE + IP_SIZE + 2).collect();
        for (request, fields) in [
            (arp_request(), arp),
            (ping_request(0, 0x4000, &[1; 32]), ping),
        ] {
            for at in fields {
                let mut frame = request.clone();
                frame[at] ^= 0x20;
                let before = frame.clone();
                let answered = answer(&mut frame, &own(Some(IP)));
                assert_eq!((answered, frame), (EchoAnswer::None, before), "byte {at}");
            }
            let answered = answer(&mut request.clone(), &own(Some(IP)));
            assert_ne!(answered, EchoAnswer::None);
        }
    }

    #[test]
    fn a_fragment_is_not_answered() {
        for fragment in [0x2000_u16, 1, 0x1fff] {
            let mut frame = ping_request(0, fragment, &[1; 32]);
            assert_eq!(answer(&mut frame, &own(Some(IP))), EchoAnswer::None);
        }
    }

    proptest! {
        #[test]
        fn an_answered_ping_has_right_checksums_and_the_same_payload(
            options in 0_usize..=10,
            payload in prop::collection::vec(any::<u8>(), 0..1400),
        ) {
            let request = ping_request(options, 0x4000, &payload);
            let mut reply = request.clone();
            prop_assert_eq!(answer(&mut reply, &own(Some(IP))), EchoAnswer::Icmp);
            let ip_end = ETHERNET_SIZE + IP_SIZE + 4 * options;
            prop_assert_eq!(&reply[..12], [&PEER[..], &OWN].concat());
            prop_assert_eq!(sum_words(&reply[ETHERNET_SIZE..ip_end]), 0xffff);
            prop_assert_eq!(&reply[ETHERNET_SIZE..][IP_DESTINATION], PEER_IP.octets());
            prop_assert_eq!(sum_padded(&reply[ip_end..]), 0xffff);
            prop_assert_eq!(reply[ip_end], ICMP_ECHO_REPLY);
            prop_assert_eq!(&reply[ip_end + 4..], &request[ip_end + 4..]);
        }

        #[test]
        fn no_frame_makes_it_panic_or_answer_to_a_group(
            mut frame in prop::collection::vec(any::<u8>(), 0..128),
            with_ip: bool,
            to_us: bool,
        ) {
            if to_us && frame.len() >= OWN.len() {
                frame[..OWN.len()].copy_from_slice(&OWN);
            }
            let before = frame.clone();
            let answered = answer(&mut frame, &own(with_ip.then_some(IP)));
            if answered == EchoAnswer::None {
                prop_assert_eq!(frame, before);
            } else {
                prop_assert_eq!(frame[0] & 1, 0);
            }
        }
    }
}
