//! The revision of the measured sources.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// The state of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitFacts {
    /// Full hash of the checked-out commit; `null` before the first one.
    pub revision: Option<String>,
    /// Whether files differ from that commit.
    pub dirty: bool,
}

impl GitFacts {
    /// The repository that `folder` is in; `None` outside of one or without git.
    pub fn of(folder: &Path) -> Option<Self> {
        let run = |arguments: &[&str]| {
            let output = Command::new("git")
                .arg("-C")
                .arg(folder)
                // Without this, `git status` takes a lock that can make a commit fail meanwhile.
                .env("GIT_OPTIONAL_LOCKS", "0")
                .args(arguments)
                .stdin(Stdio::null())
                .output()
                .ok()?;
            output
                .status
                .success()
                .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let status = run(&["status", "--porcelain"])?;
        Some(Self {
            revision: run(&["rev-parse", "--verify", "HEAD"]),
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
}
