//! Which constants the drivers use: their headers hold those and no others.
//!
//! The driver sources are the list. C names a constant `IXGBE_NAME`; Rust names it `regs::NAME`, or
//! imports it by `use crate::driver::registers::{..}`. A name that the map does not have is the compiler's
//! business, not ours.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

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
    /// If a source cannot be read.
    pub fn of_drivers(root: &Path) -> io::Result<Self> {
        let mut used = BTreeSet::new();
        for text in sources(&root.join("c/src"))? {
            let words = text.split(|c| !is_name(c));
            used.extend(words.filter_map(|word| Some(word.strip_prefix("IXGBE_")?.to_owned())));
        }
        for text in sources(&root.join("rust/src"))? {
            for path in ["regs::", "registers::"] {
                for (at, _) in text.match_indices(path) {
                    used.extend(names_after(&text[at + path.len()..]));
                }
            }
        }
        Ok(Self::Used(used))
    }

    /// Whether the constant `name` is selected.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::Used(names) => names.contains(name),
        }
    }
}

/// The names that follow `registers::`: one, or a list in braces.
fn names_after(text: &str) -> Vec<String> {
    let list = match text.strip_prefix('{') {
        Some(rest) => rest.split('}').next().unwrap_or_default(),
        None => text.split(|c| !is_name(c)).next().unwrap_or_default(),
    };
    let names = list.split(|c| !is_name(c));
    names.map(str::to_owned).collect()
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The texts of the sources in `folder` and below that are written by hand.
fn sources(folder: &Path) -> io::Result<Vec<String>> {
    let named = |path: &Path, error: io::Error| {
        io::Error::new(
            error.kind(),
            format!("cannot read {}: {error}", path.display()),
        )
    };
    let mut texts = Vec::new();
    for entry in folder.read_dir().map_err(|error| named(folder, error))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            texts.extend(sources(&path)?);
        } else if ["c", "h", "rs"].contains(&&*extension) && !GENERATED.contains(&&*name) {
            texts.push(std::fs::read_to_string(&path).map_err(|error| named(&path, error))?);
        }
    }
    Ok(texts)
}
