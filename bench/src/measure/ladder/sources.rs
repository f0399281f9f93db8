//! Writes the sources of every rung: patched copies of the safe driver.
//!
//! A rung's folder is a workspace of its own: `rust/`, `bench/forwarder-abi/`, a crate that the tests of
//! `rust/` need, and the `Cargo.toml` of the repository with only the first two as members. Unchanged files are not written, so that Cargo
//! rebuilds only changed rungs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, ensure, Context, Result};
use perfcounters::temporary::TemporaryFolder;

use super::manifest::{Change, Ladder, Rung};

/// The parts of the repository that a rung is made of.
const PARTS: [&str; 5] = [
    "rust/Cargo.toml",
    "rust/src",
    "drivers/conformance/fuzz-input",
    LIBRARY_MANIFEST,
    "bench/forwarder-abi/src",
];

/// A copy of the repository's `Cargo.toml`, beside the rung's own.
const REPOSITORY_MANIFEST: &str = "repository.toml";

const LIBRARY_MANIFEST: &str = "bench/forwarder-abi/Cargo.toml";

const MEMBERS: [&str; 2] = ["rust", "bench/forwarder-abi"];

/// Writes the sources of all rungs except the transpiled one, each to its [`folder`].
///
/// # Errors
/// If a patch does not apply: its name and git's message. If a file cannot be read or written.
pub fn write(ladder: &Ladder, patches: &Path, repository: &Path, build: &Path) -> Result<()> {
    let work = TemporaryFolder::create_in(build, ".ladder-")
        .with_context(|| format!("cannot make a folder in {}", build.display()))?;
    let shipped = ladder.shipped().context("the ladder has no shipped rung")?;
    let builds = ladder.builds();
    let names: Vec<_> = builds.iter().map(|rung| rung.name.clone()).collect();
    remove_others(&build.join("ladder"), "", &names)?;
    let variants: Vec<_> = builds.iter().map(Rung::variant).collect();
    remove_others(&build.join("variants"), "ladder-", &variants)?;

    // Downwards: removing the feature of a rung leaves the rung below.
    let below = work.path().join("below");
    copy_repository(repository, &below)?;
    put_rung(&below, shipped, build)?;
    let rest = ladder.of(Change::Rest);
    let removed: Vec<_> = rest.chain(ladder.of(Change::Remove)).collect();
    for pair in removed.windows(2).rev() {
        if let [lower, upper] = pair {
            apply_of(patches, upper, &below)?;
            put_rung(&below, lower, build)?;
        }
    }

    let above = work.path().join("above");
    copy_repository(repository, &above)?;
    for rung in ladder.of(Change::Add) {
        apply_of(patches, rung, &above)?;
        put_rung(&above, rung, build)?;
    }
    for rung in ladder.of(Change::OverflowChecks) {
        put_rung(&above, rung, build)?;
    }

    for pair in ladder.rungs.windows(2) {
        if let [lower, upper] = pair {
            if let Some(apart) = upper.apart() {
                let alone = work.path().join(&apart.name);
                copy_repository(repository, &alone)?;
                let (without, with) = (folder(build, lower), folder(build, upper));
                let (from, to) = match upper.change {
                    Change::Remove => (with, without),
                    _ => (without, with),
                };
                merge(&from, &to, &alone).with_context(|| format!("rung {}", upper.name))?;
                put_rung(&alone, &apart, build)?;
            }
        }
    }
    Ok(())
}

/// Applies to `into` the differences between the sources in `from` and in `to`.
fn merge(from: &Path, to: &Path, into: &Path) -> Result<()> {
    for file in files(&into.join("rust/src"))? {
        let name = file.strip_prefix(into)?;
        let (before, after) = (from.join(name), to.join(name));
        if fs::read(&before)? == fs::read(&after)? {
            continue;
        }
        let outcome = Command::new("git")
            .args(["merge-file", "--quiet"])
            .args([&file, &before, &after])
            .output()
            .context("cannot start git, which merges the changes of a rung")?;
        ensure!(
            outcome.status.success(),
            "its change of {} does not apply alone to the shipped driver: remove its `alone` from \
             rungs.toml, or rewrite its patch",
            name.display()
        );
    }
    Ok(())
}

/// All files of a folder and of the folders in it.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

/// Removes folders whose names begin with `prefix` but are not in `names`: rungs of earlier ladders.
fn remove_others(folder: &Path, prefix: &str, names: &[String]) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else {
        // The folder does not exist yet.
        return Ok(());
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let ours = name.starts_with(prefix) && entry.file_type()?.is_dir();
        if ours && !names.iter().any(|known| *known == name) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// The folder with the sources of a rung.
pub fn folder(build: &Path, rung: &Rung) -> PathBuf {
    build.join("ladder").join(&rung.name).join("source")
}

fn apply_of(patches: &Path, rung: &Rung, to: &Path) -> Result<()> {
    match rung.patch() {
        Some(patch) => apply(&patches.join(patch), to),
        None => Ok(()),
    }
}

/// Applies a patch to the sources in `to`.
///
/// # Errors
/// If it does not apply: its name and git's message.
pub(super) fn apply(patch: &Path, to: &Path) -> Result<()> {
    let absolute = fs::canonicalize(patch)
        .with_context(|| format!("cannot read the patch {}", patch.display()))?;
    // Inside a repository, git would read the paths as the repository's and skip them.
    let parent = fs::canonicalize(to)?;
    let outcome = Command::new("git")
        .args(["apply", "--whitespace=nowarn"])
        .arg(&absolute)
        .current_dir(to)
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env(
            "GIT_CEILING_DIRECTORIES",
            parent.parent().unwrap_or(&parent),
        )
        .output()
        .context("cannot start git, which applies the ladder's patches")?;
    ensure!(
        outcome.status.success(),
        "{} does not apply; bench/ladder/README.md says how to rebase a patch:\n{}",
        patch.display(),
        String::from_utf8_lossy(&outcome.stderr).trim_end()
    );
    Ok(())
}

fn copy_repository(repository: &Path, to: &Path) -> Result<()> {
    for part in PARTS {
        copy(&repository.join(part), &to.join(part))?;
    }
    copy(&repository.join("Cargo.lock"), &to.join("Cargo.lock"))?;
    copy(
        &repository.join("Cargo.toml"),
        &to.join(REPOSITORY_MANIFEST),
    )
}

/// Copies the sources of a rung from `work` to its folder.
fn put_rung(work: &Path, rung: &Rung, build: &Path) -> Result<()> {
    let text = fs::read_to_string(work.join(REPOSITORY_MANIFEST))?;
    fs::write(
        work.join("Cargo.toml"),
        workspace(&text, &rung.name, &MEMBERS)?,
    )?;
    name_library(&work.join(LIBRARY_MANIFEST), &rung.library())?;
    put(work, &folder(build, rung))
}

/// The repository's workspace with only the members of a rung.
///
/// The rung's name becomes a part of their version. Without it, Cargo would confuse packages with
/// the same name, version and path in their workspaces, and would not rebuild them for the next rung.
pub(super) fn workspace(text: &str, name: &str, members: &[&str]) -> Result<String> {
    let mut manifest: toml::Table = toml::from_str(text).context("Cargo.toml is malformed")?;
    let members = members
        .iter()
        .map(|member| toml::Value::String((*member).to_owned()));
    match manifest.get_mut("workspace") {
        Some(toml::Value::Table(workspace)) => {
            workspace.insert("members".to_owned(), toml::Value::Array(members.collect()));
            let version = workspace
                .get_mut("package")
                .and_then(|package| package.get_mut("version"));
            match version {
                Some(toml::Value::String(version)) => *version = format!("{version}+{name}"),
                _ => bail!("Cargo.toml has no [workspace.package] with a version"),
            }
        }
        _ => bail!("Cargo.toml has no [workspace]"),
    }
    Ok(toml::to_string(&manifest)?)
}

/// Gives the library a unique name, because Cargo writes libraries with one name to one file.
fn name_library(manifest: &Path, name: &str) -> Result<()> {
    let mut table: toml::Table = toml::from_str(&fs::read_to_string(manifest)?)?;
    match table.get_mut("lib") {
        Some(toml::Value::Table(library)) => {
            library.insert("name".to_owned(), toml::Value::String(name.to_owned()));
        }
        _ => bail!("{LIBRARY_MANIFEST} has no [lib]"),
    }
    fs::write(manifest, toml::to_string(&table)?)?;
    Ok(())
}

/// Copies a file, or a folder with its contents.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            copy(&from.join(&name), &to.join(&name))?;
        }
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::copy(from, to)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Makes `to` equal to `from`, and writes only files that differ.
fn put(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    let mut wanted = BTreeSet::new();
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        let (source, target) = (from.join(&name), to.join(&name));
        if source.is_dir() {
            put(&source, &target)?;
        } else {
            let content = fs::read(&source)?;
            if fs::read(&target).ok().as_deref() != Some(&content) {
                fs::write(&target, content)
                    .with_context(|| format!("cannot write {}", target.display()))?;
            }
        }
        wanted.insert(name);
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        if wanted.contains(&entry.file_name()) {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    fn repository() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    #[test]
    fn every_patch_applies_and_the_shipped_rung_is_the_shipped_driver() {
        let patches = repository().join("bench/ladder");
        let ladder = Ladder::read(&patches).unwrap();
        let build = tempfile::tempdir().unwrap();
        write(&ladder, &patches, repository(), build.path()).unwrap();
        let mut texts = Vec::new();
        for rung in &ladder.rungs {
            if rung.change == Change::Transpiled {
                continue;
            }
            let source = folder(build.path(), rung).join("rust/src");
            let text: String = [
                "driver/rx",
                "driver/tx",
                "driver/mempool",
                "driver/device",
                "rooms/forwarder",
                "sys/dma",
            ]
            .into_iter()
            .chain(["sys/buffers", "sys/mmio"])
            .map(|name| fs::read_to_string(source.join(format!("{name}.rs"))).unwrap())
            .collect();
            // Overflow checks change only the profile. All other rungs have different sources.
            assert_eq!(texts.contains(&text), rung.change == Change::OverflowChecks);
            texts.push(text);
        }
        let shipped = folder(build.path(), ladder.shipped().unwrap());
        for file in [
            "rust/src/driver/rx.rs",
            "rust/src/sys/buffers.rs",
            "rust/Cargo.toml",
        ] {
            let theirs = fs::read(repository().join(file)).unwrap();
            assert_eq!(fs::read(shipped.join(file)).unwrap(), theirs, "{file}");
        }
    }

    #[test]
    fn a_patch_that_does_not_apply_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let patches = folder.path().join("patches");
        let text = fs::read_to_string(repository().join("bench/ladder/rungs.toml")).unwrap();
        let names = Ladder::read(&repository().join("bench/ladder")).unwrap();
        for patch in names.rungs.iter().filter_map(Rung::patch) {
            copy(
                &repository().join("bench/ladder").join(&patch),
                &patches.join(&patch),
            )
            .unwrap();
        }
        fs::write(patches.join("rungs.toml"), text).unwrap();
        let ladder = Ladder::read(&patches).unwrap();
        let shipped = ladder.shipped().unwrap().patch().unwrap();
        let broken = fs::read_to_string(patches.join(&shipped)).unwrap();
        fs::write(
            patches.join(&shipped),
            broken.replace("\n-", "\n-no longer "),
        )
        .unwrap();
        let error = write(&ladder, &patches, repository(), folder.path()).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains(&shipped.display().to_string()), "{error}");
    }

    #[test]
    fn a_change_is_merged_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).join("rust/src/a.rs");
        for (name, text) in [
            ("from", "1\n2\n3\n4\n5\n"),
            ("to", "1\n2\n3\n4\nfive\n"),
            ("fits", "one\n2\n3\n4\n5\n"),
            ("fits-not", "1\n2\n3\n4\nV\n"),
        ] {
            fs::create_dir_all(file(name).parent().unwrap()).unwrap();
            fs::write(file(name), text).unwrap();
        }
        let at = |name: &str| folder.path().join(name);
        merge(&at("from"), &at("to"), &at("fits")).unwrap();
        let merged = fs::read_to_string(file("fits")).unwrap();
        assert_eq!(merged, "one\n2\n3\n4\nfive\n");
        let error = merge(&at("from"), &at("to"), &at("fits-not")).unwrap_err();
        assert!(error.to_string().contains("rust/src/a.rs"), "{error}");
    }

    #[test]
    fn rungs_of_earlier_ladders_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ladder-01-a", "ladder-02-b", "overflow-checks"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        remove_others(folder.path(), "ladder-", &["ladder-02-b".to_owned()]).unwrap();
        let left = |name| folder.path().join(name).is_dir();
        assert!(!left("ladder-01-a"));
        assert!(left("ladder-02-b") && left("overflow-checks"));
        remove_others(&folder.path().join("none"), "", &[]).unwrap();
    }

    #[test]
    fn unchanged_files_are_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for (file, text) in [("a/one", "1"), ("a/two", "2"), ("three", "3")] {
            fs::create_dir_all(from.join("a")).unwrap();
            fs::write(from.join(file), text).unwrap();
        }
        put(&from, &to).unwrap();
        let past = SystemTime::now() - Duration::from_secs(1000);
        for file in ["a/one", "a/two", "three"] {
            let file = fs::File::options().write(true).open(to.join(file)).unwrap();
            file.set_modified(past).unwrap();
        }
        fs::write(from.join("a/two"), "22").unwrap();
        fs::remove_file(from.join("three")).unwrap();
        put(&from, &to).unwrap();
        let modified = |file| fs::metadata(to.join(file)).unwrap().modified().unwrap();
        assert_eq!(modified("a/one"), past);
        assert!(modified("a/two") > past);
        assert!(!to.join("three").exists());
    }
}
