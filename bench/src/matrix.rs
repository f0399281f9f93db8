//! Which drivers to measure, and where their builds are.

use std::path::{Path, PathBuf};

use perfcounters::host::short_toolchain;
use perfcounters::process::is_executable;
use perfcounters::record::{Build, Implementation, DEFAULT_FRAME_SIZE, DEFAULT_RING_SIZE};
use perfcounters::Cell;

/// Variant that every driver is built in.
pub const DEFAULT: &str = "default";
/// Variant in which Rust's arithmetic is checked; C has none.
pub const OVERFLOW_CHECKS: &str = "overflow-checks";

/// The rows to measure: the drivers in the given order, each in its variants.
///
/// Without `variants` these are the ones that the tables compare: the default of all, and
/// overflow checks in safe Rust.
pub fn rows(
    implementations: &[Implementation],
    variants: &[String],
) -> Vec<(Implementation, String)> {
    let mut rows = Vec::new();
    for implementation in implementations {
        let wanted: Vec<&str> = match (variants, implementation) {
            ([], Implementation::Rust) => vec![DEFAULT, OVERFLOW_CHECKS],
            ([], _) => vec![DEFAULT],
            // C has nothing to check with, whoever asks.
            (some, Implementation::C) => some
                .iter()
                .map(String::as_str)
                .filter(|variant| *variant != OVERFLOW_CHECKS)
                .collect(),
            (some, _) => some.iter().map(String::as_str).collect(),
        };
        for variant in wanted {
            let row = (*implementation, variant.to_owned());
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    rows
}

/// Folder with the artefacts of one driver.
pub fn build_folder(build: &Path, implementation: Implementation, variant: &str) -> PathBuf {
    let parent = match variant {
        DEFAULT => build.join("bin"),
        variant => build.join("variants").join(variant),
    };
    parent.join(implementation.to_string())
}

/// What a driver was built with, as its build wrote it down.
pub fn describe_build(build: &Path, implementation: Implementation, variant: &str) -> Build {
    // A variant that left no note of its own was built by the same compiler as the default.
    let flags = [variant, DEFAULT]
        .iter()
        .map(|variant| build_folder(build, implementation, variant).join("toolchain.txt"))
        .find_map(|path| std::fs::read_to_string(path).ok())
        .map(|text| text.lines().next().unwrap_or("").trim().to_owned())
        .filter(|line| !line.is_empty())
        .unwrap_or_else(|| "unknown".to_owned());
    Build {
        implementation,
        variant: variant.to_owned(),
        toolchain: short_toolchain(&flags),
        flags,
    }
}

/// The cells of a row, one for each batch size.
pub fn cells(build: &Path, row: &Build, batches: &[u32]) -> Vec<Cell> {
    let folder = build_folder(build, row.implementation, &row.variant);
    batches
        .iter()
        .map(|batch| Cell {
            implementation: row.implementation,
            variant: row.variant.clone(),
            toolchain: row.toolchain.clone(),
            batch: *batch,
            ring_size: DEFAULT_RING_SIZE,
            frame_size: DEFAULT_FRAME_SIZE,
            offered_mpps: None,
            program: folder.join("ixgbe-fwd"),
            library: folder.join("libforwarder.so"),
        })
        .collect()
}

/// What is missing to measure a cell, with what to do about it.
pub fn missing(cell: &Cell, needs_library: bool) -> Option<String> {
    let artefact = match needs_library {
        true => &cell.library,
        false => &cell.program,
    };
    let there = match needs_library {
        true => artefact.is_file(),
        false => is_executable(artefact),
    };
    (!there).then(|| format!("{} is not there: build it with `make`", artefact.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Implementation::{Rust, RustUnsafe, C};

    fn names(rows: &[(Implementation, String)]) -> Vec<String> {
        rows.iter()
            .map(|(implementation, variant)| format!("{implementation}/{variant}"))
            .collect()
    }

    #[test]
    fn the_tables_rows_are_the_default() {
        assert_eq!(
            names(&rows(&[C, Rust, RustUnsafe], &[])),
            [
                "c/default",
                "rust/default",
                "rust/overflow-checks",
                "rust-unsafe/default"
            ]
        );
    }

    #[test]
    fn named_variants_are_taken_of_all_that_can_have_them() {
        let both = [DEFAULT.to_owned(), OVERFLOW_CHECKS.to_owned()];
        assert_eq!(
            names(&rows(&[C, RustUnsafe, C], &both)),
            [
                "c/default",
                "rust-unsafe/default",
                "rust-unsafe/overflow-checks"
            ]
        );
        assert!(rows(&[C], &[OVERFLOW_CHECKS.to_owned()]).is_empty());
    }

    #[test]
    fn builds_are_found_by_variant() {
        let build = Path::new("build");
        assert_eq!(build_folder(build, C, DEFAULT), Path::new("build/bin/c"));
        assert_eq!(
            build_folder(build, RustUnsafe, OVERFLOW_CHECKS),
            Path::new("build/variants/overflow-checks/rust-unsafe")
        );
    }

    #[test]
    fn a_variant_without_a_note_has_the_defaults_compiler() {
        let build = tempfile::tempdir().unwrap();
        assert_eq!(
            describe_build(build.path(), Rust, OVERFLOW_CHECKS).toolchain,
            "unknown"
        );
        let folder = build_folder(build.path(), Rust, DEFAULT);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("toolchain.txt"),
            "rustc 1.95.0 -C opt-level=3\n",
        )
        .unwrap();
        let described = describe_build(build.path(), Rust, OVERFLOW_CHECKS);
        assert_eq!(described.toolchain, "rustc 1.95.0");
        assert_eq!(described.flags, "rustc 1.95.0 -C opt-level=3");
    }

    #[test]
    fn what_is_missing_is_named() {
        let build = tempfile::tempdir().unwrap();
        let row = describe_build(build.path(), C, DEFAULT);
        let cell = cells(build.path(), &row, &[32]).remove(0);
        let text = missing(&cell, false).unwrap();
        assert!(
            text.contains("bin/c/ixgbe-fwd") && text.contains("make"),
            "{text}"
        );
        assert!(missing(&cell, true).unwrap().contains("libforwarder.so"));
    }
}
