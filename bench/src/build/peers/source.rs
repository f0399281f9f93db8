//! The sources of a peer, in a bare repository with the objects of the pinned commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use perfcounters::Interrupt;

use super::manifest::Source;
use super::record::Origin;
use super::{tool, Absent};

/// Longest time for one contact with a public repository.
const NETWORK: Duration = Duration::from_secs(120);
/// Longest time for work of git on this machine.
const LOCAL: Duration = Duration::from_secs(60);

/// Where the repositories are kept, and where new ones come from.
#[derive(Debug)]
pub(crate) struct Store<'a> {
    /// The folder of all peers.
    pub folder: &'a Path,
    /// The folder with git bundles. Without it, the public repositories are asked.
    pub bundles: Option<&'a Path>,
    /// Stops waiting.
    pub interrupt: &'a Interrupt,
}

impl Store<'_> {
    /// Fetches a source at its pinned commit unless it is there. Returns how it came here.
    ///
    /// # Errors
    /// [`Absent`] if it cannot be had without network or bundle. Otherwise git's message, as for a repository or a
    /// bundle that lacks the commit.
    pub fn take(&self, source: &Source) -> Result<Origin> {
        let note = self.repository(source).join("triptych-origin");
        if !self.has(source) {
            fs::create_dir_all(self.repository(source))
                .with_context(|| format!("cannot create {}", self.folder.display()))?;
            self.git(source, &["init", "--quiet", "--bare"], LOCAL)?;
            let origin = self.fetch(source).with_context(|| source.name.clone())?;
            fs::write(&note, origin.to_string())
                .with_context(|| format!("cannot write {}", note.display()))?;
        }
        let fail = || {
            format!(
                "cannot read {}: remove its folder and try again",
                note.display()
            )
        };
        let origin = fs::read_to_string(&note).with_context(fail)?;
        origin.parse().with_context(fail)
    }

    /// Writes the files of the pinned commit to a new folder.
    ///
    /// # Errors
    /// Git's message.
    pub fn write(&self, source: &Source, to: &Path) -> Result<()> {
        fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
        let tree = format!("--work-tree={}", to.display());
        let checkout = [&tree, "checkout", "--force", &source.commit, "--", "."];
        self.git(source, &checkout, LOCAL).map(drop)
    }

    fn repository(&self, source: &Source) -> PathBuf {
        self.folder.join("git").join(&source.name)
    }

    fn has(&self, source: &Source) -> bool {
        let commit = format!("{}^{{commit}}", source.commit);
        self.repository(source).is_dir()
            && self
                .git(source, &["cat-file", "-e", &commit], LOCAL)
                .is_ok()
    }

    fn fetch(&self, source: &Source) -> Result<Origin> {
        let Some(folder) = self.bundles else {
            return self.fetch_from_network(source).map(|()| Origin::Repository);
        };
        let bundle = folder.join(&source.bundle);
        if !bundle.is_file() {
            return Err(Absent(format!(
                "there is no {}: put the git bundle of {} there, or fetch from the network without PEERS_FROM",
                bundle.display(),
                source.url
            ))
            .into());
        }
        let from = bundle.to_string_lossy();
        self.git(
            source,
            &["fetch", "--quiet", "--no-tags", "--", &from, "HEAD"],
            LOCAL,
        )
        .with_context(|| format!("cannot take the sources from {from}"))?;
        let (commit, name) = (&source.commit, &source.bundle);
        anyhow::ensure!(
            self.has(source),
            "{name} does not have commit {commit}, which peers.toml pins"
        );
        Ok(Origin::Bundle)
    }

    fn fetch_from_network(&self, source: &Source) -> Result<()> {
        let mut fetch = vec![
            "fetch",
            "--quiet",
            "--no-tags",
            "--depth=1",
            "--",
            &source.url,
        ];
        fetch.push(&source.commit);
        fetch.extend(source.counted.as_deref());
        let Err(error) = self.git(source, &fetch, NETWORK) else {
            return Ok(());
        };
        let reach = self.git(
            source,
            &["ls-remote", "--quiet", "--", &source.url, "HEAD"],
            NETWORK,
        );
        if reach.is_err() && !self.interrupt.is_set() {
            let text = error.to_string();
            let line = text.lines().find(|line| line.contains("fatal:"));
            return Err(Absent(format!(
                "cannot reach {} ({}); without network, name a folder with {}: make peers PEERS_FROM=FOLDER",
                source.url,
                line.unwrap_or(&text).trim(),
                source.bundle
            ))
            .into());
        }
        let (url, commit) = (&source.url, &source.commit);
        Err(error.context(format!(
            "{url} does not give commit {commit}, which peers.toml pins"
        )))
    }

    /// Runs git on the repository of a source, without the user's settings where these could change files.
    fn git(&self, source: &Source, arguments: &[&str], limit: Duration) -> Result<String> {
        let mut command = Command::new("git");
        command
            .arg("--git-dir")
            .arg(self.repository(source))
            .args(["-c", "core.autocrlf=false", "-c", "core.fileMode=true"])
            .args(["-c", "core.attributesFile=/dev/null", "-c", "core.excludesFile=/dev/null"])
            // A fetch that stalls ends earlier than its time limit.
            .args(["-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30"])
            .args(arguments)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C");
        tool::run(command, limit, self.interrupt)
    }
}
