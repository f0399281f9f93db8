//! All unsafe code of the driver: memory that the device also sees, and the kernel's VFIO calls.
//!
//! Four rules keep this interface sound, however safe code uses it and whatever the device does:
//!
//! 1. Only accesses through raw pointers reach registers and descriptors. No reference ever covers one. The
//!    accesses are volatile, except for writes of descriptors that the driver owns: the device reads them only
//!    after the tail has moved, and the barrier before that orders them.
//! 2. The code checks every access against the size of its mapping, or masks the index to it.
//! 3. A mapping lives as long as any pointer into it.
//! 4. Only the owner of a packet buffer gets references to its bytes. Only with the
//!    feature `trusted-device` does a reference cover bytes that the device may write.
//!
//! They hold for all safe callers, also those in this crate. This module uses no other one of the crate, and trusts
//! none: lint checks that it imports none (bench/lint/rules.toml).
//!
//! The rules do not cover an address that the device gets from a register or descriptor. So this
//! module is private. The modules that write such addresses are `init`, `rx` and `tx`, and those of the
//! tuned path. They give the device only buffers whose [`buffers::Buffer`] lies in a slot of the ring, or that a
//! [`places::Places`] or a [`places::Block`] has for good.

pub mod batch;
pub mod buffers;
#[cfg(not(any(feature = "trusted-device", feature = "untrusted-device-copy")))]
pub mod device_bytes;
pub mod dma;
pub mod home;
pub mod ioctl;
#[cfg(feature = "untrusted-device-copy")]
mod lines;
pub mod mapping;
#[cfg(not(any(miri, feature = "fuzzing")))]
mod memory;
#[cfg(any(miri, feature = "fuzzing"))]
#[path = "memory_heap.rs"]
mod memory;
pub mod mmio;
pub mod places;
pub mod quad;
mod return_list;
mod sync;
