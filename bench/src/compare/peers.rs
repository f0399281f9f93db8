//! Builds the paper's own drivers with the compilers of a comparison.
//!
//! `make peers` has taken their sources. Each recipe gets programs of its own, because a peer's batch size is
//! a constant in its source.

use std::path::absolute;

use anyhow::{Context, Result};
use perfcounters::Cell;
use record::{Build, Conditions, Implementation};

use crate::build::builds::variants::DEFAULT;
use crate::build::peers::flags::ProjectFlags;
use crate::build::peers::manifest::{read_toml, Manifest};
use crate::build::peers::recipe::Workshop;
use crate::build::peers::record::{PeerRecord, Peers};
use crate::build::peers::source::Store;
use crate::build::request::Builder;
use crate::build::toolchain::recipe::BuildRecipe;

/// Builds a peer and adds it to `peers`. Returns what it is, and a cell for each batch size.
pub fn build(
    builder: &Builder<'_>,
    peers: &mut Peers,
    (recipe, implementation): (&BuildRecipe, Implementation),
    batches: &[u32],
) -> Result<(Build, Vec<Cell>)> {
    let manifest: Manifest = read_toml(&builder.sources.join("bench/peers.toml"))?;
    let environment = recipe.environment();
    let (variables, interrupt) = (recipe.variables(""), builder.interrupt);
    let mut flags = ProjectFlags::ask(&builder.sources, &variables, &environment, interrupt)?;
    // With rustup, the hash is that of its proxy.
    flags.hashes += &recipe.toolchain.identity.key();
    let workshop = Workshop {
        project: &builder.sources,
        output: absolute(builder.output.join("peers").join(&recipe.variant))?,
        flags,
        environment: &environment,
        batches,
        store: Store {
            folder: &absolute(builder.build.join("peers"))?,
            bundles: None,
            interrupt,
        },
    };
    let peer = manifest.peer(implementation)?;
    let name = peer.recipe.source().context("no compiler builds it here")?;
    let source = manifest.source(name)?;
    let taken = workshop.store.take(source);
    let built = taken.and_then(|from| workshop.build(source, peer, DEFAULT, &from));
    let help = "cannot build it; `make peers` takes the sources, also from git bundles";
    let built = built.context(help)?;
    peers.peers.push(PeerRecord {
        variant: recipe.variant.clone(),
        ..built
    });
    let described = (implementation, recipe.variant.clone());
    let build = Build {
        toolchain: recipe.toolchain.name(),
        ..peers.describe(&described)
    };
    let cells = batches.iter().map(|batch| {
        let cell = peers.cell(&build, Conditions::with_batch(*batch));
        cell.with_context(|| format!("there is no program for batch {batch}"))
    });
    let cells = cells.collect::<Result<_>>()?;
    Ok((build, cells))
}
