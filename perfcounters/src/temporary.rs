//! Temporary folders that do not outlive their process for long, however it ends.
//!
//! A process that is killed cannot remove its folders. So each folder is locked as long as its value
//! lives, and the kernel unlocks it when the process ends. The process that creates the next folder
//! removes the unlocked ones.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{flock, FlockOperation, Mode, OFlags};

use crate::backend::MeasureError;

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
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create() -> Result<Self, MeasureError> {
        let parent = std::env::temp_dir();
        Self::create_in(&parent, PREFIX).map_err(MeasureError::file(&parent))
    }

    /// Creates a folder in `parent` whose name starts with `prefix`, and removes the folders with
    /// that prefix that killed processes left there. Only this function may use the prefix there.
    ///
    /// # Errors
    /// If it cannot be created.
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
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match rustix::fs::open(folder, flags, Mode::empty()) {
        Ok(fd) => File::from(fd),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let locked = file.metadata()?;
    let named = fs::symlink_metadata(folder);
    let same = named.is_ok_and(|named| (named.dev(), named.ino()) == (locked.dev(), locked.ino()));
    Ok(same.then_some(file))
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
    use super::*;
    use std::process::{Command, Stdio};

    const TEST: &str = "temporary::tests::waits_with_a_folder";
    const PARENT: &str = "TRIPTYCH_TEST_PARENT";

    fn names(parent: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(parent).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Not a test of its own: the process that the next test kills.
    #[test]
    fn waits_with_a_folder() {
        let Some(parent) = std::env::var_os(PARENT) else {
            return;
        };
        let folder = TemporaryFolder::create_in(Path::new(&parent), "work-").unwrap();
        fs::write(folder.path().join("file"), "content").unwrap();
        std::thread::sleep(std::time::Duration::from_secs(60));
    }

    #[test]
    fn the_folder_of_a_killed_process_is_removed_by_the_next_one_and_not_before() {
        let parent = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST])
            .env(PARENT, parent.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let file = || names(parent.path()).first().map(|path| path.join("file"));
        let start = std::time::Instant::now();
        while !file().is_some_and(|file| file.exists()) {
            assert!(start.elapsed().as_secs() < 30, "no folder");
            std::thread::yield_now();
        }
        drop(TemporaryFolder::create_in(parent.path(), "work-").unwrap());
        assert!(file().unwrap().exists(), "its process lives");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(file().unwrap().exists());
        let next = TemporaryFolder::create_in(parent.path(), "work-").unwrap();
        assert_eq!(names(parent.path()), [next.path()]);
        drop(next);
        assert!(names(parent.path()).is_empty());
    }

    #[test]
    fn other_folders_files_and_links_stay() {
        let parent = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir(parent.path().join("other")).unwrap();
        fs::write(parent.path().join("work-file"), "").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), parent.path().join("work-link")).unwrap();
        let held = TemporaryFolder::create_in(parent.path(), "work-").unwrap();
        drop(TemporaryFolder::create_in(parent.path(), "work-").unwrap());
        let mut left = names(parent.path());
        left.sort();
        let mut expected = ["other", "work-file", "work-link"]
            .map(|name| parent.path().join(name))
            .to_vec();
        expected.push(held.path().to_owned());
        expected.sort();
        assert_eq!(left, expected);
        assert!(elsewhere.path().exists());
    }

    #[test]
    fn a_kept_folder_stays() {
        let parent = tempfile::tempdir().unwrap();
        let folder = TemporaryFolder::create_in(parent.path(), "work-").unwrap();
        let kept = folder.keep();
        assert_eq!(names(parent.path()), [kept]);
    }
}
