//! `triptych peers`: builds the drivers of other projects that are measured beside ours.
//!
//! `peers.toml` ([`manifest`]) names sources and recipes. [`source`] takes the sources, [`flags`] asks for the flags, and
//! [`recipe`] builds in a [`Workshop`]. [`record`] is the result, `build/peers/peers.json`.

use std::collections::BTreeMap;
use std::path::{absolute, PathBuf};

use ::record::SkippedPeer;
use anyhow::{ensure, Context, Result};
use clap::Args;
use perfcounters::Interrupt;

use self::flags::ProjectFlags;
use self::manifest::{read_toml, Manifest, Peer};
use self::recipe::Workshop;
use self::record::Peers;
use self::source::{Absent, Store};
use self::testpmd::Installed;
use crate::build::stamp;
use crate::usage::{BuildDir, Outcome, UsageError};

mod c2rust;
pub(crate) mod flags;
pub(crate) mod manifest;
pub(crate) mod recipe;
pub(crate) mod record;
pub(crate) mod source;
mod testpmd;

/// Arguments of `triptych peers`.
#[derive(Debug, Args)]
pub struct PeersArguments {
    /// Take the sources from git bundles in this folder instead of their public repositories
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
    /// Print what there is and what is skipped, and build nothing
    #[arg(long, conflicts_with = "from")]
    list: bool,
    /// The file that names the sources, the programs and their flags
    #[arg(long, value_name = "FILE", default_value = "bench/peers.toml")]
    config: PathBuf,
    #[command(flatten)]
    build_dir: BuildDir,
}

/// Builds all peers that can be had, and writes `peers.json`. Prints what there is and what is skipped.
pub fn run(arguments: &PeersArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let manifest: Manifest = read_toml(&arguments.config)?;
    if arguments.list {
        let record = Peers::read(&arguments.build_dir)?;
        let is_empty = record.peers.is_empty() && record.skipped.is_empty();
        ensure!(!is_empty, "no peers are built: run `make peers`");
        print!("{}", record.table());
        return Ok(Outcome::Good);
    }
    if let Some(from) = &arguments.from {
        let text = format!("there is no folder {} with git bundles", from.display());
        ensure!(from.is_dir(), UsageError(text));
    }
    let folder = absolute(arguments.build_dir.join("peers"))?;
    stamp::make_folder(&folder)?;
    let _lock = stamp::lock(&folder)?;
    let project = absolute(".")?;
    let workshop = Workshop {
        project: &project,
        output: folder.join("built"),
        flags: ProjectFlags::ask(&project, &[], &[], interrupt)?,
        environment: &[],
        batches: &manifest.batch,
        store: Store {
            folder: &folder,
            bundles: arguments.from.as_deref(),
            interrupt,
        },
    };
    let mut record = Peers::none(&arguments.build_dir)?;
    let failures = build_all(&manifest, &workshop, &mut record);
    ensure!(!interrupt.is_set(), "interrupted");
    record.write(&arguments.build_dir)?;
    print!("{}", record.table());
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(Outcome::Good)
}

/// Builds everything. What is in the way of one peer keeps only that one away. Returns the failures, too.
fn build_all(manifest: &Manifest, workshop: &Workshop<'_>, record: &mut Peers) -> Vec<String> {
    let mut failures = Vec::new();
    let mut noted = |what: &str, error: anyhow::Error| {
        if error.downcast_ref::<Absent>().is_none() {
            failures.push(format!("{what}: {error:#}"));
        }
        // What several peers need is reported as a failure once.
        Absent(format!("{error:#}"))
    };
    let mut taken = BTreeMap::new();
    for source in &manifest.sources {
        let origin = workshop.store.take(source);
        let origin = origin.map_err(|error| noted(&source.name, error));
        taken.insert(&source.name[..], origin);
    }
    let installed = Installed::find(workshop, manifest);
    let installed = installed.map_err(|error| noted("testpmd", error));
    let build = |peer: &Peer, variant: &str| match peer.recipe.source() {
        Some(name) => {
            let source = manifest.source(name)?;
            let from = taken.get(name).context("its source is missing")?.clone()?;
            workshop.build(source, peer, variant, &from)
        }
        None => testpmd::build(manifest, peer, variant, &installed.clone()?),
    };
    for peer in &manifest.peers {
        for variant in peer.expect.keys() {
            if workshop.store.interrupt.is_set() {
                break;
            }
            match build(peer, variant) {
                Ok(built) => record.peers.push(built),
                Err(error) => record.skipped.push(SkippedPeer {
                    implementation: peer.implementation,
                    variant: variant.clone(),
                    reason: noted(&format!("{} ({variant})", peer.implementation), error).0,
                }),
            }
        }
    }
    failures
}
