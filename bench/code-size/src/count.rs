//! Counts the lines of code of a file.

use anyhow::{Context, Result};
use serde::Serialize;
use tokei::{Config, LanguageType};

use crate::unsafety::unsafe_lines;

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
pub fn count_text(path: &str, inside: &str, text: &str) -> Result<Option<SourceFile>> {
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
        path: path.to_owned(),
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

    #[test]
    fn comments_blank_lines_and_tests_do_not_count() {
        let c = "/* a\n   b */\n\nint x; // c\n// d\nint f(void) {\n    return 1;\n}\n";
        assert_eq!(code_lines(c, LanguageType::C), 4);
        let rust = "//! a\n\n/// ```\n/// let x = 1;\n/// ```\nfn f() {}\n";
        assert_eq!(code_lines(rust, LanguageType::Rust), 1);
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
}
