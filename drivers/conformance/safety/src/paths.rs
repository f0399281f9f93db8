//! Where the repository and the lab's own files are.

use std::path::PathBuf;

/// The repository's root.
pub fn root() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..");
    path.canonicalize().unwrap_or(path)
}

/// The lab's own folder.
pub fn lab() -> PathBuf {
    root().join("drivers/conformance/safety")
}
