//! The program keeps a packet longer than the packet's pool, and writes to it.
//! error[E0505]: cannot move out of `pool` because it is borrowed
mod setup;

use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;
use ixgbe::vfio::Container;

fn outlive() -> Result<()> {
    let pool = Mempool::create(&Container::new(), 64)?;
    let mut packets = setup::packets(&pool, 1);
    #[cfg(mistake)]
    drop(pool);
    packets[0][0] = 0xee;
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::finish(outlive())
}
