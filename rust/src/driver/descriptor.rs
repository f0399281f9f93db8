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

pub use crate::sys::dma::Descriptor;
