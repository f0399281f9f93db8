//! What tests of card and drivers share.
//!
//! [`Program`] starts, watches and ends processes, by the paths that [`built`] knows. A function that checks
//! returns an error if the check fails; a function that waits returns one if the time is over.
//!
//! [`codec`] has the messages of vfio-user, [`client`] a client's connection, and [`memory`] what a
//! client shares with the card. None of it shares code with card or drivers, so it repeats no mistake
//! of theirs.

mod builds;
pub mod client;
pub mod codec;
pub mod memory;
mod process;
mod totals;

pub use builds::{build_folder, built, forwarder_program, path_name};
pub use process::{wait_until, Output, Program, Running, LIMIT};
pub use totals::{QueueTotals, Totals};
