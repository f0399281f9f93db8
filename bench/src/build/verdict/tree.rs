//! The copy of the tree that a verdict builds, and the patch in it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{ensure, Context, Result};
use record::Implementation;
use sha2::{Digest, Sha256};

use crate::usage::UsageError;

/// The file with the hashes of the C sources that the transpiled driver was generated from.
const GENERATED_FROM: &str = "rust-unsafe/src/gen/SOURCES.sha256";

/// A copy of the tree; dropping it removes the copy.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    path: PathBuf,
}

impl Tree {
    /// Copies the tracked and the new files of the project at `root` to `path`, as they are now. The
    /// copies keep their times, so that a later build compiles only what has changed.
    ///
    /// # Errors
    /// If `root` is not the project's folder, or a file cannot be copied.
    pub fn copy(root: &Path, path: &Path) -> Result<Self> {
        if !root.join("rust-unsafe/transpile.sh").is_file() {
            let text = format!(
                "{} is not the folder of the project: change to it",
                root.display()
            );
            return Err(UsageError(text).into());
        }
        if path.exists() {
            fs::remove_dir_all(path).with_context(|| format!("cannot empty {}", path.display()))?;
        }
        fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))?;
        // From here on, dropping the value removes what was copied.
        let tree = Self {
            root: root.to_owned(),
            path: path.to_owned(),
        };
        let list = git(root, &["ls-files", "-z", "-co", "--exclude-standard"])?;
        ensure!(
            list.status.success(),
            "git does not list the files of {}: {}",
            root.display(),
            String::from_utf8_lossy(&list.stderr).trim()
        );
        for name in list.stdout.split(|byte| *byte == 0) {
            if !name.is_empty() {
                tree.copy_file(Path::new(std::ffi::OsStr::from_bytes(name)))?;
            }
        }
        Ok(tree)
    }

    /// The folder of the copy.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn copy_file(&self, name: &Path) -> Result<()> {
        let (from, to) = (self.root.join(name), self.path.join(name));
        let Ok(about) = from.symlink_metadata() else {
            // A tracked file that was deleted.
            return Ok(());
        };
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        if about.is_symlink() {
            symlink(fs::read_link(&from)?, &to)?;
        } else if about.is_file() {
            fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
            let copied = fs::File::options().append(true).open(&to);
            // A file without permission to write keeps the new time; cargo then compiles it again.
            if let Ok(copied) = copied {
                copied.set_modified(about.modified()?)?;
            }
        }
        Ok(())
    }

    /// Applies a patch to the copy. Returns the files that it changes.
    ///
    /// # Errors
    /// [`UsageError`] if the patch cannot be read, changes no file, or does not apply; the error names
    /// the place.
    pub fn apply(&self, patch: &Path) -> Result<Vec<String>> {
        let refuse = |text: String| Err(UsageError(format!("{}: {text}", patch.display())).into());
        let file = match patch.canonicalize() {
            Ok(file) => file,
            Err(cause) => return refuse(cause.to_string()),
        };
        let file = file.to_string_lossy();
        let listed = self.git_apply(&["--numstat", &file])?;
        if !listed.status.success() {
            return refuse(format!(
                "this is no patch that git can read ({}); `git diff` writes one",
                first_line(&listed.stderr)
            ));
        }
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let files: Vec<String> = listed
            .lines()
            .filter_map(|line| line.split('\t').nth(2))
            .map(str::to_owned)
            .collect();
        if files.is_empty() {
            return refuse("the patch changes no file".to_owned());
        }
        let applied = self.git_apply(&["--whitespace=nowarn", &file])?;
        if !applied.status.success() {
            return refuse(format!(
                "the patch does not apply to this tree: {}. Make the change in the sources and \
                 write the patch with `git diff`",
                refused_hunks(&String::from_utf8_lossy(&applied.stderr))
            ));
        }
        Ok(files)
    }

    fn git_apply(&self, arguments: &[&str]) -> Result<Output> {
        Command::new("git")
            .current_dir(&self.path)
            // Without this, git considers the copy a part of the repository around it and applies
            // nothing.
            .env("GIT_CEILING_DIRECTORIES", self.ceiling())
            .arg("apply")
            .args(arguments)
            .output()
            .context("cannot start git")
    }

    fn ceiling(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// Whether the C sources differ from those that the transpiled driver was generated from.
    ///
    /// # Errors
    /// If the list of hashes or a source cannot be read.
    pub fn needs_transpiling(&self) -> Result<bool> {
        let list = self.path.join(GENERATED_FROM);
        let text = fs::read_to_string(&list).with_context(|| list.display().to_string())?;
        let mut known = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((hash, name)) = line.split_once("  ") else {
                continue;
            };
            if !name.starts_with("c/src/") {
                continue;
            }
            known.push(name.to_owned());
            let hash_now = fs::read(self.path.join(name)).map(|bytes| hash_of(&bytes));
            if hash_now.ok().as_deref() != Some(hash) {
                return Ok(true);
            }
        }
        let mut sources = Vec::new();
        list_sources(&self.path.join("c/src"), &mut sources)?;
        Ok(sources.len() != known.len())
    }

    /// Replaces the sources of a driver by those of the last commit, so that the tests can be built
    /// although this driver does not compile.
    ///
    /// # Errors
    /// If git does not have the sources.
    pub fn restore(&self, implementation: Implementation) -> Result<()> {
        let folder = source_folder(implementation);
        let names = git(
            &self.root,
            &["ls-tree", "-r", "-z", "--name-only", "HEAD", &folder],
        )?;
        ensure!(
            names.status.success(),
            "git has no commit with {folder}: {}",
            first_line(&names.stderr)
        );
        fs::remove_dir_all(self.path.join(folder))?;
        for name in names.stdout.split(|byte| *byte == 0) {
            if name.is_empty() {
                continue;
            }
            let name = String::from_utf8_lossy(name).into_owned();
            let content = git(&self.root, &["show", &format!("HEAD:{name}")])?;
            ensure!(content.status.success(), "git has no {name}");
            let to = self.path.join(&name);
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&to, content.stdout)
                .with_context(|| format!("cannot write {}", to.display()))?;
        }
        Ok(())
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // The next verdict empties the folder if this fails.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The folder with the sources of a driver.
fn source_folder(implementation: Implementation) -> String {
    format!("{implementation}/src")
}

fn git(root: &Path, arguments: &[&str]) -> Result<Output> {
    Command::new("git")
        .current_dir(root)
        .args(arguments)
        .output()
        .context("cannot start git")
}

fn first_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().next().unwrap_or_default().trim().to_owned()
}

/// The places that git names: `hunk at c/src/driver/tx.c:57`.
fn refused_hunks(message: &str) -> String {
    let places: Vec<_> = message
        .lines()
        .filter_map(|line| line.strip_prefix("error: patch failed: "))
        .map(|place| format!("the hunk at {place} finds other lines there"))
        .collect();
    match places.is_empty() {
        true => first_line(message.as_bytes()),
        false => places.join(", "),
    }
}

fn hash_of(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

fn list_sources(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let end = path.extension().unwrap_or_default();
        if path.is_dir() {
            list_sources(&path, found)?;
        } else if end == "c" || end == "h" {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    fn patched(tree: &Tree, folder: &Path, patch: &str) -> Result<Vec<String>> {
        let file = folder.join("a.patch");
        fs::write(&file, patch).unwrap();
        tree.apply(&file)
    }

    #[test]
    fn a_copy_has_the_tree_as_it_is_and_goes_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tree");
        let tree = Tree::copy(root(), &path).unwrap();
        let times = |root: &Path| {
            let about = root.join("c/src/driver/tx.c").metadata().unwrap();
            about.modified().unwrap()
        };
        assert_eq!(times(root()), times(&path));
        assert!(!path.join("build").exists());
        let lines = fs::read_to_string(path.join("c/src/driver/tx.c")).unwrap();
        let lines: Vec<_> = lines.lines().collect();
        let nth = lines.iter().position(|line| line.contains("tail")).unwrap();
        let [above, line, below] = [lines[nth - 1], lines[nth], lines[nth + 1]];
        let patch = format!(
            "--- a/c/src/driver/tx.c\n+++ b/c/src/driver/tx.c\n@@ -{nth},3 +{nth},3 @@\n {above}\n-{line}\n+{line} // x\n {below}\n"
        );
        let before = tree.needs_transpiling().unwrap();
        let changed = patched(&tree, folder.path(), &patch).unwrap();
        assert_eq!(changed, ["c/src/driver/tx.c"]);
        assert!(tree.needs_transpiling().unwrap());
        tree.restore(Implementation::C).unwrap();
        assert!(!before, "make transpile");
        drop(tree);
        assert!(!path.exists());
    }

    #[test]
    fn a_patch_that_cannot_be_used_is_refused_with_the_place() {
        let folder = tempfile::tempdir().unwrap();
        let tree = Tree::copy(root(), &folder.path().join("tree")).unwrap();
        for (patch, expected) in [
            ("just words\n", "no patch"),
            (
                "--- a/c/src/driver/tx.c\n+++ b/c/src/driver/tx.c\n@@ -7 +7 @@\n-no such line\n+x\n",
                "c/src/driver/tx.c:7",
            ),
            (
                "--- a/c/src/fortran.c\n+++ b/c/src/fortran.c\n@@ -7 +7 @@\n-x\n+y\n",
                "c/src/fortran.c",
            ),
        ] {
            let error = patched(&tree, folder.path(), patch).unwrap_err();
            assert!(error.is::<UsageError>(), "{error}");
            assert!(error.to_string().contains(expected), "{expected}: {error}");
        }
        let missing = tree.apply(&folder.path().join("none.patch")).unwrap_err();
        assert!(missing.to_string().contains("none.patch"), "{missing}");
    }

    #[test]
    fn another_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = Tree::copy(folder.path(), &folder.path().join("tree")).unwrap_err();
        assert!(error.is::<UsageError>(), "{error}");
    }
}
