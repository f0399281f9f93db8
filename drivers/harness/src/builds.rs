//! Where the built programs and libraries are.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};

/// Environment variable that names a build folder other than `build/`.
const BUILD: &str = "TRIPTYCH_BUILD";

/// The folder that holds everything built.
pub fn build_folder() -> PathBuf {
    match std::env::var_os(BUILD) {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build"),
    }
}

/// A file in the build folder. It must exist, because a skipped test proves nothing.
pub fn built(file: &str) -> Result<PathBuf> {
    let path = build_folder().join(file);
    ensure!(
        path.is_file(),
        "{} does not exist: run `make build variants`, or set {BUILD} to the folder that contains it",
        path.display()
    );
    Ok(path)
}

/// An implementation's program `ixgbe-fwd`.
pub fn forwarder_program(implementation: impl Display) -> Result<PathBuf> {
    built(&format!("bin/{implementation}/ixgbe-fwd"))
}

/// The path of all forwarders: `TRIPTYCH_PATH=tuned` runs the tests of the default path on the tuned one.
pub fn path_name() -> Option<String> {
    std::env::var("TRIPTYCH_PATH").ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_error_for_a_missing_file_says_how_to_build_it() {
        let error = super::built("bin/cobol/ixgbe-fwd").unwrap_err().to_string();
        assert!(error.contains("bin/cobol/ixgbe-fwd") && error.contains("make build"));
    }
}
