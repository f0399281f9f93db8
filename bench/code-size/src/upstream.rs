//! Counts the paper's own drivers at the commits that the paper counted.
//!
//! The paper removed what not all ten languages have. So the lists of files leave out virtio, register constants and
//! programs other than the forwarder. `bench/peers.toml` has the commits.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{bail, Context, Result};
use record::Implementation;
use serde::Deserialize;

use crate::count::{count_text, SourceFile};

/// A driver of the paper.
#[derive(Debug)]
pub struct Upstream {
    /// Its name in records.
    pub implementation: Implementation,
    /// The name of its source in `bench/peers.toml`, and of its repository below `build/peers/git/`.
    pub source: &'static str,
    /// The files that count.
    files: &'static [&'static str],
}

/// The paper's drivers with lines of their own. The transpiled one has no published lines.
pub const UPSTREAM: &[Upstream] = &[
    Upstream {
        implementation: Implementation::Ixy,
        source: "ixy",
        files: &[
            "src/app/ixy-fwd.c",
            "src/driver/device.c",
            "src/driver/device.h",
            "src/driver/ixgbe.c",
            "src/driver/ixgbe.h",
            "src/log.h",
            "src/memory.c",
            "src/memory.h",
            "src/pci.c",
            "src/pci.h",
            "src/stats.c",
            "src/stats.h",
        ],
    },
    Upstream {
        implementation: Implementation::IxyRs,
        source: "ixy.rs",
        files: &[
            "examples/forwarder.rs",
            "src/ixgbe.rs",
            "src/lib.rs",
            "src/memory.rs",
            "src/pci.rs",
        ],
    },
];

/// The part of `bench/peers.toml` that this tool needs.
#[derive(Debug, Deserialize)]
struct Manifest {
    source: Vec<Source>,
}

#[derive(Debug, Deserialize)]
struct Source {
    name: String,
    counted: Option<String>,
}

/// The lines of one driver.
#[derive(Debug)]
pub struct Counted {
    /// The commit.
    pub commit: String,
    /// Its files that count.
    pub files: Vec<SourceFile>,
}

/// Counts a driver of the paper. Returns `None` if `make peers` has not fetched its commit.
///
/// # Errors
/// If `bench/peers.toml` cannot be read or names no commit, or if the commit lacks a file.
pub fn count(root: &Path, upstream: &Upstream) -> Result<Option<Counted>> {
    let repository = root.join("build/peers/git").join(upstream.source);
    if !repository.is_dir() {
        return Ok(None);
    }
    let path = root.join("bench/peers.toml");
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let manifest: Manifest =
        toml::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?;
    let source = manifest
        .source
        .into_iter()
        .find(|each| each.name == upstream.source);
    let Some(commit) = source.and_then(|each| each.counted) else {
        bail!(
            "{} names no `counted` commit of {}",
            path.display(),
            upstream.source
        );
    };
    if git(
        &repository,
        &["cat-file", "-e", &format!("{commit}^{{commit}}")],
    )
    .is_err()
    {
        return Ok(None);
    }
    let mut files = Vec::new();
    for inside in upstream.files {
        let text = git(&repository, &["show", &format!("{commit}:{inside}")])?;
        let path = format!("{}/{inside}", upstream.source);
        files.extend(count_text(path, inside, &text)?);
    }
    Ok(Some(Counted { commit, files }))
}

fn git(repository: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .arg("--git-dir")
        .arg(repository)
        .args(arguments)
        .output()
        .context("cannot run git")?;
    if !output.status.success() {
        bail!(
            "git {} fails in {}: {}",
            arguments.join(" "),
            repository.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    String::from_utf8(output.stdout).context("the file is not UTF-8")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A repository with one file, as `make peers` keeps it; returns the commit.
    fn repository(root: &Path) -> String {
        let folder = root.join("build/peers/git/ixy.rs");
        fs::create_dir_all(&folder).unwrap();
        let work = root.join("work");
        for file in UPSTREAM[1].files {
            let path = work.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "// a\nfn f() {\n    unsafe { g() }\n}\n").unwrap();
        }
        let run = |arguments: &[&str]| {
            let mut all = vec!["--work-tree", work.to_str().unwrap()];
            all.extend(["-c", "user.name=a", "-c", "user.email=a@b"]);
            all.extend(arguments);
            git(&folder, &all).unwrap()
        };
        run(&["init", "--quiet"]);
        run(&["add", "--all"]);
        run(&["commit", "--quiet", "--message", "a"]);
        run(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    fn manifest(root: &Path, commit: &str) {
        fs::create_dir_all(root.join("bench")).unwrap();
        let text = format!("[[source]]\nname = \"ixy.rs\"\ncounted = \"{commit}\"\n");
        fs::write(root.join("bench/peers.toml"), text).unwrap();
    }

    #[test]
    fn the_counted_commit_is_counted_and_not_the_files_beside_it() {
        let root = tempfile::tempdir().unwrap();
        let commit = repository(root.path());
        manifest(root.path(), &commit);
        fs::write(root.path().join("work/src/lib.rs"), "").unwrap();
        let found = count(root.path(), &UPSTREAM[1]).unwrap().unwrap();
        assert_eq!(found.commit, commit);
        assert_eq!(found.files.len(), 5);
        assert!(found
            .files
            .iter()
            .all(|file| (file.lines, file.unsafe_lines) == (3, Some(1))));
    }

    #[test]
    fn sources_that_were_not_fetched_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        assert!(count(root.path(), &UPSTREAM[0]).unwrap().is_none());
        repository(root.path());
        manifest(root.path(), &"0".repeat(40));
        assert!(count(root.path(), &UPSTREAM[1]).unwrap().is_none());
    }

    #[test]
    fn a_source_without_a_counted_commit_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        repository(root.path());
        fs::create_dir_all(root.path().join("bench")).unwrap();
        let text = "[[source]]\nname = \"ixy.rs\"\n";
        fs::write(root.path().join("bench/peers.toml"), text).unwrap();
        let error = count(root.path(), &UPSTREAM[1]).unwrap_err().to_string();
        assert!(error.contains("no `counted` commit"), "{error}");
    }

    #[test]
    fn the_sources_have_their_names_in_the_list_of_peers() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let text = fs::read_to_string(root.join("bench/peers.toml")).unwrap();
        let manifest: Manifest = toml::from_str(&text).unwrap();
        for upstream in UPSTREAM {
            let found = manifest
                .source
                .iter()
                .find(|each| each.name == upstream.source);
            assert!(found.unwrap().counted.is_some(), "{}", upstream.source);
        }
    }
}
