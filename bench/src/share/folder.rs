//! A new folder of results: it appears whole or not at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{bail, Context, Result};
use perfcounters::temporary::TemporaryFolder;

use crate::usage::UsageError;

/// A folder in the making, beside its final place.
pub(super) struct NewFolder {
    temporary: TemporaryFolder,
    into: PathBuf,
}

impl NewFolder {
    /// Begins a folder.
    ///
    /// # Errors
    /// [`UsageError`] if the folder exists; an error if the folder above it cannot be written.
    pub(super) fn begin(into: &Path) -> Result<Self> {
        if into.symlink_metadata().is_ok() {
            return Err(UsageError(format!(
                "{} exists: name a new folder with --into",
                into.display()
            ))
            .into());
        }
        let parent = match into.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot create {}", parent.display()))?;
        let temporary = TemporaryFolder::create_in(parent, ".triptych-share-")
            .with_context(|| format!("cannot write to {}", parent.display()))?;
        // The folder is for sharing, unlike other temporary folders.
        fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o755))
            .with_context(|| format!("cannot write to {}", parent.display()))?;
        Ok(Self {
            temporary,
            into: into.to_owned(),
        })
    }

    /// Where the folder is until [`NewFolder::finish`].
    pub(super) fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Moves the folder to its place.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub(super) fn finish(self) -> Result<()> {
        let path = self.temporary.keep();
        if let Err(error) = fs::rename(&path, &self.into) {
            let _ = fs::remove_dir_all(&path);
            bail!("cannot create {}: {error}", self.into.display());
        }
        Ok(())
    }
}

/// The regular files of a folder, sorted by name. Folders, such as a report, are left out: `make paper`
/// makes the report again.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}
