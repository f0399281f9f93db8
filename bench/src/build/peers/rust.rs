//! Builds a peer in Rust: an example of its crate, once for each batch size.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::change::{batch_change, copy_changed, copy_folder};
use super::flags::{ProjectFlags, PROFILE};
use super::manifest::{RustPeer, Source, UNMODIFIED_BATCH};
use super::obstacle::{Obstacle, Outcome};
use super::stamp::Stamp;
use super::tool;
use super::workshop::{two_ports, Built, Workshop, DEFAULT};

/// Longest time to fetch the crates that a peer needs.
const FETCH: Duration = Duration::from_secs(180);
/// Longest time to build all programs of a variant.
const BUILD: Duration = Duration::from_secs(600);

/// A cargo build of several programs in one workspace.
#[derive(Debug)]
pub struct CargoBuild<'a> {
    /// The folder of the workspace.
    pub workspace: &'a Path,
    /// The folder for what cargo builds.
    pub target: PathBuf,
    /// The profile: [`PROFILE`] or `release`.
    pub profile: &'a str,
    /// The arguments that select the programs.
    pub select: Vec<String>,
}

/// The profile and the flags of rustc in a variant, and their description.
pub fn variant_flags<'a>(
    flags: &'a ProjectFlags,
    variant: &str,
) -> (&'static str, &'a str, String) {
    let (profile, rust) = match variant {
        DEFAULT => (PROFILE, flags.rust.as_str()),
        _ => ("release", ""),
    };
    let text = format!("{} --profile {profile} {rust}", flags.rustc_version);
    (profile, rust, text.trim_end().to_owned())
}

/// Writes the Cargo.toml of a workspace around one package, with the project's profile. The package's own
/// Cargo.toml stays as it is.
///
/// # Errors
/// If the file cannot be written.
pub fn write_workspace(folder: &Path, member: &str, flags: &ProjectFlags) -> Result<()> {
    let workspace = BTreeMap::from([("members", vec![member])]);
    let profiles = BTreeMap::from([(PROFILE, &flags.profile)]);
    #[derive(serde::Serialize)]
    struct Cargo<'a> {
        workspace: BTreeMap<&'a str, Vec<&'a str>>,
        profile: BTreeMap<&'a str, &'a toml::Table>,
    }
    let text = toml::to_string(&Cargo {
        workspace,
        profile: profiles,
    })?;
    let path = folder.join("Cargo.toml");
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

impl CargoBuild<'_> {
    fn command(&self, workshop: &Workshop<'_>, word: &str) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .args([word, "--quiet", "--locked", "--manifest-path"])
            .arg(self.workspace.join("Cargo.toml"))
            .current_dir(workshop.project)
            .envs(workshop.environment.iter().map(|(key, value)| (key, value)));
        command
    }

    /// Fetches the crates unless they are there.
    ///
    /// # Errors
    /// [`Obstacle::Absent`] if they cannot be had.
    pub fn fetch(&self, workshop: &Workshop<'_>) -> Outcome<()> {
        let mut offline = self.command(workshop, "fetch");
        offline.arg("--offline");
        if tool::run("cargo", offline, FETCH, workshop.interrupt).is_ok() {
            return Ok(());
        }
        tool::run(
            "cargo",
            self.command(workshop, "fetch"),
            FETCH,
            workshop.interrupt,
        )
        .map(drop)
        .map_err(|error| {
            if workshop.interrupt.is_set() {
                return error.into();
            }
            let line = error.to_string();
            let line = line.lines().next().unwrap_or_default().to_owned();
            Obstacle::Absent(format!(
                "cargo cannot fetch the crates that it needs: {line}"
            ))
        })
    }

    /// Builds the programs. The crates must be there.
    ///
    /// # Errors
    /// The compiler's message.
    pub fn build(&self, workshop: &Workshop<'_>, rust_flags: &str) -> Result<()> {
        let mut command = self.command(workshop, "build");
        command
            .arg("--offline")
            .args(["--profile", self.profile, "--target-dir"])
            .arg(&self.target)
            .args(&self.select)
            .env("RUSTFLAGS", rust_flags);
        tool::run("cargo", command, BUILD, workshop.interrupt).map(drop)
    }

    /// The folder with the programs.
    pub fn output(&self) -> PathBuf {
        self.target.join(self.profile)
    }
}

/// Builds one program for each batch size.
///
/// # Errors
/// [`Obstacle::Absent`] if its crates cannot be had; otherwise the compiler's message.
pub fn build(
    workshop: &Workshop<'_>,
    peer: &RustPeer,
    source: &Source,
    sources: &Path,
    variant: &str,
) -> Outcome<Built> {
    let folder = workshop.folder(&peer.implementation, variant);
    let (profile, rust_flags, toolchain) = variant_flags(workshop.flags, variant);
    let lock = workshop.project.join(&peer.lock);
    let lock_text =
        fs::read_to_string(&lock).with_context(|| format!("cannot read {}", lock.display()))?;
    let example = PathBuf::from("examples").join(format!("{}.rs", peer.example));
    let name = |batch: u32| match batch {
        UNMODIFIED_BATCH => peer.example.clone(),
        batch => format!("{}-{batch}", peer.example),
    };
    let path = |batch: &u32| folder.join(name(*batch));
    let paths: Vec<PathBuf> = workshop.batches.iter().map(path).collect();
    let profile_text = workshop.flags.profile.to_string();
    let rustc = &workshop.flags.rustc_hash;
    let parts = [&source.tree, &lock_text, &toolchain, rustc, &profile_text];
    let stamp = Stamp::new(&folder, &parts.map(String::as_str));
    let changes: Vec<_> = workshop
        .batches
        .iter()
        .map(|batch| batch_change(&example, &peer.constant, *batch))
        .collect();
    if !stamp.holds(&paths) {
        stamp.clear()?;
        let workspace = folder.join("workspace");
        let package = workspace.join("source");
        copy_folder(sources, &package)?;
        write_workspace(&workspace, "source", workshop.flags)?;
        let copied = workspace.join("Cargo.lock");
        fs::write(&copied, &lock_text)
            .with_context(|| format!("cannot write {}", copied.display()))?;
        // Each other batch size becomes an example beside the unmodified one.
        for (batch, change) in workshop.batches.iter().zip(&changes) {
            if let Some(change) = change {
                let to = package
                    .join("examples")
                    .join(format!("{}.rs", name(*batch)));
                copy_changed(sources, &example, Some(change), &to)?;
            }
        }
        let select = workshop.batches.iter().map(|batch| name(*batch));
        let cargo = CargoBuild {
            workspace: &workspace,
            target: folder.join("target"),
            profile,
            select: select
                .flat_map(|name| ["--example".to_owned(), name])
                .collect(),
        };
        cargo.fetch(workshop)?;
        cargo.build(workshop, rust_flags)?;
        for (batch, path) in workshop.batches.iter().zip(&paths) {
            let built = cargo.output().join("examples").join(name(*batch));
            fs::copy(&built, path).with_context(|| format!("cannot copy {}", built.display()))?;
        }
        remove(&cargo.target)?;
        stamp.set()?;
    }
    let programs = workshop.batches.iter().zip(changes).zip(paths);
    let builds = programs.map(|((batch, change), path)| {
        two_ports(
            *batch,
            change.map(|change| change.name()),
            path,
            peer.ring_size,
        )
    });
    Ok(Built {
        toolchain,
        builds: builds.collect(),
    })
}

/// Removes what cargo built in between, which takes much space.
///
/// # Errors
/// If the folder cannot be removed.
pub fn remove(target: &Path) -> Result<()> {
    fs::remove_dir_all(target).with_context(|| format!("cannot remove {}", target.display()))
}
