//! Writes the folder's files.

use std::path::Path;

use anyhow::{Context, Result};

/// Writes a file of the folder.
///
/// # Errors
/// Names the file.
pub fn write(output: &Path, name: &str, text: &str) -> Result<()> {
    let path = output.join(name);
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}
