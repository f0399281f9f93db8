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
use crate::usage::UsageError;

#[derive(Debug)]
pub struct PeerBuilds {
    manifest: Manifest,
    pub peers: Peers,
}

impl PeerBuilds {
    pub fn new(builder: &Builder<'_>) -> Result<Self> {
        Ok(Self {
            manifest: read_toml(&builder.sources.join("bench/peers.toml"))?,
            peers: Peers::none(builder.build)?,
        })
    }

    /// Refuses what no recipe can build.
    pub fn check(recipes: &[(&BuildRecipe, Implementation)]) -> Result<(), UsageError> {
        let mut recipes = recipes.iter();
        match recipes.find(|(recipe, driver)| recipe.pgo && driver.is_peer()) {
            Some((_, driver)) => Err(UsageError(format!(
                "{driver} cannot be built with PGO, because it does not end by itself and so writes no \
                 profile: leave --pgo out, or name our drivers with --impl"
            ))),
            None => Ok(()),
        }
    }

    pub fn build(
        &mut self,
        builder: &Builder<'_>,
        recipe: &BuildRecipe,
        implementation: Implementation,
        batches: &[u32],
    ) -> Result<(Build, Vec<Cell>)> {
        let environment = recipe.environment();
        let variables = recipe.variables("");
        let interrupt = builder.interrupt;
        let mut flags = ProjectFlags::ask(&builder.sources, &variables, &environment, interrupt)?;
        // With rustup, the hash is that of its proxy.
        flags.hashes += &recipe.toolchain.identity.key();
        let output = absolute(builder.output.join("peers").join(&recipe.variant))?;
        let folder = absolute(builder.build.join("peers"))?;
        let workshop = Workshop {
            project: &builder.sources,
            output: &output,
            flags: &flags,
            environment: &environment,
            batches,
            store: Store {
                folder: &folder,
                bundles: None,
                interrupt,
            },
        };
        let peer = self.manifest.peer(implementation)?;
        let name = peer.recipe.source().context("no compiler builds it here")?;
        let source = self.manifest.source(name)?;
        let taken = workshop.store.take(source);
        let built = taken.and_then(|from| workshop.build(source, peer, DEFAULT, &from));
        let help = "cannot build it; `make peers` takes the sources, also from git bundles";
        let built = built.context(help)?;
        self.peers.peers.push(PeerRecord {
            variant: recipe.variant.clone(),
            ..built
        });
        let described = (implementation, recipe.variant.clone());
        let build = Build {
            toolchain: recipe.toolchain.name(),
            ..self.peers.describe(&described)
        };
        let cells = batches.iter().map(|batch| {
            let cell = self.peers.cell(&build, Conditions::with_batch(*batch));
            cell.with_context(|| format!("there is no program for batch {batch}"))
        });
        let cells = cells.collect::<Result<_>>()?;
        Ok((build, cells))
    }
}
