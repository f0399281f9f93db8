//! `peers.json`: which programs there are, and how to run them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use record::Implementation;
use serde::{Deserialize, Serialize};

/// The version of the format.
const VERSION: u32 = 1;

fn path(build: &Path) -> PathBuf {
    build.join("peers").join("peers.json")
}

/// All programs of other projects that are built, and those that are not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeersRecord {
    /// [`VERSION`].
    pub version: u32,
    /// The built drivers, in the order of tables.
    pub peers: Vec<PeerRecord>,
    /// What could not be had.
    pub skipped: Vec<Skipped>,
}

/// A driver in one variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeerRecord {
    /// Its name in `samples.csv`.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The variant: whose flags it is built with, or how it forwards.
    pub variant: String,
    /// The compiler and its flags, or the version of the package.
    pub toolchain: String,
    /// Where it comes from.
    pub source: SourceRecord,
    /// What it does to a frame: the value of the card's `--expect`.
    pub expect: String,
    /// One program for each batch size.
    pub builds: Vec<Build>,
}

/// Where a driver comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceRecord {
    /// The public repository, or the project's page.
    pub url: String,
    /// The commit, or the version of the package.
    pub commit: String,
    /// How it came here.
    pub from: Origin,
}

/// How sources or programs came to this machine.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display, strum::EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Origin {
    /// From the public repository.
    Repository,
    /// From a git bundle.
    Bundle,
    /// From a package of the system.
    System,
}

/// A program for one batch size, and how to start it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Build {
    /// Packets asked for per receive call.
    pub batch: u32,
    /// The change of one line that sets the batch size, if the program is not the unmodified one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// The absolute path of the program.
    pub program: PathBuf,
    /// Its arguments. `{port0}` and `{port1}` stand for the PCI addresses of the ports.
    pub args: Vec<String>,
    /// Its environment variables, beside the caller's.
    pub env: BTreeMap<String, String>,
    /// Descriptors in each of its rings.
    pub ring_size: u32,
}

/// A driver that could not be had, in one variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Skipped {
    /// Its name in `samples.csv`.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The variant.
    pub variant: String,
    /// Why, and what to do about it.
    pub reason: String,
}

impl Default for PeersRecord {
    fn default() -> Self {
        Self {
            version: VERSION,
            peers: Vec::new(),
            skipped: Vec::new(),
        }
    }
}

impl PeersRecord {
    /// Reads the record of a build folder. `None` if `make peers` has not run.
    ///
    /// # Errors
    /// If the file cannot be read, or has another version.
    pub fn read(build: &Path) -> Result<Option<Self>> {
        let path = path(build);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let fail = || format!("{} cannot be used: run `make peers` again", path.display());
        let record: Self = serde_json::from_str(&text).with_context(fail)?;
        ensure!(
            record.version == VERSION,
            "{} has version {}, and this program reads {VERSION}: run `make peers` again",
            path.display(),
            record.version
        );
        Ok(Some(record))
    }

    /// Writes the record into a build folder, all of it or nothing.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, build: &Path) -> Result<()> {
        let path = path(build);
        let fail = || format!("cannot write {}", path.display());
        let new = path.with_extension("json.new");
        let text = serde_json::to_string_pretty(self).with_context(fail)?;
        fs::write(&new, text + "\n").with_context(fail)?;
        fs::rename(&new, &path).with_context(fail)
    }
    /// The table of `triptych peers`.
    pub fn table(&self) -> String {
        let head = ["impl", "variant", "batch", "commit", "from", "built with"].map(str::to_owned);
        let rows = self.peers.iter().map(|peer| {
            let batches: BTreeSet<_> = peer.builds.iter().map(|build| build.batch).collect();
            let batches: Vec<_> = batches.iter().map(u32::to_string).collect();
            [
                peer.implementation.to_string(),
                peer.variant.clone(),
                match batches.as_slice() {
                    [first, _, .., _, last] => format!("{first} to {last}"),
                    few => few.join(", "),
                },
                peer.source.commit.chars().take(12).collect(),
                peer.source.from.to_string(),
                peer.toolchain.clone(),
            ]
        });
        let rows: Vec<_> = [head].into_iter().chain(rows).collect();
        let mut text = String::new();
        for row in rows.iter().filter(|_| rows.len() > 1) {
            for (column, cell) in row[..5].iter().enumerate() {
                let width = rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
                let _ = write!(text, "{cell:width$}  ");
            }
            let _ = writeln!(text, "{}", row[5]);
        }
        for skipped in &self.skipped {
            let (name, variant) = (skipped.implementation, &skipped.variant);
            let _ = writeln!(text, "skipped: {name} ({variant}): {}", skipped.reason);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_listed() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(PeersRecord::read(folder.path()).unwrap(), None);
        fs::create_dir(folder.path().join("peers")).unwrap();
        let build = |batch| Build {
            batch,
            change: None,
            program: PathBuf::from("/p"),
            args: vec!["{port0}".to_owned()],
            env: BTreeMap::new(),
            ring_size: 512,
        };
        let record = PeersRecord {
            version: VERSION,
            peers: vec![PeerRecord {
                implementation: Implementation::Ixy,
                variant: "own-flags".to_owned(),
                toolchain: "gcc -O2".to_owned(),
                source: SourceRecord {
                    url: String::new(),
                    commit: "0123456789abcdef".to_owned(),
                    from: Origin::Bundle,
                },
                expect: "touch@1".to_owned(),
                builds: vec![build(32), build(8)],
            }],
            skipped: vec![Skipped {
                implementation: Implementation::IxyRs,
                variant: "default".to_owned(),
                reason: "no bundle".to_owned(),
            }],
        };
        record.write(folder.path()).unwrap();
        assert_eq!(
            PeersRecord::read(folder.path()).unwrap().as_ref(),
            Some(&record)
        );
        let expected = "impl  variant    batch  commit        from    built with\n\
                        ixy   own-flags  8, 32  0123456789ab  bundle  gcc -O2\n\
                        skipped: ixy-rs (default): no bundle\n";
        assert_eq!(record.table(), expected);
        for damaged in ["{", "{\"version\": 2, \"peers\": [], \"skipped\": []}"] {
            fs::write(path(folder.path()), damaged).unwrap();
            let error = PeersRecord::read(folder.path()).unwrap_err().to_string();
            assert!(error.contains("make peers"), "{error}");
        }
    }
}
