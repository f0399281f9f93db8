//! The program allocates a ring of its own, with which it could aim the device at any packet.
mod setup;

use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;
use ixgbe::vfio::Container;

fn allocate() -> Result<()> {
    let container = Container::new();
    let ring = ixgbe::sys::dma::Ring::alloc(&container, Box::new([0; 64]))?; //~ mistake
    drop(ring); //~ mistake
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::finish(allocate())
}
