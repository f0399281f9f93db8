//! Builds the rungs from patched copies of the tree, by the Makefile's own recipes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{absolute, Path};
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use perfcounters::temporary::TemporaryFolder;
use perfcounters::Interrupt;
use record::Implementation::{self, RustUnsafe};

use super::manifest::Build;
use crate::build::peers::flags::ProjectFlags;
use crate::build::request::make;
use crate::build::{runner, stamp};
use crate::progress::Progress;

const PARTS: [&str; 10] = [
    "Makefile",
    "Cargo.lock",
    "Cargo.toml",
    "bench/apps/Cargo.toml",
    "bench/forwarder-abi",
    "bench/setup",
    "c/src",
    "drivers/conformance/fuzz-input",
    "rust",
    "rust-unsafe",
];
const MEMBERS: [&str; 3] = ["rust", "rust-unsafe", "bench/forwarder-abi"];

const LIMIT: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(super) struct Place<'a> {
    pub repository: &'a Path,
    pub build: &'a Path,
    /// The folder in it that has a folder for each rung, with its sources.
    pub rungs: &'static str,
    pub interrupt: &'a Interrupt,
}

impl Place<'_> {
    /// Checks that all rungs compile. C2Rust needs what compiles as C.
    pub fn check(&self, builds: &[Build]) -> Result<()> {
        let flags = ProjectFlags::ask(self.repository, &[], &[], self.interrupt)?;
        each(builds, 3, "check", |build| {
            let folder = TemporaryFolder::create_in(self.build, ".ladder-")?;
            let source = folder.path().join("source");
            self.write(build, &source)?;
            if build.implementations.contains(&Implementation::C) {
                self.make(build, Implementation::C, &source, folder.path())?;
            }
            let mut command = Command::new("cargo");
            command
                .args("check --quiet --package ixgbe --package forwarder-abi-rust".split(' '))
                .args(["--lib", "--bin", "ixgbe-fwd", "--profile", build.profile])
                .arg("--target-dir")
                .arg(self.build.join("cargo-ladder"))
                .current_dir(&source)
                .env("RUSTFLAGS", &flags.rust);
            self.run(command)
        })
    }

    /// Builds rungs into `build/variants/`, unless they are there. Also makes a folder `bin` beside the sources of each,
    /// in which the rung replaces the shipped drivers. The conformance tests use it.
    pub fn build(&self, builds: &[Build]) -> Result<()> {
        let has_c2rust = runner::c2rust(self.repository, self.interrupt)?.is_some();
        let is_left_out = |driver: &Implementation| *driver == RustUnsafe && !has_c2rust;
        let mut drivers = builds.iter().flat_map(|build| &build.implementations);
        if drivers.any(is_left_out) {
            println!("C2Rust is missing, so no rung has a transpiled driver; `bench/setup/c2rust.sh` installs it");
        }
        each(builds, 20, "build", |build| {
            let folder = self.build.join(self.rungs).join(&build.variant);
            let into = self.build.join("variants").join(&build.variant);
            let new = TemporaryFolder::create_in(self.build, ".ladder-")?;
            self.write(build, &new.path().join("source"))?;
            let mut from = self.fingerprint(new.path())?;
            let mut files = Vec::new();
            let drivers = build.implementations.iter();
            let drivers = drivers.filter(|driver| !is_left_out(driver));
            for driver in drivers.clone() {
                from += &self.shipped(*driver)?;
                files.push(into.join(driver.to_string()).join("libforwarder.so"));
            }
            stamp::once(&folder, &from, &files, || {
                stamp::empty(&into)?;
                let source = folder.join("source");
                fs::rename(new.path().join("source"), &source)?;
                for driver in drivers {
                    if *driver == RustUnsafe {
                        self.run(Command::new(source.join("rust-unsafe/transpile.sh")))?;
                    }
                    self.make(build, *driver, &source, &into)?;
                    let built = stamp::read(&into.join(format!("{driver}/toolchain.txt")))?;
                    let profile = format!("--profile {} ", build.profile);
                    let shipped = self.shipped(*driver)?;
                    let shipped = shipped.replace("--profile driver ", &profile);
                    let text = "other compilers built the shipped driver: run `make build`";
                    ensure!(built == shipped, "{text}\n{shipped}{built}");
                }
                self.link_programs(&into, &folder.join("bin"))
            })
        })
    }

    fn write(&self, build: &Build, to: &Path) -> Result<()> {
        stamp::empty(to)?;
        let mut copy = Command::new("cp");
        copy.args(["--recursive", "--parents"])
            .args(PARTS)
            .arg(to)
            .current_dir(self.repository);
        self.run(copy)?;
        let manifest = to.join("Cargo.toml");
        let text = workspace(&stamp::read(&manifest)?, &build.variant)?;
        stamp::write(&manifest, &text)?;
        for patch in &build.patches {
            let mut command = Command::new("patch");
            command
                .args(["--silent", "--merge", "--no-backup-if-mismatch", "-p1"])
                .arg(format!("--directory={}", to.display()))
                .arg(format!("--input={}", absolute(patch)?.display()));
            let help = "bench/ladder/README.md says how to rebase a patch";
            let fail = || format!("{} does not apply; {help}", patch.display());
            self.run(command).with_context(fail)?;
        }
        Ok(())
    }

    fn make(&self, build: &Build, driver: Implementation, from: &Path, into: &Path) -> Result<()> {
        let mut command = make(from, driver, into, &self.build.join("cargo-ladder"));
        // On CI the Makefile demands an unchanged Cargo.lock, but a rung has fewer crates than the lock.
        command.arg("CI=").arg(format!("PROFILE={}", build.profile));
        self.run(command)
    }

    fn run(&self, command: Command) -> Result<()> {
        runner::output(command, LIMIT, self.interrupt).map(drop)
    }

    fn shipped(&self, driver: Implementation) -> Result<String> {
        let path = self.build.join(format!("bin/{driver}/toolchain.txt"));
        stamp::read(&path).context("run `make build`")
    }

    fn fingerprint(&self, folder: &Path) -> Result<String> {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg("find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum")
            .current_dir(folder);
        runner::output(command, LIMIT, self.interrupt)
    }

    fn link_programs(&self, into: &Path, bin: &Path) -> Result<()> {
        stamp::empty(bin)?;
        for name in ["c", "rust", "rust-unsafe", "nic"] {
            let places = [into.join(name), self.build.join("bin").join(name)];
            let target = places.into_iter().find(|path| path.exists());
            let target = target.with_context(|| format!("there is no {name}: run `make build`"))?;
            symlink(&target, bin.join(name)).context("cannot link a program")?;
        }
        Ok(())
    }

    /// Removes the sources of rungs that are no longer there, so that no test takes them for rungs.
    pub fn remove_others(&self, builds: &[Build]) -> Result<()> {
        let entries = fs::read_dir(self.build.join(self.rungs));
        for entry in entries.into_iter().flatten() {
            let path = entry?.path();
            if path.is_dir() && !builds.iter().any(|build| path.ends_with(&build.variant)) {
                let fail = || format!("cannot remove {}", path.display());
                fs::remove_dir_all(&path).with_context(fail)?;
            }
        }
        Ok(())
    }
}

/// Does something to each rung, which takes some seconds, and shows progress.
fn each<F>(builds: &[Build], seconds: u64, title: &str, act: F) -> Result<()>
where
    F: Fn(&Build) -> Result<()>,
{
    let count = builds.len() as u64;
    let estimate = Duration::from_secs(seconds * count);
    let mut progress = Progress::new(estimate);
    progress.begin(title, count, estimate);
    for build in builds {
        progress.step(&build.variant);
        act(build).with_context(|| format!("rung {}", build.variant))?;
    }
    progress.finish();
    Ok(())
}

/// The repository's workspace with only the members of a rung.
///
/// The rung's name becomes a part of their version. Without it, Cargo would confuse packages with
/// the same name, version and path in their workspaces, and would not rebuild them for the next rung.
fn workspace(text: &str, name: &str) -> Result<String> {
    let mut manifest: toml::Value = toml::from_str(text).context("Cargo.toml is malformed")?;
    let workspace = &mut manifest["workspace"];
    workspace["members"] = MEMBERS.to_vec().into();
    let version = &mut workspace["package"]["version"];
    *version = format!("{}+{name}", version.as_str().unwrap_or_default()).into();
    Ok(toml::to_string(&manifest)?)
}
