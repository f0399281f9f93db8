//! The names in `drivers/ASSUMPTIONS.md`: each name in the code has a row, and each row is cited in the
//! C driver and in the safe Rust driver.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};

const PREFIXES: [&str; 2] = ["TRUST-", "DEVIATION-"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names in a text. `TRUST-...`, the pattern for all of them, is not a name.
fn names(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_uppercase() || c == '-';
    text.split(|c| !is_part(c))
        .filter(|word| PREFIXES.iter().any(|prefix| word.starts_with(prefix)))
        .filter(|word| !PREFIXES.contains(word))
        .map(|word| word.trim_end_matches('-').to_owned())
        .collect()
}

/// The names in all sources of a folder.
fn names_in(folder: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(names_in(&path)?);
        } else {
            found.extend(names(&fs::read_to_string(&path)?));
        }
    }
    Ok(found)
}

/// The names of the rows of the tables.
fn rows() -> Result<BTreeSet<String>> {
    let text = fs::read_to_string(root().join("drivers/ASSUMPTIONS.md"))?;
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let names = rows.filter_map(|row| row.split_once('`'));
    Ok(names.map(|(name, _)| name.to_owned()).collect())
}

#[test]
fn both_drivers_cite_every_row_and_no_other_name() -> Result<()> {
    let rows = rows()?;
    ensure!(rows.len() >= 10, "only {} rows", rows.len());
    for folder in ["c/src", "rust/src"] {
        let cited = names_in(&root().join(folder))?;
        let unknown: Vec<_> = cited.difference(&rows).collect();
        ensure!(unknown.is_empty(), "{folder}: no row for {unknown:?}");
        let missing: Vec<_> = rows.difference(&cited).collect();
        ensure!(missing.is_empty(), "{folder} does not cite {missing:?}");
    }
    Ok(())
}

#[test]
fn names_are_found_in_comments() {
    let text = "/* TRUST-LENGTH: x (DEVIATION-MAC-LOCK), TRUST-... and DEVIATION-... */";
    let expected = ["DEVIATION-MAC-LOCK", "TRUST-LENGTH"].map(str::to_owned);
    assert_eq!(names(text), BTreeSet::from(expected));
}
