//! Builds all peers one after another, and notes what could not be had.

use std::collections::HashMap;

use super::c;
use super::c2rust;
use super::manifest::{CPeer, Manifest, Source};
use super::obstacle::{Obstacle, Outcome};
use super::record::{Origin, PeerRecord, PeersRecord, Skipped, SourceRecord, VERSION};
use super::rust;
use super::source::{Sources, Store};
use super::testpmd::{self, Installed};
use super::workshop::{Built, Workshop, DEFAULT, OWN_FLAGS};

/// The variants of a peer that has a build file of its own.
const BOTH: [&str; 2] = [DEFAULT, OWN_FLAGS];

/// What is built so far.
#[derive(Debug)]
pub struct Collection<'a> {
    manifest: &'a Manifest,
    store: &'a Store<'a>,
    workshop: &'a Workshop<'a>,
    /// Sources that were taken, or why not. Each is asked for once.
    taken: HashMap<String, Result<Sources, String>>,
    /// The peers in the order of tables, and what is skipped.
    pub record: PeersRecord,
    /// What failed for another reason than absence.
    pub failures: Vec<String>,
}

impl<'a> Collection<'a> {
    /// Nothing is built yet.
    pub fn new(manifest: &'a Manifest, store: &'a Store<'a>, workshop: &'a Workshop<'a>) -> Self {
        Self {
            manifest,
            store,
            workshop,
            taken: HashMap::new(),
            record: PeersRecord {
                version: VERSION,
                peers: Vec::new(),
                skipped: Vec::new(),
            },
            failures: Vec::new(),
        }
    }

    /// Builds everything. An obstacle keeps only its own peer away.
    pub fn build_all(&mut self) {
        let (manifest, workshop) = (self.manifest, self.workshop);
        for peer in &manifest.c {
            for variant in BOTH {
                self.add(&peer.implementation, variant, &peer.expect, |all| {
                    check_architecture(peer)?;
                    let (source, sources) = all.take(&peer.source)?;
                    let built = c::build(workshop, peer, source, &sources.folder, variant)?;
                    Ok((origin(source, &sources), built))
                });
            }
        }
        for peer in &manifest.rust {
            for variant in BOTH {
                self.add(&peer.implementation, variant, &peer.expect, |all| {
                    let (source, sources) = all.take(&peer.source)?;
                    let built = rust::build(workshop, peer, source, &sources.folder, variant)?;
                    Ok((origin(source, &sources), built))
                });
            }
        }
        for peer in &manifest.c2rust {
            let Ok(c) = manifest.c_peer(&peer.c) else {
                continue; // Manifest::parse has checked it.
            };
            self.add(&peer.implementation, DEFAULT, &c.expect, |all| {
                check_architecture(c)?;
                let (source, sources) = all.take(&c.source)?;
                let built = c2rust::build(workshop, peer, c, source, &sources.folder)?;
                Ok((origin(source, &sources), built))
            });
        }
        self.add_testpmd();
    }

    fn add_testpmd(&mut self) {
        let Some(testpmd) = &self.manifest.testpmd else {
            return;
        };
        let workshop = self.workshop;
        let mut installed = None;
        for path in &testpmd.paths {
            for mode in &testpmd.modes {
                self.add(&path.implementation, &mode.variant, &mode.expect, |_| {
                    let found = installed.get_or_insert_with(|| Installed::find(workshop));
                    let found = found.as_ref().map_err(|obstacle| match obstacle {
                        Obstacle::Absent(reason) => Obstacle::Absent(reason.clone()),
                        Obstacle::Failed(error) => Obstacle::Failed(anyhow::anyhow!("{error:#}")),
                    })?;
                    let built = testpmd::build(workshop, testpmd, path, mode, found)?;
                    let source = SourceRecord {
                        url: testpmd.url.clone(),
                        commit: found.version.clone(),
                        from: Origin::System,
                    };
                    Ok((source, built))
                });
            }
        }
    }

    /// The sources of a name. A failure is reported once, and is an absence for all other peers.
    fn take(&mut self, name: &str) -> Outcome<(&'a Source, Sources)> {
        let source = self.manifest.source(name)?;
        if let Some(known) = self.taken.get(name) {
            let sources = known.clone().map_err(Obstacle::Absent)?;
            return Ok((source, sources));
        }
        let taken = self.store.take(source);
        let note = taken
            .as_ref()
            .map(Clone::clone)
            .map_err(ToString::to_string);
        self.taken.insert(name.to_owned(), note);
        Ok((source, taken?))
    }

    /// Builds one driver in one variant, and notes it or the obstacle.
    fn add(
        &mut self,
        name: &str,
        variant: &str,
        expect: &str,
        build: impl FnOnce(&mut Self) -> Outcome<(SourceRecord, Built)>,
    ) {
        if self.workshop.interrupt.is_set() {
            return;
        }
        let outcome = build(self);
        let reason = match outcome {
            Ok((source, built)) => {
                self.record.peers.push(PeerRecord {
                    implementation: name.to_owned(),
                    variant: variant.to_owned(),
                    toolchain: built.toolchain,
                    source,
                    expect: expect.to_owned(),
                    builds: built.builds,
                });
                return;
            }
            Err(Obstacle::Absent(reason)) => reason,
            Err(Obstacle::Failed(error)) => {
                self.failures.push(format!("{name} ({variant}): {error:#}"));
                format!("{error:#}")
            }
        };
        self.record.skipped.push(Skipped {
            implementation: name.to_owned(),
            variant: variant.to_owned(),
            reason,
        });
    }
}

fn check_architecture(peer: &CPeer) -> Outcome<()> {
    let here = std::env::consts::ARCH;
    match &peer.architecture {
        Some(only) if only != here => Err(Obstacle::Absent(format!(
            "its sources are for {only}, and this machine is {here}"
        ))),
        _ => Ok(()),
    }
}

fn origin(source: &Source, sources: &Sources) -> SourceRecord {
    SourceRecord {
        url: source.url.clone(),
        commit: source.commit.clone(),
        from: sources.origin,
    }
}
