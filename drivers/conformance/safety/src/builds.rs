//! Builds the lab's programs with each driver: with the driver as it is, and with patched copies.
//!
//! A patch puts one mistake into a copy of the driver's sources; the sources themselves stay
//! unchanged. A hash of all inputs shows whether a program is up to date. Cargo builds the Rust
//! drivers' dependencies once and `rustc` compiles each copy, which takes seconds.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{ensure, Context, Result};
use harness::build_folder;
use rustix::fs::{flock, FlockOperation};

use crate::outcome::DriverBuild;

const C_FLAGS: &str = "-std=gnu11 -O2 -pthread -DNDEBUG -g";
const HARDENED_FLAGS: &str =
    "-std=gnu11 -O1 -pthread -g -fsanitize=address,undefined -fno-sanitize-recover=all";
const RUST_FLAGS: &str =
    "--edition=2021 -Copt-level=3 -Cpanic=abort -Ccodegen-units=4 --cap-lints=allow -Cdebuginfo=line-tables-only";

/// The repository's root.
pub fn root() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..");
    path.canonicalize().unwrap_or(path)
}

/// The lab's own folder.
fn lab() -> PathBuf {
    root().join("drivers/conformance/safety")
}

/// The folder below the root that holds a driver's sources.
pub fn sources(driver: DriverBuild) -> String {
    format!("{}/src", driver.driver())
}

/// All files in a folder and those below it, in order.
///
/// # Errors
/// If a folder cannot be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// A patch of the catalogue that does not fit the sources.
#[derive(Debug, thiserror::Error)]
#[error("{} does not apply to the driver: write it again, as the README.md of its folder says\n{message}", patch.display())]
pub struct DoesNotApply {
    patch: PathBuf,
    message: String,
}

/// Rust libraries that Cargo has built, by crate name.
pub type Externs = BTreeMap<String, PathBuf>;

/// Builds the libraries of these packages, and those that they use. The packages must include the safe Rust driver. The
/// transpiled driver uses some of its libraries.
///
/// # Errors
/// If Cargo fails.
pub fn externs(packages: &[&str]) -> Result<Externs> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root())
        .args(["build", "--release", "--lib"])
        .args(packages.iter().flat_map(|package| ["--package", package]))
        .args(["--message-format=json", "--quiet", "--target-dir"])
        .arg(build_folder().join("cargo"))
        // As in the Makefile: in CI, an outdated Cargo.lock is an error.
        .args(std::env::var_os("CI").map(|_| "--locked"))
        .output()
        .context("cargo")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo build: {errors}");
    let mut found = Externs::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: serde_json::Value = serde_json::from_str(line)?;
        let files = message["filenames"].as_array().into_iter().flatten();
        let library = files
            .filter_map(|file| file.as_str())
            .find(|file| file.ends_with(".rlib"));
        if let (Some(name), Some(library)) = (message["target"]["name"].as_str(), library) {
            found.insert(name.replace('-', "_"), library.into());
        }
    }
    for name in ["ixgbe", "libc", "signal_hook"] {
        ensure!(found.contains_key(name), "cargo did not build {name}");
    }
    Ok(found)
}

/// The compiler, with these libraries.
pub fn rustc(externs: &Externs) -> Command {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    // Cargo sets the version for the transpiled driver. All packages have the same.
    command.env("CARGO_PKG_VERSION", env!("CARGO_PKG_VERSION"));
    let dependencies = build_folder().join("cargo/release/deps");
    command.arg(format!("-Ldependency={}", dependencies.display()));
    for (name, path) in externs {
        command.arg(format!("--extern={name}={}", path.display()));
    }
    command
}

/// Builds the program with a driver, or with a driver that has a hazard's patch, unless it is up to date.
///
/// # Errors
/// If the patch does not apply, or a compiler reports an error.
pub fn build(driver: DriverBuild, hazard: Option<&str>, externs: &Externs) -> Result<PathBuf> {
    let patch = hazard.map(|hazard| patch_file(hazard, driver));
    build_with(driver, hazard.unwrap_or("unpatched"), patch, externs)
}

/// The same with any patch. The program and its sources are in the folder `name` of the lab's builds.
///
/// # Errors
/// As for [`build`].
pub fn build_with(
    driver: DriverBuild,
    name: &str,
    patch: Option<PathBuf>,
    externs: &Externs,
) -> Result<PathBuf> {
    let work = build_folder()
        .join("safety")
        .join(name)
        .join(driver.to_string());
    fs::create_dir_all(&work)?;
    let work = work.canonicalize()?;
    // Several hazards share a program, and run at once.
    let lock = fs::File::create(work.join("lock"))?;
    flock(&lock, FlockOperation::LockExclusive)?;
    let (program, stamp_file) = (work.join("lab"), work.join("stamp"));
    let stamp = stamp(driver, patch.as_deref(), externs)?;
    if program.is_file() && fs::read_to_string(&stamp_file).is_ok_and(|text| text == stamp) {
        return Ok(program);
    }
    let tree = match &patch {
        Some(patch) => {
            copy(driver, &work)?;
            apply(&work, patch)?;
            work.clone()
        }
        None => root(),
    };
    compile(driver, &tree, &work, &program, externs)
        .with_context(|| format!("building {}", program.display()))?;
    fs::write(stamp_file, stamp)?;
    Ok(program)
}

/// The patch that puts a hazard's mistake into a driver's sources.
fn patch_file(hazard: &str, driver: DriverBuild) -> PathBuf {
    lab().join(format!("patches/{hazard}/{}.patch", driver.driver()))
}

/// Copies a driver's sources to `work`, in the place of older ones.
///
/// # Errors
/// If a file cannot be copied.
pub fn copy(driver: DriverBuild, work: &Path) -> Result<()> {
    let folder = sources(driver);
    let target = work.join(&folder);
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    for file in files(&root().join(&folder))? {
        let target = work.join(file.strip_prefix(root())?);
        fs::create_dir_all(target.parent().context("no folder")?)?;
        fs::copy(file, target)?;
    }
    Ok(())
}

/// Patches the sources in `work`.
///
/// # Errors
/// If the patch does not apply.
pub fn apply(work: &Path, patch: &Path) -> Result<()> {
    let drivers = [DriverBuild::C, DriverBuild::Rust, DriverBuild::RustUnsafe];
    let here = drivers.into_iter().map(sources);
    let here = here.filter(|folder| work.join(folder).is_dir());
    let output = Command::new("git")
        .current_dir(work)
        // Without this, git considers the folder a part of this repository and applies nothing.
        .env("GIT_CEILING_DIRECTORIES", work.parent().unwrap_or(work))
        .args(["apply", "--whitespace=nowarn", "--verbose"])
        // A patch may change drivers that are not here.
        .args(here.map(|folder| format!("--include={folder}/*")))
        .arg(patch)
        .output()
        .context("git")?;
    let refused = || DoesNotApply {
        patch: patch.to_owned(),
        message: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    ensure!(output.status.success(), refused());
    Ok(())
}

/// Compiles the driver in `tree`, and the lab's program with it.
fn compile(
    driver: DriverBuild,
    tree: &Path,
    work: &Path,
    program: &Path,
    externs: &Externs,
) -> Result<()> {
    let folder = tree.join(sources(driver));
    let programs = lab().join("programs");
    let rust_library = |kind: &str, name: &str, file: &str| {
        let library = work.join(file);
        let mut others = externs.clone();
        others.remove("ixgbe");
        let mut command = rustc(&others);
        command
            .args(flags(driver))
            .args(["--crate-type", kind, "--crate-name", name])
            .arg(folder.join("lib.rs"))
            .arg("-o")
            .arg(&library);
        run(command).map(|()| library)
    };
    let mut command;
    match driver.driver() {
        DriverBuild::Rust => {
            let library = rust_library("rlib", "ixgbe", "libixgbe.rlib")?;
            let mut externs = externs.clone();
            externs.insert("ixgbe".to_owned(), library);
            command = rustc(&externs);
            command.args(flags(driver)).arg(programs.join("lab.rs"));
        }
        DriverBuild::RustUnsafe => {
            let library = rust_library("staticlib", "ixgbe_unsafe", "libixgbe_unsafe.a")?;
            // The functions of the transpiled driver take the place of those in C.
            command = c_compiler();
            command
                .args(C_FLAGS.split(' '))
                .arg("-I")
                .arg(root().join(sources(DriverBuild::C)))
                .args([programs.join("lab.c"), library])
                .args(["-ldl", "-lm"]);
        }
        _ => {
            let is_driver = |file: &PathBuf| {
                file.extension().is_some_and(|end| end == "c")
                    && !file.starts_with(folder.join("apps"))
            };
            command = c_compiler();
            command
                .args(flags(driver))
                .arg("-I")
                .arg(&folder)
                .arg(programs.join("lab.c"))
                .args(files(&folder)?.into_iter().filter(is_driver));
        }
    }
    command.arg("-o").arg(program);
    run(command)
}

/// The C compiler.
pub fn c_compiler() -> Command {
    Command::new(std::env::var_os("CC").unwrap_or_else(|| "gcc".into()))
}

/// Runs a compiler.
///
/// # Errors
/// What the compiler says, if it fails.
pub fn run(mut command: Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| name.clone())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name}: {errors}");
    Ok(())
}

/// A hash of everything that a program is built from.
fn stamp(driver: DriverBuild, patch: Option<&Path>, externs: &Externs) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    let mut inputs = files(&root().join(sources(driver)))?;
    inputs.extend(files(&lab().join("programs"))?);
    inputs.extend(patch.map(Path::to_owned));
    for input in inputs {
        let bytes = fs::read(&input).with_context(|| input.display().to_string())?;
        (input, bytes).hash(&mut hasher);
    }
    toolchain(driver)?.hash(&mut hasher);
    if driver.driver() != DriverBuild::C {
        for library in externs.values() {
            // Cargo may have rebuilt it.
            (library, fs::metadata(library)?.modified()?).hash(&mut hasher);
        }
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// The flags of a driver and, if it is in Rust, of its program.
fn flags(driver: DriverBuild) -> Vec<String> {
    let flags = match driver {
        DriverBuild::C => C_FLAGS,
        DriverBuild::CHardened => HARDENED_FLAGS,
        _ => RUST_FLAGS,
    };
    let feature = driver.feature();
    let feature = feature.map(|name| format!("--cfg=feature=\"{name}\""));
    let flags = flags.split(' ').map(str::to_owned);
    flags.chain(feature).collect()
}

/// The compiler's version and the flags for a driver.
///
/// # Errors
/// If the compiler does not run.
pub fn toolchain(driver: DriverBuild) -> Result<String> {
    let mut command = match driver.driver() {
        DriverBuild::C => c_compiler(),
        _ => rustc(&Externs::new()),
    };
    let output = command.arg("--version").output();
    let output = output.with_context(|| format!("{:?}", command.get_program()))?;
    let version = String::from_utf8_lossy(&output.stdout);
    let version = version.lines().next().unwrap_or_default();
    Ok(format!("{version} {}", flags(driver).join(" ")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::catalogue;
    use crate::scenario::patch_of;

    #[test]
    fn every_driver_hazard_has_a_patch_for_each_driver_that_applies() {
        let mut expected = BTreeSet::new();
        for hazard in catalogue::read().unwrap() {
            for driver in [DriverBuild::C, DriverBuild::Rust, DriverBuild::RustUnsafe] {
                if patch_of(&hazard.id).is_none() {
                    continue;
                }
                let patch = patch_file(&hazard.id, driver);
                let work = tempfile::tempdir().unwrap();
                copy(driver, work.path()).unwrap();
                apply(work.path(), &patch).unwrap();
                expected.insert(patch);
            }
        }
        let found: BTreeSet<_> = files(&lab().join("patches")).unwrap().into_iter().collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_patch_for_other_sources_is_refused() {
        let work = tempfile::tempdir().unwrap();
        let patch = work.path().join("wrong.patch");
        let text = "--- a/c/src/driver/tx.c\n+++ b/c/src/driver/tx.c\n@@ -1,1 +1,1 @@\n-no such line\n+another\n";
        fs::write(&patch, text).unwrap();
        copy(DriverBuild::C, work.path()).unwrap();
        let error = apply(work.path(), &patch).unwrap_err();
        assert!(error.is::<DoesNotApply>(), "{error}");
        assert!(error.to_string().contains("does not apply"), "{error}");
    }
}
