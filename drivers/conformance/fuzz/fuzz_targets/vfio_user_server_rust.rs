//! A hostile vfio-user server against the client of the safe driver; see the crate `server-fuzzing`.
#![no_main]

use ixgbe::driver::device::OpenDevice;
use ixgbe::driver::mempool::Mempool;
use ixgbe::vfio::Container;

libfuzzer_sys::fuzz_target!(|input: &[u8]| server_fuzzing::attack(input, |address| {
    let container = Container::new();
    if let Ok(device) = OpenDevice::open(&container, address) {
        for offset in [0, 0x1000, 0x1018, 0x1ffc, 0x6018, 0x1_fffc] {
            let _ = device.register_read(offset);
        }
    }
    let _ = Mempool::create(&container, 64);
}));
