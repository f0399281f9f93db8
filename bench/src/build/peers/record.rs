//! `peers.json`: which programs there are, and how to run them.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{ensure, Context, Result};
use serde::{Deserialize, Serialize};

/// The version of the format.
pub const VERSION: u32 = 1;

/// The file below the build folder.
pub fn path(build: &Path) -> PathBuf {
    build.join("peers").join("peers.json")
}

/// All programs of other projects that are built, and those that are not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeersRecord {
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
pub struct PeerRecord {
    /// Its name in `samples.csv`.
    #[serde(rename = "impl")]
    pub implementation: String,
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
pub struct SourceRecord {
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
pub enum Origin {
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
pub struct Build {
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
pub struct Skipped {
    /// Its name in `samples.csv`.
    #[serde(rename = "impl")]
    pub implementation: String,
    /// The variant.
    pub variant: String,
    /// Why, and what to do about it.
    pub reason: String,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> PeersRecord {
        PeersRecord {
            version: VERSION,
            peers: vec![PeerRecord {
                implementation: "ixy".to_owned(),
                variant: "default".to_owned(),
                toolchain: "gcc 12.2.0 -O2".to_owned(),
                source: SourceRecord {
                    url: "https://example.org".to_owned(),
                    commit: "0e".to_owned(),
                    from: Origin::Bundle,
                },
                expect: "touch@1".to_owned(),
                builds: vec![Build {
                    batch: 32,
                    change: None,
                    program: PathBuf::from("/p"),
                    args: vec!["{port0}".to_owned()],
                    env: BTreeMap::new(),
                    ring_size: 512,
                }],
            }],
            skipped: vec![Skipped {
                implementation: "dpdk-vector".to_owned(),
                variant: "mac".to_owned(),
                reason: "no testpmd".to_owned(),
            }],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(PeersRecord::read(folder.path()).unwrap(), None);
        fs::create_dir(folder.path().join("peers")).unwrap();
        record().write(folder.path()).unwrap();
        assert_eq!(PeersRecord::read(folder.path()).unwrap(), Some(record()));
        let text = fs::read_to_string(path(folder.path())).unwrap();
        assert!(text.contains("\"from\": \"bundle\""), "{text}");
        assert!(!text.contains("change"), "{text}");
    }

    #[test]
    fn another_version_and_damage_are_refused_with_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("peers")).unwrap();
        let newer = PeersRecord {
            version: 2,
            ..record()
        };
        newer.write(folder.path()).unwrap();
        let error = PeersRecord::read(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("has version 2") && error.contains("make peers"),
            "{error}"
        );
        fs::write(path(folder.path()), "{").unwrap();
        let error = PeersRecord::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("make peers"), "{error}");
    }
}
