//! The program keeps a reference to a packet while it sends the packet, and writes through it later.
mod setup;

use ixgbe::driver::device::Device;
use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;

fn send<'p>(device: &mut Device<'p>, pool: &'p Mempool) -> Result<()> {
    let mut packets = setup::packets(pool, 4);
    let first = &mut packets[0];
    first[30] = 0x11;
    device.tx_batch(0, &mut packets)?; //~ needed
    first[30] = 0xee; //~ mistake
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::with_device(send)
}
