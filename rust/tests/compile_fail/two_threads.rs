//! A second thread receives from a device that belongs to the first thread.
//! error[E0277]: `Rc<vfio::VfioDevice>` cannot be sent between threads safely
mod setup;

use ixgbe::driver::device::Device;
use ixgbe::error::Result;
use ixgbe::driver::mempool::Mempool;

fn receive(device: &mut Device<'_>) -> bool {
    device.rx_batch(0, &mut Vec::new(), 32).is_ok()
}

fn share<'p>(device: &mut Device<'p>, _pool: &'p Mempool) -> Result<()> {
    std::thread::scope(|scope| {
        #[cfg(mistake)]
        scope.spawn(|| assert!(receive(device)));
        #[cfg(not(mistake))]
        scope.spawn(|| assert!(true));
    });
    Ok(())
}

fn main() -> std::process::ExitCode {
    setup::with_device(share)
}
