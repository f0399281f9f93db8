//! Prepares a machine with a network card for a run. `triptych doctor` examines the machine.
//! `triptych bind` takes cards from the kernel's driver and returns them.
//!
//! [`system`] reads all files below a root folder, so that tests can provide a machine of their own. [`nic`],
//! [`interface`] and [`holders`] say what is there.
//! The doctor never writes. `bind` changes the machine only through [`control`].

pub(crate) mod address;
mod bind;
pub mod cli;
mod control;
pub(crate) mod doctor;
pub(crate) mod finding;
#[cfg(test)]
mod fixture;
mod holders;
mod interface;
pub(crate) mod nic;
pub(crate) mod system;
