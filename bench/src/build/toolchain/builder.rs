//! Builds a driver with a given compiler and flags.
//!
//! The Makefile does the work, because all other flags stand there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use perfcounters::device::NicProgram;
use perfcounters::valgrind::Valgrind;
use perfcounters::{Backend, Cell, Interrupt};
use record::{Conditions, Implementation};

use super::compiler::{Family, Invocation};
use super::machine::ThisMachine;
use super::profile::profdata;
use super::recipe::{BuildRecipe, OptLevel, DEFAULT_CPU};
use crate::build::builds::cells::{self, describe_build};
use crate::build::{runner, stamp};

/// Longest time to build one driver and its dependencies on a slow machine.
const LIMIT: Duration = Duration::from_secs(900);
/// Packets that an instrumented driver forwards to record its profile.
const TRAINING: u64 = 204_800;

/// Builds drivers.
#[derive(Debug)]
pub struct Builder<'a> {
    /// The folder of the Makefile.
    pub sources: PathBuf,
    /// The folder that receives `variants/<variant>/<implementation>/`.
    pub output: PathBuf,
    /// The folder with the software NIC in `bin/`.
    pub build: &'a Path,
    /// Stops the build.
    pub interrupt: &'a Interrupt,
}

/// Flags that a [`BuildRecipe`] does not have.
#[derive(Debug, Clone, Default)]
pub struct ExtraFlags {
    /// For the C compiler.
    pub c: String,
    /// For the Rust compiler.
    pub rust: String,
    /// Environment variables for Cargo.
    pub environment: Vec<(String, String)>,
}

impl Builder<'_> {
    /// The folder of a variant.
    pub fn folder(&self, variant: &str) -> PathBuf {
        self.output.join("variants").join(variant)
    }

    /// Cargo's folder for a compiler. Cargo tells compilers apart by what `rustc -vV` prints, which a
    /// patched compiler does not change. The folder is therefore emptied when the compiler changes.
    fn cargo_folder(&self, recipe: &BuildRecipe) -> Result<PathBuf> {
        let identity = &recipe.toolchain.identity;
        let folder = self.output.join("cargo").join(identity.path_key());
        stamp::once(&folder, &identity.key(), &[], || Ok(()))?;
        Ok(folder)
    }

    /// Builds a driver: once, or twice for profile-guided optimisation.
    ///
    /// # Errors
    /// The compiler's message, or the name of a missing tool.
    pub fn build(&self, recipe: &BuildRecipe, implementation: Implementation) -> Result<()> {
        if !recipe.pgo {
            return self.make(recipe, implementation, &ExtraFlags::default());
        }
        let profdata = profdata(&ThisMachine, &recipe.toolchain)
            .map_err(|lacks| anyhow::anyhow!("{lacks}"))?;
        let profile = self
            .folder(&recipe.variant)
            .join("profile")
            .join(implementation.to_string());
        if profile.exists() {
            fs::remove_dir_all(&profile).context("cannot remove an old profile")?;
        }
        fs::create_dir_all(&profile)
            .with_context(|| format!("cannot create {}", profile.display()))?;
        let profile = fs::canonicalize(&profile).context("cannot find the profile's folder")?;
        let folder = profile.display();
        let instrumented = ExtraFlags {
            c: format!("-fprofile-generate={folder}"),
            rust: format!("-C profile-generate={folder}"),
            environment: Vec::new(),
        };
        self.make(recipe, implementation, &instrumented)?;
        self.train(recipe, implementation)?;
        let used = match profdata {
            None => {
                share_gcc_profile(&profile)?;
                // GCC finds no profile for functions that only the library has.
                format!("-fprofile-use={folder} -Wno-missing-profile -Wno-coverage-mismatch")
            }
            Some(profdata) => {
                let merged = profile.join("merged.profdata");
                self.merge(&profdata, &profile, &merged)?;
                format!("-fprofile-use={}", merged.display())
            }
        };
        let merged = profile.join("merged.profdata");
        let optimised = ExtraFlags {
            c: used,
            rust: format!("-C profile-use={}", merged.display()),
            environment: Vec::new(),
        };
        self.make(recipe, implementation, &optimised)
    }

    /// Runs the Makefile to build one driver.
    ///
    /// # Errors
    /// The last lines of its output.
    pub fn make(
        &self,
        recipe: &BuildRecipe,
        implementation: Implementation,
        extra: &ExtraFlags,
    ) -> Result<()> {
        let folder = self.folder(&recipe.variant);
        let mut command = make(
            &self.sources,
            implementation,
            &folder,
            &self.cargo_folder(recipe)?,
        );
        command.args(flag_variables(recipe, extra));
        command.envs(environment(recipe, extra));
        runner::output(command, LIMIT, self.interrupt).map(drop)
    }

    /// Runs the instrumented driver, which writes its profile when it ends.
    fn train(&self, recipe: &BuildRecipe, implementation: Implementation) -> Result<()> {
        let described = describe_build(&self.output, implementation, &recipe.variant);
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
            .context("the instrumented driver cannot forward packets")
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
        runner::output(command, Duration::from_secs(60), self.interrupt).map(drop)
    }
}

/// Builds a driver in `into`, as `make build` does. `target` is Cargo's folder.
pub(crate) fn make(sources: &Path, driver: Implementation, into: &Path, target: &Path) -> Command {
    let mut command = Command::new("make");
    command
        .args(["--no-print-directory", "--directory"])
        .arg(sources)
        .arg(format!("into-{driver}"))
        .arg(format!("INTO={}", into.display()))
        .arg(format!("DRIVER_TARGET={}", target.display()));
    command
}

/// The Makefile variables that choose compiler and flags.
pub fn flag_variables(recipe: &BuildRecipe, extra: &ExtraFlags) -> Vec<String> {
    let mut all = Vec::new();
    if recipe.target_cpu != DEFAULT_CPU {
        all.push(format!("TARGET_CPU={}", recipe.target_cpu));
    }
    match recipe.toolchain.family {
        Family::Rustc => {
            if !extra.rust.is_empty() {
                all.push(format!("RUST_EXTRA={}", extra.rust));
            }
        }
        Family::Gcc | Family::Clang => {
            if let Invocation::Program(program) = &recipe.toolchain.invocation {
                all.push(format!("CC={program}"));
            }
            all.push(format!("C_OPT=-O{}", recipe.opt));
            if !recipe.lto {
                all.push("C_LTO=".to_owned());
            }
            if !extra.c.is_empty() {
                all.push(format!("C_EXTRA={}", extra.c));
            }
        }
    }
    all
}

/// The environment variables of a build.
pub fn environment(recipe: &BuildRecipe, extra: &ExtraFlags) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut set = |name: &str, value: &str| all.push((name.to_owned(), value.to_owned()));
    if recipe.toolchain.family == Family::Rustc {
        match &recipe.toolchain.invocation {
            Invocation::Rustup(name) => set("RUSTUP_TOOLCHAIN", name),
            Invocation::Program(program) => set("RUSTC", program),
        }
        // Only deviations, so that the default build is the Makefile's.
        if recipe.opt != OptLevel::Three {
            set("CARGO_PROFILE_DRIVER_OPT_LEVEL", &recipe.opt.to_string());
        }
        if !recipe.lto {
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

/// Copies GCC's profiles, which are named after the program's objects, to the names of the
/// library's objects. Both are built from the same sources.
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

/// The cell that measures a build.
pub fn cell(
    builder: &Builder<'_>,
    recipe: &BuildRecipe,
    implementation: Implementation,
    batch: u32,
) -> Cell {
    let described = describe_build(&builder.output, implementation, &recipe.variant);
    let conditions = Conditions::with_batch(batch);
    Cell {
        // `toolchain.txt` says the same, but does not exist after a failed build.
        toolchain: recipe.toolchain.name(),
        ..cells::cell(&builder.output, &described, conditions)
    }
}

#[cfg(test)]
mod tests {
    use super::super::compiler::test_values::toolchain;
    use super::super::compiler::Toolchain;
    use super::super::identity::Identity;
    use super::*;

    fn recipe(family: Family, invocation: Invocation, opt: OptLevel, lto: bool) -> BuildRecipe {
        let toolchain = Toolchain {
            invocation,
            ..toolchain(family, "1.2.3", None)
        };
        BuildRecipe::new(toolchain, opt, DEFAULT_CPU, lto, false)
    }

    #[test]
    fn flags_for_c_are_makefile_variables() {
        let recipe = recipe(
            Family::Gcc,
            Invocation::Program("gcc-11".into()),
            OptLevel::Default,
            false,
        );
        let extra = ExtraFlags {
            c: "-g1".to_owned(),
            ..ExtraFlags::default()
        };
        assert_eq!(
            flag_variables(&recipe, &extra),
            ["CC=gcc-11", "C_OPT=-O2", "C_LTO=", "C_EXTRA=-g1"]
        );
        assert!(environment(&recipe, &extra).is_empty());
    }

    #[test]
    fn flags_for_cargo_are_environment_variables_and_only_deviations() {
        let usual = recipe(
            Family::Rustc,
            Invocation::Rustup("1.85.0".into()),
            OptLevel::Default,
            true,
        );
        let none = ExtraFlags::default();
        assert!(flag_variables(&usual, &none).is_empty());
        assert_eq!(
            environment(&usual, &none),
            [("RUSTUP_TOOLCHAIN".to_owned(), "1.85.0".to_owned())]
        );
        let other = recipe(
            Family::Rustc,
            Invocation::Program("/r".into()),
            OptLevel::Size,
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
    fn cargo_folders_belong_to_one_path_and_are_emptied_for_new_contents() {
        let folder = tempfile::tempdir().unwrap();
        let builder = Builder {
            sources: PathBuf::new(),
            output: folder.path().to_owned(),
            build: folder.path(),
            interrupt: &Interrupt::new(),
        };
        let of = |path: &str, contents: &str| {
            let mut compiler = toolchain(Family::Rustc, "1.95.0", None);
            compiler.identity = Identity::from_parts(path.to_owned(), Vec::new(), contents);
            let recipe = BuildRecipe::new(compiler, OptLevel::Default, DEFAULT_CPU, true, false);
            builder.cargo_folder(&recipe).unwrap()
        };
        let first = of("/a", "x");
        fs::write(first.join("object"), "").unwrap();
        assert_ne!(of("/b", "x"), first);
        assert_eq!(of("/a", "x"), first);
        assert!(first.join("object").exists());
        assert_eq!(of("/a", "y"), first);
        assert!(!first.join("object").exists());
    }

    #[test]
    fn the_library_shares_the_profile_of_the_program() {
        let folder = tempfile::tempdir().unwrap();
        assert!(share_gcc_profile(folder.path()).is_err());
        fs::write(folder.path().join("#x#program#rx.gcda"), "p").unwrap();
        share_gcc_profile(folder.path()).unwrap();
        assert!(folder.path().join("#x#shared#rx.gcda").exists());
    }
}
