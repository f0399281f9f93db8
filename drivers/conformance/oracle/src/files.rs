//! The files in the repository, and the commands that write them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Linux's archived summaries, relative to the repository's root.
pub const ARCHIVE: &str = "drivers/conformance/oracle/data/linux.toml";
/// The reasons for the differences, relative to the repository's root.
pub const REASONS: &str = "drivers/conformance/oracle/data/reasons.toml";
/// The generated table, relative to the repository's root.
pub const TABLE: &str = "drivers/REGISTERS-COMPARED.md";
/// The command that writes the table.
pub const WRITE_TABLE: &str = ".ci/part registers-compared";
/// The command that writes Linux's archived summaries.
pub const WRITE_ARCHIVE: &str = ".ci/part registers-compared archive";

/// The repository's root.
#[must_use]
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_owned()
}

/// Reads a file of the repository.
///
/// # Errors
/// If the file cannot be read. The error names it.
pub fn read(file: &str) -> Result<String> {
    let path = repository().join(file);
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}

/// Writes a file of the repository.
///
/// # Errors
/// If the file cannot be written. The error names it.
pub fn write(file: &str, text: &str) -> Result<()> {
    let path = repository().join(file);
    std::fs::write(&path, text).with_context(|| path.display().to_string())
}
