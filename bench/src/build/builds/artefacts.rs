//! Hashes of the measured programs and libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use perfcounters::Cell;

use crate::build::toolchain::identity::file_hash;

/// SHA-256 of the programs and libraries of `cells` and of the software NIC, by their paths in the
/// build folder. Missing files are left out.
pub fn hashes(build: &Path, cells: &[Cell]) -> BTreeMap<String, String> {
    // The record of the peers has absolute paths.
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = whole(build);
    let files = cells
        .iter()
        .flat_map(|cell| [cell.program.clone(), cell.library.clone()])
        .chain([build.join("bin/nic")]);
    let hash = |path: std::path::PathBuf| {
        let path = whole(&path);
        let name = path.strip_prefix(&folder).unwrap_or(&path).display();
        Some((name.to_string(), file_hash(&path).ok()?))
    };
    files.filter_map(hash).collect()
}

pub fn differences<'a>(
    ours: &'a BTreeMap<String, String>,
    theirs: &'a BTreeMap<String, String>,
) -> Vec<&'a str> {
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let differs = |name: &&String| ours.get(*name) != theirs.get(*name);
    let names = names.into_iter().filter(differs);
    names.map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn changed_and_missing_files_are_named() {
        let build = tempfile::tempdir().unwrap();
        fs::create_dir(build.path().join("bin")).unwrap();
        let nic = build.path().join("bin/nic");
        let hashed = |content: &str| {
            fs::write(&nic, content).unwrap();
            hashes(build.path(), &[])
        };
        let before = hashed("abc");
        assert!(before["bin/nic"].starts_with("ba7816bf8f01cfea"));
        assert!(differences(&before, &before).is_empty());
        assert_eq!(differences(&before, &hashed("abcd")), ["bin/nic"]);
        assert_eq!(differences(&before, &BTreeMap::new()), ["bin/nic"]);
    }
}
