//! Changes of single texts in copies of a peer's files.

use std::fs;
use std::path::Path;

use anyhow::{ensure, Context, Result};

use super::manifest::{Change, UNMODIFIED_BATCH};

/// The change of the line `constant` that sets another batch size; `None` for the unmodified program.
pub fn batch_change(file: &Path, constant: &str, batch: u32) -> Option<Change> {
    let to = constant.replace(&format!(" = {UNMODIFIED_BATCH};"), &format!(" = {batch};"));
    (batch != UNMODIFIED_BATCH).then(|| Change {
        file: file.to_owned(),
        from: constant.to_owned(),
        times: 1,
        to,
    })
}

impl Change {
    /// Applies the change to the contents of its file.
    ///
    /// # Errors
    /// If the text is not there as often as expected.
    pub fn apply(&self, content: &str) -> Result<String> {
        let count = content.matches(&self.from).count();
        ensure!(
            count == self.times,
            "{} has {:?} {count} times, and {} is expected",
            self.file.display(),
            self.from,
            self.times
        );
        Ok(content.replace(&self.from, &self.to))
    }

    /// The change for readers: the new text.
    pub fn name(&self) -> String {
        self.to.clone()
    }
}

/// Writes the file of `sources` with the change, if there is one, to `to`.
///
/// # Errors
/// If a file cannot be read or written, or the change does not fit.
pub fn copy_changed(sources: &Path, file: &Path, change: Option<&Change>, to: &Path) -> Result<()> {
    let path = sources.join(file);
    let content =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let content = match change {
        Some(change) => change.apply(&content)?,
        None => content,
    };
    fs::write(to, content).with_context(|| format!("cannot write {}", to.display()))
}

/// Copies a folder with all its files.
///
/// # Errors
/// If a file cannot be read or written.
pub fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    let entries = fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot read {}", from.display()))?;
        let (path, new) = (entry.path(), to.join(entry.file_name()));
        let kind = entry
            .file_type()
            .with_context(|| format!("cannot read {}", path.display()))?;
        if kind.is_dir() {
            copy_folder(&path, &new)?;
        } else if kind.is_file() {
            fs::copy(&path, &new).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "const int BATCH_SIZE = 32;";

    #[test]
    fn only_another_batch_size_changes_the_line() {
        let file = Path::new("fwd.c");
        assert!(batch_change(file, LINE, 32).is_none());
        let change = batch_change(file, LINE, 8).unwrap();
        assert_eq!(change.name(), "const int BATCH_SIZE = 8;");
        let changed = change.apply("a\nconst int BATCH_SIZE = 32;\nb\n").unwrap();
        assert_eq!(changed, "a\nconst int BATCH_SIZE = 8;\nb\n");
    }

    #[test]
    fn a_text_that_is_missing_or_there_twice_is_refused() {
        let change = batch_change(Path::new("fwd.c"), LINE, 8).unwrap();
        for (content, count) in [("", "0 times"), (&format!("{LINE}{LINE}"), "2 times")] {
            let error = change.apply(content).unwrap_err().to_string();
            assert!(error.contains(count) && error.contains("fwd.c"), "{error}");
        }
    }

    #[test]
    fn a_folder_is_copied_with_its_folders() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::write(from.join("a/b/file"), "x").unwrap();
        copy_folder(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("a/b/file")).unwrap(), "x");
    }
}
