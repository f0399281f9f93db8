//! The sources of a commit, in a git worktree that exists as long as the value.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use perfcounters::process::Process;
use perfcounters::temporary::TemporaryFolder;
use perfcounters::Interrupt;

use crate::usage::UsageError;

/// Longest time in which git writes the sources.
const LIMIT: Duration = Duration::from_secs(120);
/// How the names of these folders start.
const PREFIX: &str = "commit-";

/// A folder with the sources of a commit. Dropping it removes the folder and git's note of it.
#[derive(Debug)]
pub struct Checkout {
    repository: PathBuf,
    folder: TemporaryFolder,
    /// The commit's hash.
    pub hash: String,
}

impl Checkout {
    /// Takes the sources of a commit into a new folder in `parent`.
    ///
    /// # Errors
    /// A usage error if there is no such commit. Otherwise git's message.
    pub fn create(
        repository: &Path,
        commit: &str,
        parent: &Path,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let hash = hash_of(repository, commit)?;
        std::fs::create_dir_all(parent)
            .with_context(|| format!("cannot create {}", parent.display()))?;
        let parent = std::fs::canonicalize(parent)?;
        let folder = TemporaryFolder::create_in(&parent, PREFIX)
            .with_context(|| format!("cannot make a folder in {}", parent.display()))?;
        // Killed processes left folders, which are gone now, and git's notes of them.
        forget_missing(repository);
        // From here on, dropping the value cleans up.
        let checkout = Self {
            repository: repository.to_owned(),
            folder,
            hash,
        };
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(repository)
            .args(["worktree", "add", "--quiet", "--detach", "--force"])
            .arg(checkout.sources())
            .arg(&checkout.hash);
        let logs = perfcounters::temporary::TemporaryFolder::create()?;
        Process::start("git", command, None, logs.path(), Stdio::null())?
            .wait(LIMIT, interrupt)
            .with_context(|| format!("cannot take the sources of commit {commit}"))?;
        Ok(checkout)
    }

    /// The folder with the sources.
    pub fn sources(&self) -> PathBuf {
        self.folder.path().join("source")
    }

    /// The folder for what is built from the sources. It is removed with them.
    pub fn output(&self) -> PathBuf {
        self.folder.path().join("output")
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(self.sources()) {
            if error.kind() != std::io::ErrorKind::NotFound {
                eprintln!("cannot remove {}: {error}", self.sources().display());
            }
        }
        // A git that was killed leaves its note locked. Forced twice, git removes such notes, too.
        let sources = self.sources();
        let force = ["remove", "--force", "--force"].map(OsStr::new);
        worktree(
            &self.repository,
            &[&force[..], &[sources.as_os_str()]].concat(),
        );
        forget_missing(&self.repository);
    }
}

/// The full hash of a commit.
///
/// # Errors
/// A usage error if there is no such commit.
pub(super) fn hash_of(repository: &Path, commit: &str) -> Result<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
        .arg(format!("{commit}^{{commit}}"))
        .output()
        .context("cannot start git, which takes the sources of a commit")?;
    if !output.status.success() {
        bail!(UsageError(format!(
            "there is no commit {commit:?} in the repository {}; `git log --oneline` lists commits",
            repository.display()
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Removes git's notes of worktrees whose folders are gone.
fn forget_missing(repository: &Path) {
    worktree(repository, &[OsStr::new("prune")]);
}

/// Runs `git worktree`. A failure does no harm: git's notes are small, and without git there are none.
fn worktree(repository: &Path, arguments: &[&OsStr]) {
    let _ = Command::new("git")
        .arg("-C")
        .arg(repository)
        .arg("worktree")
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(["-c", "user.name=n", "-c", "user.email=e"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A repository with two commits of one file.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "--quiet"]);
        for content in ["old", "new"] {
            std::fs::write(folder.path().join("file"), content).unwrap();
            git(folder.path(), &["add", "file"]);
            git(folder.path(), &["commit", "--quiet", "-m", content]);
        }
        folder
    }

    #[test]
    fn a_commit_is_taken_and_removed_without_a_trace() {
        let repository = repository();
        let parent = repository.path().join("build");
        let abandoned = parent.join("commit-4194999-0");
        std::fs::create_dir_all(&abandoned).unwrap();
        let checkout =
            Checkout::create(repository.path(), "HEAD~1", &parent, &Interrupt::new()).unwrap();
        let file = checkout.sources().join("file");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
        assert!(!abandoned.exists());
        drop(checkout);
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 0);
        assert_eq!(
            git(repository.path(), &["worktree", "list"])
                .lines()
                .count(),
            1
        );
    }

    #[test]
    fn an_interrupted_checkout_leaves_nothing() {
        let repository = repository();
        let parent = repository.path().join("build");
        let interrupt = Interrupt::new();
        interrupt.set();
        Checkout::create(repository.path(), "HEAD", &parent, &interrupt).unwrap_err();
        assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 0);
        assert_eq!(
            git(repository.path(), &["worktree", "list"])
                .lines()
                .count(),
            1
        );
    }

    #[test]
    fn the_locked_note_of_a_git_that_was_killed_is_removed() {
        let repository = repository();
        let parent = repository.path().join("build");
        let checkout =
            Checkout::create(repository.path(), "HEAD", &parent, &Interrupt::new()).unwrap();
        let sources = checkout.sources();
        git(
            repository.path(),
            &["worktree", "lock", &sources.to_string_lossy()],
        );
        drop(checkout);
        let list = git(repository.path(), &["worktree", "list"]);
        assert_eq!(list.lines().count(), 1, "{list}");
    }

    #[test]
    fn an_unknown_commit_is_an_error_of_usage() {
        let repository = repository();
        let error = Checkout::create(
            repository.path(),
            "nothing",
            repository.path(),
            &Interrupt::new(),
        )
        .unwrap_err();
        assert!(error.downcast_ref::<UsageError>().is_some(), "{error}");
        assert!(error.to_string().contains("nothing"), "{error}");
    }
}
