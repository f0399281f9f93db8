//! Builds a side with line tables, and reads its code.

use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use perfcounters::Interrupt;
use sha2::{Digest, Sha256};

use super::side::{DriverBuild, Side};
use crate::build::builds::variants::build_folder;
use crate::build::checkout::{hash_of, Checkout};
use crate::build::toolchain::builder::{Builder, ExtraFlags};
use crate::build::toolchain::compiler::Family;
use crate::build::toolchain::recipe::BuildRecipe;
use crate::usage::UsageError;

/// A side that was built.
#[derive(Debug)]
pub struct Built {
    /// The side in a line.
    pub label: String,
    /// The program.
    pub program: PathBuf,
    /// The top folder of its sources.
    pub sources: PathBuf,
    /// The sources of a commit, which stay as long as this value.
    _checkout: Option<Checkout>,
}

/// Checks that the commits and programs of both sides exist, so that no build runs in vain.
///
/// # Errors
/// A usage error names what is missing.
pub fn check(sides: [&Side; 2]) -> Result<()> {
    let here = std::env::current_dir().context("cannot find the current folder")?;
    for side in sides {
        match side {
            Side::Program(program) if !program.is_file() => {
                let program = program.display();
                bail!(UsageError(format!("there is no program {program}")));
            }
            Side::Program(_) => {}
            Side::Build(driver) => {
                if let Some(commit) = &driver.commit {
                    hash_of(&here, commit)?;
                }
            }
        }
    }
    Ok(())
}

/// Builds a side below `build/asm/`.
///
/// # Errors
/// If the driver cannot be built: the compiler's message. If the commit does not exist.
pub fn build(side: &Side, build: &Path, interrupt: &Interrupt) -> Result<Built> {
    let here = std::env::current_dir().context("cannot find the current folder")?;
    match side {
        Side::Program(program) => Ok(Built {
            label: side.label(),
            program: program.clone(),
            sources: here,
            _checkout: None,
        }),
        Side::Build(driver) => build_driver(driver, &here, build, interrupt)
            .with_context(|| format!("cannot build {}", driver.label())),
    }
}

fn build_driver(
    driver: &DriverBuild,
    here: &Path,
    build: &Path,
    interrupt: &Interrupt,
) -> Result<Built> {
    let parent = build.join("asm");
    let checkout = match &driver.commit {
        Some(commit) => Some(Checkout::of_commit(here, commit, &parent, interrupt)?),
        None => None,
    };
    let (sources, output) = match &checkout {
        Some(checkout) => (
            checkout.sources.clone(),
            checkout.output().unwrap_or(parent),
        ),
        None => (here.to_owned(), parent),
    };
    let builder = Builder {
        sources: sources.clone(),
        output,
        build,
        interrupt,
    };
    let recipe = folder_of(driver);
    eprintln!("building {}", driver.label());
    builder.make(&recipe, driver.implementation, &extra(driver))?;
    let folder = build_folder(&builder.output, driver.implementation, &recipe.variant);
    Ok(Built {
        label: driver.label(),
        program: folder.join("ixgbe-fwd"),
        sources,
        _checkout: checkout,
    })
}

/// The recipe with a variant that also stands for the further flags, so that each set of flags has
/// a folder of its own.
fn folder_of(driver: &DriverBuild) -> BuildRecipe {
    let mut recipe = driver.recipe.clone();
    if !driver.flags.is_empty() {
        let hash = Sha256::digest(driver.flags.join("\n"));
        let short: String = hash
            .iter()
            .take(4)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        recipe.variant.push_str(&format!("-{short}"));
    }
    recipe
}

/// The further flags, with line tables.
fn extra(driver: &DriverBuild) -> ExtraFlags {
    let mut extra = line_tables(driver.recipe.toolchain.family);
    let flags = driver.flags.join(" ");
    let place = match driver.recipe.toolchain.family {
        Family::Rustc => &mut extra.rust,
        Family::Gcc | Family::Clang => &mut extra.c,
    };
    *place = format!("{place} {flags}").trim().to_owned();
    extra
}

/// Flags that add line tables and change nothing else.
fn line_tables(family: Family) -> ExtraFlags {
    let c = match family {
        Family::Clang => "-gline-tables-only",
        _ => "-g1",
    };
    let (name, value) = ("CARGO_PROFILE_DRIVER_DEBUG", "line-tables-only");
    ExtraFlags {
        c: c.to_owned(),
        rust: String::new(),
        environment: vec![(name.to_owned(), value.to_owned())],
    }
}
