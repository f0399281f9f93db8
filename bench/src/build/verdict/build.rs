//! Builds the drivers of the copied tree, then the tests and the safety lab.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use perfcounters::process::is_executable;
use perfcounters::Interrupt;
use record::Implementation;

use super::child;
use super::message;
use super::tree::Tree;

/// Longest time for one build.
const LIMIT: Duration = Duration::from_secs(900);

/// What became of a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Driver {
    /// It is built.
    Built,
    /// It does not compile, or C2Rust does not translate it: the first error.
    Refused(String),
    /// It could not be built here: the reason, and what helps.
    Skipped(String),
}

/// The folders of a verdict.
#[derive(Debug)]
pub struct Folders {
    /// The folder with everything that a verdict builds. The tests know it as `TRIPTYCH_BUILD`.
    pub build: PathBuf,
    /// The folder for the output of all children.
    pub logs: PathBuf,
}

impl Folders {
    /// Makes the folders. Links what `make build` and `make test` have built of other people's
    /// crates, so that the first verdict need not build these again.
    ///
    /// # Errors
    /// If a folder cannot be made.
    pub fn make(shipped: &Path) -> Result<Self> {
        let build = shipped.join("verdict");
        let logs = build.join("logs");
        fs::create_dir_all(&logs).with_context(|| format!("cannot make {}", logs.display()))?;
        let (build, logs) = (build.canonicalize()?, logs.canonicalize()?);
        for (target, profile) in [("cargo", "release"), ("cargo-driver", "driver")] {
            let (from, to) = (
                shipped.join(target).join(profile),
                build.join(target).join(profile),
            );
            if !to.exists() {
                for folder in [".fingerprint", "build", "deps"] {
                    link_files(&from.join(folder), &to.join(folder))?;
                }
            }
        }
        let folders = Self { build, logs };
        folders.link_programs(shipped)?;
        Ok(folders)
    }

    /// The folder with the drivers.
    pub fn bin(&self) -> PathBuf {
        self.build.join("bin")
    }

    /// Some tests start the software card's program.
    fn link_programs(&self, shipped: &Path) -> Result<()> {
        fs::create_dir_all(self.bin())?;
        for name in ["nic", "triptych"] {
            let (from, to) = (shipped.join("bin").join(name), self.bin().join(name));
            if from.is_file() {
                let _ = fs::remove_file(&to);
                fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
            }
        }
        Ok(())
    }
}

/// Links all files of a folder. Without the folder, or on another file system, there is nothing to
/// link, and cargo builds the files itself.
fn link_files(from: &Path, to: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(from) else {
        return Ok(());
    };
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in entries {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            link_files(&entry.path(), &target)?;
        } else if fs::hard_link(entry.path(), &target).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Translates C to unsafe Rust if the C sources have changed. Returns why that was not possible.
///
/// # Errors
/// If a child cannot be started, or the user asks to stop.
pub fn transpile(tree: &Tree, folders: &Folders, interrupt: &Interrupt) -> Result<Driver> {
    if !tree.needs_transpiling()? {
        return Ok(Driver::Built);
    }
    let found = Command::new("bench/setup/c2rust.sh")
        .current_dir(tree.path())
        .arg("--path")
        .output()
        .context("cannot start bench/setup/c2rust.sh")?;
    let program = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    if !is_executable(Path::new(&program)) {
        return Ok(Driver::Skipped(
            "C2Rust is missing, and c/src has changed: `make setup-c2rust` installs it".to_owned(),
        ));
    }
    let mut command = Command::new("rust-unsafe/transpile.sh");
    command.current_dir(tree.path());
    let ended = child::run("transpile", command, &folders.logs, LIMIT, interrupt)?;
    Ok(match ended.failure {
        None => Driver::Built,
        Some(_) => Driver::Refused(format!(
            "C2Rust does not translate the C: {}",
            message::of_compiler(&ended.output())
        )),
    })
}

/// Builds a driver of the tree as `make build` does, into the folder of the verdict.
///
/// # Errors
/// If make cannot be started, or the user asks to stop.
pub fn driver(
    implementation: Implementation,
    tree: &Tree,
    folders: &Folders,
    interrupt: &Interrupt,
) -> Result<Driver> {
    let mut command = Command::new("make");
    command
        .current_dir(tree.path())
        .arg("--no-print-directory")
        .arg(format!("into-{implementation}"))
        .arg(format!("INTO={}", folders.bin().display()))
        .arg(format!(
            "DRIVER_TARGET={}",
            folders.build.join("cargo-driver").display()
        ));
    // A verdict may run below another make.
    command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL");
    let name = format!("build-{implementation}");
    let ended = child::run(&name, command, &folders.logs, LIMIT, interrupt)?;
    Ok(match ended.failure {
        None => Driver::Built,
        Some(_) => Driver::Refused(message::of_compiler(&ended.output())),
    })
}

/// Removes a driver that an earlier verdict built.
///
/// # Errors
/// If the folder cannot be removed.
pub fn remove_driver(implementation: Implementation, folders: &Folders) -> Result<()> {
    let folder = folders.bin().join(implementation.to_string());
    match folder.exists() {
        true => fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display())),
        false => Ok(()),
    }
}

/// Builds files of the conformance tests. Returns the program of each.
///
/// # Errors
/// If they do not compile, or the user asks to stop.
pub fn tests(
    files: &[&str],
    tree: &Tree,
    folders: &Folders,
    interrupt: &Interrupt,
) -> Result<BTreeMap<String, PathBuf>> {
    let mut command = cargo("test", tree, folders);
    command.args(["--package", "conformance", "--no-run"]);
    command.arg("--message-format=json-render-diagnostics");
    for file in files {
        command.args(["--test", file]);
    }
    let ended = child::run("build-tests", command, &folders.logs, LIMIT, interrupt)?;
    if let Some(end) = &ended.failure {
        bail!(
            "the conformance tests of this tree cannot be built ({end}): {}",
            message::of_compiler(&ended.stderr)
        );
    }
    let programs = programs(&ended.stdout);
    for file in files {
        ensure!(
            programs.contains_key(*file),
            "cargo did not say where it built the test {file}"
        );
    }
    Ok(programs)
}

/// The test programs in cargo's messages, by name.
fn programs(messages: &str) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for line in messages.lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else {
            continue;
        };
        let name = message["target"]["name"].as_str();
        let program = message["executable"].as_str();
        if let (Some(name), Some(program)) = (name, program) {
            found.insert(name.to_owned(), program.into());
        }
    }
    found
}

/// Builds the safety lab. Returns its program.
///
/// # Errors
/// If it does not compile, or the user asks to stop.
pub fn safety_lab(tree: &Tree, folders: &Folders, interrupt: &Interrupt) -> Result<PathBuf> {
    let mut command = cargo("build", tree, folders);
    command.args(["--package", "safety-lab", "--bin", "safety"]);
    let ended = child::run("build-safety", command, &folders.logs, LIMIT, interrupt)?;
    if let Some(end) = &ended.failure {
        bail!(
            "the safety lab of this tree cannot be built ({end}): {}",
            message::of_compiler(&ended.stderr)
        );
    }
    Ok(folders.build.join("cargo/release/safety"))
}

fn cargo(what: &str, tree: &Tree, folders: &Folders) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(tree.path())
        .args([what, "--quiet", "--release", "--target-dir"])
        .arg(folders.build.join("cargo"))
        // As in the Makefile: in CI, an outdated Cargo.lock is an error.
        .args(std::env::var_os("CI").map(|_| "--locked"));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_names_the_programs_of_the_tests() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"nic"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"data_path"},"executable":"/x/data_path-1"}
not json
{"reason":"build-finished","success":true}"#;
        let found = programs(messages);
        assert_eq!(found.len(), 1);
        assert_eq!(found["data_path"], Path::new("/x/data_path-1"));
    }

    #[test]
    fn built_files_are_linked_and_missing_folders_are_fine() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a"), folder.path().join("b"));
        link_files(&from, &to).unwrap();
        assert!(!to.exists());
        fs::create_dir_all(from.join("x")).unwrap();
        fs::write(from.join("x/y"), "1").unwrap();
        link_files(&from, &to).unwrap();
        assert_eq!(fs::read(to.join("x/y")).unwrap(), b"1");
    }
}
