//! All of the driver's unsafe code: memory that the device also sees, and the kernel's
//! VFIO calls.
//!
//! The rules, which keep this interface sound however safe code uses it and whatever the
//! device does:
//!
//! 1. Registers and descriptors are read and written by volatile accesses through raw
//!    pointers only; no reference ever covers them.
//! 2. Every access is checked against the length of the mapping it goes to, or its index is cut to it.
//! 3. A mapping lives as long as anything that points into it.
//! 4. Packet buffers are handed out as references only to the one owner of the buffer.

pub mod batch;
pub mod buffers;
pub mod dma;
pub mod ioctl;
#[cfg(not(any(miri, feature = "fuzzing")))]
mod memory;
#[cfg(any(miri, feature = "fuzzing"))]
#[path = "memory_heap.rs"]
mod memory;
pub mod mmio;
