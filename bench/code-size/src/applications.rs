//! The lines of the applications, and of what lies between them and a driver.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{ensure, Context, Result};
use walkdir::WalkDir;

use crate::count::count_text;

/// A file that has only tests.
const TESTS: &str = "tests.rs";

/// A part of the applications: its name, and its files or folders.
type Part = (&'static str, &'static [&'static str]);

const PARTS: &[Part] = &[
    (
        "interface, c",
        &["c/src/apps/stack_port.c", "c/src/apps/stack_port.h"],
    ),
    ("interface, rust", &["bench/ports-abi/src/stack_port.rs"]),
    (
        "interface, rust-unsafe",
        &["rust-unsafe/src/gen/apps/stack_port.rs"],
    ),
    ("stack", &["bench/apps/src/driver", "bench/apps/src/stack"]),
    ("kernel", &["bench/apps/src/kernel"]),
    (
        "service",
        &[
            "bench/apps/src/connection.rs",
            "bench/apps/src/contain.rs",
            "bench/apps/src/options.rs",
            "bench/apps/src/run.rs",
            "bench/apps/src/service.rs",
            "bench/apps/src/statistics.rs",
            "bench/apps/src/tcp",
        ],
    ),
    ("kv", &["bench/apps/src/kv", "bench/apps/src/bin/kv.rs"]),
    (
        "http",
        &["bench/apps/src/http", "bench/apps/src/bin/http.rs"],
    ),
    (
        "balancer",
        &["bench/apps/src/balancer", "bench/apps/src/bin/balancer.rs"],
    ),
    (
        "node",
        &["bench/apps/src/node", "bench/apps/src/bin/node.rs"],
    ),
];

/// Counts the lines of each part, without tests.
///
/// # Errors
/// If a file is missing, or cannot be read or parsed.
pub fn count(root: &Path) -> Result<BTreeMap<&'static str, usize>> {
    let mut parts = BTreeMap::new();
    for (name, paths) in PARTS {
        let mut lines = 0;
        for path in *paths {
            lines += count_path(&root.join(path)).with_context(|| (*path).to_owned())?;
        }
        parts.insert(*name, lines);
    }
    Ok(parts)
}

fn count_path(path: &Path) -> Result<usize> {
    let mut lines = 0;
    for entry in WalkDir::new(path) {
        let entry = entry?;
        if entry.file_type().is_file() && entry.file_name() != TESTS {
            let name = entry.path().to_string_lossy().into_owned();
            let text = fs::read_to_string(entry.path())?;
            lines += count_text(name.clone(), &name, &text)?.map_or(0, |file| file.lines);
        }
    }
    ensure!(lines > 0, "there are no lines");
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_tests_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.rs"), "fn f() {}\n").unwrap();
        fs::write(folder.path().join(TESTS), "fn g() {}\nfn h() {}\n").unwrap();
        assert_eq!(count_path(folder.path()).unwrap(), 1);
    }

    #[test]
    fn every_part_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let parts = count(&root).unwrap();
        assert_eq!(parts.len(), PARTS.len());
    }
}
