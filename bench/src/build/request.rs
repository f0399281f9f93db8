//! One driver to build: its sources, its recipe, and the Makefile's goal that does it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{anyhow, bail, ensure, Context, Result};
use perfcounters::device::NicProgram;
use perfcounters::valgrind::Valgrind;
use perfcounters::{Backend, Cell, Interrupt};
use record::{Conditions, Implementation};

use super::builds::cells::{self, describe_build};
use super::checkout::Checkout;
use super::runner;
use super::stamp::{self, empty};
use super::toolchain::find::profdata;
use super::toolchain::recipe::BuildRecipe;

/// Longest time to build one driver and its dependencies on a slow machine.
const LIMIT: Duration = Duration::from_secs(900);
/// Packets that an instrumented driver forwards to record its profile.
const TRAINING: u64 = 204_800;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub implementation: Implementation,
    pub recipe: BuildRecipe,
    /// A commit, as git names it, or the sources as they are.
    pub commit: Option<String>,
}

impl Request {
    pub fn label(&self) -> String {
        let (label, flags) = (&self.recipe.toolchain.label, self.recipe.flags());
        let commit = self
            .commit
            .iter()
            .map(|commit| format!(", commit {commit}"));
        let commit: String = commit.collect();
        format!("{}, {label} {flags}{commit}", self.implementation)
    }

    pub fn build(&self, build: &Path, interrupt: &Interrupt) -> Result<Built> {
        let (label, output) = (self.label(), build.join("asm"));
        eprintln!("building {label}");
        let mut builder = Builder {
            sources: std::env::current_dir().context("cannot find the current folder")?,
            output,
            build,
            interrupt,
        };
        let mut checkout = None;
        if let Some(commit) = &self.commit {
            let taken = Checkout::of_commit(&builder.sources, commit, &builder.output, interrupt)?;
            builder.sources.clone_from(&taken.sources);
            builder.output.clone_from(&taken.output);
            checkout = Some(taken);
        }
        let built = builder.build(&self.recipe, self.implementation);
        built.with_context(|| format!("cannot build {label}"))?;
        let folder = builder.folder(&self.recipe.variant);
        Ok(Built {
            label,
            program: folder.join(format!("{}/ixgbe-fwd", self.implementation)),
            sources: builder.sources,
            _checkout: checkout,
        })
    }
}

#[derive(Debug)]
pub struct Built {
    pub label: String,
    pub program: PathBuf,
    pub sources: PathBuf,
    /// The sources of a commit stay as long as this value.
    pub(super) _checkout: Option<Checkout>,
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

#[derive(Debug)]
pub struct Builder<'a> {
    pub sources: PathBuf,
    /// The folder that receives `variants/<variant>/<implementation>/`.
    pub output: PathBuf,
    pub build: &'a Path,
    pub interrupt: &'a Interrupt,
}

impl Builder<'_> {
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

    pub fn build(&self, recipe: &BuildRecipe, driver: Implementation) -> Result<()> {
        if !recipe.pgo {
            return self.make(recipe, driver, "", None);
        }
        let profdata = profdata(&recipe.toolchain).map_err(|lacks| anyhow!("{lacks}"))?;
        let folder = self.folder(&recipe.variant);
        // The folder's path becomes a flag.
        let folder = std::path::absolute(folder.join(format!("profile/{driver}")))?;
        // GCC names a profile after its object, and the library's objects get the profiles of the program's.
        let objects_folder = folder.join("objects");
        empty(&folder)?;
        empty(&objects_folder)?;
        let is_rust = driver != Implementation::C;
        let flag = |what: &str, path: &Path| {
            if is_rust {
                format!("-C profile-{what}={}", path.display())
            } else {
                format!("-fprofile-{what}={}", path.display())
            }
        };
        let objects = profdata.is_none().then_some(&*objects_folder);
        self.make(recipe, driver, &flag("generate", &folder), objects)?;
        self.train(recipe, driver)?;
        let raw = fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
        let raw: Vec<_> = raw.filter(|path| *path != objects_folder).collect();
        let place = folder.display();
        let why = "the instrumented driver wrote no profile to";
        ensure!(!raw.is_empty(), "{why} {place}");
        let used = match profdata {
            // GCC finds no profile for functions that only the library has.
            None => flag("use", &folder) + " -Wno-missing-profile -Wno-coverage-mismatch",
            Some(profdata) => {
                let merged = folder.join("merged.profdata");
                let mut command = Command::new(profdata);
                command.arg("merge").arg("-o").arg(&merged).args(raw);
                runner::output(command, Duration::from_secs(60), self.interrupt)?;
                flag("use", &merged)
            }
        };
        self.make(recipe, driver, &used, objects)
    }

    fn make(
        &self,
        recipe: &BuildRecipe,
        driver: Implementation,
        profile: &str,
        objects: Option<&Path>,
    ) -> Result<()> {
        let (into, target) = (self.folder(&recipe.variant), self.cargo_folder(recipe)?);
        let mut command = make(&self.sources, driver, &into, &target);
        command.args(recipe.variables(profile));
        command.args(objects.map(|objects| format!("C_OBJECTS={}", objects.display())));
        command.envs(recipe.environment());
        runner::output(command, LIMIT, self.interrupt).map(drop)
    }

    fn train(&self, recipe: &BuildRecipe, driver: Implementation) -> Result<()> {
        let cell = self.cell(recipe, driver, Conditions::default().batch);
        let valgrind = Valgrind {
            nic: NicProgram::new(self.build.join("bin/nic")),
            packets: TRAINING,
            repeats: 1,
            interrupt: self.interrupt.clone(),
        };
        if let Some(why) = valgrind.unavailable() {
            bail!("cannot train the instrumented driver: {why}");
        }
        let trained = valgrind.forward(&cell);
        trained.context("the instrumented driver cannot forward packets")
    }

    pub fn cell(&self, recipe: &BuildRecipe, driver: Implementation, batch: u32) -> Cell {
        let described = describe_build(&self.output, driver, &recipe.variant);
        let conditions = Conditions::with_batch(batch);
        Cell {
            // `toolchain.txt` says the same, but does not exist after a failed build.
            toolchain: recipe.toolchain.name(),
            ..cells::cell(&self.output, &described, conditions)
        }
    }
}
