//! The programs that the scenarios attack.

use std::fmt;
use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;
use harness::built;

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
