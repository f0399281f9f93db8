//! Hashes of the contents of files.
//!
//! A compiler has hundreds of megabytes, and several compilers share files. The process therefore remembers each hash,
//! but no longer than it runs: a file that changes between two runs is read again.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// What must be equal for a file to be the same as when it was hashed: path, device, inode, size,
/// and the times of the last change of its contents and of its inode, in seconds and nanoseconds.
type Stamp = (PathBuf, u64, u64, u64, (i64, i64), (i64, i64));

static KNOWN: Mutex<Option<HashMap<Stamp, String>>> = Mutex::new(None);

/// SHA-256 of a file, in 64 hexadecimal digits. Symbolic links are followed.
///
/// # Errors
/// If the file cannot be read.
pub fn file_hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let facts = file.metadata()?;
    let stamp = (
        path.to_owned(),
        facts.dev(),
        facts.ino(),
        facts.len(),
        (facts.mtime(), facts.mtime_nsec()),
        (facts.ctime(), facts.ctime_nsec()),
    );
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_with(HashMap::new);
    if let Some(hash) = known.get(&stamp) {
        return Ok(hash.clone());
    }
    let mut hasher = Sha256::new();
    io::copy(&mut file, &mut hasher)?;
    let hash = hex(&hasher.finalize());
    known.insert(stamp, hash.clone());
    Ok(hash)
}

/// SHA-256 of a text, in 64 hexadecimal digits.
pub fn text_hash(text: &str) -> String {
    hex(&Sha256::digest(text))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_has_another_hash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cc1");
        std::fs::write(&path, "abc").unwrap();
        let before = file_hash(&path).unwrap();
        assert_eq!(before, text_hash("abc"));
        assert_eq!(file_hash(&path).unwrap(), before);
        // Equal length, and perhaps the same tick of the clock: the new file has another inode.
        let new = folder.path().join("new");
        std::fs::write(&new, "abd").unwrap();
        std::fs::rename(&new, &path).unwrap();
        assert_eq!(file_hash(&path).unwrap(), text_hash("abd"));
        assert!(file_hash(&folder.path().join("absent")).is_err());
    }
}
