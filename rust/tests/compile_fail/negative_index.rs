//! The program writes a header in front of a packet's data, at an index below 0.
//! error: negative integers cannot be used to index on a `[u8]`
mod setup;

use ixgbe::driver::device::Device;
use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;

fn prepend<'p>(_device: &mut Device<'p>, pool: &'p Mempool) -> Result<()> {
    let mut packets = setup::packets(pool, 1);
    #[cfg(mistake)]
    {
        packets[0][-48] = 0xee;
    }
    packets[0][48] = 0xee;
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::with_device(prepend)
}
