//! Prepares results for others: `triptych merge` and `triptych anonymise`.

pub mod anonymise;
pub mod arguments;
mod folder;
pub mod merge;
mod private;
