//! Compares the registers that the three drivers write with those that Linux's `ixgbe` writes.
//!
//! Both sides run on the software card, which records every register access. A [`summary`] says what
//! one driver wrote. A test in a virtual machine takes Linux's, and [`ours`] takes those of our
//! drivers. [`recorded`] is the difference with its reasons, which both tests compare with. [`page`]
//! writes it as Markdown.
//!
//! Errors are [`anyhow::Error`]: only the reader of a failed test handles them.

pub mod ours;
pub mod page;
pub mod recorded;
pub mod summary;

pub use recorded::Recorded;
pub use summary::{Family, Phase, Summary};
