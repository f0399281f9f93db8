//! Which constants the drivers use: their headers hold those and no others.
//!
//! The driver sources are the list. C names a constant `IXGBE_NAME`; Rust names it `regs::NAME`, or
//! imports it by `use crate::driver::registers::{..}`. A name that the map does not have is the compiler's
//! business, not ours.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The C driver's sources, relative to the repository's root.
const C_SOURCES: &str = "c/src";

/// The Rust driver's sources, relative to the repository's root.
const RUST_SOURCES: &str = "rust/src";

/// The files among the sources that are generated from the map: they use nothing.
const GENERATED: [&str; 4] = [
    "registers.h",
    "device_ids.h",
    "registers.rs",
    "device_ids.rs",
];

/// The constants of the map that a generated file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All.
    Whole,
    /// The constants of these names, without a language's prefix.
    Used(BTreeSet<String>),
}

impl Selection {
    /// The constants that any of the two drivers in the repository at `root` uses.
    ///
    /// # Errors
    /// If a source cannot be read; with the file or folder.
    pub fn of_drivers(root: &Path) -> Result<Self, (PathBuf, io::Error)> {
        let mut used = used_by_c(root)?;
        used.extend(used_by_rust(root)?);
        Ok(Self::Used(used))
    }

    /// Whether this is a part of the map, which a person reads from top to bottom.
    pub fn is_brief(&self) -> bool {
        *self != Self::Whole
    }

    /// Whether the constant `name` is selected.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::Used(names) => names.contains(name),
        }
    }

    /// Whether the mask `field` or one of its `values` is selected. A value needs its mask.
    pub fn has_field(&self, field: &str, values: &[(String, u64)]) -> bool {
        self.has(field) || values.iter().any(|(name, _)| self.has(name))
    }

    /// The `values` that are selected.
    pub fn values(&self, values: Vec<(String, u64)>) -> Vec<(String, u64)> {
        let values = values.into_iter();
        values.filter(|(name, _)| self.has(name)).collect()
    }
}

/// The names that the C driver uses, without `IXGBE_`.
///
/// # Errors
/// As for [`Selection::of_drivers`].
pub fn used_by_c(root: &Path) -> Result<BTreeSet<String>, (PathBuf, io::Error)> {
    let mut names = BTreeSet::new();
    for text in sources(&root.join(C_SOURCES))? {
        let words = text.split(|c: char| !is_name(c));
        names.extend(words.filter_map(|word| word.strip_prefix("IXGBE_").map(str::to_owned)));
    }
    Ok(names)
}

/// The names that the Rust driver uses.
///
/// # Errors
/// As for [`Selection::of_drivers`].
pub fn used_by_rust(root: &Path) -> Result<BTreeSet<String>, (PathBuf, io::Error)> {
    let mut names = BTreeSet::new();
    for text in sources(&root.join(RUST_SOURCES))? {
        for path in ["regs::", "registers::"] {
            for (at, _) in text.match_indices(path) {
                names.extend(names_after(&text[at + path.len()..]));
            }
        }
    }
    Ok(names)
}

/// The names that follow `registers::`: one, or a list in braces.
fn names_after(text: &str) -> Vec<String> {
    let list = match text.strip_prefix('{') {
        Some(rest) => rest.split('}').next().unwrap_or_default(),
        None => text.split(|c| !is_name(c)).next().unwrap_or_default(),
    };
    let names = list.split(|c| !is_name(c));
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The texts of the sources in `folder` and below that are written by hand.
fn sources(folder: &Path) -> Result<Vec<String>, (PathBuf, io::Error)> {
    let mut texts = Vec::new();
    let entries = folder
        .read_dir()
        .map_err(|error| (folder.to_owned(), error))?;
    for entry in entries {
        let path = entry.map_err(|error| (folder.to_owned(), error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            texts.extend(sources(&path)?);
        } else if ["c", "h", "rs"].contains(&&*extension) && !GENERATED.contains(&&*name) {
            let text = std::fs::read_to_string(&path).map_err(|error| (path.clone(), error))?;
            texts.push(text);
        }
    }
    Ok(texts)
}
