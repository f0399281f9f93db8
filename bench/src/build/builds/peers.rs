//! The programs of other projects that `make peers` has built, as the cells of a run.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use perfcounters::peer::PeerProgram;
use perfcounters::Cell;
use record::{short_toolchain, Build, Conditions, Implementation, Peer, SkippedPeer};

use super::variants::{Driver, DEFAULT, MAC, OWN_FLAGS};
use crate::build::peers::record::{PeerRecord, PeersRecord};

#[derive(Debug, Clone, Default)]
pub struct Peers {
    record: PeersRecord,
    /// This program with the arguments that run a peer with the card.
    launcher: (PathBuf, Vec<String>),
}

impl Peers {
    /// Reads what `make peers` has built; nothing if it has not run.
    pub fn read(build: &Path) -> Result<Self> {
        let record = PeersRecord::read(build)?.unwrap_or_default();
        Ok(Self {
            record,
            ..Self::none(build)?
        })
    }

    /// No peers, with the software card of a build folder.
    pub fn none(build: &Path) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        let build = std::path::absolute(build).context("cannot find the build folder")?;
        let arguments = ["with-card", "--quiet", "--build-dir"].map(str::to_owned);
        let arguments = arguments.into_iter().chain([build.display().to_string()]);
        Ok(Self {
            record: PeersRecord::default(),
            launcher: (program, arguments.collect()),
        })
    }

    pub(crate) fn add(&mut self, peer: PeerRecord) {
        self.record.peers.push(peer);
    }

    fn find(&self, (implementation, variant): &Driver) -> Option<&PeerRecord> {
        let mut peers = self.record.peers.iter();
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
        let mut skipped = self.record.skipped.iter();
        let known =
            |peer: &&SkippedPeer| (peer.implementation, &peer.variant) == (driver.0, &driver.1);
        skipped.find(known).cloned().or_else(|| {
            Some(SkippedPeer {
                implementation: driver.0,
                variant: driver.1.clone(),
                reason: "it is not built: `make peers` builds it".to_owned(),
            })
        })
    }

    pub fn describe(&self, driver: &Driver) -> Build {
        let flags = self.find(driver).map_or("unknown", |peer| &peer.toolchain);
        Build {
            implementation: driver.0,
            variant: driver.1.clone(),
            toolchain: short_toolchain(flags),
            flags: flags.to_owned(),
            checks_in_loops: Default::default(),
            checks_not_counted: Some("the machine code of other projects is not read".to_owned()),
        }
    }

    pub fn facts(&self, wanted: impl Fn(&Driver) -> bool) -> Vec<Peer> {
        let facts = self.record.peers.iter().map(|peer| Peer {
            implementation: peer.implementation,
            variant: peer.variant.clone(),
            commit: peer.source.commit.clone(),
            from: peer.source.from.clone(),
            toolchain: peer.toolchain.clone(),
        });
        facts
            .filter(|peer| wanted(&(peer.implementation, peer.variant.clone())))
            .collect()
    }

    /// The cell of a peer; `None` if no program has this batch and ring size.
    pub fn cell(&self, build: &Build, conditions: Conditions) -> Option<Cell> {
        let wanted = (conditions.batch, conditions.ring_size);
        let mut cells = self.all_cells(build).into_iter();
        let is_it = |cell: &Cell| (cell.conditions.batch, cell.conditions.ring_size) == wanted;
        let cell = cells.find(is_it)?;
        Some(Cell { conditions, ..cell })
    }

    pub(crate) fn all_cells(&self, build: &Build) -> Vec<Cell> {
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
    use crate::build::peers::record::example;

    #[test]
    fn a_peer_has_a_cell_for_each_program_or_is_skipped_with_the_reason() {
        use Implementation::{DpdkVector, Ixy, IxyRs, C};
        let mut peers = Peers::none(Path::new("b")).unwrap();
        peers.record = example();
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
            (IxyRs, OWN_FLAGS, Some("make peers")),
            (Ixy, DEFAULT, None),
            // There is no such variant.
            (Ixy, MAC, None),
            (DpdkVector, OWN_FLAGS, None),
            (C, DEFAULT, None),
        ] {
            let skipped = peers.skipped(&driver(peer, variant));
            let reason = skipped.map(|skipped| skipped.reason);
            assert_eq!(reason.is_some(), why.is_some(), "{peer} {variant}");
            assert!(reason.unwrap_or_default().contains(why.unwrap_or_default()));
        }
    }
}
