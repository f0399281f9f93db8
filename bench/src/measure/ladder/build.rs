//! Builds the rungs like the shipped safe driver; only the sources differ.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{absolute, Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use perfcounters::process::Process;
use perfcounters::Interrupt;

use super::manifest::{Ladder, Rung};
use super::shipped::shipped_toolchain;
use super::sources;
use crate::build::builds::variants::build_folder;
use crate::progress::Progress;

/// Longest time for one build.
const LIMIT: Duration = Duration::from_secs(600);
/// The estimated time of one build.
const BUILD: Duration = Duration::from_secs(12);
/// The estimated time of one `cargo check`.
const CHECK: Duration = Duration::from_secs(1);

/// Runs `cargo check` on all rungs. Returns the number of rungs.
///
/// # Errors
/// If a rung does not compile: the compiler's message.
pub fn check(ladder: &Ladder, build: &Path, interrupt: &Interrupt) -> Result<usize> {
    let flags = shipped_toolchain(build)
        .map(|(_, flags)| flags)
        .unwrap_or_default();
    each(&ladder.builds(), CHECK, "check", |rung| {
        cargo("check", rung, build, &flags, interrupt)
    })
}

/// Builds rungs into `build/variants/`. Also makes a folder `build/ladder/NAME/bin/` for each, in
/// which the rung replaces the safe driver. The conformance tests use it.
///
/// # Errors
/// If the shipped drivers are not built or were built by another compiler. If a rung does not
/// compile: the compiler's message.
pub fn build(rungs: &[Rung], build: &Path, interrupt: &Interrupt) -> Result<()> {
    let (compiler, flags) = shipped_toolchain(build)?;
    let here = rustc_version()?;
    ensure!(
        here == compiler,
        "{compiler} built the shipped drivers, but the compiler here is {here}: run `make build`"
    );
    let mut built = Vec::new();
    each(rungs, BUILD, "build", |rung| {
        cargo("build", rung, build, &flags, interrupt)?;
        let folder = build_folder(build, rung.implementation(), &rung.variant());
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let library = format!("lib{}.so", rung.library());
        for (from, to) in [("ixgbe-fwd", "ixgbe-fwd"), (&library, "libforwarder.so")] {
            let built = target(build).join(rung.profile()).join(from);
            fs::copy(&built, folder.join(to))
                .with_context(|| format!("cannot copy {}", built.display()))?;
        }
        built.push((rung.name.clone(), artefacts(&folder)?));
        let toolchain = format!("{compiler} --profile {} {flags}\n", rung.profile());
        fs::write(folder.join("toolchain.txt"), toolchain)?;
        replace_the_safe_driver(rung, build, &folder)
    })?;
    check_different(&built)
}

/// Runs `act` on each rung and shows progress.
fn each(
    rungs: &[Rung],
    estimate: Duration,
    title: &str,
    mut act: impl FnMut(&Rung) -> Result<()>,
) -> Result<usize> {
    let count = rungs.len();
    let all = estimate * u32::try_from(count).unwrap_or(u32::MAX);
    let mut progress = Progress::new(all);
    progress.begin(title, count as u64, all);
    for rung in rungs {
        progress.step(&rung.name);
        act(rung).with_context(|| format!("rung {}", rung.name))?;
    }
    progress.finish();
    Ok(count)
}

/// The target folder of all rungs, shared so that their dependencies are built once.
fn target(build: &Path) -> PathBuf {
    build.join("cargo-ladder")
}

fn cargo(what: &str, rung: &Rung, build: &Path, flags: &str, interrupt: &Interrupt) -> Result<()> {
    let source = sources::folder(build, rung);
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args([what, "--quiet", "--package", "ixgbe"])
        .args([
            "--package",
            "forwarder-abi-rust",
            "--lib",
            "--bin",
            "ixgbe-fwd",
        ])
        .args(["--profile", rung.profile(), "--manifest-path"])
        .arg(source.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(absolute(target(build))?)
        .env("RUSTFLAGS", flags);
    let logs = source.parent().unwrap_or(&source);
    let name = format!("cargo-{what}");
    let mut process = Process::start(&name, command, None, logs, Stdio::null())?;
    let log = logs.join(format!("{name}.stderr"));
    process
        .wait(LIMIT, interrupt)
        .with_context(|| format!("see {}", log.display()))
}

/// Refuses identical files, which mean that Cargo confused two rungs. Even rungs with the same code
/// differ in their symbols, which contain the hash of the rung's version.
fn check_different(built: &[(String, [Vec<u8>; 2])]) -> Result<()> {
    for (place, (name, content)) in built.iter().enumerate() {
        let same = built
            .iter()
            .take(place)
            .find(|(_, other)| other.iter().zip(content).any(|(one, two)| one == two));
        if let Some((other, _)) = same {
            bail!("rungs {other} and {name} have the same file: remove build/cargo-ladder and build again");
        }
    }
    Ok(())
}

fn artefacts(folder: &Path) -> Result<[Vec<u8>; 2]> {
    Ok([
        fs::read(folder.join("ixgbe-fwd"))?,
        fs::read(folder.join("libforwarder.so"))?,
    ])
}

fn rustc_version() -> Result<String> {
    let output = Command::new("rustc")
        .arg("--version")
        .output()
        .context("cannot start rustc")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn replace_the_safe_driver(rung: &Rung, build: &Path, folder: &Path) -> Result<()> {
    let bin = build.join("ladder").join(&rung.name).join("bin");
    if bin.exists() {
        fs::remove_dir_all(&bin)?;
    }
    fs::create_dir_all(&bin)?;
    let link = |from: &Path, name: &str| -> Result<()> {
        let from = absolute(from)?;
        symlink(&from, bin.join(name)).with_context(|| format!("cannot link {}", from.display()))
    };
    for name in ["c", "rust-unsafe", "nic"] {
        link(&build.join("bin").join(name), name)?;
    }
    link(folder, "rust")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identical_files_of_two_rungs_are_refused() {
        let rung = |name: &str, program: &[u8], library: &[u8]| {
            (name.to_owned(), [program.to_vec(), library.to_vec()])
        };
        let built = [rung("01-a", b"1", b"x"), rung("02-b", b"2", b"y")];
        check_different(&built).unwrap();
        for (program, library) in [(b"2", b"z"), (b"3", b"y")] {
            let more = [&built[..], &[rung("03-c", program, library)]].concat();
            let error = check_different(&more).unwrap_err().to_string();
            assert!(error.contains("02-b and 03-c"), "{error}");
        }
    }
}
