//! The program writes a header in front of a packet's data, at an index below 0.
mod setup;

use ixgbe::driver::device::Device;
use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;

fn prepend<'p>(_device: &mut Device<'p>, pool: &'p Mempool) -> Result<()> {
    let mut packets = setup::packets(pool, 1);
    packets[0][48] = 0xee; //~ right
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::with_device(prepend)
}
