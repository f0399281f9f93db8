//! Runs the fuzzer's corpus, and mutations of it, against the client of the safe driver.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use ixgbe::driver::device::OpenDevice;
use ixgbe::driver::mempool::Mempool;
use ixgbe::vfio::Container;
use server_fuzzing::attack;

/// Inputs that a fuzzer found worth keeping, and inputs that once failed.
const CORPUS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../fuzz/corpus/vfio_user_server"
);
/// Number of mutations to run.
const MUTATIONS: u64 = 400;

/// Opens a device and maps memory. Returns whether both succeeded.
fn client(address: &str) -> bool {
    let container = Container::new();
    let opened = OpenDevice::open(&container, address);
    let pool = Mempool::create(&container, 64);
    opened.is_ok() && pool.is_ok()
}

/// One test, because it counts the descriptors of the process.
#[test]
fn a_client_survives_all_lies_and_succeeds_without_one() {
    let mut succeeded = false;
    attack(&[], |address| succeeded = client(address));
    assert!(succeeded);

    let mut failed = 0;
    fuzz_input::run(Path::new(CORPUS), MUTATIONS, |input| {
        attack(input, |address| failed += u64::from(!client(address)));
    })
    .unwrap();
    // Most lies are noticed, but some change nothing that the client needs.
    assert!(failed > MUTATIONS / 3, "{failed}");
}
