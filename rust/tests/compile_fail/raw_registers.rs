//! The program aims a receive queue at packets that it holds, by a write to a register.
//! error[E0624]: method `open` is private
mod setup;

use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;
use ixgbe::vfio::{BareDevice, Container};

/// The first packet of the first pool, for the device.
const IOVA: u32 = 0x20_0040;
/// Receive Descriptor Base Address Low of queue 0.
const RDBAL: u32 = 0x1000;

fn aim() -> Result<()> {
    let container = Container::new();
    let device = BareDevice::open(&setup::address())?;
    let pool = Mempool::create(&container, 64)?;
    let packets = setup::packets(&pool, 1);
    #[cfg(mistake)]
    container.open(&setup::address())?.write32(RDBAL, IOVA)?;
    #[cfg(not(mistake))]
    device.write32(RDBAL, IOVA)?;
    assert!(device.read32(RDBAL).is_ok() && packets[0].len() == 60);
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::finish(aim())
}
