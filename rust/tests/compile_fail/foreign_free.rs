//! A second thread frees a packet, whose pool belongs to the first thread.
//! error[E0277]: `NonNull<u8>` cannot be shared between threads safely
mod setup;

use ixgbe::driver::device::Device;
use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;

fn free<'p>(_device: &mut Device<'p>, pool: &'p Mempool) -> Result<()> {
    let packets = setup::packets(pool, 1);
    std::thread::scope(|scope| {
        #[cfg(not(mistake))]
        let packets: Vec<_> = packets.into_iter().map(ixgbe::rooms::pipeline::RemotePacket::from).collect();
        scope.spawn(move || drop(packets));
    });
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::with_device(free)
}
