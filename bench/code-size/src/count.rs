//! Counts the lines of code of a file.

use anyhow::{Context, Result};
use serde::Serialize;
use tokei::{Config, LanguageType};

use crate::unsafety::unsafe_lines;

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct SourceFile {
    /// The path relative to the top of the repository.
    pub path: String,
    /// A name that the file shares with its twins in the other drivers: `rx` for `rx.c` and `rx.rs`.
    pub twin: String,
    pub lines: usize,
    /// Lines of unsafe code; `None` for C, which does not mark them.
    pub unsafe_lines: Option<usize>,
}

pub fn count_text(path: &str, inside: &str, text: &str) -> Result<Option<SourceFile>> {
    let Some(language) = language(inside) else {
        return Ok(None);
    };
    let text = without_tests(text);
    let unsafe_lines = (language == LanguageType::Rust).then(|| unsafe_code_lines(text));
    let unsafe_lines = unsafe_lines.transpose();
    let unsafe_lines = unsafe_lines.with_context(|| format!("{path} is not Rust"))?;
    Ok(Some(SourceFile {
        path: path.to_owned(),
        twin: twin(inside),
        lines: language.parse_from_str(text, &Config::default()).code,
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
    let end = text.match_indices("#[cfg(test)]").find(|(at, mark)| {
        let rest = text[at + mark.len()..].lines().map(str::trim);
        // Attributes may precede the module.
        let mut rest = rest.filter(|line| !line.is_empty() && !line.starts_with("#["));
        rest.next()
            .is_some_and(|line| line.starts_with("mod tests {"))
    });
    end.map_or(text, |(at, _)| &text[..at])
}

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
        let lines = |path, text| count_text(path, path, text).unwrap().unwrap().lines;
        let c = "/* a\n   b */\n\nint x; // c\n// d\nint f(void) {\n    return 1;\n}\n";
        assert_eq!(lines("rx.c", c), 4);
        let rust = "//! a\n\n/// ```\n/// let x = 1;\n/// ```\nfn f() {}\n";
        assert_eq!(lines("rx.rs", rust), 1);
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
