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

use anyhow::{bail, ensure, Context, Result};

use crate::outcome::DriverBuild;
use crate::paths::{self, lab, root};

/// Flags of the C driver.
const C_FLAGS: [&str; 5] = ["-std=gnu11", "-O2", "-pthread", "-DNDEBUG", "-g"];
/// Flags of the C driver with sanitizers.
const HARDENED_FLAGS: [&str; 6] = [
    "-std=gnu11",
    "-O1",
    "-pthread",
    "-g",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];
const RUST_FLAGS: [&str; 7] = [
    "--edition=2021",
    "-Copt-level=3",
    "-Cpanic=abort",
    "-Ccodegen-units=4",
    "--cap-lints=allow",
    "-Cdebuginfo=0",
    "-Cstrip=symbols",
];

/// The folder that the lab builds in.
pub fn folder() -> PathBuf {
    paths::build().join("safety")
}

/// The program with a driver, with or without a hazard's patch. It may not exist yet.
pub fn program(driver: DriverBuild, patch: Option<&str>) -> PathBuf {
    folder()
        .join(patch.unwrap_or("unpatched"))
        .join(driver.to_string())
        .join("lab")
}

/// The patch that puts a hazard's mistake into a driver's sources.
pub fn patch_file(hazard: &str, driver: DriverBuild) -> PathBuf {
    let name = match driver {
        DriverBuild::C | DriverBuild::CHardened => "c",
        DriverBuild::Rust
        | DriverBuild::RustTrustedDevice
        | DriverBuild::RustUntrustedDeviceCopy => "rust",
        DriverBuild::RustUnsafe => "rust-unsafe",
    };
    lab().join(format!("patches/{hazard}/{name}.patch"))
}

/// The folder below the root that holds a driver's sources.
fn sources(driver: DriverBuild) -> &'static str {
    match driver {
        DriverBuild::C | DriverBuild::CHardened => "c/src",
        DriverBuild::Rust
        | DriverBuild::RustTrustedDevice
        | DriverBuild::RustUntrustedDeviceCopy => "rust/src",
        DriverBuild::RustUnsafe => "rust-unsafe/src",
    }
}

/// A patch of the catalogue that does not fit the sources.
#[derive(Debug, thiserror::Error)]
#[error("{} does not apply to {folder}: write it again, see safety/README.md\n{message}", patch.display())]
pub struct DoesNotApply {
    /// The patch.
    pub patch: PathBuf,
    /// The sources that it should change.
    pub folder: &'static str,
    /// What git says.
    pub message: String,
}

/// Rust libraries that Cargo has built, by crate name.
pub type Externs = BTreeMap<String, PathBuf>;

/// Builds the Rust drivers and the libraries that they use.
///
/// # Errors
/// If Cargo fails.
pub fn externs() -> Result<Externs> {
    let target = paths::build().join("cargo");
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root())
        .args(["build", "--release", "--package", "ixgbe", "--package"])
        .args(["ixgbe-unsafe", "--message-format=json", "--quiet"])
        .arg("--target-dir")
        .arg(&target)
        // As in the Makefile: in CI, an outdated Cargo.lock is an error.
        .args(std::env::var_os("CI").map(|_| "--locked"))
        .output()
        .context("cargo")?;
    ensure!(
        output.status.success(),
        "cargo build: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut found = Externs::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let message: serde_json::Value = serde_json::from_str(line)?;
        if message["reason"] != "compiler-artifact" {
            continue;
        }
        let Some(name) = message["target"]["name"].as_str() else {
            continue;
        };
        let files = message["filenames"].as_array().into_iter().flatten();
        let library = files
            .filter_map(|file| file.as_str())
            .find(|file| file.ends_with(".rlib"));
        if let Some(library) = library {
            found.insert(name.replace('-', "_"), library.into());
        }
    }
    for name in ["ixgbe", "ixgbe_unsafe", "libc", "signal_hook"] {
        ensure!(found.contains_key(name), "cargo did not build {name}");
    }
    Ok(found)
}

/// Adds `--extern` options for all libraries to `command`. `replaced` names a library to take from
/// another path.
pub fn add_externs(command: &mut Command, externs: &Externs, replaced: Option<(&str, &Path)>) {
    let dependencies = paths::build().join("cargo/release/deps");
    command
        .arg("-L")
        .arg(format!("dependency={}", dependencies.display()));
    for (name, path) in externs {
        let path = match replaced {
            Some((other, path)) if other == name => path,
            _ => path,
        };
        command
            .arg("--extern")
            .arg(format!("{name}={}", path.display()));
    }
}

/// Builds the program with a driver, unless it is up to date.
///
/// # Errors
/// If the patch does not apply, or a compiler reports an error.
pub fn build(driver: DriverBuild, patch: Option<&str>, externs: &Externs) -> Result<PathBuf> {
    let program = program(driver, patch);
    let work = program.parent().context("no folder")?.to_owned();
    let patch_file = patch.map(|hazard| patch_file(hazard, driver));
    let stamp = stamp(driver, patch_file.as_deref(), externs)?;
    let stamp_file = work.join("stamp");
    if program.is_file() && fs::read_to_string(&stamp_file).is_ok_and(|text| text == stamp) {
        return Ok(program);
    }
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    fs::create_dir_all(&work)?;
    let from = match &patch_file {
        Some(file) => {
            copy_and_patch(driver, &work, file)?;
            work.clone()
        }
        None => root(),
    };
    match driver {
        DriverBuild::C => compile_c(&from, &program, &C_FLAGS),
        DriverBuild::CHardened => compile_c(&from, &program, &HARDENED_FLAGS),
        DriverBuild::Rust
        | DriverBuild::RustTrustedDevice
        | DriverBuild::RustUntrustedDeviceCopy => {
            let source = from.join("rust/src/lib.rs");
            let library = compile_library(driver, "ixgbe", &source, &work, externs)?;
            compile_rust(driver, "lab.rs", &program, externs, ("ixgbe", &library))
        }
        DriverBuild::RustUnsafe => {
            let source = from.join("rust-unsafe/src/lib.rs");
            let library = compile_library(driver, "ixgbe_unsafe", &source, &work, externs)?;
            compile_rust(
                driver,
                "lab_unsafe.rs",
                &program,
                externs,
                ("ixgbe_unsafe", &library),
            )
        }
    }
    .with_context(|| format!("building {}", program.display()))?;
    fs::write(stamp_file, stamp)?;
    Ok(program)
}

/// Copies a driver's sources to `work` and patches them there.
///
/// # Errors
/// If the patch does not apply exactly.
pub fn copy_and_patch(driver: DriverBuild, work: &Path, patch: &Path) -> Result<()> {
    let folder = sources(driver);
    copy_folder(&root().join(folder), &work.join(folder))?;
    let output = Command::new("git")
        .current_dir(work)
        // Without this, git considers the folder a part of this repository and applies nothing.
        .env("GIT_CEILING_DIRECTORIES", work.parent().unwrap_or(work))
        .args(["apply", "--whitespace=nowarn", "--verbose"])
        .arg(patch)
        .output()
        .context("git")?;
    match output.status.success() {
        true => Ok(()),
        false => Err(DoesNotApply {
            patch: patch.to_owned(),
            folder,
            message: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
        .into()),
    }
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| from.display().to_string())? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn c_compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "gcc".to_owned())
}

fn compile_c(from: &Path, program: &Path, flags: &[&str]) -> Result<()> {
    let source = from.join("c/src");
    let mut command = Command::new(c_compiler());
    command.args(flags).arg("-I").arg(&source);
    command.arg(lab().join("programs/lab.c"));
    // All but the programs.
    for room in ["", "driver", "vfio", "vfio_user", "tuned", "rooms"] {
        let mut files: Vec<_> = fs::read_dir(source.join(room))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<_>>()?;
        files.sort();
        let c = |path: &&PathBuf| path.extension().is_some_and(|end| end == "c");
        command.args(files.iter().filter(c));
    }
    command.arg("-o").arg(program);
    run(command)
}

fn rustc() -> Command {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    // Cargo sets the version for the transpiled driver. All packages have the same.
    command.env("CARGO_PKG_VERSION", env!("CARGO_PKG_VERSION"));
    command
}

/// The flags of a Rust driver and its program.
fn rust_flags(driver: DriverBuild) -> Vec<String> {
    let mut flags: Vec<_> = RUST_FLAGS.map(str::to_owned).to_vec();
    let feature = driver.feature();
    flags.extend(feature.map(|name| format!("--cfg=feature=\"{name}\"")));
    flags
}

fn compile_library(
    driver: DriverBuild,
    name: &str,
    source: &Path,
    work: &Path,
    externs: &Externs,
) -> Result<PathBuf> {
    let library = work.join(format!("lib{name}.rlib"));
    let mut others = externs.clone();
    others.remove("ixgbe");
    others.remove("ixgbe_unsafe");
    let mut command = rustc();
    command
        .args(rust_flags(driver))
        .args(["--crate-type=rlib", "--crate-name", name])
        .arg(source)
        .arg("-o")
        .arg(&library);
    add_externs(&mut command, &others, None);
    run(command)?;
    Ok(library)
}

fn compile_rust(
    driver: DriverBuild,
    source: &str,
    program: &Path,
    externs: &Externs,
    library: (&str, &Path),
) -> Result<()> {
    let mut others = externs.clone();
    others.retain(|name, _| name == library.0 || !name.starts_with("ixgbe"));
    let mut command = rustc();
    command
        .args(rust_flags(driver))
        .args(["--crate-type=bin", "--crate-name=lab"])
        .arg(lab().join("programs").join(source))
        .arg("-o")
        .arg(program);
    add_externs(&mut command, &others, Some(library));
    run(command)
}

fn run(mut command: Command) -> Result<()> {
    let output = command
        .output()
        .with_context(|| format!("{:?}", command.get_program()))?;
    if !output.status.success() {
        bail!(
            "{:?}: {}",
            command.get_program(),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

/// A hash of everything that a program is built from.
fn stamp(driver: DriverBuild, patch: Option<&Path>, externs: &Externs) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    hash_folder(&root().join(sources(driver)), &mut hasher)?;
    hash_folder(&lab().join("programs"), &mut hasher)?;
    if let Some(patch) = patch {
        fs::read(patch)
            .with_context(|| patch.display().to_string())?
            .hash(&mut hasher);
    }
    toolchain(driver)?.hash(&mut hasher);
    if !matches!(driver, DriverBuild::C | DriverBuild::CHardened) {
        externs.hash(&mut hasher);
        // Cargo may have rebuilt a library.
        for library in externs.values() {
            fs::metadata(library)?.modified()?.hash(&mut hasher);
        }
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn hash_folder(folder: &Path, hasher: &mut DefaultHasher) -> Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            hash_folder(&path, hasher)?;
        } else {
            path.file_name().hash(hasher);
            fs::read(&path)?.hash(hasher);
        }
    }
    Ok(())
}

/// The compiler's version and the flags for a driver.
///
/// # Errors
/// If the compiler does not run.
pub fn toolchain(driver: DriverBuild) -> Result<String> {
    let words = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect();
    let (mut command, flags): (Command, Vec<String>) = match driver {
        DriverBuild::C => (Command::new(c_compiler()), words(&C_FLAGS)),
        DriverBuild::CHardened => (Command::new(c_compiler()), words(&HARDENED_FLAGS)),
        _ => (rustc(), rust_flags(driver)),
    };
    let output = command
        .arg("--version")
        .output()
        .with_context(|| format!("{:?}", command.get_program()))?;
    let version = String::from_utf8_lossy(&output.stdout);
    let version = version.lines().next().unwrap_or_default();
    Ok(format!("{version} {}", flags.join(" ")))
}
