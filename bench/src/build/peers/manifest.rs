//! Reads `peers.toml`: the sources, the programs and their flags.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use anyhow::{ensure, Context, Result};
use serde::Deserialize;

use crate::measure::settings::values::Batch;
use crate::usage::UsageError;

/// The batch size of the unmodified programs of ixy and ixy.rs.
pub const UNMODIFIED_BATCH: u32 = 32;

/// The contents of `peers.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The batch sizes for which each program is built.
    pub batch: Vec<Batch>,
    /// The repositories.
    #[serde(rename = "source", default)]
    pub sources: Vec<Source>,
    /// Drivers in C.
    #[serde(default)]
    pub c: Vec<CPeer>,
    /// Drivers in Rust.
    #[serde(default)]
    pub rust: Vec<RustPeer>,
    /// Drivers in C that C2Rust translates.
    #[serde(default)]
    pub c2rust: Vec<C2RustPeer>,
    /// DPDK's forwarder.
    pub testpmd: Option<Testpmd>,
}

/// A repository at one commit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name here.
    pub name: String,
    /// The public repository.
    pub url: String,
    /// The name of the git bundle that has the same commit.
    pub bundle: String,
    /// The full hash of the commit.
    pub commit: String,
    /// Git's hash of all files of the commit.
    pub tree: String,
    /// The full hash of the commit whose lines the paper counted. `code-size` counts it, too.
    #[serde(default)]
    pub counted: Option<String>,
    /// The licence, as SPDX writes it.
    pub licence: String,
}

/// A driver in C.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CPeer {
    /// Its name in `samples.csv`.
    #[serde(rename = "impl")]
    pub implementation: String,
    /// The name of its [`Source`].
    pub source: String,
    /// The only architecture that it is written for, as `uname -m` prints it.
    pub architecture: Option<String>,
    /// What it does to a frame: the value of the card's `--expect`.
    pub expect: String,
    /// Descriptors in each of its rings.
    pub ring_size: u32,
    /// The file with `main`.
    pub program: PathBuf,
    /// The folder of its headers.
    pub include: PathBuf,
    /// The line of `program` that sets the batch size.
    pub constant: String,
    /// The flags that its CMakeLists.txt gives.
    pub own_flags: Vec<String>,
    /// The other files that its CMakeLists.txt names.
    pub sources: Vec<PathBuf>,
}

/// A driver in Rust, whose program is an example of the crate.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RustPeer {
    /// Its name in `samples.csv`.
    #[serde(rename = "impl")]
    pub implementation: String,
    /// The name of its [`Source`].
    pub source: String,
    /// What it does to a frame: the value of the card's `--expect`.
    pub expect: String,
    /// Descriptors in each of its rings.
    pub ring_size: u32,
    /// The name of the example.
    pub example: String,
    /// The line of the example that sets the batch size.
    pub constant: String,
    /// The lock file for its dependencies, relative to the project's folder.
    pub lock: PathBuf,
}

/// A driver in C that C2Rust translates.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct C2RustPeer {
    /// Its name in `samples.csv`.
    #[serde(rename = "impl")]
    pub implementation: String,
    /// The name of the [`CPeer`] that it is translated from.
    pub c: String,
    /// Changes of the C sources that the translation needs.
    #[serde(rename = "change", default)]
    pub changes: Vec<Change>,
}

/// DPDK's testpmd, which a package of the system has.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Testpmd {
    /// The public repository.
    pub url: String,
    /// Descriptors in each ring.
    pub ring_size: u32,
    /// The options of DPDK's environment, for all paths.
    pub eal: Vec<String>,
    /// The options of testpmd, for all modes.
    pub options: Vec<String>,
    /// The ways to forward, each a variant.
    pub modes: Vec<TestpmdMode>,
    /// The functions that DPDK has for this card, each a driver of its own.
    #[serde(rename = "path")]
    pub paths: Vec<TestpmdPath>,
}

/// A way in which testpmd forwards.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestpmdMode {
    /// The variant.
    pub variant: String,
    /// The value of `--forward-mode`.
    pub forward: String,
    /// What it does to a frame: the value of the card's `--expect`.
    pub expect: String,
}

/// Functions that receive and send, and how to make DPDK choose them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestpmdPath {
    /// Its name in `samples.csv`.
    #[serde(rename = "impl")]
    pub implementation: String,
    /// The smallest burst with which it receives anything.
    pub least_batch: u32,
    /// The options of DPDK's environment that select it.
    pub eal: Vec<String>,
}

/// A change of a text in a file.
#[derive(Debug, Clone, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The file, relative to the sources.
    pub file: PathBuf,
    /// The text, which must be there as often as `times` says.
    pub from: String,
    /// How often the text is there.
    #[serde(default = "once")]
    pub times: usize,
    /// The text in its place.
    pub to: String,
}

fn once() -> usize {
    1
}

impl Manifest {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// A usage error that names the file and the mistake.
    pub fn read(path: &Path) -> Result<Self> {
        let parsed = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))
            .and_then(|text| Self::parse(&text).with_context(|| path.display().to_string()));
        parsed.map_err(|error| UsageError(format!("{error:#}")).into())
    }

    /// Parses and checks a text.
    ///
    /// # Errors
    /// The mistake.
    pub fn parse(text: &str) -> Result<Self> {
        let manifest: Self = toml::from_str(text)?;
        ensure!(
            manifest.batch.first().map(|batch| batch.0) == Some(UNMODIFIED_BATCH),
            "batch must begin with {UNMODIFIED_BATCH}, the batch size of the unmodified programs"
        );
        let distinct: BTreeSet<_> = manifest.batch.iter().collect();
        ensure!(
            distinct.len() == manifest.batch.len(),
            "batch names a size twice"
        );
        for source in &manifest.sources {
            source
                .check()
                .with_context(|| format!("source {:?}", source.name))?;
        }
        let mut names = BTreeSet::new();
        for name in manifest.names() {
            ensure!(usable(name), "impl {name:?}: use a to z, 0 to 9 and -");
            ensure!(names.insert(name), "impl {name:?} is there twice");
        }
        for peer in &manifest.c {
            manifest.source(&peer.source)?;
            let paths = peer.sources.iter().chain([&peer.program, &peer.include]);
            check_inside(paths)?;
            check_constant(&peer.constant)?;
        }
        for peer in &manifest.rust {
            manifest.source(&peer.source)?;
            check_constant(&peer.constant)?;
        }
        for peer in &manifest.c2rust {
            manifest.c_peer(&peer.c)?;
            check_inside(peer.changes.iter().map(|change| &change.file))?;
        }
        Ok(manifest)
    }

    /// The names of all drivers, in the order of tables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let c = self.c.iter().map(|peer| &peer.implementation);
        let rust = self.rust.iter().map(|peer| &peer.implementation);
        let c2rust = self.c2rust.iter().map(|peer| &peer.implementation);
        let paths = self.testpmd.iter().flat_map(|testpmd| &testpmd.paths);
        let testpmd = paths.map(|path| &path.implementation);
        let all = c.chain(rust).chain(c2rust).chain(testpmd);
        all.map(String::as_str)
    }

    /// The source of a name.
    ///
    /// # Errors
    /// If there is none.
    pub fn source(&self, name: &str) -> Result<&Source> {
        let found = self.sources.iter().find(|source| source.name == name);
        found.with_context(|| format!("there is no source {name:?}"))
    }

    /// The driver in C of a name.
    ///
    /// # Errors
    /// If there is none.
    pub fn c_peer(&self, name: &str) -> Result<&CPeer> {
        let found = self.c.iter().find(|peer| peer.implementation == name);
        found.with_context(|| format!("there is no driver {name:?} in C"))
    }
}

impl Source {
    fn check(&self) -> Result<()> {
        let usable_file = |name: &str| usable(&name.replace('.', "")) && !name.starts_with('.');
        ensure!(
            usable_file(&self.name),
            "the name: use a to z, 0 to 9, - and ."
        );
        ensure!(
            usable_file(&self.bundle),
            "the bundle: use a to z, 0 to 9, - and ."
        );
        for (what, hash) in [("commit", &self.commit), ("tree", &self.tree)] {
            let hexadecimal = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            ensure!(
                hash.len() == 40 && hash.chars().all(hexadecimal),
                "{what} = {hash:?} is not a full hash: 40 digits, 0 to 9 and a to f"
            );
        }
        Ok(())
    }
}

fn usable(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !name.is_empty() && !name.starts_with('-') && name.chars().all(allowed)
}

fn check_inside<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    for path in paths {
        let inside = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        ensure!(
            inside && path.components().next().is_some(),
            "{} must be a path below the sources",
            path.display()
        );
    }
    Ok(())
}

fn check_constant(line: &str) -> Result<()> {
    ensure!(
        line.ends_with(&format!(" = {UNMODIFIED_BATCH};")),
        "constant = {line:?} must end with ` = {UNMODIFIED_BATCH};`"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use record::Implementation;

    use super::*;

    fn text() -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(root.join("peers.toml")).unwrap()
    }

    #[test]
    fn the_file_of_this_repository_is_good() {
        let manifest = Manifest::parse(&text()).unwrap();
        let names: Vec<_> = manifest.names().collect();
        let peers: Vec<_> = Implementation::PEERS
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(names, peers);
        assert!(manifest.batch.iter().any(|batch| batch.0 == 8));
    }

    #[test]
    fn each_mistake_is_named() {
        for (from, to, why) in [
            ("batch = [32, 8,", "batch = [8, 32,", "must begin with 32"),
            ("batch = [32, 8,", "batch = [32, 8, 8,", "twice"),
            (
                "batch = [32, 8,",
                "batch = [32, 0,",
                "0 is not a number from 1 to 512",
            ),
            (
                "commit = \"0e00605b",
                "commit = \"0e00605",
                "not a full hash",
            ),
            ("tree = \"12e3cd2f", "tree = \"HEAD", "not a full hash"),
            ("source = \"ixy\"", "source = \"ixi\"", "no source \"ixi\""),
            ("impl = \"ixy-rs\"", "impl = \"ixy\"", "twice"),
            ("impl = \"ixy-rs\"", "impl = \"../x\"", "use a to z"),
            ("name = \"ixy\"", "name = \"..\"", "the name: use"),
            ("c = \"ixy\"", "c = \"ixz\"", "no driver \"ixz\" in C"),
            (
                "\"src/app/ixy-fwd.c\"",
                "\"../ixy-fwd.c\"",
                "below the sources",
            ),
            ("\"src/pci.c\"", "\"/etc/passwd\"", "below the sources"),
            ("file = \"src/", "file = \"../src/", "below the sources"),
            ("BATCH_SIZE = 32;", "BATCH_SIZE = 64;", "must end with"),
            ("ring_size = 512", "rings = 512", "unknown field `rings`"),
        ] {
            let good = text();
            assert!(good.contains(from), "{from}");
            let error = format!(
                "{:#}",
                Manifest::parse(&good.replacen(from, to, 1)).unwrap_err()
            );
            assert!(error.contains(why), "{from} -> {to}: {error}");
        }
    }

    #[test]
    fn a_missing_file_is_an_error_of_usage() {
        let error = Manifest::read(Path::new("/nowhere/peers.toml")).unwrap_err();
        assert!(error.downcast_ref::<UsageError>().is_some(), "{error}");
        assert!(error.to_string().contains("/nowhere/peers.toml"), "{error}");
    }
}
