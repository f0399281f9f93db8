//! Prepares a machine with a network card for a run. `triptych doctor` examines the machine.
//! `triptych bind` and `triptych unbind` take cards from the kernel's driver and return them.
//!
//! ```text
//! System (files below a root) -> Nic, Interface, Holder (what is there) -> doctor, bind, unbind
//! ```
//!
//! All files are read below a root folder, so that tests can provide a machine of their own.
//! The doctor never writes. `bind` and `unbind` change the machine only through [`control`].

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
pub mod kernel_log;
pub mod nic;
pub mod system;
pub mod unbind;
