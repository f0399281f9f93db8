//! The program keeps a reference to a packet while it sends the packet, and writes through it later.
//! error[E0499]: cannot borrow `packets` as mutable more than once at a time
mod setup;

use ixgbe::driver::device::Device;
use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;

fn send<'p>(device: &mut Device<'p>, pool: &'p Mempool) -> Result<()> {
    let mut packets = setup::packets(pool, 4);
    let first = &mut packets[0];
    first[30] = 0x11;
    #[cfg(not(harmless))]
    device.tx_batch(0, &mut packets)?;
    #[cfg(mistake)]
    {
        first[30] = 0xee;
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::with_device(send)
}
