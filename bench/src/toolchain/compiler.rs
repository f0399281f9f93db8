//! Compilers: their families, versions and how to call them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A family of compilers, of which one is newer than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// The C compiler of GNU.
    Gcc,
    /// The C compiler of LLVM.
    Clang,
    /// The Rust compiler.
    Rustc,
}

impl fmt::Display for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Gcc => "gcc",
            Self::Clang => "clang",
            Self::Rustc => "rustc",
        })
    }
}

/// How a compiler is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Call {
    /// This program, by name or path.
    Program(String),
    /// rustup's toolchain of this name.
    Rustup(String),
}

/// A compiler that is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Toolchain {
    /// What it is.
    pub family: Family,
    /// Its version, `12.2.0`.
    pub version: String,
    /// Major version of the LLVM in it; GCC has none.
    pub llvm: Option<u32>,
    /// How it is called.
    pub call: Call,
}

impl Toolchain {
    /// As the records name it: `gcc 12.2.0`.
    pub fn name(&self) -> String {
        format!("{} {}", self.family, self.version)
    }
}

/// A compiler that is not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// As it was asked for.
    pub name: String,
    /// Why.
    pub why: String,
    /// The command that mends it, if one is known.
    pub mend: Option<String>,
}

impl fmt::Display for Skipped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.name, self.why)?;
        match &self.mend {
            Some(command) => write!(formatter, "; `{command}` installs it, where it is offered"),
            None => Ok(()),
        }
    }
}

/// Compares versions number by number; what is no number counts as 0.
pub fn older(a: &str, b: &str) -> bool {
    numbers(a) < numbers(b)
}

pub(super) fn numbers(version: &str) -> Vec<u64> {
    version
        .split(['.', '-'])
        .map(|part| part.parse().unwrap_or(0))
        .collect()
}

/// Whether `version` is `wanted` or one of its releases: 1.85.1 is one of 1.85.
pub(super) fn is_release_of(version: &str, wanted: &str) -> bool {
    version
        .strip_prefix(wanted)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(older("9.5.0", "12.2.0") && !older("12.2.0", "12.2"));
        assert!(is_release_of("1.85.1", "1.85") && !is_release_of("1.850.0", "1.85"));
    }
}
