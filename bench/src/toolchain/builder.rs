//! Building a driver with a given compiler and flags, through the Makefile, which alone knows the
//! other flags.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use perfcounters::device::NicProgram;
use perfcounters::process::Process;
use perfcounters::valgrind::Valgrind;
use perfcounters::{Backend, Cell, Interrupt};
use record::{Conditions, Implementation};

use super::compiler::{Call, Family};
use super::machine::Here;
use super::profile::profdata;
use super::recipe::{Level, Way, USUAL_CPU};
use crate::builds::cells::{self, describe_build};
use crate::settings::values::Batch;

/// One driver with all that it depends on, on a slow machine.
const LIMIT: Duration = Duration::from_secs(900);
/// Packets that an instrumented driver forwards to see what it does often.
const TRAINING: u64 = 204_800;

/// What all builds need to know.
#[derive(Debug)]
pub struct Builder<'a> {
    /// Folder of the Makefile.
    pub sources: PathBuf,
    /// Folder that gets `variants/<variant>/<implementation>/`.
    pub output: PathBuf,
    /// Folder with the software NIC.
    pub build: &'a Path,
    /// Stops everything.
    pub interrupt: &'a Interrupt,
}

/// Flags besides those of a [`Way`].
#[derive(Debug, Clone, Default)]
pub struct Extra {
    /// For the C compiler.
    pub c: String,
    /// For the Rust compiler.
    pub rust: String,
    /// Environment, of Cargo.
    pub environment: Vec<(String, String)>,
}

impl Builder<'_> {
    /// Folder of a variant.
    pub fn folder(&self, variant: &str) -> PathBuf {
        self.output.join("variants").join(variant)
    }

    /// Builds a driver, twice if it is to be optimised by its profile.
    ///
    /// # Errors
    /// What the compiler said, or what is missing.
    pub fn build(&self, way: &Way, implementation: Implementation) -> Result<()> {
        if !way.pgo {
            return self.make(way, implementation, &Extra::default());
        }
        let profdata =
            profdata(&Here, &way.toolchain).map_err(|lacks| anyhow::anyhow!("{lacks}"))?;
        let profile = self
            .folder(&way.variant)
            .join("profile")
            .join(implementation.to_string());
        if profile.exists() {
            fs::remove_dir_all(&profile).context("cannot remove an old profile")?;
        }
        fs::create_dir_all(&profile)
            .with_context(|| format!("cannot create {}", profile.display()))?;
        let profile = fs::canonicalize(&profile).context("cannot find the profile's folder")?;
        let folder = profile.display();
        let instrumented = Extra {
            c: format!("-fprofile-generate={folder}"),
            rust: format!("-C profile-generate={folder}"),
            environment: Vec::new(),
        };
        self.make(way, implementation, &instrumented)?;
        self.train(way, implementation)?;
        let used = match profdata {
            None => {
                share_gcc_profile(&profile)?;
                // The library's functions have other names for what the program has twice.
                format!("-fprofile-use={folder} -Wno-missing-profile -Wno-coverage-mismatch")
            }
            Some(profdata) => {
                let merged = profile.join("merged.profdata");
                self.merge(&profdata, &profile, &merged)?;
                format!("-fprofile-use={}", merged.display())
            }
        };
        let merged = profile.join("merged.profdata");
        let optimised = Extra {
            c: used,
            rust: format!("-C profile-use={}", merged.display()),
            environment: Vec::new(),
        };
        self.make(way, implementation, &optimised)
    }

    /// Has the Makefile build one driver.
    ///
    /// # Errors
    /// The last of what it said.
    pub fn make(&self, way: &Way, implementation: Implementation, extra: &Extra) -> Result<()> {
        let mut command = Command::new("make");
        command
            .arg("--directory")
            .arg(&self.sources)
            .arg(format!("into-{implementation}"))
            .args(variables(&self.folder(&way.variant), way, extra))
            .arg(format!("DRIVER_TARGET={}", self.output.join("cargo").display()))
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            // rustup would download what is missing.
            .env("RUSTUP_AUTO_INSTALL", "0");
        command.envs(environment(way, extra));
        self.wait("make", command, LIMIT)
    }

    fn wait(&self, name: &str, command: Command, limit: Duration) -> Result<()> {
        let folder = perfcounters::device::temporary_folder()?;
        Process::start(name, command, None, folder.path(), Stdio::null())?
            .wait(limit, self.interrupt)?;
        Ok(())
    }

    /// Has the instrumented driver forward, so that it writes its profile.
    fn train(&self, way: &Way, implementation: Implementation) -> Result<()> {
        let described = describe_build(&self.output, implementation, &way.variant);
        let cell = cells::cell(&self.output, &described, Conditions::default());
        let valgrind = Valgrind {
            nic: NicProgram::new(self.build.join("bin/nic")),
            packets: TRAINING,
            repeats: 1,
            interrupt: self.interrupt.clone(),
        };
        if let Some(why) = valgrind.unavailable() {
            bail!("cannot train the instrumented driver: {why}");
        }
        valgrind
            .forward(&cell)
            .context("the instrumented driver does not forward")
    }

    fn merge(&self, profdata: &Path, profile: &Path, merged: &Path) -> Result<()> {
        let raw = files_of(profile, "profraw")?;
        if raw.is_empty() {
            bail!(
                "the instrumented driver wrote no profile to {}",
                profile.display()
            );
        }
        let mut command = Command::new(profdata);
        command.arg("merge").arg("-o").arg(merged).args(raw);
        self.wait("llvm-profdata", command, Duration::from_secs(60))
    }
}

/// Variables of the Makefile for a build.
fn variables(folder: &Path, way: &Way, extra: &Extra) -> Vec<String> {
    let mut all = vec![format!("INTO={}", folder.display())];
    if way.target_cpu != USUAL_CPU {
        all.push(format!("TARGET_CPU={}", way.target_cpu));
    }
    match way.toolchain.family {
        Family::Rustc => {
            if !extra.rust.is_empty() {
                all.push(format!("RUST_EXTRA={}", extra.rust));
            }
        }
        Family::Gcc | Family::Clang => {
            if let Call::Program(program) = &way.toolchain.call {
                all.push(format!("CC={program}"));
            }
            all.push(format!("C_OPT=-O{}", way.opt));
            if !way.lto {
                all.push("C_LTO=".to_owned());
            }
            if !extra.c.is_empty() {
                all.push(format!("C_EXTRA={}", extra.c));
            }
        }
    }
    all
}

/// The environment of a build.
fn environment(way: &Way, extra: &Extra) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut set = |name: &str, value: &str| all.push((name.to_owned(), value.to_owned()));
    if way.toolchain.family == Family::Rustc {
        match &way.toolchain.call {
            Call::Rustup(name) => set("RUSTUP_TOOLCHAIN", name),
            Call::Program(program) => set("RUSTC", program),
        }
        // Only what is not usual, so that the usual build is the Makefile's.
        if way.opt != Level::Three {
            set("CARGO_PROFILE_DRIVER_OPT_LEVEL", &way.opt.to_string());
        }
        if !way.lto {
            set("CARGO_PROFILE_DRIVER_LTO", "off");
        }
    }
    all.extend(extra.environment.iter().cloned());
    all
}

fn files_of(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        if path.extension().is_some_and(|there| there == ending) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// GCC's profiles are named after the objects of the program; those of the library are the same.
fn share_gcc_profile(folder: &Path) -> Result<()> {
    let files = files_of(folder, "gcda")?;
    if files.is_empty() {
        bail!(
            "the instrumented driver wrote no profile to {}",
            folder.display()
        );
    }
    for file in files {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.contains("#program#") {
            let shared = folder.join(name.replace("#program#", "#shared#"));
            fs::copy(&file, shared).context("cannot copy a profile")?;
        }
    }
    Ok(())
}

/// The cell of a build.
pub fn cell(
    builder: &Builder<'_>,
    way: &Way,
    implementation: Implementation,
    batch: Batch,
) -> Cell {
    let described = describe_build(&builder.output, implementation, &way.variant);
    let conditions = Conditions::with_batch(batch.0);
    Cell {
        // The file of the build says the same, unless it could not be built.
        toolchain: way.toolchain.name(),
        ..cells::cell(&builder.output, &described, conditions)
    }
}

#[cfg(test)]
mod tests {
    use super::super::compiler::Toolchain;
    use super::*;

    fn way(family: Family, call: Call, opt: Level, lto: bool) -> Way {
        let toolchain = Toolchain {
            family,
            version: "1.2.3".to_owned(),
            llvm: None,
            call,
        };
        Way::new(toolchain, opt, USUAL_CPU, lto, false)
    }

    #[test]
    fn c_is_told_by_variables() {
        let way = way(
            Family::Gcc,
            Call::Program("gcc-11".into()),
            Level::Usual,
            false,
        );
        let extra = Extra {
            c: "-g1".to_owned(),
            ..Extra::default()
        };
        assert_eq!(
            variables(Path::new("x/y"), &way, &extra),
            [
                "INTO=x/y",
                "CC=gcc-11",
                "C_OPT=-O2",
                "C_LTO=",
                "C_EXTRA=-g1"
            ]
        );
        assert!(environment(&way, &extra).is_empty());
    }

    #[test]
    fn cargo_is_told_by_its_environment_and_only_what_is_unusual() {
        let usual = way(
            Family::Rustc,
            Call::Rustup("1.85.0".into()),
            Level::Usual,
            true,
        );
        let none = Extra::default();
        assert_eq!(variables(Path::new("x"), &usual, &none), ["INTO=x"]);
        assert_eq!(
            environment(&usual, &none),
            [("RUSTUP_TOOLCHAIN".to_owned(), "1.85.0".to_owned())]
        );
        let other = way(
            Family::Rustc,
            Call::Program("/r".into()),
            Level::Size,
            false,
        );
        let names: Vec<_> = environment(&other, &none)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            names,
            [
                "RUSTC",
                "CARGO_PROFILE_DRIVER_OPT_LEVEL",
                "CARGO_PROFILE_DRIVER_LTO"
            ]
        );
    }

    #[test]
    fn a_profile_of_the_program_is_the_librarys_too() {
        let folder = tempfile::tempdir().unwrap();
        assert!(share_gcc_profile(folder.path()).is_err());
        fs::write(folder.path().join("#x#program#rx.gcda"), "p").unwrap();
        share_gcc_profile(folder.path()).unwrap();
        assert!(folder.path().join("#x#shared#rx.gcda").exists());
    }
}
