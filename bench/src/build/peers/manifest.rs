//! `peers.toml`: the sources, and the recipes that build drivers from them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use record::Implementation;
use serde::de::DeserializeOwned;
use serde::Deserialize;

use crate::usage::UsageError;

/// The batch size of the unmodified programs of ixy and ixy.rs.
pub(crate) const UNMODIFIED_BATCH: u32 = 32;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    pub batch: Vec<u32>,
    #[serde(rename = "source", default)]
    pub sources: Vec<Source>,
    pub testpmd: Option<Testpmd>,
    #[serde(rename = "peer", default)]
    pub peers: Vec<Peer>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    pub name: String,
    pub url: String,
    /// The name of the git bundle that has the same commit.
    pub bundle: String,
    pub commit: String,
    /// The full hash of the commit whose lines the paper counted. `code-size` counts it, too.
    pub counted: Option<String>,
    pub program: PathBuf,
    /// The line of `program` that sets the batch size.
    pub constant: String,
    /// The only architecture that it is written for, as `uname -m` prints it.
    pub architecture: Option<String>,
    #[serde(default)]
    pub include: PathBuf,
    #[serde(default)]
    pub own_flags: Vec<String>,
    /// For C: the other files that its build file names.
    #[serde(default)]
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peer {
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// Its variants, and what each does to a frame: the value of the card's `--expect`.
    pub expect: BTreeMap<String, String>,
    pub ring_size: u32,
    pub recipe: Recipe,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) enum Recipe {
    C {
        source: String,
    },
    /// Cargo builds an example of its crate. `lock` pins its dependencies.
    Rust {
        source: String,
        lock: PathBuf,
    },
    /// C2Rust translates it after the changes, and Cargo builds the result.
    C2rust {
        source: String,
        #[serde(rename = "change", default)]
        changes: Vec<Change>,
    },
    /// A package of the system has it. `eal` selects DPDK's functions for the card.
    Testpmd {
        least_batch: u32,
        eal: Vec<String>,
    },
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Testpmd {
    pub url: String,
    pub eal: Vec<String>,
    pub options: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Change {
    pub file: PathBuf,
    /// The text, which must be there as often as `times` says, or once.
    pub from: String,
    pub times: Option<usize>,
    pub to: String,
}

pub(crate) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let read = std::fs::read_to_string(path).map_err(anyhow::Error::from);
    let parsed = read.and_then(|text| Ok(toml::from_str(&text)?));
    parsed.map_err(|error| UsageError(format!("{}: {error:#}", path.display())).into())
}

impl Manifest {
    pub fn source(&self, name: &str) -> Result<&Source> {
        let found = self.sources.iter().find(|source| source.name == name);
        found.with_context(|| format!("peers.toml has no source {name:?}"))
    }

    pub fn peer(&self, implementation: Implementation) -> Result<&Peer> {
        let mut peers = self.peers.iter();
        let found = peers.find(|peer| peer.implementation == implementation);
        found.with_context(|| format!("peers.toml has no {implementation}"))
    }
}

impl Source {
    pub fn constant_for(&self, batch: u32) -> String {
        let unmodified = format!(" = {UNMODIFIED_BATCH};");
        self.constant.replace(&unmodified, &format!(" = {batch};"))
    }
}

impl Recipe {
    /// The name of its source, unless it is a package of the system.
    pub fn source(&self) -> Option<&str> {
        match self {
            Self::C { source } | Self::Rust { source, .. } | Self::C2rust { source, .. } => {
                Some(source)
            }
            Self::Testpmd { .. } => None,
        }
    }
}

#[cfg(test)]
pub(super) fn shipped() -> Manifest {
    read_toml(&Path::new(env!("CARGO_MANIFEST_DIR")).join("peers.toml")).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_this_repository_is_good() {
        let manifest = shipped();
        let names = manifest.peers.iter().map(|peer| peer.implementation);
        assert!(names.eq(Implementation::PEERS));
        assert_eq!(manifest.batch[..2], [UNMODIFIED_BATCH, 8]);
        for source in &manifest.sources {
            for hash in [&source.commit].into_iter().chain(&source.counted) {
                assert!(hash.len() == 40 && hash.chars().all(|c| c.is_ascii_hexdigit()));
            }
            assert_ne!(source.constant_for(8), source.constant);
        }
        for peer in &manifest.peers {
            assert!(peer.expect.contains_key("default"));
            match peer.recipe.source() {
                Some(source) => drop(manifest.source(source).unwrap()),
                None => assert!(manifest.testpmd.is_some()),
            }
        }
    }
}
