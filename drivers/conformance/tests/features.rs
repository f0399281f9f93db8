//! `drivers/FEATURES.md`: each row names a test, and the test exists.

use std::fs;
use std::path::Path;

use anyhow::{ensure, Context, Result};

/// The words between backquotes in the last column of a row.
fn quoted(row: &str) -> Vec<&str> {
    let last = row.trim_end_matches('|').rsplit('|').next();
    let parts = last.unwrap_or_default().split('`');
    parts.skip(1).step_by(2).collect()
}

#[test]
fn every_row_names_a_test_that_exists() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(folder.join("../FEATURES.md"))?;
    let rows: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    ensure!(rows.len() >= 10, "only {} rows", rows.len());
    for row in rows {
        let [file, test] = quoted(row)[..] else {
            anyhow::bail!("a row names a file and a test, unlike: {row}");
        };
        let source = fs::read_to_string(folder.join(file)).with_context(|| file.to_owned())?;
        ensure!(
            source.contains(&format!("fn {test}(")),
            "{file} has no test {test}"
        );
    }
    Ok(())
}

#[test]
fn the_last_column_is_read() {
    assert_eq!(quoted("| `a` | b | `c.rs`: `d` |"), ["c.rs", "d"]);
}
