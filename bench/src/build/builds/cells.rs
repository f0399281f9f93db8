//! What each driver was built with, and the cells that measure the builds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use perfcounters::process::is_executable;
use perfcounters::Cell;
use record::{Build, Conditions, Implementation, Peer};

use super::variants::{build_folder, built_with, table_order, Driver, DEFAULT};
use crate::build::peers::record::Peers;
use crate::build::toolchain::identity::file_hash;

#[derive(Debug, Clone)]
pub struct Builds {
    folder: PathBuf,
    builds: BTreeMap<Driver, Build>,
    peers: Peers,
}

impl Builds {
    pub fn describe(folder: &Path, drivers: &[Driver], peers: Peers) -> Self {
        let describe = |driver: &Driver| {
            let build = if driver.0.is_peer() {
                peers.describe(driver)
            } else {
                describe_build(folder, driver.0, &driver.1)
            };
            (driver.clone(), build)
        };
        Self {
            folder: folder.to_owned(),
            builds: drivers.iter().map(describe).collect(),
            peers,
        }
    }

    pub fn all(&self) -> Vec<Build> {
        let mut drivers: Vec<_> = self.builds.iter().collect();
        drivers.sort_by_key(|(driver, _)| table_order(driver));
        let builds = drivers.into_iter().map(|(_, build)| build.clone());
        builds.collect()
    }

    /// The cells of some drivers under the same conditions. A peer has none if it is not built for them.
    pub fn cells(&self, conditions: Conditions, drivers: &[Driver]) -> Vec<Cell> {
        let builds = drivers.iter().filter_map(|driver| self.builds.get(driver));
        let cell = |build: &Build| {
            if build.implementation.is_peer() {
                self.peers.cell(build, conditions)
            } else {
                Some(cell(&self.folder, build, conditions))
            }
        };
        builds.filter_map(cell).collect()
    }

    /// A cell for each program: one for each of our drivers, and one for each batch size of a peer.
    pub fn programs(&self) -> Vec<Cell> {
        let programs = |build: &Build| {
            if build.implementation.is_peer() {
                self.peers.all_cells(build)
            } else {
                vec![cell(&self.folder, build, Conditions::default())]
            }
        };
        self.builds.values().flat_map(programs).collect()
    }

    pub fn peers(&self) -> Vec<Peer> {
        let is_here = |driver: &Driver| self.builds.contains_key(driver);
        self.peers.facts(is_here)
    }
}

/// The compiler and the flags of a build, from its `toolchain.txt`.
pub fn describe_build(build: &Path, implementation: Implementation, variant: &str) -> Build {
    // A variant without a `toolchain.txt` was built by the compiler of the default variant.
    let flags = [variant, DEFAULT]
        .iter()
        .map(|variant| build_folder(build, implementation, variant).join("toolchain.txt"))
        .find_map(|path| std::fs::read_to_string(path).ok())
        .and_then(|text| Some(text.lines().next()?.trim().to_owned()))
        .filter(|line| !line.is_empty());
    let flags = flags.unwrap_or_else(|| "unknown".to_owned());
    built_with(&(implementation, variant.to_owned()), flags)
}

pub fn cell(build: &Path, row: &Build, conditions: Conditions) -> Cell {
    let folder = build_folder(build, row.implementation, &row.variant);
    Cell {
        implementation: row.implementation,
        variant: row.variant.clone(),
        toolchain: row.toolchain.clone(),
        conditions,
        program: folder.join("ixgbe-fwd"),
        library: folder.join("libforwarder.so"),
        peer: None,
    }
}

/// Names the file that a measurement of the cell lacks, and the command that builds it.
pub fn missing(cell: &Cell, needs_library: bool) -> Option<String> {
    let (file, present) = if needs_library {
        (&cell.library, cell.library.is_file())
    } else {
        (&cell.program, is_executable(&cell.program))
    };
    let goals = match cell.peer {
        None => "build variants",
        Some(_) => "peers",
    };
    let file = file.display();
    (!present).then(|| format!("there is no {file}: build it with `make {goals}`"))
}

type Hashes = BTreeMap<String, String>;

/// SHA-256 of the programs and libraries of `cells` and of the software NIC, by their paths in the
/// build folder. Missing files are left out.
pub fn hashes(build: &Path, cells: &[Cell]) -> Hashes {
    // The record of the peers has absolute paths.
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = whole(build);
    let files = cells.iter().flat_map(|cell| [&cell.program, &cell.library]);
    let nic = build.join("bin/nic");
    let files = files.chain([&nic]);
    let hash = |path: &PathBuf| {
        let path = whole(path);
        let name = path.strip_prefix(&folder).unwrap_or(&path).display();
        Some((name.to_string(), file_hash(&path).ok()?))
    };
    files.filter_map(hash).collect()
}

/// The names of the files that differ.
pub fn differences<'a>(ours: &'a Hashes, theirs: &'a Hashes) -> Vec<&'a str> {
    let names: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
    let differs = |name: &&String| ours.get(*name) != theirs.get(*name);
    let names = names.into_iter().filter(differs);
    names.map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::super::variants::OVERFLOW_CHECKS;
    use super::*;
    use Implementation::Rust;

    #[test]
    fn a_build_is_described_by_its_folder_or_that_of_the_default() {
        let folder = tempfile::tempdir().unwrap();
        let describe = || describe_build(folder.path(), Rust, OVERFLOW_CHECKS);
        assert_eq!(describe().toolchain, "unknown");
        let default = build_folder(folder.path(), Rust, DEFAULT);
        std::fs::create_dir_all(&default).unwrap();
        let line = "rustc 1.95.0 -C opt-level=3";
        std::fs::write(default.join("toolchain.txt"), format!("{line}\n")).unwrap();
        let build = describe();
        assert_eq!((&*build.toolchain, &*build.flags), ("rustc 1.95.0", line));
        let cell = cell(folder.path(), &build, Conditions::default());
        let text = missing(&cell, false).unwrap();
        assert!(text.contains("rust/ixgbe-fwd"), "{text}");
        assert!(missing(&cell, true).unwrap().contains("libforwarder.so"));
    }
}
