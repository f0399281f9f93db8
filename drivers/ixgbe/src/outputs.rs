//! The list of generated files, and the check that they are current.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::check;
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

/// The reason that the files could not be generated or checked.
#[derive(Debug, Error)]
pub enum Error {
    /// A file that cannot be read or written.
    #[error("cannot {verb} {}: {source}", path.display())]
    File {
        /// The operation: read or write.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The map violates rules.
    #[error("{SOURCE}:\n{0}")]
    Map(check::Error),
}

/// Reads the register map of the repository at `root`.
///
/// # Errors
/// If the map cannot be read, or violates a rule.
pub fn read_map(root: &Path) -> Result<RegisterMap, Error> {
    let path = root.join(SOURCE);
    let text = std::fs::read_to_string(&path).map_err(|source| Error::File {
        verb: "read",
        path,
        source,
    })?;
    RegisterMap::parse(&text).map_err(Error::Map)
}

/// The constants that the drivers of the repository at `root` use.
///
/// # Errors
/// If a driver source cannot be read.
pub fn read_selection(root: &Path) -> Result<Selection, Error> {
    Selection::of_drivers(root).map_err(|(path, source)| Error::File {
        verb: "read",
        path,
        source,
    })
}

/// All files that are generated from `map`. The drivers' headers hold the constants of `selection`.
pub fn outputs(map: &RegisterMap, selection: &Selection) -> Vec<Output> {
    vec![
        Output {
            path: "c/src/driver/registers.h",
            text: emit::c::registers(map, selection),
        },
        Output {
            path: "c/src/driver/device_ids.h",
            text: emit::c::device_ids(map),
        },
        Output {
            path: "rust/src/driver/registers.rs",
            text: emit::rust::registers(map, selection),
        },
        Output {
            path: "rust/src/driver/device_ids.rs",
            text: emit::rust::device_ids(map),
        },
        Output {
            path: "drivers/nic/src/device/registers.rs",
            text: emit::nic::registers(map),
        },
        Output {
            path: "drivers/ixgbe/REGISTERS.md",
            text: emit::markdown::reference(map),
        },
    ]
}

/// The outputs whose files under `root` are missing or differ.
///
/// # Errors
/// If a file exists and cannot be read.
pub fn stale(root: &Path, outputs: &[Output]) -> Result<Vec<&'static str>, Error> {
    let mut stale = Vec::new();
    for output in outputs {
        let path = root.join(output.path);
        match std::fs::read(&path) {
            Ok(found) if found == output.text.as_bytes() => {}
            Ok(_) => stale.push(output.path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => stale.push(output.path),
            Err(source) => {
                return Err(Error::File {
                    verb: "read",
                    path,
                    source,
                })
            }
        }
    }
    Ok(stale)
}

/// Writes the stale outputs and returns their paths. Current files keep their time stamps, so that
/// nothing is rebuilt for them.
///
/// # Errors
/// If a file cannot be read or written.
pub fn write(root: &Path, outputs: &[Output]) -> Result<Vec<&'static str>, Error> {
    let stale = stale(root, outputs)?;
    for output in outputs.iter().filter(|output| stale.contains(&output.path)) {
        let path = root.join(output.path);
        std::fs::write(&path, &output.text).map_err(|source| Error::File {
            verb: "write",
            path,
            source,
        })?;
    }
    Ok(stale)
}
