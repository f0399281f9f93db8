//! The tracked files that are generated from the map: the headers of the drivers.

use std::io;
use std::path::Path;

use crate::emit;
use crate::map::RegisterMap;
use crate::usage::Selection;

/// The register map's source, relative to the repository's root.
pub const SOURCE: &str = "drivers/ixgbe/registers.toml";

/// A generated file.
#[derive(Debug, Clone)]
pub struct Output {
    /// Relative to the repository's root.
    pub path: &'static str,
    /// The text that the file must hold.
    pub text: String,
}

/// The drivers' headers, with the constants of `selection`.
pub fn outputs(map: &RegisterMap, selection: &Selection) -> [Output; 4] {
    let output = |path, text| Output { path, text };
    [
        output(
            "c/src/driver/registers.h",
            emit::c::registers(map, selection),
        ),
        output("c/src/driver/device_ids.h", emit::c::device_ids(map)),
        output(
            "rust/src/driver/registers.rs",
            emit::rust::registers(map, selection),
        ),
        output("rust/src/driver/device_ids.rs", emit::rust::device_ids(map)),
    ]
}

/// The outputs whose files under `root` are missing or differ.
///
/// # Errors
/// If a file exists and cannot be read.
pub fn stale<'o>(root: &Path, outputs: &'o [Output]) -> io::Result<Vec<&'o Output>> {
    let mut stale = Vec::new();
    for output in outputs {
        match std::fs::read(root.join(output.path)) {
            Ok(found) if found == output.text.as_bytes() => {}
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => stale.push(output),
        }
    }
    Ok(stale)
}
