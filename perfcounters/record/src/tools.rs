//! What other programs say: the revision of the measured sources, and versions of tools.

use std::path::Path;
use std::process::{Command, Stdio};

use regex::Regex;
use serde::{Deserialize, Serialize};

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

/// A compiler and its version. Between them may be words, and the distributor's version in brackets. The
/// suffix of `13.0.1-11+b2` is the distributor's, too; that of `1.97.0-nightly` is not.
const COMPILER: &str = r"(?:^|[ /])(gcc|clang|rustc|cc)(?:-[^ ]*)?(?: +(?:\([^)]*\)|[^ (0-9][^ ]*))* +([0-9]+\.[0-9a-z.]*(?:-[a-z][^ ,;]*)?)";

/// Name and version of a compiler, from the line that a build recorded.
///
/// `gcc (Debian 12.2.0-14) 12.2.0 -O2` becomes `gcc 12.2.0`; a line without a known compiler stays
/// as it is.
pub fn short_toolchain(line: &str) -> String {
    let compiler = Regex::new(COMPILER).ok();
    match compiler.and_then(|compiler| compiler.captures(line)) {
        Some(found) => format!("{} {}", &found[1], &found[2]),
        None => line.trim().to_owned(),
    }
}

/// The state of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitFacts {
    /// Full hash of the checked-out commit; `null` before the first one.
    pub revision: Option<String>,
    /// When the commit was made, RFC 3339. Old records do not say.
    #[serde(default)]
    pub committed: Option<String>,
    /// Whether files differ from that commit.
    pub dirty: bool,
}

impl GitFacts {
    /// The repository that `folder` is in; `None` outside of one or without git.
    pub fn of(folder: &Path) -> Option<Self> {
        let run = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.arg("-C").arg(folder).args(arguments);
            // Without this, `git status` takes a lock that can make a commit fail meanwhile.
            printed(git.env("GIT_OPTIONAL_LOCKS", "0"))
        };
        let status = run(&["status", "--porcelain"])?;
        Some(Self {
            revision: run(&["rev-parse", "--verify", "HEAD"]),
            committed: run(&["show", "--no-patch", "--format=%cI", "HEAD"]),
            dirty: !status.is_empty(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_outside_of_a_repository_has_no_revision() {
        assert_eq!(GitFacts::of(Path::new("/proc")), None);
    }

    #[test]
    fn toolchains_are_shortened() {
        let gcc = "gcc (Debian 12.2.0-14+deb12u1) 12.2.0 -O2 -march=haswell";
        let rustc = "rustc 1.95.0 (59807616e 2026-04-14) -C target-cpu=haswell";
        for (line, short) in [
            (gcc, "gcc 12.2.0"),
            (rustc, "rustc 1.95.0"),
            ("gcc-12 (Debian 12.2.0-14) 12.2.0 -O2", "gcc 12.2.0"),
            ("Debian clang version 14.0.6 -O2", "clang 14.0.6"),
            ("Debian clang version 13.0.1-11+b2 -O2", "clang 13.0.1"),
            ("rustc 1.97.0-nightly (ac68faa20)", "rustc 1.97.0-nightly"),
            ("/usr/bin/gcc 13.1.0, -O2", "gcc 13.1.0"),
            ("  an odd compiler  ", "an odd compiler"),
            ("gcc", "gcc"),
        ] {
            assert_eq!(short_toolchain(line), short, "{line}");
        }
    }
}
