//! A hostile driver, made of bytes, against the software 82599.
//!
//! [`vfio_user_peer`] acts as its input says. It sends valid and invalid messages, with descriptors
//! of memory files and of other files. It writes registers, places rings and descriptors anywhere,
//! and takes memory away, with rounds of the data plane in between. All this happens in one thread,
//! without waiting, so that the same input always has the same effect.
//!
//! The function panics if the NIC has touched memory outside the maps, or has kept a file or a
//! mapping. The fuzzer detects other failures: panics, reports of sanitizers, and hangs.
//!
//! `drivers/nic/fuzz` runs it under libFuzzer. The tests of this crate run the corpus and 600
//! mutations of it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod driver;
mod input;
mod memory_file;

use driver::HostileDriver;
use input::Input;

/// Most actions of one input.
const MAX_ACTIONS: usize = 256;

/// Runs a driver that acts as the input says.
///
/// # Panics
/// If the NIC has touched memory outside the driver's maps, or has kept a file or a mapping.
pub fn vfio_user_peer(input: &[u8]) {
    let mut input = Input(input);
    let mut driver = HostileDriver::new(input.u8());
    driver.connect(&[0, 0, 1, 0, b'{', b'}', 0]);
    for _ in 0..MAX_ACTIONS {
        if input.0.is_empty() {
            break;
        }
        driver.act(&mut input);
    }
    driver.finish();
}
