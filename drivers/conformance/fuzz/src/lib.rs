//! Hostile drivers against the software 82599, and hostile servers against the drivers, made of bytes.
//!
//! [`vfio_user_peer`] is a driver that acts as its input says. It sends valid and invalid messages, with
//! descriptors of memory files and of other files. It writes registers, places rings and descriptors
//! anywhere, and takes memory away, with rounds of the data plane in between. All this happens in one
//! thread, without waiting, so that the same input always has the same effect. [`vfio_user_stream`] sends
//! its input as it is, so that a fuzzer finds its own messages.
//!
//! [`attack`] starts a client of a driver against a server that lies where its input says, with the lies
//! of the crate `hostile`.
//!
//! The functions panic if the attacked side has touched memory outside the maps, or has kept a file or a
//! mapping. The fuzzer detects other failures: panics, reports of sanitizers, and hangs. `fuzz.sh` runs
//! all under libFuzzer. The tests of this crate run the corpora, and mutations of them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod driver;
mod memory_file;
mod server;

pub use server::{attack, safe_client};

use driver::{HostileDriver, VERSION};
use fuzz_input::Input;

/// Most actions of one input.
const MAX_ACTIONS: usize = 256;

/// Runs a driver that acts as the input says.
///
/// # Panics
/// If the NIC has touched memory outside the driver's maps, or has kept a file or a mapping.
pub fn vfio_user_peer(input: &[u8]) {
    let mut input = Input(input);
    let mut driver = HostileDriver::new(input.u8());
    driver.connect(&VERSION);
    for _ in 0..MAX_ACTIONS {
        if input.0.is_empty() {
            break;
        }
        driver.act(&mut input);
    }
    driver.finish();
}

/// Sends these bytes, with a memory file and an eventfd in front, after it has agreed on a version.
/// The first byte decides whether the driver also sets up its queues before.
///
/// # Panics
/// As [`vfio_user_peer`].
pub fn vfio_user_stream(input: &[u8]) {
    let mut input = Input(input);
    let settings = input.u8();
    let mut driver = HostileDriver::new(settings);
    driver.connect(&VERSION);
    if settings & 0x80 != 0 {
        driver.set_up(settings);
    }
    driver.stream(input.0);
    driver.finish();
}
