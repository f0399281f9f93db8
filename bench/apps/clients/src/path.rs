//! Where the built programs are.

use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};

/// The root of the project.
pub fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(3).unwrap_or(package).to_owned()
}

/// A file below `build/`.
///
/// # Errors
/// If it is not built.
pub fn built(path: &str) -> Result<PathBuf> {
    let file = root().join("build").join(path);
    ensure!(
        file.is_file(),
        "build/{path} is missing: run make build, or make apps for the variants"
    );
    Ok(file)
}
