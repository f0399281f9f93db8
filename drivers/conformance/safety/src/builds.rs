//! Builds the lab's programs: each driver as it is, and copies of it with one mistake patched in.
//!
//! Nothing is built in the sources' own folders and the drivers know nothing of it. What is up to
//! date by the hash of all that went in is not built again. Rust is compiled by `rustc` itself,
//! with the dependencies that Cargo has built for the driver once, so that a copy costs seconds.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, ensure, Context, Result};

use crate::outcome::Subject;
use crate::{lab, root};

/// Flags of the C driver and of the C driver with sanitizers.
const C_FLAGS: [&str; 5] = ["-std=gnu11", "-O2", "-pthread", "-DNDEBUG", "-g"];
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

/// Where the lab builds.
pub fn folder() -> PathBuf {
    root().join("build/safety")
}

/// The program of a subject, with a hazard's patch or none. It may not be built yet.
pub fn program(subject: Subject, patch: Option<&str>) -> PathBuf {
    folder()
        .join(patch.unwrap_or("unpatched"))
        .join(subject.to_string())
        .join("lab")
}

/// The patch of a hazard for a subject's sources.
pub fn patch_file(hazard: &str, subject: Subject) -> PathBuf {
    let name = match subject {
        Subject::C | Subject::CHardened => "c",
        Subject::Rust => "rust",
        Subject::RustUnsafe => "rust-unsafe",
    };
    lab().join(format!("patches/{hazard}/{name}.patch"))
}

/// The folders below the root that hold a subject's sources.
fn sources(subject: Subject) -> &'static str {
    match subject {
        Subject::C | Subject::CHardened => "c/src",
        Subject::Rust => "rust/src",
        Subject::RustUnsafe => "rust-unsafe/src",
    }
}

/// Libraries that Cargo has built, by crate name.
pub type Externs = BTreeMap<String, PathBuf>;

/// Builds what the Rust programs link with, and the drivers' libraries.
///
/// # Errors
/// If Cargo fails.
pub fn externs() -> Result<Externs> {
    let target = root().join("build/cargo");
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root())
        .args(["build", "--release", "--package", "ixgbe", "--package"])
        .args(["ixgbe-unsafe", "--message-format=json", "--quiet"])
        .arg("--target-dir")
        .arg(&target)
        // As in the Makefile: there, a Cargo.lock that does not belong to the sources is an error.
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
        ensure!(found.contains_key(name), "cargo has built no {name}");
    }
    Ok(found)
}

/// Adds what a crate is compiled with to `command`, but for `replaced`, which is another.
pub fn add_externs(command: &mut Command, externs: &Externs, replaced: Option<(&str, &Path)>) {
    let dependencies = root().join("build/cargo/release/deps");
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

/// Builds a subject's program.
///
/// # Errors
/// If a patch does not apply, or the compiler refuses.
pub fn build(subject: Subject, patch: Option<&str>, externs: &Externs) -> Result<PathBuf> {
    let program = program(subject, patch);
    let work = program.parent().context("no folder")?.to_owned();
    let patch_file = patch.map(|hazard| patch_file(hazard, subject));
    let stamp = stamp(subject, patch_file.as_deref(), externs)?;
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
            copy_and_patch(subject, &work, file)?;
            work.clone()
        }
        None => root(),
    };
    match subject {
        Subject::C => compile_c(&from, &program, &C_FLAGS),
        Subject::CHardened => compile_c(&from, &program, &HARDENED_FLAGS),
        Subject::Rust => {
            let library = compile_library("ixgbe", &from.join("rust/src/lib.rs"), &work, externs)?;
            compile_rust("lab.rs", &program, externs, ("ixgbe", &library))
        }
        Subject::RustUnsafe => {
            let source = from.join("rust-unsafe/src/lib.rs");
            let library = compile_library("ixgbe_unsafe", &source, &work, externs)?;
            compile_rust(
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

/// Copies a subject's sources to `work` and patches them there.
///
/// # Errors
/// If the patch does not apply, exactly.
pub fn copy_and_patch(subject: Subject, work: &Path, patch: &Path) -> Result<()> {
    let folder = sources(subject);
    copy_folder(&root().join(folder), &work.join(folder))?;
    let output = Command::new("git")
        .current_dir(work)
        // Else git takes the folder for a part of this repository, and applies nothing.
        .env("GIT_CEILING_DIRECTORIES", work.parent().unwrap_or(work))
        .args(["apply", "--whitespace=nowarn", "--verbose"])
        .arg(patch)
        .output()
        .context("git")?;
    ensure!(
        output.status.success(),
        "{} does not apply to {folder}: make it anew, see the README\n{}",
        patch.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
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
    let mut files: Vec<_> = fs::read_dir(&source)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.sort();
    let c = |path: &&PathBuf| path.extension().is_some_and(|end| end == "c");
    command.args(files.iter().filter(c)).arg("-o").arg(program);
    run(command)
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

fn compile_library(name: &str, source: &Path, work: &Path, externs: &Externs) -> Result<PathBuf> {
    let library = work.join(format!("lib{name}.rlib"));
    let mut others = externs.clone();
    others.remove("ixgbe");
    others.remove("ixgbe_unsafe");
    let mut command = rustc();
    command
        .args(RUST_FLAGS)
        .args(["--crate-type=rlib", "--crate-name", name])
        .arg(source)
        .arg("-o")
        .arg(&library);
    add_externs(&mut command, &others, None);
    run(command)?;
    Ok(library)
}

fn compile_rust(
    source: &str,
    program: &Path,
    externs: &Externs,
    driver: (&str, &Path),
) -> Result<()> {
    let mut others = externs.clone();
    others.retain(|name, _| name == driver.0 || !name.starts_with("ixgbe"));
    let mut command = rustc();
    command
        .args(RUST_FLAGS)
        .args(["--crate-type=bin", "--crate-name=lab"])
        .arg(lab().join("programs").join(source))
        .arg("-o")
        .arg(program);
    add_externs(&mut command, &others, Some(driver));
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

/// A hash of all that goes into a program.
fn stamp(subject: Subject, patch: Option<&Path>, externs: &Externs) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    hash_folder(&root().join(sources(subject)), &mut hasher)?;
    hash_folder(&lab().join("programs"), &mut hasher)?;
    if let Some(patch) = patch {
        fs::read(patch)
            .with_context(|| patch.display().to_string())?
            .hash(&mut hasher);
    }
    toolchain(subject)?.hash(&mut hasher);
    if matches!(subject, Subject::Rust | Subject::RustUnsafe) {
        externs.hash(&mut hasher);
        // A library that was built anew has another time.
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

/// The compiler of a subject, with its flags.
///
/// # Errors
/// If there is none.
pub fn toolchain(subject: Subject) -> Result<String> {
    let (mut command, flags): (Command, &[&str]) = match subject {
        Subject::C => (Command::new(c_compiler()), &C_FLAGS),
        Subject::CHardened => (Command::new(c_compiler()), &HARDENED_FLAGS),
        Subject::Rust | Subject::RustUnsafe => (rustc(), &RUST_FLAGS),
    };
    let output = command
        .arg("--version")
        .output()
        .with_context(|| format!("{:?}", command.get_program()))?;
    let version = String::from_utf8_lossy(&output.stdout);
    let version = version.lines().next().unwrap_or_default();
    Ok(format!("{version} {}", flags.join(" ")))
}
