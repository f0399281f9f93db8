//! Where the built programs and libraries are.

use std::path::{Path, PathBuf};

use anyhow::{ensure, Result};
use record::Implementation;

/// Environment variable that names a build folder other than `build/`.
const BUILD: &str = "TRIPTYCH_BUILD";

/// An implementation's program `ixgbe-fwd`.
///
/// # Errors
/// If the program does not exist.
pub fn forwarder_program(implementation: Implementation) -> Result<PathBuf> {
    built(&format!("bin/{implementation}/ixgbe-fwd"))
}

/// Another program of an implementation, such as `ixgbe-echo`.
///
/// # Errors
/// If the program does not exist.
pub(crate) fn application_program(implementation: Implementation, name: &str) -> Result<PathBuf> {
    built(&format!("bin/{implementation}/{name}"))
}

/// The program `ixgbe-fwd` of a variant that `make variants` builds.
///
/// # Errors
/// If the program does not exist.
pub(crate) fn variant_program(implementation: Implementation, variant: &str) -> Result<PathBuf> {
    built(&format!("variants/{variant}/{implementation}/ixgbe-fwd"))
}

/// The program `ixgbe-fwd` of C or of the transpiled driver under ThreadSanitizer.
///
/// # Errors
/// If the program does not exist.
pub(crate) fn thread_sanitizer_program(implementation: Implementation) -> Result<PathBuf> {
    built(&format!("thread/{implementation}/ixgbe-fwd"))
}

/// An implementation's library `libforwarder.so`, for lockstep.
///
/// # Errors
/// If the library does not exist.
pub fn forwarder_library(implementation: Implementation) -> Result<PathBuf> {
    built(&format!("bin/{implementation}/libforwarder.so"))
}

/// The software NIC's program.
///
/// # Errors
/// If the program does not exist.
pub(crate) fn nic_program() -> Result<PathBuf> {
    built("bin/nic")
}

/// The program `triptych`.
///
/// # Errors
/// If the program does not exist.
pub(crate) fn triptych_program() -> Result<PathBuf> {
    built("bin/triptych")
}

/// The folder that holds everything built.
pub fn build_folder() -> PathBuf {
    match std::env::var_os(BUILD) {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build"),
    }
}

/// A file in the build folder. It must exist, because a skipped test proves nothing.
fn built(file: &str) -> Result<PathBuf> {
    let path = build_folder().join(file);
    ensure!(
        path.is_file(),
        "{} does not exist: run `make build variants`, or set {BUILD} to the folder that contains it",
        path.display()
    );
    Ok(path)
}

/// The path of all forwarders: `TRIPTYCH_PATH=tuned` runs the tests of the default path on the tuned one.
pub(crate) fn path_name() -> Option<String> {
    std::env::var("TRIPTYCH_PATH").ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_for_a_missing_file_says_how_to_build_it() {
        let error = built("bin/cobol/ixgbe-fwd").unwrap_err().to_string();
        assert!(error.contains("bin/cobol/ixgbe-fwd"), "{error}");
        assert!(error.contains("make build"), "{error}");
    }
}
