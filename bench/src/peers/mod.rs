//! `triptych peers`: builds the drivers of other projects that are measured beside ours.
//!
//! [`manifest`] reads `peers.toml`, [`source`] takes the pinned sources, [`flags`] asks for the flags, and
//! [`c`] and [`rust`] build. [`record`] is the result, `build/peers/peers.json`.

pub mod arguments;
pub mod c;
pub mod change;
pub mod flags;
pub mod list;
pub mod manifest;
pub mod obstacle;
pub mod record;
pub mod rust;
pub mod source;
pub mod stamp;
pub mod tool;
pub mod workshop;

use std::fs::{self, File};
use std::path::absolute;

use anyhow::{bail, ensure, Context, Result};
use perfcounters::Interrupt;
use rustix::fs::{flock, FlockOperation};

use self::arguments::PeersArguments;
use self::flags::ProjectFlags;
use self::manifest::{Manifest, Source};
use self::obstacle::{Obstacle, Outcome};
use self::record::{PeerRecord, PeersRecord, Skipped, SourceRecord, VERSION};
use self::source::{Sources, Store};
use self::workshop::{Built, Workshop, DEFAULT, OWN_FLAGS};
use crate::usage::UsageError;

/// Builds all peers that can be had, and writes `peers.json`. Prints what there is and what is skipped.
///
/// # Errors
/// A usage error for a wrong file or folder. Otherwise what failed; a peer that cannot be had is no error.
pub fn run(arguments: &PeersArguments, interrupt: &Interrupt) -> Result<()> {
    let manifest = Manifest::read(&arguments.config)?;
    if arguments.list {
        return match PeersRecord::read(&arguments.build_dir)? {
            Some(record) => {
                print!("{}", list::table(&record));
                Ok(())
            }
            None => bail!("no peers are built: run `make peers`"),
        };
    }
    if let Some(folder) = &arguments.from {
        if !folder.is_dir() {
            let text = format!("there is no folder {} with git bundles", folder.display());
            return Err(UsageError(text).into());
        }
    }
    let folder =
        absolute(arguments.build_dir.join("peers")).context("cannot find the build folder")?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let _lock = lock(&folder)?;
    let project = absolute(".").context("cannot find the current folder")?;
    let flags = ProjectFlags::ask(&project, &[], &[], interrupt)?;
    let batches: Vec<u32> = manifest.batch.iter().map(|batch| batch.0).collect();
    let output = folder.join("built");
    let workshop = Workshop {
        project: &project,
        output: &output,
        flags: &flags,
        batches: &batches,
        interrupt,
    };
    let store = Store {
        folder: &folder,
        bundles: arguments.from.as_deref(),
        interrupt,
    };
    let mut collection = Collection::default();
    collection.build_all(&manifest, &store, &workshop);
    collection.record.write(&arguments.build_dir)?;
    print!("{}", list::table(&collection.record));
    ensure!(!interrupt.is_set(), "interrupted");
    match collection.failures.as_slice() {
        [] => Ok(()),
        failures => bail!("{}", failures.join("\n")),
    }
}

/// Keeps a second command out of the folder while this value lives.
fn lock(folder: &std::path::Path) -> Result<File> {
    let path = folder.join("lock");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).with_context(|| {
        format!(
            "another `triptych peers` works in {}: wait until it has ended",
            folder.display()
        )
    })?;
    Ok(file)
}

/// What is built so far.
#[derive(Debug)]
struct Collection {
    record: PeersRecord,
    failures: Vec<String>,
}

impl Default for Collection {
    fn default() -> Self {
        Self {
            record: PeersRecord {
                version: VERSION,
                peers: Vec::new(),
                skipped: Vec::new(),
            },
            failures: Vec::new(),
        }
    }
}

impl Collection {
    fn build_all(&mut self, manifest: &Manifest, store: &Store<'_>, workshop: &Workshop<'_>) {
        for peer in &manifest.c {
            let name = &peer.implementation;
            let here = std::env::consts::ARCH;
            let fits = peer.architecture.as_deref().is_none_or(|only| only == here);
            let wrong = || Obstacle::Absent(format!("its sources do not compile for {here}"));
            let taken = fits.then_some(()).ok_or_else(wrong).and_then(|()| {
                let source = manifest.source(&peer.source)?;
                Ok((source, store.take(source)?))
            });
            self.build_variants(name, &peer.expect, taken, |source, sources, variant| {
                Ok(c::build(workshop, peer, source, &sources.folder, variant)?)
            });
        }
        for peer in &manifest.rust {
            let name = &peer.implementation;
            let taken = manifest
                .source(&peer.source)
                .map_err(Obstacle::from)
                .and_then(|source| Ok((source, store.take(source)?)));
            self.build_variants(name, &peer.expect, taken, |source, sources, variant| {
                rust::build(workshop, peer, source, &sources.folder, variant)
            });
        }
    }

    /// Builds a driver with the project's flags and with its own.
    fn build_variants(
        &mut self,
        name: &str,
        expect: &str,
        taken: Outcome<(&Source, Sources)>,
        build: impl Fn(&Source, &Sources, &str) -> Outcome<Built>,
    ) {
        let (source, sources) = match taken {
            Ok(taken) => taken,
            Err(obstacle) => {
                let reason = obstacle.to_string();
                for variant in [DEFAULT, OWN_FLAGS] {
                    self.skip(name, variant, reason.clone());
                }
                if let Obstacle::Failed(_) = obstacle {
                    self.failures.push(format!("{name}: {reason}"));
                }
                return;
            }
        };
        for variant in [DEFAULT, OWN_FLAGS] {
            eprintln!("peers: {name} ({variant})");
            let origin = SourceRecord {
                url: source.url.clone(),
                commit: source.commit.clone(),
                from: sources.origin,
            };
            let built = build(source, &sources, variant);
            self.note(name, variant, expect, origin, built);
        }
    }

    /// Notes a build, or why there is none.
    fn note(
        &mut self,
        name: &str,
        variant: &str,
        expect: &str,
        source: SourceRecord,
        built: Outcome<Built>,
    ) {
        match built {
            Ok(built) => self.record.peers.push(PeerRecord {
                implementation: name.to_owned(),
                variant: variant.to_owned(),
                toolchain: built.toolchain,
                source,
                expect: expect.to_owned(),
                builds: built.builds,
            }),
            Err(Obstacle::Absent(reason)) => self.skip(name, variant, reason),
            Err(Obstacle::Failed(error)) => {
                self.failures.push(format!("{name} ({variant}): {error:#}"));
                self.skip(name, variant, format!("{error:#}"));
            }
        }
    }

    fn skip(&mut self, name: &str, variant: &str, reason: String) {
        self.record.skipped.push(Skipped {
            implementation: name.to_owned(),
            variant: variant.to_owned(),
            reason,
        });
    }
}
