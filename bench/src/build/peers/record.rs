//! `peers.json`: the programs of other projects that `make peers` has built, and the cells that measure them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use perfcounters::peer::PeerProgram;
use perfcounters::Cell;
use record::{Conditions, Implementation, Peer, SkippedPeer};
use serde::{Deserialize, Serialize};

use super::manifest;
use crate::build::builds::variants::{built_with, Driver, DEFAULT, MAC, OWN_FLAGS};
use crate::build::stamp;
use crate::usage::columns;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peers {
    /// The version of the format: 1.
    version: u32,
    pub peers: Vec<PeerRecord>,
    pub skipped: Vec<SkippedPeer>,
    /// This program with the arguments that run a peer with the card.
    #[serde(skip)]
    launcher: (PathBuf, Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerRecord {
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The variant: whose flags it is built with, or how it forwards.
    pub variant: String,
    pub toolchain: String,
    pub source: SourceRecord,
    /// What it does to a frame: the value of the card's `--expect`.
    pub expect: String,
    pub builds: Vec<Build>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceRecord {
    pub url: String,
    pub commit: String,
    /// How it came here: from a `repository`, from a `bundle`, or from the `system`.
    pub from: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
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

impl PeerRecord {
    /// A variant of a peer that has been built. `url`, `commit` and `from` are those of its source.
    pub(crate) fn new(
        peer: &manifest::Peer,
        variant: &str,
        toolchain: String,
        [url, commit, from]: [&str; 3],
        builds: Vec<Build>,
    ) -> Self {
        let [url, commit, from] = [url, commit, from].map(str::to_owned);
        Self {
            implementation: peer.implementation,
            variant: variant.to_owned(),
            toolchain,
            source: SourceRecord { url, commit, from },
            expect: peer.expect.get(variant).cloned().unwrap_or_default(),
            builds,
        }
    }
}

impl Peers {
    fn path(build: &Path) -> PathBuf {
        build.join("peers").join("peers.json")
    }

    /// Reads what `make peers` has built; nothing if it has not run.
    pub fn read(build: &Path) -> Result<Self> {
        let (path, none) = (Self::path(build), Self::none(build)?);
        if !path.exists() {
            return Ok(none);
        }
        let read = stamp::read(&path).and_then(|text| Ok(serde_json::from_str(&text)?));
        let fail = || format!("{} cannot be used: run `make peers` again", path.display());
        let (launcher, read): (_, Self) = (none.launcher, read.with_context(fail)?);
        Ok(Self { launcher, ..read })
    }

    pub fn none(build: &Path) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let build = std::path::absolute(build)?.display().to_string();
        let arguments = ["with-card", "--quiet", "--build-dir", &build].map(str::to_owned);
        Ok(Self {
            version: 1,
            launcher: (program, arguments.to_vec()),
            ..Self::default()
        })
    }

    pub fn write(&self, build: &Path) -> Result<()> {
        let path = Self::path(build);
        let new = path.with_extension("json.new");
        stamp::write(&new, &(serde_json::to_string_pretty(self)? + "\n"))?;
        fs::rename(&new, &path).with_context(|| format!("cannot write {}", path.display()))
    }

    pub fn table(&self) -> String {
        let rows = self.peers.iter().map(|peer| {
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
        });
        let head = ["impl", "variant", "batch", "commit", "from", "built with"];
        let mut text = columns(head, rows.collect());
        for skipped in &self.skipped {
            let (name, variant) = (skipped.implementation, &skipped.variant);
            let _ = writeln!(text, "skipped: {name} ({variant}): {}", skipped.reason);
        }
        text
    }

    fn find(&self, (implementation, variant): &Driver) -> Option<&PeerRecord> {
        let mut peers = self.peers.iter();
        peers.find(|peer| (peer.implementation, &peer.variant) == (*implementation, variant))
    }

    pub fn has(&self, driver: &Driver) -> bool {
        self.find(driver).is_some()
    }

    /// Why a peer cannot be measured in a variant; `None` if it can, or if it has no such variant.
    pub fn skipped(&self, driver: &Driver) -> Option<SkippedPeer> {
        if self.has(driver) || !has_variant(driver.0, &driver.1) {
            return None;
        }
        let mut skipped = self.skipped.iter();
        let known =
            skipped.find(|peer| (peer.implementation, &peer.variant) == (driver.0, &driver.1));
        let known = known.map(|peer| peer.reason.clone());
        Some(SkippedPeer {
            implementation: driver.0,
            variant: driver.1.clone(),
            reason: known.unwrap_or("it is not built: `make peers` builds it".to_owned()),
        })
    }

    pub fn describe(&self, driver: &Driver) -> record::Build {
        let flags = self.find(driver).map_or("unknown", |peer| &peer.toolchain);
        let why = "the machine code of other projects is not read";
        record::Build {
            checks_not_counted: Some(why.to_owned()),
            ..built_with(driver, flags.to_owned())
        }
    }

    pub fn facts(&self, wanted: impl Fn(&Driver) -> bool) -> Vec<Peer> {
        let facts = self.peers.iter().map(|peer| Peer {
            implementation: peer.implementation,
            variant: peer.variant.clone(),
            commit: peer.source.commit.clone(),
            from: peer.source.from.clone(),
            toolchain: peer.toolchain.clone(),
        });
        let is_wanted = |peer: &Peer| wanted(&(peer.implementation, peer.variant.clone()));
        facts.filter(is_wanted).collect()
    }

    /// The cell of a peer; `None` if no program has this batch and ring size.
    pub fn cell(&self, build: &record::Build, conditions: Conditions) -> Option<Cell> {
        let wanted = (conditions.batch, conditions.ring_size);
        let mut cells = self.all_cells(build).into_iter();
        let is_it = |cell: &Cell| (cell.conditions.batch, cell.conditions.ring_size) == wanted;
        let cell = cells.find(is_it)?;
        Some(Cell { conditions, ..cell })
    }

    pub(crate) fn all_cells(&self, build: &record::Build) -> Vec<Cell> {
        let Some(peer) = self.find(&(build.implementation, build.variant.clone())) else {
            return Vec::new();
        };
        let cells = peer.builds.iter().map(|program| Cell {
            implementation: build.implementation,
            variant: build.variant.clone(),
            toolchain: build.toolchain.clone(),
            conditions: Conditions {
                ring_size: program.ring_size,
                ..Conditions::with_batch(program.batch)
            },
            program: program.program.clone(),
            library: PathBuf::new(),
            peer: Some(PeerProgram {
                launcher: self.launcher.clone(),
                arguments: program.args.clone(),
                environment: program.env.clone(),
                expect: peer.expect.clone(),
            }),
        });
        cells.collect()
    }
}

/// Whether there is such a variant of a peer: a peer with a build file has flags of its own, and DPDK's
/// program has several ways to forward.
fn has_variant(peer: Implementation, variant: &str) -> bool {
    use Implementation::{DpdkScalar, DpdkVector, Ixy, IxyRs};
    match variant {
        DEFAULT => peer.is_peer(),
        OWN_FLAGS => matches!(peer, Ixy | IxyRs),
        MAC => matches!(peer, DpdkVector | DpdkScalar),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_peer_has_a_cell_for_each_program_or_is_skipped_with_the_reason() {
        use Implementation::{DpdkVector, Ixy, IxyRs};
        let build = |batch| json!({"batch": batch, "program": format!("/p/ixy-{batch}"), "args": [], "env": {}, "ring_size": 512});
        let peers: Peers = serde_json::from_value(json!({
            "version": 1,
            "peers": [{
                "impl": "ixy", "variant": "default", "toolchain": "gcc (Debian 12.2.0) 12.2.0 -O2",
                "source": {"url": "", "commit": "0123456789abcdef", "from": "bundle"},
                "expect": "touch@1", "builds": [build(32), build(8)],
            }],
            "skipped": [{"impl": "ixy-rs", "variant": "default", "reason": "no bundle"}],
        }))
        .unwrap();
        let driver = |peer, variant: &str| (peer, variant.to_owned());
        let build = peers.describe(&driver(Ixy, DEFAULT));
        assert_eq!(build.toolchain, "gcc 12.2.0");
        let cell = peers.cell(&build, Conditions::with_batch(8)).unwrap();
        assert_eq!(cell.program, Path::new("/p/ixy-8"));
        assert_eq!(cell.peer.unwrap().expect, "touch@1");
        assert!(peers.cell(&build, Conditions::with_batch(64)).is_none());
        assert_eq!(peers.facts(|_| true)[0].from, "bundle");
        for (peer, variant, why) in [
            (IxyRs, DEFAULT, Some("no bundle")),
            (
                IxyRs,
                OWN_FLAGS,
                Some("it is not built: `make peers` builds it"),
            ),
            (Ixy, DEFAULT, None),
            // There is no such variant.
            (Ixy, MAC, None),
            (DpdkVector, OWN_FLAGS, None),
        ] {
            let skipped = peers.skipped(&driver(peer, variant));
            let reason = skipped.map(|skipped| skipped.reason);
            assert_eq!(reason.as_deref(), why, "{peer} {variant}");
        }
    }
}
