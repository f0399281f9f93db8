//! Where the repository and the lab's own files are.

use std::path::PathBuf;

/// The repository's root.
pub fn root() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..");
    path.canonicalize().unwrap_or(path)
}

/// The folder that holds everything built: `build/`, or the one that `TRIPTYCH_BUILD` names.
pub fn build() -> PathBuf {
    match std::env::var_os("TRIPTYCH_BUILD") {
        Some(folder) => PathBuf::from(folder),
        None => root().join("build"),
    }
}

/// The lab's own folder.
pub fn lab() -> PathBuf {
    root().join("drivers/conformance/safety")
}
