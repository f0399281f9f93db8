//! Temporary folders that do not outlive their process for long, however it ends.
//!
//! A process that is killed cannot remove its folders. So each folder is locked as long as its value
//! lives, and the kernel unlocks it when the process ends. The process that creates the next folder
//! removes the unlocked ones.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{flock, FlockOperation};

use crate::backend::MeasureError;
use crate::files;

/// How the names of the folders in the system's temporary folder start. The prefix is short because
/// the path of a socket has at most 107 bytes.
const PREFIX: &str = "triptych.run-";

/// A new folder, removed when the value is dropped, or by a later process if this one is killed.
#[derive(Debug)]
pub struct TemporaryFolder {
    folder: tempfile::TempDir,
    /// Holds the lock.
    _lock: File,
}

impl TemporaryFolder {
    /// Creates a folder in the system's temporary folder, for the sockets and reports of a run.
    pub fn create() -> Result<Self, MeasureError> {
        let parent = std::env::temp_dir();
        Self::create_in(&parent, PREFIX).map_err(files::unusable(&parent))
    }

    /// Creates a folder in `parent` whose name starts with `prefix`, and removes the folders with
    /// that prefix that killed processes left there. Only this function may use the prefix there.
    pub fn create_in(parent: &Path, prefix: &str) -> io::Result<Self> {
        remove_abandoned(parent, prefix);
        loop {
            let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(parent)?;
            // Another process may lock and remove the folder before this one locks it.
            if let Some(lock) = lock(folder.path())? {
                return Ok(Self {
                    folder,
                    _lock: lock,
                });
            }
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Makes it permanent. Returns its path.
    #[must_use]
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}

/// Locks a folder. `None` if another process has locked or removed it.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let file = match File::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        // Another process may have removed it since it was opened.
        Ok(()) => Ok(folder.exists().then_some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Removes this user's folders with that prefix that no process has locked. What cannot be removed
/// stays: it is only a waste of space.
fn remove_abandoned(parent: &Path, prefix: &str) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let path = entry.path();
        let named = entry.file_name().to_string_lossy().starts_with(prefix);
        let ours = |entry: fs::Metadata| entry.is_dir() && entry.uid() == user;
        if !named || !entry.metadata().is_ok_and(ours) {
            continue;
        }
        if let Ok(Some(_lock)) = lock(&path) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    use super::*;

    fn names(parent: &Path) -> BTreeSet<OsString> {
        let entries = fs::read_dir(parent).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn the_next_folder_removes_those_without_a_process_and_nothing_else() {
        let (parent, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        // A killed process leaves its folder, and no lock.
        fs::create_dir_all(parent.path().join("work-killed/folder")).unwrap();
        fs::create_dir(parent.path().join("other")).unwrap();
        fs::write(parent.path().join("work-file"), "").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), parent.path().join("work-link")).unwrap();
        let held = TemporaryFolder::create_in(parent.path(), "work-").unwrap();
        drop(TemporaryFolder::create_in(parent.path(), "work-").unwrap());
        let held_name = held.path().file_name().unwrap();
        let expected = ["other", "work-file", "work-link"].map(OsString::from);
        let expected = expected.into_iter().chain([held_name.to_owned()]);
        assert_eq!(names(parent.path()), expected.collect());
        assert!(elsewhere.path().exists());
        drop(held);
        assert_eq!(names(parent.path()).len(), 3);
        let kept = TemporaryFolder::create_in(parent.path(), "kept-").unwrap();
        assert!(kept.keep().exists());
    }
}
