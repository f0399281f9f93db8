//! The revision of the measured sources.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::toolchain::printed;

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
            let mut git = Command::new("git");
            git.arg("-C").arg(folder).args(arguments);
            // Without this, `git status` takes a lock that can make a commit fail meanwhile.
            printed(git.env("GIT_OPTIONAL_LOCKS", "0"))
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
