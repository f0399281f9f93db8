//! A packet is given back to its pool twice.
use ixgbe::mempool::Packet;

pub fn free_twice(packet: Packet<'_>) {
    drop(packet);
    drop(packet);
}
