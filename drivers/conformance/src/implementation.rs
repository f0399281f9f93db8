//! The three implementations of the driver, and where their builds are.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};

/// Environment variable that names a build folder other than `build/`.
const BUILD: &str = "TRIPTYCH_BUILD";

/// One of the implementations of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Implementation {
    /// Idiomatic C.
    C,
    /// Safe Rust.
    Rust,
    /// C, transpiled to unsafe Rust.
    RustUnsafe,
}

impl Implementation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::C, Self::Rust, Self::RustUnsafe];

    /// Its name, which is also the name of its folder in `build/bin/`.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Rust => "rust",
            Self::RustUnsafe => "rust-unsafe",
        }
    }

    /// Its program `ixgbe-fwd`.
    ///
    /// # Errors
    /// If the program does not exist.
    pub fn program(self) -> Result<PathBuf> {
        built(&format!("bin/{self}/ixgbe-fwd"))
    }

    /// Its library `libforwarder.so`, for lockstep.
    ///
    /// # Errors
    /// If the library does not exist.
    pub fn library(self) -> Result<PathBuf> {
        built(&format!("bin/{self}/libforwarder.so"))
    }
}

impl fmt::Display for Implementation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The software NIC's program.
///
/// # Errors
/// If the program does not exist.
pub(crate) fn nic_program() -> Result<PathBuf> {
    built("bin/nic")
}

/// A file in the build folder. It must exist, because a skipped test proves nothing.
fn built(file: &str) -> Result<PathBuf> {
    let build = match std::env::var_os(BUILD) {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build"),
    };
    let path = build.join(file);
    ensure!(
        path.is_file(),
        "{} does not exist: run `make build`, or set {BUILD} to the folder that contains it",
        path.display()
    );
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_for_a_missing_file_says_how_to_build_it() {
        let error = built("bin/cobol/ixgbe-fwd").unwrap_err().to_string();
        assert!(error.contains("bin/cobol/ixgbe-fwd"), "{error}");
        assert!(error.contains("make build"), "{error}");
    }
}
