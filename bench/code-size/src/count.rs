//! Selects the files of each driver and counts their lines of code.

use std::fs;
use std::path::Path;

use anyhow::{bail, Context, Result};
use record::Implementation;
use serde::Serialize;
use tokei::{Config, LanguageType};
use walkdir::WalkDir;

use crate::unsafety::unsafe_lines;

/// The sources of a driver.
#[derive(Debug)]
pub struct Sources {
    /// The driver.
    pub implementation: Implementation,
    /// The folder of its sources, relative to the top of the repository.
    pub folder: &'static str,
    /// Files that do not count, relative to that folder: generated constants, tests, and interfaces
    /// for tests.
    pub without: &'static [&'static str],
}

/// The sources of the three drivers.
pub const SOURCES: &[Sources] = &[
    Sources {
        implementation: Implementation::C,
        folder: "c/src",
        without: &["driver/registers.h", "driver/device_ids.h"],
    },
    Sources {
        implementation: Implementation::Rust,
        folder: "rust/src",
        without: &[
            "clock_fake.rs",
            "driver/registers.rs",
            "driver/device_ids.rs",
            "test_queues.rs",
            "vfio/fake.rs",
            "sys/memory_heap.rs",
        ],
    },
    Sources {
        implementation: Implementation::RustUnsafe,
        folder: "rust-unsafe/src",
        without: &["tests.rs"],
    },
];

/// The files of the programs besides `ixgbe-fwd`, without folder and ending. They do not count: the published
/// numbers are those of a driver with a forwarder.
const OTHER_PROGRAMS: &[&str] = &[
    "capture",
    "echo",
    "echo_packet",
    "flow_packet",
    "forward_minimal",
    "pcap_file",
    "pcap_writer",
    "pktgen",
    "port",
    "replay",
    "stack_port",
    "token_bucket",
];

fn is_of_other_program(inside: &str) -> bool {
    let Some((folder, name)) = inside.trim_start_matches("gen/").split_once('/') else {
        return false;
    };
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    folder == "apps" && OTHER_PROGRAMS.contains(&stem)
}

/// A file of a driver.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct SourceFile {
    /// The path relative to the top of the repository.
    pub path: String,
    /// A name that the file shares with its twins in the other drivers: `rx` for `rx.c` and `rx.rs`.
    pub twin: String,
    /// Lines of code, without tests.
    pub lines: usize,
    /// Lines of unsafe code; `None` for C, which does not mark them.
    pub unsafe_lines: Option<usize>,
}

/// The text of one file, as `code-size` counts it.
///
/// # Errors
/// If unsafe lines cannot be found, because the text is not Rust.
pub fn count_text(path: String, inside: &str, text: &str) -> Result<Option<SourceFile>> {
    let Some(language) = language(inside) else {
        return Ok(None);
    };
    let text = without_tests(text);
    let unsafe_lines = match language {
        LanguageType::Rust => {
            Some(unsafe_code_lines(text).with_context(|| format!("{path} is not Rust"))?)
        }
        _ => None,
    };
    Ok(Some(SourceFile {
        path,
        twin: twin(inside),
        lines: code_lines(text, language),
        unsafe_lines,
    }))
}

fn language(path: &str) -> Option<LanguageType> {
    match path.rsplit_once('.')?.1 {
        "c" => Some(LanguageType::C),
        "h" => Some(LanguageType::CHeader),
        "rs" => Some(LanguageType::Rust),
        _ => None,
    }
}

/// Counts a driver's files, sorted by name.
///
/// # Errors
/// If a file cannot be read or parsed, or the folder has no sources.
pub fn count(root: &Path, sources: &Sources) -> Result<Vec<SourceFile>> {
    let folder = root.join(sources.folder);
    let mut files = Vec::new();
    for entry in WalkDir::new(&folder).sort_by_file_name() {
        let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
        let path = entry.path();
        let inside = path.strip_prefix(&folder)?.to_string_lossy().into_owned();
        let is_without = sources.without.contains(&inside.as_str());
        if language(&inside).is_none() || is_without || is_of_other_program(&inside) {
            continue;
        }
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        files.extend(count_text(
            format!("{}/{inside}", sources.folder),
            &inside,
            &text,
        )?);
    }
    if files.is_empty() {
        bail!("{} has no sources", folder.display());
    }
    Ok(files)
}

fn code_lines(text: &str, language: LanguageType) -> usize {
    language.parse_from_str(text, &Config::default()).code
}

/// The number of unsafe lines, without comments and blank lines.
fn unsafe_code_lines(text: &str) -> syn::Result<usize> {
    let found = unsafe_lines(text)?;
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let is_code = |number: &&usize| {
        let line = lines.get(**number - 1).copied().unwrap_or_default();
        !line.is_empty() && !line.starts_with("//")
    };
    Ok(found.iter().filter(is_code).count())
}

/// The part of a file before its unit tests, which stand at the end of every file.
fn without_tests(text: &str) -> &str {
    let end = text.match_indices("#[cfg(test)]").find(|(at, _)| {
        let rest = text.get(at + "#[cfg(test)]".len()..).unwrap_or_default();
        // Attributes may precede the module.
        rest.lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && !line.starts_with("#["))
            .is_some_and(|line| line.starts_with("mod tests {"))
    });
    end.map_or(text, |(at, _)| text.get(..at).unwrap_or(text))
}

/// The name that a file shares with its twins.
fn twin(inside: &str) -> String {
    let stem = inside
        .rsplit_once('.')
        .map_or(inside, |(stem, _ending)| stem)
        .trim_start_matches("gen/");
    let (room, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let name = match (room, name) {
        ("apps", "fwd") => "program",
        ("vfio", "kernel") => "vfio kernel",
        ("vfio", "vfio" | "mod") => "vfio",
        ("vfio_user", "vfio_user" | "mod") => "vfio user",
        (_, "lib" | "mod" | "layout") => "crate",
        (_, "shim") => "mmio",
        (_, name) => name,
    };
    name.into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn top() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    #[test]
    fn comments_and_blank_lines_do_not_count() {
        let c = "/* a\n   b */\n\nint x; // c\n// d\nint f(void) {\n    return 1;\n}\n";
        assert_eq!(code_lines(c, LanguageType::C), 4);
        let rust = "//! a\n\n/// ```\n/// let x = 1;\n/// ```\nfn f() {}\n";
        assert_eq!(code_lines(rust, LanguageType::Rust), 1);
    }

    #[test]
    fn tests_do_not_count() {
        let text = "fn f() {}\n\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n    fn g() {}\n}\n";
        assert_eq!(without_tests(text), "fn f() {}\n\n");
        let other = "#[cfg(test)]\nmod test_queues;\nfn f() {}\n";
        assert_eq!(without_tests(other), other);
    }

    #[test]
    fn twins_share_a_name() {
        assert_eq!(twin("driver/rx.c"), twin("gen/driver/rx.rs"));
        assert_eq!(twin("vfio_user/vfio_user.c"), twin("vfio_user/mod.rs"));
        assert_eq!(twin("driver/mmio.h"), twin("sys/mmio.rs"));
        assert_eq!(twin("apps/fwd.c"), twin("gen/apps/fwd.rs"));
        assert_ne!(twin("vfio/kernel.c"), twin("vfio/vfio.c"));
    }

    #[test]
    fn only_the_forwarder_counts_of_the_programs() {
        for inside in ["apps/echo.c", "gen/apps/port.rs", "apps/pktgen.rs"] {
            assert!(is_of_other_program(inside), "{inside}");
        }
        for inside in [
            "apps/fwd.c",
            "apps/queue_threads.rs",
            "gen/apps/fwd.rs",
            "driver/port.rs",
        ] {
            assert!(!is_of_other_program(inside), "{inside}");
        }
    }

    #[test]
    fn the_drivers_of_this_repository_are_counted() {
        for sources in SOURCES {
            let files = count(top(), sources).unwrap();
            let sum: usize = files.iter().map(|file| file.lines).sum();
            assert!(sum > 500, "{}: {sum}", sources.implementation);
            assert!(files.iter().all(|file| !file.path.contains("registers")));
            let marks = files
                .iter()
                .filter(|file| file.unsafe_lines.is_some())
                .count();
            assert_eq!(marks > 0, sources.implementation != Implementation::C);
        }
        let rust = count(top(), &SOURCES[1]).unwrap();
        for file in rust.iter().filter(|file| !file.path.contains("/sys/")) {
            assert_eq!(file.unsafe_lines, Some(0), "{}", file.path);
        }
        // As rust/README.md says.
        let lines: usize = rust.iter().map(|file| file.lines).sum();
        let inside: usize = rust.iter().filter_map(|file| file.unsafe_lines).sum();
        assert!(inside * 20 < lines, "{inside} of {lines} lines are unsafe");
    }

    #[test]
    fn a_folder_without_sources_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(count(folder.path(), &SOURCES[0]).is_err());
        fs::create_dir_all(folder.path().join("c/src")).unwrap();
        let error = count(folder.path(), &SOURCES[0]).unwrap_err();
        assert!(error.to_string().contains("has no sources"), "{error}");
    }
}
