//! The programs of other projects that `make peers` has built, as the cells of a run.

use std::path::{Path, PathBuf};

use perfcounters::peer::PeerProgram;
use perfcounters::Cell;
use record::{short_toolchain, Build, Conditions, Implementation, Peer, SkippedPeer};

use super::variants::{Driver, DEFAULT, MAC, OWN_FLAGS};
use crate::build::peers::record::{PeerRecord, PeersRecord};

/// The subcommand that runs a program with the card.
const WITH_CARD: &str = "with-card";

/// The peers of a build folder.
#[derive(Debug, Clone, Default)]
pub struct Peers {
    record: Option<PeersRecord>,
    /// This program with the arguments that run a peer with the card.
    launcher: (PathBuf, Vec<String>),
}

impl Peers {
    /// Reads what `make peers` has built; nothing if it has not run.
    ///
    /// # Errors
    /// If the file is damaged, with the way out.
    pub fn read(build: &Path) -> Result<Self, String> {
        let record = PeersRecord::read(build).map_err(|error| format!("{error:#}"))?;
        Self::new(record, build)
    }

    /// The peers of a record, with the software card of a build folder.
    ///
    /// # Errors
    /// If this program does not find its own file.
    pub(crate) fn new(record: Option<PeersRecord>, build: &Path) -> Result<Self, String> {
        let program = std::env::current_exe()
            .map_err(|error| format!("cannot find this program's own file: {error}"))?;
        let build = std::path::absolute(build)
            .map_err(|error| format!("cannot find {}: {error}", build.display()))?;
        let arguments = [WITH_CARD, "--quiet", "--build-dir"].map(str::to_owned);
        let arguments = arguments.into_iter().chain([build.display().to_string()]);
        let launcher = (program, arguments.collect());
        Ok(Self { record, launcher })
    }

    /// Adds a peer.
    pub(crate) fn add(&mut self, peer: PeerRecord) {
        if let Some(record) = &mut self.record {
            record.peers.push(peer);
        }
    }

    fn find(&self, (implementation, variant): &Driver) -> Option<&PeerRecord> {
        let mut peers = self.record.iter().flat_map(|record| &record.peers);
        peers.find(|peer| (peer.implementation, &peer.variant) == (*implementation, variant))
    }

    /// Whether a peer is built in a variant.
    pub fn has(&self, driver: &Driver) -> bool {
        self.find(driver).is_some()
    }

    /// Why a peer cannot be measured in a variant; `None` if it can, or if it has no such variant.
    pub fn skipped(&self, driver: &Driver) -> Option<SkippedPeer> {
        if self.has(driver) || !has_variant(driver.0, &driver.1) {
            return None;
        }
        let mut skipped = self.record.iter().flat_map(|record| &record.skipped);
        let skipped =
            skipped.find(|peer| (peer.implementation, &peer.variant) == (driver.0, &driver.1));
        let reason = skipped.map(|peer| peer.reason.clone());
        Some(SkippedPeer {
            implementation: driver.0,
            variant: driver.1.clone(),
            reason: reason.unwrap_or_else(|| "it is not built: `make peers` builds it".to_owned()),
        })
    }

    /// The compiler and the flags of a peer.
    pub fn describe(&self, driver: &Driver) -> Build {
        let peer = self.find(driver);
        let flags = peer.map_or_else(|| "unknown".to_owned(), |peer| peer.toolchain.clone());
        Build {
            implementation: driver.0,
            variant: driver.1.clone(),
            toolchain: short_toolchain(&flags),
            flags,
            checks_in_loops: Default::default(),
            checks_not_counted: Some("the machine code of other projects is not read".to_owned()),
        }
    }

    /// Where a peer comes from.
    pub fn facts(&self, driver: &Driver) -> Option<Peer> {
        self.find(driver).map(|peer| Peer {
            implementation: driver.0,
            variant: driver.1.clone(),
            commit: peer.source.commit.clone(),
            from: peer.source.from.to_string(),
            toolchain: peer.toolchain.clone(),
        })
    }

    /// The cell of a peer; `None` if no program has this batch and ring size.
    pub fn cell(&self, build: &Build, conditions: Conditions) -> Option<Cell> {
        let peer = self.find(&(build.implementation, build.variant.clone()))?;
        let mut programs = peer.builds.iter();
        let program = programs.find(|program| {
            (program.batch, program.ring_size) == (conditions.batch, conditions.ring_size)
        })?;
        Some(Cell {
            implementation: build.implementation,
            variant: build.variant.clone(),
            toolchain: build.toolchain.clone(),
            conditions,
            program: program.program.clone(),
            library: PathBuf::new(),
            peer: Some(PeerProgram {
                launcher: self.launcher.clone(),
                arguments: program.args.clone(),
                environment: program.env.clone(),
                expect: peer.expect.clone(),
            }),
        })
    }

    /// All programs of a peer, as cells.
    pub(super) fn all_cells(&self, build: &Build) -> Vec<Cell> {
        let peer = self.find(&(build.implementation, build.variant.clone()));
        let programs = peer.iter().flat_map(|peer| &peer.builds);
        programs
            .filter_map(|program| {
                let conditions = Conditions {
                    ring_size: program.ring_size,
                    ..Conditions::with_batch(program.batch)
                };
                self.cell(build, conditions)
            })
            .collect()
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

    const RECORD: &str = r#"{"version": 1, "peers": [{"impl": "ixy", "variant": "default",
        "toolchain": "gcc (Debian 12.2.0) 12.2.0 -O2 -flto", "expect": "touch@1",
        "source": {"url": "https://github.com/emmericp/ixy", "commit": "0e00605", "from": "bundle"},
        "builds": [{"batch": 32, "program": "/p/ixy-32", "args": ["{port0}", "{port1}"], "env": {},
                    "ring_size": 512},
                   {"batch": 8, "program": "/p/ixy-8", "args": [], "env": {}, "ring_size": 512}]}],
        "skipped": [{"impl": "dpdk-vector", "variant": "default", "reason": "testpmd is not installed"}]}"#;

    #[test]
    fn a_peer_has_a_cell_for_each_program_or_is_skipped_with_the_reason() {
        use Implementation::{DpdkVector, Ixy, IxyC2rust, IxyRs, C};
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("peers")).unwrap();
        std::fs::write(folder.path().join("peers/peers.json"), RECORD).unwrap();
        let peers = Peers::read(folder.path()).unwrap();
        let ixy = (Ixy, DEFAULT.to_owned());
        let build = peers.describe(&ixy);
        assert_eq!(build.toolchain, "gcc 12.2.0");
        let cell = peers.cell(&build, Conditions::with_batch(8)).unwrap();
        assert_eq!(cell.program, Path::new("/p/ixy-8"));
        assert_eq!(cell.peer.unwrap().expect, "touch@1");
        assert!(peers.cell(&build, Conditions::with_batch(64)).is_none());
        assert_eq!(peers.all_cells(&build).len(), 2);
        assert_eq!(peers.facts(&ixy).unwrap().from, "bundle");

        let reason = |peers: &Peers, implementation, variant: &str| {
            let skipped = peers.skipped(&(implementation, variant.to_owned()));
            skipped.map_or(String::new(), |skipped| skipped.reason)
        };
        assert!(reason(&peers, DpdkVector, DEFAULT).contains("testpmd"));
        assert!(reason(&peers, IxyRs, OWN_FLAGS).contains("make peers"));
        assert!(reason(&Peers::default(), Ixy, DEFAULT).contains("make peers"));
        // It is built, or there is no such variant.
        for (peer, variant) in [
            (Ixy, DEFAULT),
            (Ixy, MAC),
            (DpdkVector, OWN_FLAGS),
            (IxyC2rust, OWN_FLAGS),
            (C, DEFAULT),
        ] {
            assert_eq!(reason(&peers, peer, variant), "", "{peer} {variant}");
        }
    }
}
