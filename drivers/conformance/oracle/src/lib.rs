//! Compares the registers that the three drivers write with those that Linux's `ixgbe` writes.
//!
//! Both sides run on the software card, which records every register access. A [`Summary`] lists
//! what one driver wrote in each [`Phase`]. [`archive`] holds Linux's summaries, which a test in a
//! virtual machine takes. [`ours`] takes those of our drivers. [`compare`] joins the two, and
//! [`reasons`] explains each difference. [`table`] writes the result as Markdown.
//!
//! Errors are [`anyhow::Error`]: only the reader of a failed test handles them.

pub mod archive;
pub mod compare;
pub mod entries;
pub mod files;
pub mod ours;
pub mod reasons;
pub mod summary;
pub mod table;

use anyhow::{Context, Result};

use files::{read, ARCHIVE, REASONS};
pub use summary::{Content, Family, Kind, Phase, Summary, Written};

/// The table that the archive, the reasons and our drivers yield now.
///
/// # Errors
/// If a driver fails, if the drivers differ, or if a difference has no reason.
pub fn current_table() -> Result<String> {
    let archive = archive::Archive::parse(&read(ARCHIVE)?).context(ARCHIVE)?;
    let reasons = reasons::Reasons::parse(&read(REASONS)?).context(REASONS)?;
    let ours = ours::of_all_families()?;
    let rows = compare::compare(&archive.summaries, &ours);
    let explained = reasons.explain(rows)?;
    Ok(table::markdown(&archive, &explained))
}
