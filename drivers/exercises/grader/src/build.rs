//! Builds `libforwarder.so` from a copy of the driver with a student's files.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use harness::build_folder;
use rustix::fs::{flock, FlockOperation};
use safety_lab::builds::{self, root, Externs};

use crate::course::{driver_files, folder, Files, Language};

/// How to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// With sanitizers or debug assertions, and with the grader's changes around the driver.
    Checked,
    /// Optimised, for counting instructions.
    Fast,
}

/// Checked builds are not optimised: they are quick to make, and the sanitizers' lines are exact.
fn flags(language: Language, kind: Kind) -> &'static str {
    match (language, kind) {
        (Language::C, Kind::Checked) => {
            "-std=gnu11 -pthread -fPIC -O0 -g -Werror=implicit-function-declaration \
             -fsanitize=address,undefined -fno-sanitize-recover=all -DTRIPTYCH_VERSION=\"exercise\""
        }
        (Language::C, Kind::Fast) => {
            "-std=gnu11 -pthread -fPIC -O2 -flto -flto-partition=one -DNDEBUG -fvisibility=hidden \
             -DTRIPTYCH_VERSION=\"exercise\""
        }
        (Language::Rust, Kind::Checked) => {
            "--edition=2021 --cap-lints=allow -Copt-level=0 -Cdebug-assertions=on"
        }
        (Language::Rust, Kind::Fast) => {
            "--edition=2021 --cap-lints=allow -Copt-level=3 -Cpanic=abort -Ccodegen-units=1"
        }
    }
}

/// What a compiler says about a student's file.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
pub struct CompileError(anyhow::Error);

/// The folder of everything that the grader builds.
pub fn exercises_folder() -> Result<PathBuf> {
    let folder = build_folder().join("exercises");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder.canonicalize()?)
}

/// Takes the folder for this process, until the file is closed.
pub fn lock(folder: &Path) -> Result<File> {
    fs::create_dir_all(folder)?;
    let lock = File::create(folder.join("lock"))?;
    flock(&lock, FlockOperation::LockExclusive)?;
    Ok(lock)
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The libraries that the Rust driver uses. Cargo looks for them only if its lock file has changed.
fn externs() -> Result<Externs> {
    let kept = exercises_folder()?.join("externs.json");
    let _lock = lock(&exercises_folder()?)?;
    let lock_file = fs::read_to_string(root().join("Cargo.lock"))?;
    let key = hash(&(builds::toolchain(Language::Rust.driver())?, lock_file));
    let text = fs::read_to_string(&kept).unwrap_or_default();
    let read: Option<(u64, Externs)> = serde_json::from_str(&text).ok();
    let read = read.filter(|(of, found)| *of == key && found.values().all(|it| it.is_file()));
    if let Some((_, found)) = read {
        return Ok(found);
    }
    let mut found = builds::externs(&["ixgbe", "forwarder-abi-rust"])?;
    // Each build has its own.
    found.remove("ixgbe");
    fs::write(kept, serde_json::to_string(&(key, &found))?)?;
    Ok(found)
}

/// Where the driver itself is built, once for all exercises.
fn common(language: Language, kind: Kind) -> Result<PathBuf> {
    Ok(exercises_folder()?.join(format!("driver-{language}-{kind:?}").to_lowercase()))
}

/// Builds the library with these files in the place of the driver's, unless it is up to date. Returns a folder for
/// `TRIPTYCH_BUILD`: one in `wanted`, or the common one if the files are the driver's own. The error may be a
/// [`CompileError`].
pub fn build(language: Language, files: &Files, wanted: &Path, kind: Kind) -> Result<PathBuf> {
    let own = driver_files(files.keys())? == *files;
    let folder = match own {
        true => common(language, kind)?,
        false => wanted.join(format!("{kind:?}").to_lowercase()),
    };
    let _lock = lock(&folder)?;
    let library = folder.join(format!("bin/{language}/libforwarder.so"));
    let stamp_file = folder.join("stamp");
    let mut inputs = builds::files(&root().join(builds::sources(language.driver())))?;
    inputs.extend(builds::files(&self::folder().join("rig"))?);
    inputs.push(root().join("bench/forwarder-abi/src/lib.rs"));
    let texts: Result<Vec<_>, _> = inputs.iter().map(fs::read).collect();
    let tool = (builds::toolchain(language.driver())?, flags(language, kind));
    let stamp = hash(&(inputs, texts?, tool, (!own).then_some(files))).to_string();
    if library.is_file() && fs::read_to_string(&stamp_file).is_ok_and(|text| text == stamp) {
        return Ok(folder);
    }
    let _ = fs::remove_file(&stamp_file);
    let tree = folder.join("tree");
    builds::copy(language.driver(), &tree)?;
    if kind == Kind::Checked {
        builds::apply(&tree, &self::folder().join(format!("rig/{language}.patch")))?;
    }
    for (path, text) in files {
        fs::write(tree.join(path), text)?;
    }
    fs::create_dir_all(library.parent().context("no folder")?)?;
    match language {
        Language::C => compile_c(files, &folder, &library, kind)?,
        Language::Rust => compile_rust(&folder, &library, kind)?,
    }
    fs::write(stamp_file, stamp)?;
    Ok(folder)
}

fn compile_rust(folder: &Path, library: &Path, kind: Kind) -> Result<()> {
    let mut externs = externs()?;
    let driver = folder.join("libixgbe.rlib");
    let source = folder.join("tree/rust/src/lib.rs");
    let abi = root().join("bench/forwarder-abi/src/lib.rs");
    for (form, name, source, output) in [
        ("rlib", "ixgbe", &source, driver.as_path()),
        ("cdylib", "forwarder", &abi, library),
    ] {
        let mut command = builds::rustc(&externs);
        command
            .args(flags(Language::Rust, kind).split(' '))
            .args(["--crate-type", form, "--crate-name", name])
            .arg(source)
            .arg("-o")
            .arg(output);
        builds::run(command).map_err(CompileError)?;
        externs.insert("ixgbe".to_owned(), driver.clone());
    }
    Ok(())
}

/// Compiles the sources of an exercise, and links them with the others. If the student has changed no header, the others
/// are compiled once for all exercises.
fn compile_c(files: &Files, folder: &Path, library: &Path, kind: Kind) -> Result<()> {
    let sources = folder.join("tree/c/src");
    let call = |how: &str, inputs: &[PathBuf], output: &Path| {
        let mut command = builds::c_compiler();
        command
            .args(flags(Language::C, kind).split(' '))
            .args([how, "-I"])
            .arg(&sources)
            .args(inputs)
            .arg("-o")
            .arg(output);
        builds::run(command).map_err(CompileError)
    };
    let exercises = ["driver/rx.c", "driver/tx.c"].map(|name| sources.join(name));
    let mut inputs = builds::files(&sources)?;
    inputs.retain(|file| {
        file.extension().is_some_and(|end| end == "c") && !file.starts_with(sources.join("apps"))
    });
    let own = driver_files(files.keys())?;
    let same_headers =
        { files.iter() }.all(|(path, text)| path.ends_with(".c") || own[path] == *text);
    if kind == Kind::Checked && same_headers {
        let common = common(Language::C, kind)?;
        let object = common.join("others.o");
        if folder == common {
            inputs.retain(|file| !exercises.contains(file));
            call("-r", &inputs, &object)?;
        } else {
            // Compiles them if they are missing or old.
            build(Language::C, &own, folder, kind)?;
        }
        inputs = [exercises.as_slice(), &[object]].concat();
    }
    Ok(call("-shared", &inputs, library)?)
}
