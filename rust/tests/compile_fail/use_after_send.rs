//! A packet is written to after it was handed to the device.
use ixgbe::device::Device;
use ixgbe::mempool::Packet;

pub fn send<'p>(device: &mut Device<'p>, mut packet: Packet<'p>) {
    let mut packets = vec![packet];
    let _ = device.tx_batch(0, &mut packets);
    packet[30] = 0xee;
}
