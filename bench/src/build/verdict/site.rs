//! Builds the drivers of the copied tree, then the tests and the safety lab.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use perfcounters::Interrupt;
use record::Implementation;

use super::message;
use crate::build::checkout::Checkout;
use crate::build::request::make;
use crate::build::runner;
use crate::build::stamp::make_folder;

const LIMIT: Duration = Duration::from_secs(900);
const COPY: Duration = Duration::from_secs(120);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Driver {
    Built,
    /// It does not compile, or C2Rust does not translate it: the first error.
    Refused(String),
    /// It could not be built here: the reason, and what helps.
    Skipped(String),
}

#[derive(Debug)]
pub(super) struct Site<'a> {
    /// The tests know it as `TRIPTYCH_BUILD`.
    pub(super) build: PathBuf,
    pub(super) tree: Checkout,
    pub(super) interrupt: &'a Interrupt,
}

impl Site<'_> {
    /// Makes the folder of all verdicts. Links what `make build` and `make test` have built of other people's
    /// crates, so that the first verdict need not build these again.
    pub(super) fn folder(shipped: &Path, interrupt: &Interrupt) -> Result<PathBuf> {
        let build = shipped.join("verdict");
        let bin = build.join("bin");
        make_folder(&bin)?;
        for profile in ["cargo/release", "cargo-driver/driver"] {
            let (from, to) = (shipped.join(profile), build.join(profile));
            if from.is_dir() && !to.exists() {
                make_folder(&to)?;
                let mut copy = Command::new("cp");
                copy.args(["--archive", "--link"]);
                copy.args([".fingerprint", "build", "deps"].map(|folder| from.join(folder)));
                // On another file system there are no links, and cargo builds the files itself.
                copy.arg(to);
                runner::run(copy, COPY, interrupt)?;
            }
        }
        // Some tests start the software card's program.
        for name in ["nic", "triptych"] {
            let (from, to) = (shipped.join("bin").join(name), bin.join(name));
            if from.is_file() {
                let _ = fs::remove_file(&to);
                fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
            }
        }
        Ok(build.canonicalize()?)
    }

    pub(super) fn transpile(&self) -> Result<Driver> {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.current_dir(&self.tree.sources).args(["-c", script]);
            runner::output(command, LIMIT, self.interrupt)
        };
        let now = shell("find c/src -name '*.[ch]' | LC_ALL=C sort | xargs sha256sum")?;
        if now == shell("grep '  c/src/' rust-unsafe/src/gen/SOURCES.sha256")? {
            return Ok(Driver::Built);
        }
        if runner::c2rust(&self.tree.sources, self.interrupt)?.is_none() {
            let fix = "`bench/setup/c2rust.sh` installs it";
            let why = format!("C2Rust is missing, and c/src has changed: {fix}");
            return Ok(Driver::Skipped(why));
        }
        let mut command = Command::new("rust-unsafe/transpile.sh");
        command.current_dir(&self.tree.sources);
        let built = self.build(command)?;
        Ok(match built {
            Driver::Refused(why) => Driver::Refused(format!("C2Rust refuses the C: {why}")),
            other => other,
        })
    }

    pub(super) fn driver(&self, driver: Implementation) -> Result<Driver> {
        let target = self.build.join("cargo-driver");
        let bin = self.build.join("bin");
        self.build(make(&self.tree.sources, driver, &bin, &target))
    }

    fn build(&self, command: Command) -> Result<Driver> {
        let ended = runner::run(command, LIMIT, self.interrupt)?;
        Ok(match ended.result {
            Ok(()) => Driver::Built,
            Err(_) => Driver::Refused(message::of_compiler(&ended.both())),
        })
    }

    pub(super) fn tests(&self, files: &[&str]) -> Result<BTreeMap<String, PathBuf>> {
        let format = "--message-format=json-render-diagnostics";
        let mut arguments = vec!["test", "--package", "conformance", "--no-run", format];
        arguments.extend(files.iter().flat_map(|file| ["--test", file]));
        let programs = programs(&self.cargo("the conformance tests", &arguments)?);
        for file in files {
            let is_there = programs.contains_key(*file);
            ensure!(is_there, "cargo did not say where it built the test {file}");
        }
        Ok(programs)
    }

    pub(super) fn safety_lab(&self) -> Result<PathBuf> {
        let arguments = ["build", "--package", "safety-lab", "--bin", "safety"];
        self.cargo("the safety lab", &arguments)?;
        Ok(self.build.join("cargo/release/safety"))
    }

    fn cargo(&self, what: &str, arguments: &[&str]) -> Result<String> {
        let mut command = runner::cargo();
        command
            .current_dir(&self.tree.sources)
            .args(arguments)
            .args(["--quiet", "--release", "--target-dir"])
            .arg(self.build.join("cargo"))
            // As in the Makefile: in CI, an outdated Cargo.lock is an error.
            .args(std::env::var_os("CI").map(|_| "--locked"));
        let ended = runner::run(command, LIMIT, self.interrupt)?;
        if let Err(error) = &ended.result {
            let (end, why) = (message::of_end(error), message::of_compiler(&ended.stderr));
            bail!("{what} of this tree cannot be built ({end}): {why}");
        }
        Ok(ended.stdout)
    }
}

fn programs(messages: &str) -> BTreeMap<String, PathBuf> {
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let program = |message: serde_json::Value| {
        let name = message["target"]["name"].as_str()?;
        Some((name.to_owned(), message["executable"].as_str()?.into()))
    };
    messages.filter_map(program).collect()
}
