//! A second thread receives from a device that belongs to the first thread.
mod setup;

use ixgbe::driver::device::Device;
use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;

fn receive(device: &mut Device<'_>) -> bool {
    device.rx_batch(0, &mut Vec::new(), 32).is_ok()
}

fn share<'p>(device: &mut Device<'p>, _pool: &'p Mempool) -> Result<()> {
    std::thread::scope(|scope| {
        let received = receive(device); //~ right
        scope.spawn(move || assert!(received)); //~ right
    });
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::with_device(share)
}
