//! Two threads receive from one device.
use ixgbe::device::Device;

pub fn share(device: &mut Device<'_>) {
    std::thread::scope(|scope| {
        scope.spawn(|| device.rx_batch(0, &mut Vec::new(), 32).is_ok());
    });
}
