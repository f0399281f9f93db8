//! A small driver for tests: memory for DMA, a vfio-user client, and one pair of queues.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs
)]

mod client;
mod driver;
mod memory;

use std::time::{Duration, Instant};

pub use client::*;
pub use driver::*;
pub use memory::Memory;

/// Longest time that a test waits for anything.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Waits until `condition` holds.
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}: not within {TIMEOUT:?}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// A frame of `len` bytes to the broadcast address. The other bytes count up from `seed`.
pub fn frame(len: usize, seed: u8) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..len).map(|n| (n as u8).wrapping_add(seed)).collect();
    frame[..len.min(6)].fill(0xff);
    frame
}
