//! Notes what a folder was built from, so that nothing is built twice, and keeps others out meanwhile.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use rustix::fs::{flock, FlockOperation};
use rustix::io::Errno;

const NAME: &str = "built-from.txt";

/// Builds in a folder, unless it was built from the same and has all `files`. The folder is emptied first.
/// `from` has all that the build depends on.
pub(crate) fn once(
    folder: &Path,
    from: &str,
    files: &[PathBuf],
    build: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let note = folder.join(NAME);
    let noted = fs::read_to_string(&note).is_ok_and(|text| text == from);
    if noted && files.iter().all(|file| file.is_file()) {
        return Ok(());
    }
    empty(folder)?;
    build()?;
    write(&note, from)
}

pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
}

pub(crate) fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    make_folder(folder)
}

/// Keeps a second command out of a folder while the value lives.
pub(crate) fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => bail!(
            "another `triptych` builds in {}: wait for its end, or choose another --build-dir",
            folder.display()
        ),
        Err(error) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
    }
}
