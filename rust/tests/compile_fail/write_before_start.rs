//! A header is written in front of a packet's data.
use ixgbe::mempool::Packet;

pub fn prepend(packet: &mut Packet<'_>) {
    let header: isize = -48;
    packet[header] = 0xee;
}
