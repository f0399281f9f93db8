//! The 82599's advanced descriptors: two 64-bit words, in memory shared with the device.
//! Their bits are in [`crate::driver::registers`] (`RXD_*`, `TXD_*`).
//!
//! ```text
//!            written by the driver          written back by the device
//! RX  lower  address of the packet data     RSS hash, packet type (not used)
//!     upper  header address, 0              length, error, status (DD, EOP)
//! TX  lower  address of the packet data
//!     upper  length, command, PAYLEN        status (DD)
//! ```
#![forbid(unsafe_code)]

/// The contents of a descriptor.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Descriptor {
    /// The first 64-bit word.
    pub lower: u64,
    /// The second 64-bit word.
    pub upper: u64,
}

// 7.1.6, 7.2.3.2.4: a descriptor is 16 bytes, without padding.
const _: () = assert!(size_of::<Descriptor>() == 16);
const _: () = assert!(std::mem::offset_of!(Descriptor, upper) == 8);
