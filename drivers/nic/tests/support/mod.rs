//! For tests: a card, memory for DMA, a vfio-user client, and a driver of one pair of queues.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs
)]

mod bench;
mod client;
mod control;
mod driver;
mod memory;

use std::time::{Duration, Instant};

pub use bench::{Bench, MODES};
pub use client::*;
pub use control::Control;
pub use driver::*;
pub use memory::Memory;

/// Longest time that a test waits for anything.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// PCI device ids of the copper families.
pub const X540: u16 = 0x1528;
pub const X550: u16 = 0x1563;

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

/// A frame as a driver forwards it: the second byte goes up by one.
pub fn touched(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[1] = frame[1].wrapping_add(1);
    frame
}
