//! A header is written in front of a packet's data.
use ixgbe::mempool::Packet;

pub fn prepend(packet: &mut Packet<'_>) {
    packet[-48] = 0xee;
}
