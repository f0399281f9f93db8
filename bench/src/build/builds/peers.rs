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
    pub fn new(record: Option<PeersRecord>, build: &Path) -> Result<Self, String> {
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
    pub fn add(&mut self, peer: PeerRecord) {
        if let Some(record) = &mut self.record {
            record.peers.push(peer);
        }
    }

    fn find(&self, (implementation, variant): &Driver) -> Option<&PeerRecord> {
        let name = implementation.to_string();
        let mut peers = self.record.iter().flat_map(|record| &record.peers);
        peers.find(|peer| peer.implementation == name && peer.variant == *variant)
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
        let name = driver.0.to_string();
        let reason = match &self.record {
            None => "it is not built: `make peers` builds it".to_owned(),
            Some(record) => {
                let mut skipped = record.skipped.iter();
                let skipped =
                    skipped.find(|peer| peer.implementation == name && peer.variant == driver.1);
                skipped.map_or_else(
                    || "`make peers` has not built it".to_owned(),
                    |peer| peer.reason.clone(),
                )
            }
        };
        Some(SkippedPeer {
            implementation: driver.0,
            variant: driver.1.clone(),
            reason,
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

    fn peers() -> Peers {
        let build = tempfile::tempdir().unwrap();
        std::fs::create_dir(build.path().join("peers")).unwrap();
        std::fs::write(build.path().join("peers/peers.json"), RECORD).unwrap();
        Peers::read(build.path()).unwrap()
    }

    fn driver(implementation: Implementation, variant: &str) -> Driver {
        (implementation, variant.to_owned())
    }

    #[test]
    fn a_peer_has_a_cell_for_each_program() {
        let peers = peers();
        let ixy = driver(Implementation::Ixy, DEFAULT);
        let build = peers.describe(&ixy);
        assert_eq!(build.toolchain, "gcc 12.2.0");
        let cell = peers.cell(&build, Conditions::with_batch(8)).unwrap();
        assert_eq!(cell.program, Path::new("/p/ixy-8"));
        assert_eq!(cell.peer.unwrap().expect, "touch@1");
        assert!(peers.cell(&build, Conditions::with_batch(64)).is_none());
        assert_eq!(peers.all_cells(&build).len(), 2);
        let facts = peers.facts(&ixy).unwrap();
        assert_eq!(
            (facts.commit.as_str(), facts.from.as_str()),
            ("0e00605", "bundle")
        );
    }

    #[test]
    fn a_peer_that_is_not_there_is_skipped_with_the_reason() {
        let peers = peers();
        let reason = |implementation, variant| {
            let skipped = peers.skipped(&driver(implementation, variant));
            skipped.map(|skipped| skipped.reason)
        };
        use Implementation::{DpdkVector, Ixy, IxyC2rust, IxyRs, C};
        assert_eq!(reason(Ixy, DEFAULT), None);
        assert!(reason(DpdkVector, DEFAULT).unwrap().contains("testpmd"));
        assert!(reason(IxyRs, OWN_FLAGS).unwrap().contains("make peers"));
        // There is no such variant.
        assert_eq!(reason(Ixy, MAC), None);
        assert_eq!(reason(DpdkVector, OWN_FLAGS), None);
        assert_eq!(reason(IxyC2rust, OWN_FLAGS), None);
        assert_eq!(reason(C, DEFAULT), None);
        let none = Peers::default().skipped(&driver(Ixy, DEFAULT)).unwrap();
        assert!(none.reason.contains("make peers"), "{}", none.reason);
    }

    #[test]
    fn a_damaged_file_is_an_error() {
        let build = tempfile::tempdir().unwrap();
        std::fs::create_dir(build.path().join("peers")).unwrap();
        std::fs::write(build.path().join("peers/peers.json"), "{").unwrap();
        let error = Peers::read(build.path()).unwrap_err();
        assert!(error.contains("make peers"), "{error}");
    }
}
