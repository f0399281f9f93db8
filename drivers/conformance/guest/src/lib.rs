//! The software 82599 and its drivers in a virtual machine.
//!
//! The tests (`tests/vm/`) run on the host, with the NIC in their own process, so they see what the
//! NIC sees. An agent (`src/bin/guest/`) in the machine starts programs for the tests and reports
//! their end. This library connects the two: the machine ([`Vm`]), its programs ([`Job`],
//! [`Output`]) and the agent's messages ([`message`]).
//!
//! Errors are [`anyhow::Error`]: only the reader of a failed test handles them.

mod client;
mod image;
pub mod message;
mod vm;

pub use client::{Job, Output, Run};
pub use image::{repository, Image};
pub use vm::{Accelerator, Device, Iommu, Machine, Vm};
