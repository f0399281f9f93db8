//! A packet is kept past the end of its pool.
use ixgbe::mempool::Mempool;

pub fn outlive(pool: Mempool) {
    let packet = pool.alloc();
    drop(pool);
    if let Some(mut packet) = packet {
        packet[0] = 0xee;
    }
}
