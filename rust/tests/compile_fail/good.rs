//! What the other cases do wrong, done right: it compiles, so the others fail for what they say.
use ixgbe::device::Device;
use ixgbe::mempool::Mempool;
use ixgbe::vfio::Container;

pub fn send<'p>(device: &mut Device<'p>, pool: &'p Mempool) {
    let Some(mut packet) = pool.alloc() else {
        return;
    };
    packet[0] = 1;
    let mut packets = vec![packet];
    let _ = device.rx_batch(0, &mut packets, 8);
    let _ = device.tx_batch(0, &mut packets);
}

pub fn free_after_use() {
    let Ok(pool) = Mempool::create(&Container::new(), 64) else {
        return;
    };
    let packet = pool.alloc();
    drop(packet);
    drop(pool);
}
