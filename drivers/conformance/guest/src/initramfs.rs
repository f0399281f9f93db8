//! Guests of the tests: their parts from `bench/setup`, and the archive with the programs built here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, ensure, Context, Result};
use cpio::newc::{trailer, Builder, ModeFileType};

/// The exit status of a script that cannot fetch its guest.
const CANNOT_FETCH: i32 = 2;

/// The repository's root.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap_or(here).to_owned()
}

/// The folder of the guest that `bench/setup/NAME.sh` fetches once: QEMU, a kernel and its files. If the script cannot
/// fetch it, this prints the reason and returns `None`.
pub fn fetch(name: &str) -> Result<Option<PathBuf>> {
    let script = repository().join(format!("bench/setup/{name}.sh"));
    let output = Command::new(&script).output().context(name.to_owned())?;
    let messages = String::from_utf8_lossy(&output.stderr);
    eprint!("{messages}");
    match output.status.code() {
        Some(0) => {
            let folder = String::from_utf8(output.stdout)?;
            Ok(Some(folder.trim_end().into()))
        }
        Some(CANNOT_FETCH) => {
            let reason = messages.lines().last().unwrap_or_default();
            // `.ci/checks` looks for this line.
            println!("skipped: {}", reason.trim_start_matches("setup: "));
            Ok(None)
        }
        _ => bail!("{}: {}", script.display(), output.status),
    }
}

/// The files of an initramfs: a cpio archive in the kernel's format.
#[derive(Debug, Default)]
pub struct Initramfs {
    /// A folder comes before what it contains.
    folders: BTreeSet<String>,
    /// Each file, and what it is a copy of.
    files: BTreeMap<String, PathBuf>,
}

impl Initramfs {
    /// Adds a folder and those above it.
    pub fn folder(&mut self, name: &str) {
        let all = Path::new(name).ancestors().filter_map(Path::to_str);
        let named = all.filter(|name| !name.is_empty());
        self.folders.extend(named.map(str::to_owned));
    }

    /// Adds a copy of the file `from`.
    pub fn file(&mut self, from: &Path, to: &str) {
        if let Some((folder, _)) = to.rsplit_once('/') {
            self.folder(folder);
        }
        self.files.insert(to.to_owned(), from.to_owned());
    }

    /// Adds a copy of a program, and its shared libraries and its loader at the paths where it looks for them.
    pub fn program(&mut self, from: &Path, to: &str) -> Result<()> {
        let name = from.display();
        ensure!(from.is_file(), "{name} does not exist: run `make build`");
        self.file(from, to);
        let output = Command::new("ldd").arg(from).output().context("ldd")?;
        let text = String::from_utf8(output.stdout)?;
        ensure!(
            output.status.success() && !text.contains("not found"),
            "ldd does not find all libraries of {name}: {text}"
        );
        // A line is `name => path (address)` or `path (address)`. linux-vdso has no path.
        for library in text.split_whitespace().filter(|word| word.starts_with('/')) {
            self.file(Path::new(library), library.trim_start_matches('/'));
        }
        Ok(())
    }

    /// Writes the archive.
    pub fn write(&self, mut to: impl Write) -> Result<()> {
        let entry = |name: &str, kind| Builder::new(name).mode(0o755).set_mode_file_type(kind);
        for folder in &self.folders {
            let entry = entry(folder, ModeFileType::Directory);
            entry.write(&mut to, 0).finish()?;
        }
        for (name, from) in &self.files {
            let content = fs::read(from).with_context(|| from.display().to_string())?;
            let entry = entry(name, ModeFileType::Regular);
            let mut into = entry.write(&mut to, u32::try_from(content.len())?);
            into.write_all(&content)?;
            into.finish()?;
        }
        trailer(to)?.flush()?;
        Ok(())
    }
}
