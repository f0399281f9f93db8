//! Where peers are built, and what is built there.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{ensure, Context, Result};

use super::flags::ProjectFlags;
use super::manifest::{Change, Source, UNMODIFIED_BATCH};
use super::source::Store;
use crate::build::stamp::{read, write};

pub(super) const COMPILE: Duration = Duration::from_secs(180);

#[derive(Debug)]
pub(crate) struct Workshop<'a> {
    pub project: &'a Path,
    /// The absolute folder for what is built.
    pub output: &'a Path,
    pub flags: &'a ProjectFlags,
    /// The environment of cargo: another compiler, or changes to the profile.
    pub environment: &'a [(String, String)],
    pub batches: &'a [u32],
    pub store: Store<'a>,
}

/// The forwarder of a source for one batch size.
#[derive(Debug)]
pub(super) struct Program {
    /// The line that sets the batch size, if the program is not the unmodified one.
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

/// Writes the changed forwarder of a batch size beside the unmodified one.
pub(super) fn write_program(source: &Source, program: &Program, sources: &Path) -> Result<()> {
    let Some(to) = &program.change else {
        return Ok(());
    };
    let file = sources.join(&program.file);
    fs::copy(sources.join(&source.program), &file)
        .with_context(|| format!("cannot write {}", file.display()))?;
    let change = Change {
        file: program.file.clone(),
        from: source.constant.clone(),
        times: 1,
        to: to.clone(),
    };
    change.apply(sources)
}

impl Change {
    pub(super) fn apply(&self, sources: &Path) -> Result<()> {
        let path = sources.join(&self.file);
        let text = read(&path)?;
        let count = text.matches(&self.from).count();
        ensure!(
            count == self.times,
            "{} has {:?} {count} times, and {} is expected",
            self.file.display(),
            self.from,
            self.times
        );
        write(&path, &text.replace(&self.from, &self.to))
    }
}
