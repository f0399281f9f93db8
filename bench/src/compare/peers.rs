//! Builds the paper's own drivers with the compilers of a comparison.
//!
//! `make peers` has taken their sources. Each recipe gets programs of its own, because a peer's batch size is
//! a constant in its source.

use std::path::absolute;

use anyhow::{anyhow, bail, Context, Result};
use perfcounters::Cell;
use record::{Build, Conditions, Implementation, Peer};

use crate::build::builds::peers::Peers;
use crate::build::peers::flags::ProjectFlags;
use crate::build::peers::manifest::Manifest;
use crate::build::peers::obstacle::Obstacle;
use crate::build::peers::record::{PeerRecord, PeersRecord, SourceRecord, VERSION};
use crate::build::peers::source::Store;
use crate::build::peers::workshop::{Workshop, DEFAULT};
use crate::build::peers::{c, c2rust, rust};
use crate::build::toolchain::builder::{self, Builder, ExtraFlags};
use crate::build::toolchain::recipe::BuildRecipe;
use crate::usage::UsageError;

/// What is built of the peers.
#[derive(Debug)]
pub struct PeerBuilds {
    manifest: Manifest,
    peers: Peers,
}

impl PeerBuilds {
    /// Nothing is built yet.
    ///
    /// # Errors
    /// If `bench/peers.toml` is wrong.
    pub fn new(builder: &Builder<'_>) -> Result<Self> {
        let record = PeersRecord {
            version: VERSION,
            peers: Vec::new(),
            skipped: Vec::new(),
        };
        Ok(Self {
            manifest: Manifest::read(&builder.sources.join("bench/peers.toml"))?,
            peers: Peers::new(Some(record), builder.build).map_err(|error| anyhow!(error))?,
        })
    }

    /// Refuses what no recipe can build.
    ///
    /// # Errors
    /// Names the drivers and the way out.
    pub fn check(recipes: &[(&BuildRecipe, Implementation)]) -> Result<(), UsageError> {
        let profiled =
            |(recipe, driver): &&(&BuildRecipe, Implementation)| recipe.pgo && driver.is_peer();
        match recipes.iter().find(profiled) {
            Some((_, driver)) => Err(UsageError(format!(
                "{driver} cannot be built with PGO, because it does not end by itself and so writes no \
                 profile: leave --pgo out, or name our drivers with --impl"
            ))),
            None => Ok(()),
        }
    }

    /// Builds a peer, one program for each batch size.
    ///
    /// # Errors
    /// The compiler's message, or what is missing.
    pub fn build(
        &mut self,
        builder: &Builder<'_>,
        recipe: &BuildRecipe,
        implementation: Implementation,
        batches: &[u32],
    ) -> Result<()> {
        let extra = ExtraFlags::default();
        let environment = builder::environment(recipe, &extra);
        let variables = builder::flag_variables(recipe, &extra);
        let interrupt = builder.interrupt;
        let asked = ProjectFlags::ask(&builder.sources, &variables, &environment, interrupt)?;
        let key = recipe.toolchain.identity.key().to_owned();
        // With rustup, the hash would be that of its proxy.
        let flags = ProjectFlags {
            cc_hash: key.clone(),
            rustc_hash: key,
            ..asked
        };
        let output = absolute(builder.output.join("peers").join(&recipe.variant))
            .context("cannot find the build folder")?;
        let workshop = Workshop {
            project: &builder.sources,
            output: &output,
            flags: &flags,
            environment: &environment,
            batches,
            interrupt,
        };
        let folder = builder.build.join("peers");
        let store = Store {
            folder: &folder,
            bundles: None,
            interrupt,
        };
        let record =
            self.with(&workshop, &store, implementation)
                .map_err(|obstacle| match obstacle {
                    Obstacle::Absent(reason) => {
                        anyhow!("{reason}; `make peers` takes the sources, also from git bundles")
                    }
                    Obstacle::Failed(error) => error,
                })?;
        self.peers.add(PeerRecord {
            variant: recipe.variant.clone(),
            ..record
        });
        Ok(())
    }

    fn with(
        &self,
        workshop: &Workshop<'_>,
        store: &Store<'_>,
        implementation: Implementation,
    ) -> Result<PeerRecord, Obstacle> {
        let name = implementation.to_string();
        let manifest = &self.manifest;
        let missing = || anyhow!("bench/peers.toml has no {name}");
        let (source, expect) = match implementation {
            Implementation::IxyRs => {
                let mut all = manifest.rust.iter();
                let peer = all.find(|peer| peer.implementation == name);
                let peer = peer.ok_or_else(missing)?;
                (&peer.source, &peer.expect)
            }
            _ => {
                let peer = manifest.c_peer(&Implementation::Ixy.to_string())?;
                (&peer.source, &peer.expect)
            }
        };
        let source = manifest.source(source)?;
        let taken = store.take(source)?;
        let built = match implementation {
            Implementation::Ixy => {
                let peer = manifest.c_peer(&name)?;
                c::build(workshop, peer, source, &taken.folder, DEFAULT)?
            }
            Implementation::IxyRs => {
                let mut all = manifest.rust.iter();
                let peer = all.find(|peer| peer.implementation == name);
                let peer = peer.ok_or_else(missing)?;
                rust::build(workshop, peer, source, &taken.folder, DEFAULT)?
            }
            Implementation::IxyC2rust => {
                let mut all = manifest.c2rust.iter();
                let peer = all.find(|peer| peer.implementation == name);
                let peer = peer.ok_or_else(missing)?;
                let c = manifest.c_peer(&peer.c)?;
                c2rust::build(workshop, peer, c, source, &taken.folder)?
            }
            other => return Err(anyhow!("no compiler builds {other} here").into()),
        };
        Ok(PeerRecord {
            implementation: name,
            variant: DEFAULT.to_owned(),
            toolchain: built.toolchain,
            source: SourceRecord {
                url: source.url.clone(),
                commit: source.commit.clone(),
                from: taken.origin,
            },
            expect: expect.clone(),
            builds: built.builds,
        })
    }

    /// What a peer was built with.
    pub fn describe(&self, recipe: &BuildRecipe, implementation: Implementation) -> Build {
        Build {
            toolchain: recipe.toolchain.name(),
            ..self
                .peers
                .describe(&(implementation, recipe.variant.clone()))
        }
    }

    /// The cell of a peer at a batch size.
    ///
    /// # Errors
    /// If no program has this batch size.
    pub fn cell(
        &self,
        recipe: &BuildRecipe,
        implementation: Implementation,
        batch: u32,
    ) -> Result<Cell> {
        let build = self.describe(recipe, implementation);
        match self.peers.cell(&build, Conditions::with_batch(batch)) {
            Some(cell) => Ok(cell),
            None => bail!("there is no program for batch {batch}"),
        }
    }

    /// Where the peers of these cells come from, each once.
    pub fn facts(&self, cells: &[Cell]) -> Vec<Peer> {
        let mut facts: Vec<Peer> = Vec::new();
        for cell in cells {
            let fact = self
                .peers
                .facts(&(cell.implementation, cell.variant.clone()));
            if let Some(fact) = fact.filter(|fact| !facts.contains(fact)) {
                facts.push(fact);
            }
        }
        facts
    }
}
