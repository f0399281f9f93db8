//! Notes what a folder was built from, so that nothing is built twice.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// The name of the note.
const NAME: &str = "built-from.txt";

/// What a folder is built from.
#[derive(Debug)]
pub struct Stamp {
    folder: PathBuf,
    text: String,
}

impl Stamp {
    /// A stamp for `folder`. `parts` are all texts that the build depends on.
    pub fn new(folder: &Path, parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            // The length keeps two parts apart.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let digest: String = hash
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Self {
            folder: folder.to_owned(),
            text: digest + "\n",
        }
    }

    /// Whether the folder was built from the same, and has all `files`.
    pub fn holds(&self, files: &[PathBuf]) -> bool {
        fs::read_to_string(self.folder.join(NAME)).is_ok_and(|text| text == self.text)
            && files.iter().all(|file| file.is_file())
    }

    /// Empties the folder before a build.
    ///
    /// # Errors
    /// If the folder cannot be emptied.
    pub fn clear(&self) -> Result<()> {
        let fail = || format!("cannot empty {}", self.folder.display());
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).with_context(fail)?;
        }
        fs::create_dir_all(&self.folder).with_context(fail)
    }

    /// Notes that the build is complete.
    ///
    /// # Errors
    /// If the note cannot be written.
    pub fn set(&self) -> Result<()> {
        let path = self.folder.join(NAME);
        fs::write(&path, &self.text).with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_holds_for_the_same_parts_and_complete_files() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("new");
        let file = folder.join("program");
        let stamp = Stamp::new(&folder, &["a", "bc"]);
        assert!(!stamp.holds(&[]));
        stamp.clear().unwrap();
        fs::write(&file, "").unwrap();
        stamp.set().unwrap();
        let files = [file];
        assert!(stamp.holds(&files));
        assert!(!Stamp::new(&folder, &["ab", "c"]).holds(&files));
        fs::remove_file(&files[0]).unwrap();
        assert!(!stamp.holds(&files));
        stamp.clear().unwrap();
        assert!(!stamp.holds(&[]));
    }
}
