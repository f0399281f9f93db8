//! What a machine with a network card needs before a run: `triptych doctor` looks at it,
//! `triptych bind` and `triptych unbind` take cards from the kernel's driver and give them back.
//!
//! ```text
//! System (files below a root) -> Nic, Interface, Holder (what is there) -> doctor, bind, unbind
//! ```
//!
//! Everything is read below a root folder, so that tests can stand in a machine of their own.
//! The doctor never writes to it. `bind` and `unbind` change a machine through [`control`] only.

pub mod address;
pub mod bind;
pub mod cli;
pub mod control;
pub mod doctor;
pub mod finding;
#[cfg(test)]
mod fixture;
pub mod holders;
pub mod interface;
pub mod nic;
pub mod system;
pub mod unbind;
