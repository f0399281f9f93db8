//! Finds the driver and the compiler of each side.

use std::path::PathBuf;

use anyhow::{bail, Result};
use record::Implementation;

use super::spec::SideSpec;
use crate::build::toolchain::compiler::{Family, Toolchain};
use crate::build::toolchain::find;
use crate::build::toolchain::machine::Machine;
use crate::build::toolchain::recipe::{BuildRecipe, DEFAULT_CPU};
use crate::usage::UsageError;

/// A side that can be built or read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    /// An existing program.
    Program(PathBuf),
    /// A driver that is still to be built.
    Build(Box<DriverBuild>),
}

/// What to build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriverBuild {
    /// The driver.
    pub implementation: Implementation,
    /// The compiler and its level of optimisation.
    pub recipe: BuildRecipe,
    /// Further flags for the compiler.
    pub flags: Vec<String>,
    /// A commit, as git names it, or the sources as they are.
    pub commit: Option<String>,
}

impl Side {
    /// The side in a line, such as `c, gcc 12.2.0 -O3 -fno-inline`.
    pub fn label(&self) -> String {
        match self {
            Self::Program(path) => path.display().to_string(),
            Self::Build(build) => build.label(),
        }
    }
}

impl DriverBuild {
    /// The driver, the compiler, the flags and the commit in a line.
    pub fn label(&self) -> String {
        let mut text = format!("{}, {}", self.implementation, self.compiler());
        if let Some(commit) = &self.commit {
            text.push_str(&format!(", commit {commit}"));
        }
        text
    }

    /// The compiler and the flags, such as `gcc 12.2.0 -O3 -fno-inline`.
    pub fn compiler(&self) -> String {
        let mut text = format!("{} {}", self.recipe.toolchain.label, self.recipe.flags());
        for flag in &self.flags {
            text.push(' ');
            text.push_str(flag);
        }
        text
    }
}

/// Completes both sides. A side without a driver gets the `default`, the driver of the other side,
/// or the driver that its compiler builds: the first of them that fits its compiler.
///
/// # Errors
/// Names the compiler that is missing or cannot build the driver, or the driver that is missing.
pub fn resolve(
    machine: &dyn Machine,
    specs: &[SideSpec; 2],
    default: Option<Implementation>,
) -> Result<[Side; 2]> {
    let [a, b] = specs;
    Ok([
        one(machine, a, default.or(b.driver))?,
        one(machine, b, default.or(a.driver))?,
    ])
}

fn one(machine: &dyn Machine, spec: &SideSpec, usual: Option<Implementation>) -> Result<Side> {
    if let Some(program) = &spec.program {
        return Ok(Side::Program(program.clone()));
    }
    let named = match &spec.toolchain {
        Some(name) => Some(found(machine, name)?),
        None => None,
    };
    let by_family = named.as_ref().map(|toolchain| match toolchain.family {
        Family::Rustc => Implementation::Rust,
        Family::Gcc | Family::Clang => Implementation::C,
    });
    let fits = |driver: &Implementation| match &named {
        Some(toolchain) => is_built_by(*driver, toolchain.family),
        None => true,
    };
    let driver = spec.driver.or(usual.filter(fits)).or(by_family);
    let Some(implementation) = driver else {
        bail!(UsageError(format!(
            "{:?} names no driver: write `c@{0}`, `rust@{0}` or `rust-unsafe@{0}`",
            spec.text
        )));
    };
    let toolchain = match named {
        Some(toolchain) => toolchain,
        None if implementation == Implementation::C => found(machine, "gcc")?,
        None => found(machine, "rustc")?,
    };
    if !is_built_by(implementation, toolchain.family) {
        bail!(UsageError(format!(
            "{} cannot build the {implementation} driver, which {:?} asks for",
            toolchain.name(),
            spec.text
        )));
    }
    Ok(Side::Build(Box::new(DriverBuild {
        implementation,
        recipe: BuildRecipe::new(toolchain, spec.opt, DEFAULT_CPU, spec.lto, false),
        flags: spec.flags.clone(),
        commit: spec.commit.clone(),
    })))
}

fn is_built_by(implementation: Implementation, family: Family) -> bool {
    (implementation == Implementation::C) == (family != Family::Rustc)
}

fn found(machine: &dyn Machine, name: &str) -> Result<Toolchain> {
    let found = find::find(machine, &[name.to_owned()]);
    match (found.toolchains.into_iter().next(), found.skipped.first()) {
        (Some(toolchain), _) => Ok(toolchain),
        (None, Some(skip)) => bail!(UsageError(skip.to_string())),
        (None, None) => bail!(UsageError(format!("there is no compiler {name}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::toolchain::machine::simulated::machine;

    fn resolved(a: &str, b: &str, default: Option<Implementation>) -> Result<[String; 2]> {
        let specs = [a.parse().unwrap(), b.parse().unwrap()];
        let mut machine = machine();
        machine.0.insert(
            "rustc -vV",
            "rustc 1.95.0 (abc)\nrelease: 1.95.0\nLLVM version: 22.1.2\n",
        );
        machine.0.insert("rustc --print sysroot", "/rust/stable\n");
        Ok(resolve(&machine, &specs, default)?.map(|side| side.label()))
    }

    #[test]
    fn a_side_takes_the_driver_from_the_other_side_or_from_its_compiler() {
        for (a, b, default, labels) in [
            (
                "c@gcc-12",
                "clang-19",
                None,
                ["c, gcc 12.2.0 -O2", "c, clang 19.1.7 -O2"],
            ),
            (
                "gcc-12",
                "gcc-12:-O3:-g",
                None,
                ["c, gcc 12.2.0 -O2", "c, gcc 12.2.0 -O3 -g"],
            ),
            (
                "rust-unsafe",
                "rustc-1.85",
                None,
                [
                    "rust-unsafe, rustc 1.95.0 -O3",
                    "rust-unsafe, rustc 1.85.0 -O3",
                ],
            ),
            (
                "-O2",
                "no-lto",
                Some(Implementation::C),
                ["c, gcc 12.2.0 -O2", "c, gcc 12.2.0 -O2 no LTO"],
            ),
            (
                "c",
                "rustc-1.85",
                None,
                ["c, gcc 12.2.0 -O2", "rust, rustc 1.85.0 -O3"],
            ),
            ("c", "program:x", None, ["c, gcc 12.2.0 -O2", "x"]),
        ] {
            assert_eq!(resolved(a, b, default).unwrap(), labels);
        }
    }

    #[test]
    fn a_side_that_cannot_be_built_is_named() {
        for (a, b, why) in [
            ("-O2", "-O3", "`c@-O2`"),
            ("c@gcc-11", "c", "apt-get install gcc-11"),
            (
                "c@rustc-1.85",
                "c",
                "rustc 1.85.0 cannot build the c driver",
            ),
        ] {
            let error = resolved(a, b, None).unwrap_err();
            assert!(error.downcast_ref::<UsageError>().is_some());
            assert!(error.to_string().contains(why), "{error}");
        }
    }
}
