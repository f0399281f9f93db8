//! Sources in a folder of their own: those of a commit, or the working tree as it is, with a patch.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use perfcounters::temporary::TemporaryFolder;
use perfcounters::Interrupt;

use super::runner::{self, Ended};
use super::stamp::{empty, make_folder};
use crate::usage::UsageError;

const LIMIT: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub(crate) struct Checkout {
    repository: PathBuf,
    pub(crate) sources: PathBuf,
    pub(crate) output: PathBuf,
    _folder: Option<TemporaryFolder>,
    interrupt: Interrupt,
}

impl Checkout {
    /// Takes the sources of a commit into a new folder in `parent`. Dropping the value removes them.
    pub(crate) fn of_commit(
        repository: &Path,
        commit: &str,
        parent: &Path,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let hash = hash_of(repository, commit)?;
        make_folder(parent)?;
        let parent = parent.canonicalize()?;
        let folder = TemporaryFolder::create_in(&parent, "commit-")?;
        let sources = folder.path().join("source");
        let checkout = Self::at(repository, &hash, &sources, interrupt)?;
        Ok(Self {
            output: folder.path().join("output"),
            _folder: Some(folder),
            ..checkout
        })
    }

    /// Takes the sources of a commit into the folder `sources`, which is emptied first.
    pub(crate) fn at(
        repository: &Path,
        commit: &str,
        sources: &Path,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        empty(sources)?;
        let checkout = Self {
            repository: repository.to_owned(),
            sources: sources.to_owned(),
            output: PathBuf::new(),
            _folder: None,
            interrupt: interrupt.clone(),
        };
        let taken = checkout.extract(commit, ".");
        taken.with_context(|| format!("cannot take the sources of commit {commit}"))?;
        Ok(checkout)
    }

    /// Copies the tracked and the new files of the working tree to `sources`, as they are now. The copies
    /// keep their times, so that a later build compiles only what has changed.
    pub(crate) fn of_tree(
        repository: &Path,
        sources: &Path,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let is_project = repository.join("rust-unsafe/transpile.sh").is_file();
        let place = repository.display();
        let why = format!("{place} is not the folder of the project: change to it");
        ensure!(is_project, UsageError(why));
        empty(sources)?;
        let mut list = git(repository);
        list.args("ls-files -z -co --exclude-standard --deduplicate".split(' '));
        let list = list.output().context("cannot start git")?;
        let names = list.stdout.split(|byte| *byte == 0);
        let names = names.map(OsStr::from_bytes).filter(|name| {
            // A tracked file may be deleted.
            !name.is_empty() && repository.join(name).symlink_metadata().is_ok()
        });
        let sources = std::path::absolute(sources)?;
        let mut copy = Command::new("cp");
        copy.current_dir(repository)
            .args("--parents --no-dereference --preserve=mode,timestamps".split(' '))
            .arg("--target-directory")
            .arg(&sources)
            .arg("--")
            .args(names);
        runner::output(copy, LIMIT, interrupt).with_context(|| format!("cannot copy {place}"))?;
        Ok(Self {
            repository: repository.to_owned(),
            sources,
            output: repository.join("build"),
            _folder: None,
            interrupt: interrupt.clone(),
        })
    }

    /// Writes files of a commit over the sources: those below `path`.
    fn extract(&self, commit: &str, path: &str) -> Result<()> {
        let mut command = git(&self.repository);
        // The repository keeps its own index.
        command.env("GIT_INDEX_FILE", self.sources.join(".index"));
        command.arg("--work-tree").arg(&self.sources);
        command.args(["-c", "core.hooksPath=/dev/null"]);
        command.args(["checkout", "--quiet", commit, "--", path]);
        runner::output(command, LIMIT, &self.interrupt).map(drop)
    }

    /// Replaces a folder of the sources by that of the last commit.
    pub(crate) fn restore(&self, folder: &str) -> Result<()> {
        std::fs::remove_dir_all(self.sources.join(folder))?;
        let restored = self.extract("HEAD", folder);
        restored.with_context(|| format!("git has no commit with {folder}"))
    }

    /// Applies a patch to the sources. Returns the files that it changes.
    pub(crate) fn apply(&self, patch: &Path) -> Result<Vec<String>> {
        let refuse = |text: String| UsageError(format!("{}: {text}", patch.display()));
        let file = patch.canonicalize();
        let file = file.map_err(|cause| refuse(cause.to_string()))?;
        let listed = self.git_apply("--numstat", &file)?;
        let said = first_line(&listed.stderr);
        let why = format!("this is no patch that git can read ({said}); `git diff` writes one");
        ensure!(listed.result.is_ok(), refuse(why));
        let names = listed.stdout.lines();
        let names = names.filter_map(|line| Some(line.split('\t').nth(2)?.to_owned()));
        let files: Vec<String> = names.collect();
        let why = "the patch changes no file".to_owned();
        ensure!(!files.is_empty(), refuse(why));
        let applied = self.git_apply("--whitespace=nowarn", &file)?;
        let said = first_line(&applied.stderr);
        let help = "Make the change in the sources and write the patch with `git diff`";
        let why = format!("the patch does not apply to this tree: {said}. {help}");
        ensure!(applied.result.is_ok(), refuse(why));
        Ok(files)
    }

    fn git_apply(&self, option: &str, file: &Path) -> Result<Ended> {
        let mut command = git(&self.sources);
        let ceiling = self.sources.parent().unwrap_or(&self.sources);
        // Without this, git considers the copy a part of the repository around it and applies nothing.
        command.env("GIT_CEILING_DIRECTORIES", ceiling);
        command.args(["apply", option]).arg(file);
        runner::run(command, LIMIT, &self.interrupt)
    }
}

pub(crate) fn hash_of(repository: &Path, commit: &str) -> Result<String> {
    let mut command = git(repository);
    command.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
    command.arg(format!("{commit}^{{commit}}"));
    let ended = runner::run(command, LIMIT, &Interrupt::new())?;
    let why = format!(
        "there is no commit {commit:?} in the repository {}",
        repository.display()
    );
    let why = UsageError(why + "; `git log --oneline` lists commits");
    ensure!(ended.result.is_ok(), why);
    Ok(ended.stdout.trim().to_owned())
}

pub(crate) fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder);
    command
}

fn first_line(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default().trim();
    line.strip_prefix("error: ").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const TX: &str = "c/src/driver/tx.c";

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    #[test]
    fn the_sources_of_a_commit_are_taken_and_removed() {
        let parent = tempfile::tempdir().unwrap();
        let checkout =
            Checkout::of_commit(root(), "HEAD", parent.path(), &Interrupt::new()).unwrap();
        assert!(checkout.sources.join(TX).is_file());
        drop(checkout);
        let interrupt = Interrupt::new();
        interrupt.set();
        Checkout::of_commit(root(), "HEAD", parent.path(), &interrupt).unwrap_err();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
        let error = Checkout::of_commit(root(), "nothing", parent.path(), &interrupt).unwrap_err();
        assert!(error.is::<UsageError>() && error.to_string().contains("nothing"));
    }

    #[test]
    fn a_copy_has_the_tree_as_it_is_and_takes_patches() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tree");
        let tree = Checkout::of_tree(root(), &path, &Interrupt::new()).unwrap();
        let time = |root: &Path| root.join(TX).metadata().unwrap().modified().unwrap();
        assert_eq!(time(root()), time(&path));
        assert!(!path.join("build").exists());
        let file = folder.path().join("a.patch");
        let patched = |patch: &str| {
            fs::write(&file, patch).unwrap();
            tree.apply(&file)
        };
        let content = || fs::read_to_string(path.join(TX)).unwrap();
        let first: Vec<String> = content().lines().take(4).map(str::to_owned).collect();
        let head = format!("--- a/{TX}\n+++ b/{TX}\n@@ -1,4 +1,4 @@\n");
        let [line, below @ ..] = &first[..] else {
            panic!()
        };
        let patch = format!("{head}-{line}\n+{line} // x\n {}\n", below.join("\n "));
        assert_eq!(patched(&patch).unwrap(), [TX]);
        assert!(content().contains(" // x"));
        tree.restore("c/src").unwrap();
        assert!(!content().contains(" // x"));
        for (patch, expected) in [
            ("just words\n", "no patch"),
            (&patch.replace(line, "no such line"), "c/src/driver/tx.c:1"),
        ] {
            let error = patched(patch).unwrap_err().downcast::<UsageError>();
            let text = error.unwrap().0;
            assert!(text.contains(expected), "{expected}: {text}");
        }
        let error = Checkout::of_tree(folder.path(), &path, &Interrupt::new()).unwrap_err();
        assert!(error.is::<UsageError>(), "{error}");
    }
}
