//! The files that count, as `sources.toml` lists them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{ensure, Context, Result};
use record::Implementation;
use serde::Deserialize;
use toml::{Table, Value};
use walkdir::WalkDir;

use crate::count::{count_text, SourceFile};

/// A file that has only tests.
const TESTS: &str = "tests.rs";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    other_programs: Vec<String>,
    driver: BTreeMap<Implementation, Driver>,
    upstream: BTreeMap<Implementation, Upstream>,
    applications: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Driver {
    folder: String,
    without: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Upstream {
    /// The name of its source in `bench/peers.toml`, and of its repository below `build/peers/git/`.
    source: String,
    files: Vec<String>,
}

impl Sources {
    pub fn read() -> Result<Self> {
        toml::from_str(include_str!("../sources.toml")).context("sources.toml is malformed")
    }

    /// Counts the files of our drivers, sorted by name.
    pub fn drivers(&self, root: &Path) -> Result<BTreeMap<Implementation, Vec<SourceFile>>> {
        let mut drivers = BTreeMap::new();
        for (name, Driver { folder, without }) in &self.driver {
            let left_out = |inside: &str| without.iter().any(|file| file == inside);
            let counts = |inside: &str| !left_out(inside) && !self.is_other_program(inside);
            let files = count_below(root, folder, counts).with_context(|| folder.clone())?;
            drivers.insert(*name, files);
        }
        Ok(drivers)
    }

    fn is_other_program(&self, inside: &str) -> bool {
        let name = inside.trim_start_matches("gen/").strip_prefix("apps/");
        let stem = name.and_then(|name| name.split('.').next());
        stem.is_some_and(|stem| self.other_programs.iter().any(|other| other == stem))
    }

    /// Counts the lines of each part of the applications, without tests.
    pub fn applications(&self, root: &Path) -> Result<BTreeMap<String, usize>> {
        let mut parts = BTreeMap::new();
        for (name, paths) in &self.applications {
            let mut lines = 0;
            for path in paths {
                let files = count_below(root, path, |inside| !inside.ends_with(TESTS));
                let files = files.with_context(|| path.clone())?;
                lines += files.iter().map(|file| file.lines).sum::<usize>();
            }
            parts.insert(name.clone(), lines);
        }
        Ok(parts)
    }

    /// Counts the paper's drivers whose counted commits `make peers` has fetched. Returns these commits, too.
    pub fn upstream(
        &self,
        root: &Path,
    ) -> Result<BTreeMap<Implementation, (String, Vec<SourceFile>)>> {
        let path = root.join("bench/peers.toml");
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let peers: Table =
            toml::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?;
        let named = peers.get("source").and_then(Value::as_array);
        let named = named.map(Vec::as_slice).unwrap_or_default();
        let value = |of: &Value, key| of.get(key)?.as_str().map(str::to_owned);
        let mut drivers = BTreeMap::new();
        for (name, Upstream { source, files }) in &self.upstream {
            let of = |each: &&Value| value(each, "name").as_ref() == Some(source);
            let commit = named
                .iter()
                .find(of)
                .and_then(|each| value(each, "counted"));
            let commit = commit.with_context(|| {
                format!("{} names no `counted` commit of {source}", path.display())
            })?;
            let repository = root.join("build/peers/git").join(source);
            let object = format!("{commit}^{{commit}}");
            if git(&repository, &["cat-file", "-e", &object]).is_err() {
                continue;
            }
            let mut counted = Vec::new();
            for file in files {
                let text = git(&repository, &["show", &format!("{commit}:{file}")])?;
                counted.extend(count_text(&format!("{source}/{file}"), file, &text)?);
            }
            drivers.insert(*name, (commit, counted));
        }
        Ok(drivers)
    }
}

/// Counts a file, or those files of a folder whose paths in it are wanted.
fn count_below(
    root: &Path,
    path: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<SourceFile>> {
    let folder = root.join(path);
    let mut files = Vec::new();
    for entry in WalkDir::new(&folder).sort_by_file_name() {
        let entry = entry?;
        let inside = entry.path().strip_prefix(&folder)?.to_string_lossy();
        if entry.file_type().is_file() && is_wanted(&inside) {
            let (name, inside) = match &*inside {
                "" => (path.to_owned(), path),
                inside => (format!("{path}/{inside}"), inside),
            };
            let text = fs::read_to_string(entry.path())?;
            files.extend(count_text(&name, inside, &text)?);
        }
    }
    ensure!(!files.is_empty(), "there are no sources");
    Ok(files)
}

fn git(repository: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(repository).args(arguments);
    let output = command.output().context("cannot run git")?;
    ensure!(
        output.status.success(),
        "git {} fails in {}: {}",
        arguments.join(" "),
        repository.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    String::from_utf8(output.stdout).context("the file is not UTF-8")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn top() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    #[test]
    fn the_sources_of_this_repository_are_counted() {
        let sources = Sources::read().unwrap();
        let drivers = sources.drivers(top()).unwrap();
        assert!(drivers.keys().eq(&Implementation::OURS));
        for (driver, files) in &drivers {
            assert!(
                files.iter().map(|file| file.lines).sum::<usize>() > 500,
                "{driver}"
            );
            for left_out in ["registers", "apps/echo"] {
                assert!(files.iter().all(|file| !file.path.contains(left_out)));
            }
            let marked = files.iter().any(|file| file.unsafe_lines.is_some());
            assert_eq!(marked, *driver != Implementation::C);
        }
        let rust = &drivers[&Implementation::Rust];
        for file in rust.iter().filter(|file| !file.path.contains("/sys/")) {
            assert_eq!(file.unsafe_lines, Some(0), "{}", file.path);
        }
        // As rust/README.md says.
        let lines: usize = rust.iter().map(|file| file.lines).sum();
        let inside: usize = rust.iter().filter_map(|file| file.unsafe_lines).sum();
        assert!(inside * 20 < lines, "{inside} of {lines} lines are unsafe");
        assert_eq!(sources.applications(top()).unwrap().len(), 10);
        assert!(sources.is_other_program("gen/apps/port.rs"));
        assert!(!sources.is_other_program("driver/port.rs"));
        // Each source of the paper has a counted commit.
        sources.upstream(top()).unwrap();
    }
}
