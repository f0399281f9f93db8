//! `peers.json`: which programs there are, and how to run them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use record::{Implementation, SkippedPeer};
use serde::{Deserialize, Serialize};

/// All programs of other projects that are built, and those that are not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeersRecord {
    /// The version of the format: 1.
    version: u32,
    pub peers: Vec<PeerRecord>,
    pub skipped: Vec<SkippedPeer>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeerRecord {
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The variant: whose flags it is built with, or how it forwards.
    pub variant: String,
    /// The compiler and its flags, or the version of the package.
    pub toolchain: String,
    pub source: SourceRecord,
    /// What it does to a frame: the value of the card's `--expect`.
    pub expect: String,
    pub builds: Vec<Build>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceRecord {
    pub url: String,
    /// The commit, or the version of the package.
    pub commit: String,
    /// How it came here: from a `repository`, from a `bundle`, or from the `system`.
    pub from: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Build {
    pub batch: u32,
    /// The line that sets the batch size, if the program is not the unmodified one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    pub program: PathBuf,
    /// Its arguments. `{port0}` and `{port1}` stand for the PCI addresses of the ports.
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub ring_size: u32,
}

impl Default for PeersRecord {
    fn default() -> Self {
        Self {
            version: 1,
            peers: Vec::new(),
            skipped: Vec::new(),
        }
    }
}

impl PeersRecord {
    fn path(build: &Path) -> PathBuf {
        build.join("peers").join("peers.json")
    }

    /// Reads the record of a build folder. `None` if `make peers` has not run.
    pub fn read(build: &Path) -> Result<Option<Self>> {
        let path = Self::path(build);
        let fail = || format!("{} cannot be used: run `make peers` again", path.display());
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            text => serde_json::from_str(&text.with_context(fail)?).with_context(fail),
        }
    }

    pub fn write(&self, build: &Path) -> Result<()> {
        let path = Self::path(build);
        let fail = || format!("cannot write {}", path.display());
        let new = path.with_extension("json.new");
        let text = serde_json::to_string_pretty(self).with_context(fail)?;
        fs::write(&new, text + "\n").with_context(fail)?;
        fs::rename(&new, &path).with_context(fail)
    }

    pub fn table(&self) -> String {
        let head = ["impl", "variant", "batch", "commit", "from", "built with"].map(str::to_owned);
        let mut rows = vec![head];
        rows.extend(self.peers.iter().map(|peer| {
            let mut batches: Vec<_> = peer.builds.iter().map(|build| build.batch).collect();
            batches.sort_unstable();
            let name = |batch: &u32| batch.to_string();
            [
                peer.implementation.to_string(),
                peer.variant.clone(),
                match batches.as_slice() {
                    [first, _, .., _, last] => format!("{first} to {last}"),
                    few => few.iter().map(name).collect::<Vec<_>>().join(", "),
                },
                peer.source.commit.chars().take(12).collect(),
                peer.source.from.clone(),
                peer.toolchain.clone(),
            ]
        }));
        let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(width);
        let mut text = String::new();
        for [name, variant, batch, commit, from, toolchain] in
            rows.iter().filter(|_| rows.len() > 1)
        {
            let _ = writeln!(
                text,
                "{name:a$}  {variant:b$}  {batch:c$}  {commit:d$}  {from:e$}  {toolchain}"
            );
        }
        for skipped in &self.skipped {
            let (name, variant) = (skipped.implementation, &skipped.variant);
            let _ = writeln!(text, "skipped: {name} ({variant}): {}", skipped.reason);
        }
        text
    }
}

/// A record with an ixy for batches of 32 and 8, without ixy.rs.
#[cfg(test)]
pub(crate) fn example() -> PeersRecord {
    let build = |batch| Build {
        batch,
        change: None,
        program: format!("/p/ixy-{batch}").into(),
        args: vec!["{port0}".to_owned()],
        env: BTreeMap::new(),
        ring_size: 512,
    };
    PeersRecord {
        peers: vec![PeerRecord {
            implementation: Implementation::Ixy,
            variant: "default".to_owned(),
            toolchain: "gcc (Debian 12.2.0) 12.2.0 -O2".to_owned(),
            source: SourceRecord {
                url: String::new(),
                commit: "0123456789abcdef".to_owned(),
                from: "bundle".to_owned(),
            },
            expect: "touch@1".to_owned(),
            builds: vec![build(32), build(8)],
        }],
        skipped: vec![SkippedPeer {
            implementation: Implementation::IxyRs,
            variant: "default".to_owned(),
            reason: "no bundle".to_owned(),
        }],
        ..PeersRecord::default()
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
        example().write(folder.path()).unwrap();
        let read = PeersRecord::read(folder.path()).unwrap();
        assert_eq!(read.as_ref(), Some(&example()));
        let expected = "impl  variant  batch  commit        from    built with\n\
                        ixy   default  8, 32  0123456789ab  bundle  gcc (Debian 12.2.0) 12.2.0 -O2\n\
                        skipped: ixy-rs (default): no bundle\n";
        assert_eq!(example().table(), expected);
        fs::write(PeersRecord::path(folder.path()), "{").unwrap();
        let error = PeersRecord::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("make peers"), "{error}");
    }
}
