//! The program allocates a ring of its own, with which it could aim the device at any packet.
//! error[E0603]: module `sys` is private
mod setup;

use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;
use ixgbe::vfio::Container;

fn allocate() -> Result<()> {
    let container = Container::new();
    #[cfg(mistake)]
    drop(ixgbe::sys::dma::Ring::alloc(&container, Box::new([0; 64]))?);
    #[cfg(not(mistake))]
    drop(Mempool::create(&container, 64)?);
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::finish(allocate())
}
