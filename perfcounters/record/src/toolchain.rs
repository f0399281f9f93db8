//! Names and versions of tools, in short.

use std::process::{Command, Stdio};

/// What a command prints; `None` if it fails.
pub(crate) fn printed(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.trim().to_owned())
}

/// First line that `tool --version` prints; `None` without such a tool.
pub(crate) fn tool_version(tool: &str) -> Option<String> {
    let text = printed(Command::new(tool).arg("--version"))?;
    Some(text.lines().next()?.trim().to_owned())
}

/// Name and version of a compiler, from the line that a build recorded.
///
/// `gcc (Debian 12.2.0-14) 12.2.0 -O2` becomes `gcc 12.2.0`; a line without a known compiler stays
/// as it is.
pub fn short_toolchain(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let compiler = words.iter().position(|word| {
        let word = word.rsplit('/').next().unwrap_or(word);
        ["gcc", "clang", "rustc", "cc"]
            .iter()
            .any(|name| word == *name || word.starts_with(&format!("{name}-")))
    });
    // The distributor's version, in brackets, is skipped.
    let mut depth = 0;
    for word in compiler.map_or(&[][..], |at| &words[at + 1..]) {
        depth += word.matches('(').count();
        let closes = word.matches(')').count();
        let version = word.chars().next().is_some_and(|c| c.is_ascii_digit()) && word.contains('.');
        if depth == 0 && version {
            let name = words[compiler.unwrap_or(0)];
            let name = name.rsplit('/').next().unwrap_or(name);
            let name = name.split('-').next().unwrap_or(name);
            let word = word.trim_end_matches([',', ';']);
            // The suffix of `13.0.1-11+b2` is the distributor's; that of `1.97.0-nightly` is not.
            let version = match word.split_once('-') {
                Some((version, rest)) if rest.starts_with(|c: char| c.is_ascii_digit()) => version,
                _ => word,
            };
            return format!("{name} {version}");
        }
        depth = depth.saturating_sub(closes);
    }
    line.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toolchains_are_shortened() {
        for (line, short) in [
            (
                "gcc (Debian 12.2.0-14+deb12u1) 12.2.0 -O2 -march=haswell",
                "gcc 12.2.0",
            ),
            ("gcc-12 (Debian 12.2.0-14) 12.2.0 -O2", "gcc 12.2.0"),
            ("Debian clang version 14.0.6 -O2", "clang 14.0.6"),
            ("Debian clang version 13.0.1-11+b2 -O2", "clang 13.0.1"),
            ("rustc 1.97.0-nightly (ac68faa20)", "rustc 1.97.0-nightly"),
            (
                "rustc 1.95.0 (59807616e 2026-04-14) -C target-cpu=haswell",
                "rustc 1.95.0",
            ),
            ("/usr/bin/gcc 13.1.0, -O2", "gcc 13.1.0"),
            ("  an odd compiler  ", "an odd compiler"),
            ("gcc", "gcc"),
        ] {
            assert_eq!(short_toolchain(line), short, "{line}");
        }
    }
}
