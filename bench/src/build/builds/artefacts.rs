//! Hashes of the measured programs and libraries.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use perfcounters::Cell;
use sha2::{Digest, Sha256};

/// SHA-256 of the programs and libraries of `cells` and of the software NIC, by their paths in the
/// build folder. Missing files are left out.
pub fn hashes(build: &Path, cells: &[Cell]) -> BTreeMap<String, String> {
    // The record of the peers has absolute paths.
    let absolute = std::path::absolute(build).unwrap_or_else(|_| build.to_owned());
    let files = cells
        .iter()
        .flat_map(|cell| [cell.program.clone(), cell.library.clone()])
        .chain([build.join("bin/nic")]);
    files
        .filter_map(|path| {
            let hash = Sha256::digest(fs::read(&path).ok()?);
            let name = path
                .strip_prefix(build)
                .or_else(|_| path.strip_prefix(&absolute))
                .unwrap_or(&path);
            let hex = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            Some((name.display().to_string(), hex))
        })
        .collect()
}

/// The names of the files whose hashes differ.
pub fn differences<'a>(
    ours: &'a BTreeMap<String, String>,
    theirs: &'a BTreeMap<String, String>,
) -> Vec<&'a str> {
    let mut names: Vec<_> = ours
        .keys()
        .chain(theirs.keys())
        .filter(|name| ours.get(*name) != theirs.get(*name))
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_and_missing_files_are_named() {
        let build = tempfile::tempdir().unwrap();
        fs::create_dir(build.path().join("bin")).unwrap();
        let nic = build.path().join("bin/nic");
        fs::write(&nic, "abc").unwrap();
        let before = hashes(build.path(), &[]);
        assert_eq!(
            before["bin/nic"],
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert!(differences(&before, &before).is_empty());
        fs::write(&nic, "abd").unwrap();
        assert_eq!(
            differences(&before, &hashes(build.path(), &[])),
            ["bin/nic"]
        );
        fs::remove_file(&nic).unwrap();
        assert_eq!(
            differences(&before, &hashes(build.path(), &[])),
            ["bin/nic"]
        );
    }
}
