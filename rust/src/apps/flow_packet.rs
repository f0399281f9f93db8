//! The packets of the generator: UDP in IPv4, with a flow and a sequence number.
#![forbid(unsafe_code)]

use std::ops::Range;

/// The sizes of a frame, in bytes without CRC.
pub const MIN_SIZE: usize = 60;
pub const MAX_SIZE: usize = 1514;

/// A flow is a UDP source port from 1 on.
pub const MAX_FLOWS: u32 = 65535;

/// Where the sequence number is, from the start of the frame: the first 8 bytes of the payload, big-endian.
pub const SEQUENCE: usize = 42;

const ETHERNET_SOURCE: Range<usize> = 6..12;
const ETHERNET_SIZE: usize = 14;
const IP_HEADER: Range<usize> = 14..34;
const IP_SIZE: usize = 20;
const IP_TOTAL_LENGTH: usize = 16;
const IP_CHECKSUM: usize = 24;
pub const UDP_SOURCE_PORT: usize = 34;
const UDP_LENGTH: usize = 38;

/// Ethernet, IPv4 and UDP (RFC 791, RFC 768). Lengths, checksum and source port follow.
#[rustfmt::skip]
const HEADERS: [u8; SEQUENCE] = [
    0x02, 0, 0, 0, 0, 2, // destination
    0, 0, 0, 0, 0, 0, // source
    0x08, 0x00, // IPv4
    0x45, 0, // version, header of five words; type of service
    0, 0, // total length
    0, 0, 0, 0, // identification; no fragment
    64, 17, // time to live; UDP
    0, 0, // checksum
    198, 18, 0, 1, // source
    198, 19, 0, 1, // destination
    0, 0, // source port
    0, 9, // destination port: discard (RFC 863)
    0, 0, // length
    0, 0, // no checksum
];

fn write16(frame: &mut [u8], at: usize, value: usize) {
    frame[at..at + 2].copy_from_slice(&(value as u16).to_be_bytes());
}

/// RFC 1071, over the IPv4 header.
fn ip_checksum(ip: &[u8]) -> usize {
    let words = ip.chunks_exact(2);
    let sum: usize = words
        .map(|word| usize::from(word[0]) << 8 | usize::from(word[1]))
        .sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum & 0xffff) + (sum >> 16))
}

/// A frame of `size` bytes from `source`. All of it is final except flow and sequence number. The
/// destination is a locally administered address, and the addresses are of the network for benchmarks
/// (RFC 2544). There is no UDP checksum, as IPv4 allows, so that a change of flow changes two bytes only.
pub fn flow_packet_fill(size: usize, source: [u8; 6]) -> Vec<u8> {
    let mut frame = vec![0; size];
    frame[..SEQUENCE].copy_from_slice(&HEADERS);
    frame[ETHERNET_SOURCE].copy_from_slice(&source);
    write16(&mut frame, IP_TOTAL_LENGTH, size - ETHERNET_SIZE);
    let checksum = ip_checksum(&frame[IP_HEADER]);
    write16(&mut frame, IP_CHECKSUM, checksum);
    write16(&mut frame, UDP_LENGTH, size - ETHERNET_SIZE - IP_SIZE);
    frame
}

/// The source port of a flow, from 0. It belongs at [`UDP_SOURCE_PORT`].
pub fn flow_packet_port(flow: u32) -> [u8; 2] {
    (flow as u16 + 1).to_be_bytes()
}
