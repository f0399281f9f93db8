//! The ixgbe driver in safe Rust.
//!
//! A packet-forwarding driver for the Intel 82599 (and X540, X550), file by file and
//! function by function the twin of the C driver in `c/src`. What the C driver trusts
//! itself and the device with, this one checks or makes impossible:
//!
//! - all `unsafe` is in [`sys`]; every other module forbids it;
//! - a [`mempool::Packet`] is an owned value that returns to its pool when dropped, so it
//!   can be neither used after it was sent nor freed twice;
//! - what the device writes back is checked before it is believed.
//!
//! One thing is taken on trust, the ring protocol's promise: **a device no longer writes
//! to a buffer that it has given back**. It is relied on where a received packet's bytes
//! are handed out, in [`sys::buffers`].
#![deny(unsafe_code)]

/// Where the waits for the device get their time from.
#[cfg(not(any(test, feature = "fuzzing")))]
mod clock {
    pub(crate) use std::thread::sleep;
    pub(crate) use std::time::Instant;
}
#[cfg(any(test, feature = "fuzzing"))]
#[path = "clock_played.rs"]
mod clock;
pub mod descriptor;
pub mod device;
pub mod device_ids;
pub mod error;
pub mod forwarder;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod init;
pub mod mempool;
#[rustfmt::skip]
#[allow(missing_docs)]
pub mod registers;
mod rx;
pub mod stats;
#[allow(unsafe_code)]
pub mod sys;
#[cfg(any(test, feature = "fuzzing"))]
mod test_queues;
mod tx;
pub mod vfio;
