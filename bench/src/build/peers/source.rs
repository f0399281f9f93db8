//! The sources of a peer, in a bare repository with the objects of the pinned commit, and their changes for a batch size.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use perfcounters::Interrupt;

use super::manifest::{Change, Source, UNMODIFIED_BATCH};
use crate::build::{runner, stamp};

/// A peer cannot be had here. The text says why, and what to do about it.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Absent(pub String);

const LIMIT: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub(crate) struct Store<'a> {
    pub folder: &'a Path,
    /// The folder with git bundles. Without it, the public repositories are asked.
    pub bundles: Option<&'a Path>,
    pub interrupt: &'a Interrupt,
}

impl Store<'_> {
    /// Fetches a source at its pinned commit unless it is there. Returns how it came here: from a `repository` or a
    /// `bundle`.
    pub fn take(&self, source: &Source) -> Result<String> {
        let folder = self.repository(source);
        let note = folder.join("triptych-origin");
        if !self.has(source) {
            stamp::make_folder(&folder)?;
            self.git(source, &["init", "--bare"])?;
            self.fetch(source)?;
            let from = self.bundles.map_or("repository", |_| "bundle");
            stamp::write(&note, from)?;
        }
        stamp::read(&note).context("remove the folder, which has no note")
    }

    pub fn write(&self, source: &Source, to: &Path) -> Result<()> {
        stamp::empty(to)?;
        let tree = format!("--work-tree={}", to.display());
        let checkout = [&tree, "checkout", "--force", &source.commit, "--", "."];
        self.git(source, &checkout).map(drop)
    }

    fn repository(&self, source: &Source) -> PathBuf {
        self.folder.join("git").join(&source.name)
    }

    fn has(&self, source: &Source) -> bool {
        let commit = format!("{}^{{commit}}", source.commit);
        let is_there = || self.git(source, &["cat-file", "-e", &commit]).is_ok();
        self.repository(source).is_dir() && is_there()
    }

    fn fetch(&self, source: &Source) -> Result<()> {
        let (url, name) = (&source.url, &source.bundle);
        let bundle = self.bundles.map(|folder| folder.join(name));
        let from = bundle.as_ref().map(|path| path.to_string_lossy());
        let from = from.unwrap_or(url.into());
        let mut words = vec!["fetch", "--no-tags", &from];
        if let Some(path) = &bundle {
            let way_out = "put it there, or fetch from the network without PEERS_FROM";
            let text = format!("there is no {from} with commits of {url}: {way_out}");
            ensure!(path.is_file(), Absent(text));
            words.push("HEAD");
        } else {
            words.extend(["--depth=1", &source.commit]);
            words.extend(source.counted.as_deref());
        }
        let fetched = self.git(source, &words);
        if fetched.is_err() && bundle.is_none() && !self.interrupt.is_set() {
            if let Err(error) = self.git(source, &["ls-remote", url, "HEAD"]) {
                let text = error.to_string();
                let line = text.lines().find(|line| line.contains("fatal:"));
                let line = line.unwrap_or(&text).trim();
                let way_out = format!("name a folder with {name}: make peers PEERS_FROM=FOLDER");
                let text = format!("cannot reach {url} ({line}); without network, {way_out}");
                return Err(Absent(text).into());
            }
        }
        let pinned = format!("commit {}, which peers.toml pins", source.commit);
        fetched.with_context(|| format!("{from} does not give {pinned}"))?;
        ensure!(self.has(source), "{from} does not have {pinned}");
        Ok(())
    }

    /// Runs git on the repository of a source, without the user's settings where these could change files.
    fn git(&self, source: &Source, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new("git");
        command
            .arg("--git-dir")
            .arg(self.repository(source))
            .args(["-c", "core.autocrlf=false", "-c", "core.fileMode=true"])
            .args(["-c", "core.attributesFile=/dev/null"])
            // A fetch that stalls ends earlier than its time limit.
            .args(["-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30"])
            .args(arguments)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C");
        runner::output(command, LIMIT, self.interrupt)
    }
}

#[derive(Debug)]
pub(super) struct Program {
    pub change: Option<String>,
    pub file: PathBuf,
    pub stem: String,
}

impl Program {
    pub fn new(source: &Source, batch: u32) -> Self {
        let change = (batch != UNMODIFIED_BATCH).then(|| source.constant_for(batch));
        let stem = source.program.file_stem().unwrap_or_default();
        let mut stem = stem.to_string_lossy().into_owned();
        if change.is_some() {
            stem += &format!("-{batch}");
        }
        let mut file = source.program.with_file_name(&stem);
        file.set_extension(source.program.extension().unwrap_or_default());
        Self { change, file, stem }
    }
}

pub(super) fn write_program(source: &Source, program: &Program, sources: &Path) -> Result<()> {
    let Some(to) = &program.change else {
        return Ok(());
    };
    let file = sources.join(&program.file);
    std::fs::copy(sources.join(&source.program), &file)
        .with_context(|| format!("cannot write {}", file.display()))?;
    let change = Change {
        file: program.file.clone(),
        from: source.constant.clone(),
        times: None,
        to: to.clone(),
    };
    change.apply(sources)
}

impl Change {
    pub(super) fn apply(&self, sources: &Path) -> Result<()> {
        let path = sources.join(&self.file);
        let text = stamp::read(&path)?;
        let (count, times) = (text.matches(&self.from).count(), self.times.unwrap_or(1));
        let (file, from) = (self.file.display(), &self.from);
        ensure!(
            count == times,
            "{file} has {from:?} {count} times, and {times} is expected"
        );
        stamp::write(&path, &text.replace(&self.from, &self.to))
    }
}
