//! The programs that the scenarios attack.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};
use clap::ValueEnum;

/// A build of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Build {
    /// The C driver.
    C,
    /// The C driver with AddressSanitizer and UndefinedBehaviorSanitizer.
    CSanitized,
    /// The safe Rust driver.
    Rust,
    /// The transpiled driver.
    RustUnsafe,
}

impl Build {
    /// All builds.
    pub const ALL: [Self; 4] = [Self::C, Self::CSanitized, Self::Rust, Self::RustUnsafe];

    /// The driver's program.
    ///
    /// # Errors
    /// If the program does not exist.
    pub fn program(self) -> Result<PathBuf> {
        match self {
            Self::CSanitized => built("hostile/c/ixgbe-fwd"),
            _ => built(&format!("bin/{self}/ixgbe-fwd")),
        }
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(
            self.to_possible_value()
                .as_ref()
                .map_or("", |value| value.get_name()),
        )
    }
}

/// The program of the software card.
///
/// # Errors
/// If the program does not exist.
pub fn nic_program() -> Result<PathBuf> {
    built("bin/nic")
}

/// A file in the build folder. It must exist, because a skipped scenario proves nothing.
fn built(file: &str) -> Result<PathBuf> {
    let folder = std::env::var_os("TRIPTYCH_BUILD").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../build"),
        PathBuf::from,
    );
    let path = folder.join(file);
    ensure!(
        path.is_file(),
        "{} does not exist: run `.ci/part test-hostile`, or set TRIPTYCH_BUILD to the build folder",
        path.display()
    );
    Ok(path)
}
