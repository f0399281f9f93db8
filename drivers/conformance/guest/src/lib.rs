//! The software 82599 and its drivers in a virtual machine.
//!
//! The tests (`tests/vm/`) run on the host, with the NIC in their own process, so that they see what
//! it sees. In the machine runs an agent (`src/bin/guest/`), which starts programs for them and tells
//! how these ended. Here is what is between: the machine ([`Vm`]), the programs that run in it
//! ([`Job`], [`Output`]), and the messages of the agent ([`message`]).
//!
//! Errors are [`anyhow::Error`]: nobody but the person who reads a failed test handles them.

mod client;
mod image;
pub mod message;
mod vm;

pub use client::{Job, Output, Run};
pub use image::{repository, Image};
pub use vm::{Accelerator, Device, Iommu, Machine, Vm};
