//! Follows the recipes of peers: builds one program for each batch size.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};

use super::c2rust;
use super::flags::{ProjectFlags, PROFILE};
use super::manifest::{Peer, Recipe, Source};
use super::record::{Build, PeerRecord};
use super::source::{write_program, Absent, Program, Store};
use crate::build::builds::variants::DEFAULT;
use crate::build::runner;
use crate::build::stamp::{self, read, write};

const COMPILE: Duration = Duration::from_secs(180);
const CARGO: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(crate) struct Workshop<'a> {
    pub project: &'a Path,
    pub output: PathBuf,
    pub flags: ProjectFlags,
    /// The environment of cargo: another compiler, or changes to the profile.
    pub environment: &'a [(String, String)],
    pub batches: &'a [u32],
    pub store: Store<'a>,
}

/// The compiler and flags of a recipe, what else its result depends on, and its work in an emptied folder.
type Plan<'a> = (String, String, Box<dyn Fn(&Path) -> Result<()> + 'a>);

impl Workshop<'_> {
    pub fn build(
        &self,
        source: &Source,
        peer: &Peer,
        variant: &str,
        from: &str,
    ) -> Result<PeerRecord> {
        let here = std::env::consts::ARCH;
        if let Some(only) = source.architecture.as_ref().filter(|only| *only != here) {
            let why = format!("its sources are for {only}, and this machine is {here}");
            return Err(Absent(why).into());
        }
        let driver = peer.implementation;
        let folder = self.output.join(format!("{driver}/{variant}"));
        let batches = self.batches.iter();
        let programs: Vec<_> = batches.map(|batch| Program::new(source, *batch)).collect();
        let files = programs.iter().map(|program| folder.join(&program.stem));
        let files: Vec<_> = files.collect();
        let (toolchain, needs, make) = self.plan(source, peer, variant == DEFAULT, &programs)?;
        let stamp = format!(
            "{source:?}\n{peer:?}\n{toolchain}\n{needs}\n{:?}\n{:?}\n{:?}\n",
            self.batches, self.flags, self.environment
        );
        stamp::once(&folder, &stamp, &files, || {
            let sources = folder.join("source");
            self.store.write(source, &sources)?;
            for program in &programs {
                write_program(source, program, &sources)?;
            }
            make(&folder)
        })?;
        let builds = self.batches.iter().zip(&programs).zip(&files);
        let builds = builds.map(|((batch, program), file)| Build {
            batch: *batch,
            change: program.change.clone(),
            program: file.clone(),
            args: ["{port0}", "{port1}"].map(str::to_owned).to_vec(),
            env: BTreeMap::new(),
            ring_size: peer.ring_size,
        });
        let (builds, from) = (builds.collect(), [&source.url, &source.commit, from]);
        Ok(PeerRecord::new(peer, variant, toolchain, from, builds))
    }

    fn plan<'a>(
        &'a self,
        source: &'a Source,
        peer: &'a Peer,
        is_default: bool,
        programs: &'a [Program],
    ) -> Result<Plan<'a>> {
        let project = &self.flags;
        let profile = if is_default {
            (PROFILE, &project.rust[..])
        } else {
            ("release", "")
        };
        let version = &project.rustc_version;
        let rust = format!("{version} --profile {} {}", profile.0, profile.1);
        let rust = rust.trim_end().to_owned();
        Ok(match &peer.recipe {
            Recipe::C { .. } => {
                let flags = project.c_flags(&source.own_flags, is_default);
                let toolchain = format!("{} {}", project.cc_version, flags.join(" "));
                let make = move |folder: &Path| self.compile(source, &flags, programs, folder);
                (toolchain, String::new(), Box::new(make))
            }
            Recipe::Rust { lock, .. } => {
                let lock = read(&self.project.join(lock))?;
                let needs = lock.clone();
                let make = move |folder: &Path| {
                    write(&folder.join("Cargo.lock"), &lock)?;
                    self.cargo(folder, ("source", "example"), profile, programs)
                };
                (rust, needs, Box::new(make))
            }
            Recipe::C2rust { changes, .. } => {
                let tool = c2rust::Tool::find(self.project, self.store.interrupt)?;
                let (toolchain, needs) = (format!("{}, {rust}", tool.name), format!("{tool:?}"));
                let make = move |folder: &Path| {
                    let mut changes = changes.iter();
                    changes.try_for_each(|change| change.apply(&folder.join("source")))?;
                    tool.translate(source, programs, folder, self.store.interrupt)?;
                    self.cargo(folder, ("rust", "bin"), profile, programs)
                };
                (toolchain, needs, Box::new(make))
            }
            Recipe::Testpmd { .. } => bail!("{} is a package of the system", peer.implementation),
        })
    }

    fn compile(
        &self,
        source: &Source,
        flags: &[String],
        programs: &[Program],
        folder: &Path,
    ) -> Result<()> {
        for program in programs {
            let mut command = Command::new(&self.flags.cc);
            command
                // Paths relative to the sources keep this machine's paths out of the program.
                .current_dir(folder.join("source"))
                .args(flags)
                .arg("-I")
                .arg(&source.include)
                .arg(&program.file)
                .args(&source.files)
                .arg("-o")
                .arg(folder.join(&program.stem));
            runner::output(command, COMPILE, self.store.interrupt)?;
        }
        Ok(())
    }

    /// Builds programs, which are examples or binaries of the package in a folder. The workspace around it has the
    /// project's profile.
    fn cargo(
        &self,
        folder: &Path,
        (member, kind): (&str, &str),
        (profile, flags): (&str, &str),
        programs: &[Program],
    ) -> Result<()> {
        let table = BTreeMap::from([(PROFILE, &self.flags.profile)]);
        let profiles = toml::to_string(&BTreeMap::from([("profile", table)]))?;
        let manifest = format!("[workspace]\nmembers = [{member:?}]\n\n{profiles}");
        write(&folder.join("Cargo.toml"), &manifest)?;
        let target = folder.join("target");
        let cargo = |words: &[&str]| {
            let mut command = runner::cargo();
            command
                .args(words)
                .args(["--quiet", "--locked", "--manifest-path"])
                .arg(folder.join("Cargo.toml"))
                .current_dir(self.project)
                .env("CARGO_TARGET_DIR", &target)
                .envs(self.environment.iter().map(|(key, value)| (key, value)))
                .env("RUSTFLAGS", flags);
            runner::output(command, CARGO, self.store.interrupt)
        };
        if let Err(error) = cargo(&["fetch", "--offline"]).or_else(|_| cargo(&["fetch"])) {
            ensure!(!self.store.interrupt.is_set(), error);
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            let why = format!("cargo cannot fetch the crates that it needs: {line}");
            return Err(Absent(why).into());
        }
        let option = format!("--{kind}");
        let mut words = vec!["build", "--offline", "--profile", profile];
        let wanted = programs.iter();
        words.extend(wanted.flat_map(|program| [&option[..], &program.stem]));
        cargo(&words)?;
        let built = target.join(profile);
        let built = built.join(if kind == "bin" { "" } else { "examples" });
        for program in programs {
            let from = built.join(&program.stem);
            let fail = || format!("cannot copy {}", from.display());
            fs::copy(&from, folder.join(&program.stem)).with_context(fail)?;
        }
        let fail = || format!("cannot remove {}", target.display());
        fs::remove_dir_all(&target).with_context(fail)
    }
}
