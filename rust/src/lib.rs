//! The ixgbe driver in safe Rust, for the Intel 82599 (and X540, X550).
//!
//! "Safe" means: every module but `sys` has `#![forbid(unsafe_code)]`. `sys` is the core below
//! them. The public interface of the driver is sound, whatever safe code does. It trusts the device in
//! one case, named below.
//!
//! The driver is the twin of the C driver in `c/src`, folder by folder and function by function. Where the
//! C driver trusts itself and the device, this one checks, or rules the mistake out:
//!
//! - A [`driver::mempool::Packet`] is an owned value that returns to its pool when dropped. The program
//!   cannot use it after sending it, and cannot free it twice.
//! - The driver checks the length of a received packet before it uses it (TRUST-LENGTH).
//!
//! One assumption remains: **a device no longer writes to a buffer that it has given back**
//! (TRUST-RING-PROTOCOL). `sys::buffers` relies on it, and if it is wrong, the program has undefined
//! behaviour. `drivers/ASSUMPTIONS.md` lists all assumptions of the three drivers.
//!
//! No public function writes a register of a device that has memory, or allocates memory for a device
//! except as packets. So safe code cannot break that assumption, if the device is correct.
#![deny(unsafe_code)]

/// The clock of the waits for the device.
#[cfg(not(any(test, feature = "fuzzing")))]
mod clock {
    pub(crate) use std::thread::sleep;
    pub(crate) use std::time::Instant;
}
#[cfg(any(test, feature = "fuzzing"))]
#[path = "clock_fake.rs"]
mod clock;
pub mod driver;
pub mod error;
#[cfg(any(test, feature = "fuzzing"))]
#[path = "../fuzz/hostile_device.rs"]
pub mod fuzzing;
pub mod rooms;
#[allow(unsafe_code)]
mod sys;
#[cfg(any(test, feature = "fuzzing"))]
mod test_queues;
pub mod tuned;
pub mod vfio;
mod vfio_user;

pub use sys::mmio::tsc_read;
