//! Executes a forwarding driver and the software card in turns, and records what both do.
//!
//! The driver runs under `ptrace`. The card ([`nic --turns`](../../drivers/nic/README.md)) does one
//! round after each store to a tail register and at no other time. So the receive rings are always
//! full, batches have the size that the driver asks for, and two runs execute the same instructions.
//!
//! ```text
//! Launch -> first start: find the doorbells -> second start: forward natively, then record step by step
//! ```
//!
//! # What is the same in two runs
//!
//! On one machine, with the same files, arguments and kernel: every executed instruction between the
//! driver's first look at a receive ring and the end of the session, every address, and every
//! transfer of the card. For this,
//!
//! - addresses are not random, and the stack has a fixed limit and a fixed size at the start;
//! - the driver's clocks are virtual ([`Launch`] tells how they go), also the time-stamp counter;
//! - only the forwarding thread runs while steps are recorded.
//!
//! The part before that first look may differ: it waits for other processes. Threads that share data
//! with the forwarding thread, the kernel's random numbers and CPUID are not controlled. Huge pages
//! change addresses, so a machine with free huge pages gives other addresses than one without.
//!
//! The crate is empty on other processors than x86-64.

#![cfg(target_arch = "x86_64")]

mod addresses;
mod card;
mod clock;
mod counts;
mod decode;
mod error;
mod launch;
mod recorder;
mod session;
mod target;
mod tracee;
mod watchdog;
mod watchpoints;

pub use counts::Counts;
pub use error::TraceError;
pub use launch::Launch;
pub use session::{trace, Plan};
