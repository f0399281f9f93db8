//! The program gives a packet back to its pool twice.
//! error[E0382]: use of moved value: `packet`
mod setup;

use ixgbe::driver::device::Device;
use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;

fn free<'p>(_device: &mut Device<'p>, pool: &'p Mempool) -> Result<()> {
    for packet in setup::packets(pool, 4) {
        #[cfg(not(harmless))]
        drop(packet);
        #[cfg(mistake)]
        drop(packet);
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::with_device(free)
}
