//! Compilers: their labels, versions and identities.

use std::fmt;

use serde::Serialize;

use super::identity::Identity;
pub use super::invocation::{Family, Invocation};
use super::machine::Machine;

/// An installed compiler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Toolchain {
    /// What the tables call it: the name that the user gave it, or family and version. Where those
    /// of two compilers are equal, the path follows.
    pub label: String,
    /// Whether the user gave the label.
    #[serde(skip)]
    pub named: bool,
    /// What tells it apart from all other compilers.
    pub identity: Identity,
    /// Its family.
    pub family: Family,
    /// Its version, `12.2.0`.
    pub version: String,
    /// Major version of its LLVM; `None` for GCC.
    pub llvm: Option<u32>,
    /// How to invoke it.
    pub invocation: Invocation,
}

impl Toolchain {
    /// A compiler without a label of its own.
    ///
    /// # Errors
    /// Names the part of the compiler that cannot be read.
    pub fn new(
        machine: &dyn Machine,
        family: Family,
        version: String,
        llvm: Option<u32>,
        invocation: Invocation,
    ) -> Result<Self, String> {
        Ok(Self {
            label: format!("{family} {version}"),
            named: false,
            identity: Identity::of(machine, family, &invocation)?,
            family,
            version,
            llvm,
            invocation,
        })
    }

    /// The compiler with the label that the user gave it, if there is one.
    pub(super) fn labelled(mut self, label: Option<&str>) -> Self {
        if let Some(label) = label {
            self.label = label.to_owned();
            self.named = true;
        }
        self
    }

    /// Its name in `samples.csv`, such as `gcc 12.2.0`.
    pub fn name(&self) -> String {
        format!("{} {}", self.family, self.version)
    }
}

/// A compiler that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedCompiler {
    /// The name that the user asked for.
    pub name: String,
    /// Why the compiler cannot be used.
    pub why: String,
    /// The command that installs what is missing, if there is one.
    pub fix: Option<String>,
}

impl fmt::Display for SkippedCompiler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.name, self.why)?;
        match &self.fix {
            Some(command) => write!(
                formatter,
                "; `{command}` installs it if the package source offers it"
            ),
            None => Ok(()),
        }
    }
}

/// Whether version `a` is older than `b`. Parts that are not numbers count as 0.
pub fn older(a: &str, b: &str) -> bool {
    numbers(a) < numbers(b)
}

pub(super) fn numbers(version: &str) -> Vec<u64> {
    version
        .split(['.', '-'])
        .map(|part| part.parse().unwrap_or(0))
        .collect()
}

/// Whether `version` is `wanted` or a release of it: 1.85.1 is a release of 1.85.
pub(super) fn is_release_of(version: &str, wanted: &str) -> bool {
    version
        .strip_prefix(wanted)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Compilers for tests.
#[cfg(test)]
pub mod test_values {
    use super::*;

    /// A compiler in a path of its own.
    pub fn toolchain(family: Family, version: &str, llvm: Option<u32>) -> Toolchain {
        let path = format!("/opt/{family}-{version}");
        Toolchain {
            label: format!("{family} {version}"),
            named: false,
            identity: Identity::from_parts(path.clone(), Vec::new(), ""),
            family,
            version: version.to_owned(),
            llvm,
            invocation: Invocation::Program(path),
        }
    }
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
