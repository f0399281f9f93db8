//! Executes a forwarding driver and the software card in turns, and records what both do.
//!
//! The driver runs under `ptrace`. The card (`nic --turns`) does one round after each store to a tail
//! register and at no other time. So two runs execute the same instructions, with the same addresses.
//! The README says how, and what is not controlled.
//!
//! The crate is empty on other processors than x86-64.

#![cfg(target_arch = "x86_64")]

mod addresses;
mod card;
mod clock;
mod counts;
mod decode;
mod emulate;
mod error;
mod filter;
mod follow;
mod launch;
mod session;
mod stepper;
mod target;
mod tracee;
mod watchdog;
mod watchpoints;

pub use addresses::Place;
pub use caches::stream::{Access, AccessKind};
pub use counts::Counts;
pub use error::TraceError;
pub use follow::{Executed, Follower, Pause, Run};
pub use launch::Launch;
pub use session::{trace, Plan};
