//! `triptych merge`: puts runs of one matrix into a folder, one run for each machine and clock.
//!
//! Values of different machines or clocks do not mix, so each run keeps its own folder. `merged.json`
//! lists the runs, and the report tools show them side by side.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use record::{read_run, read_samples, RunRecord, SAMPLES_FILE};
use serde::Serialize;

use super::arguments::MergeArguments;
use super::folder::{files, NewFolder};
use crate::build::builds::artefacts;
use crate::measure::run::config::Config;

/// The file that lists the runs of a merged folder.
pub const MERGED_FILE: &str = "merged.json";

/// Keys of a matrix in which merged runs may differ: they name the machine and its clock.
const OF_THE_MACHINE: [&str; 5] = [
    "clocks_ghz",
    "devices",
    "link_timeout",
    "pktgen",
    "pktgen_host",
];

/// Why runs cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A run is not complete.
    #[error(
        "{} is incomplete: continue it with `triptych run --resume {id}`, or leave it out",
        path.display()
    )]
    Incomplete {
        /// The run's folder.
        path: PathBuf,
        /// The run.
        id: String,
    },
    /// A run's matrix is of another version.
    #[error("{}: this version cannot read its matrix: {why}", path.display())]
    Plan {
        /// The run's folder.
        path: PathBuf,
        /// The parser's error.
        why: String,
    },
    /// Two runs do not belong together.
    #[error("{} and {} cannot be merged: {why}", one.display(), other.display())]
    Different {
        /// A run's folder.
        one: PathBuf,
        /// Another run's folder.
        other: PathBuf,
        /// The difference.
        why: String,
    },
}

/// A run to merge.
struct Source {
    path: PathBuf,
    record: RunRecord,
    plan: Config,
}

/// An entry of `merged.json`.
#[derive(Debug, Serialize)]
struct Entry {
    folder: String,
    host: String,
    processor: Option<String>,
    clock_ghz: Option<f64>,
    devices: Option<[String; 2]>,
}

/// Merges runs.
///
/// # Errors
/// [`MergeError`], [`crate::usage::UsageError`], or a file that cannot be read or written.
pub fn run(arguments: &MergeArguments) -> Result<()> {
    let mut sources = Vec::new();
    for path in &arguments.runs {
        sources.push(Source::read(path)?);
    }
    for (index, one) in sources.iter().enumerate() {
        for other in sources.iter().skip(index + 1) {
            if let Some(why) = difference(one, other) {
                return Err(MergeError::Different {
                    one: one.path.clone(),
                    other: other.path.clone(),
                    why,
                }
                .into());
            }
        }
    }
    let new = NewFolder::begin(&arguments.into)?;
    let mut entries = Vec::new();
    for source in &sources {
        entries.push(source.copy(new.path())?);
    }
    let json = serde_json::to_string_pretty(&serde_json::json!({ "runs": entries }))?;
    let list = new.path().join(MERGED_FILE);
    fs::write(&list, json + "\n").with_context(|| format!("cannot write {}", list.display()))?;
    new.finish()?;
    println!("{} runs in {}", entries.len(), arguments.into.display());
    Ok(())
}

impl Source {
    fn read(path: &Path) -> Result<Self> {
        // `results/latest` is a link.
        let path =
            fs::canonicalize(path).with_context(|| format!("cannot read {}", path.display()))?;
        let record = read_run(&path)?;
        read_samples(&path.join(SAMPLES_FILE))?;
        if !record.complete {
            let id = record.id;
            return Err(MergeError::Incomplete { path, id }.into());
        }
        match serde_json::from_value(record.plan.clone()) {
            Ok(plan) => Ok(Self { path, record, plan }),
            Err(error) => Err(MergeError::Plan {
                path,
                why: error.to_string(),
            }
            .into()),
        }
    }

    /// Copies the run's files into a folder of its own.
    fn copy(&self, into: &Path) -> Result<Entry> {
        let mut folder = self.record.id.clone();
        let mut number = 1;
        while into.join(&folder).exists() {
            folder = format!("{}-{number}", self.record.id);
            number += 1;
        }
        let target = into.join(&folder);
        fs::create_dir(&target).with_context(|| format!("cannot create {}", target.display()))?;
        for file in files(&self.path)? {
            if let Some(name) = file.file_name() {
                fs::copy(&file, target.join(name))
                    .with_context(|| format!("cannot copy {}", file.display()))?;
            }
        }
        Ok(Entry {
            folder,
            host: self.record.host.host.clone(),
            processor: self.record.host.cpu.model_name.clone(),
            clock_ghz: self.fixed_ghz(),
            devices: self.plan.devices.clone(),
        })
    }

    fn fixed_ghz(&self) -> Option<f64> {
        self.record.core_clock.as_ref()?.fixed_ghz
    }

    fn machine(&self) -> (&str, Option<&str>) {
        let host = &self.record.host;
        (&host.host, host.cpu.model_name.as_deref())
    }
}

/// Why two runs do not belong together; `None` if they do.
fn difference(one: &Source, other: &Source) -> Option<String> {
    let (ours, theirs) = (&one.record, &other.record);
    let revision = |run: &RunRecord| run.git.as_ref().and_then(|git| git.revision.clone());
    if revision(ours) != revision(theirs) {
        let name =
            |run| revision(run).map_or("none".to_owned(), |text| text.chars().take(10).collect());
        return Some(format!(
            "they measured other revisions, {} and {}",
            name(ours),
            name(theirs)
        ));
    }
    let dirty = |run: &RunRecord| run.git.as_ref().is_none_or(|git| git.dirty);
    if (dirty(ours) || dirty(theirs))
        && !artefacts::differences(&ours.artefacts, &theirs.artefacts).is_empty()
    {
        return Some(
            "their sources had uncommitted changes, and their builds differ: commit, build and \
             measure both again"
                .to_owned(),
        );
    }
    let mut keys = one.plan.differences(&other.plan);
    keys.retain(|key| !OF_THE_MACHINE.contains(&key.as_str()));
    if !keys.is_empty() {
        let keys: Vec<_> = keys.into_iter().collect();
        return Some(format!("their matrices differ in: {}", keys.join(", ")));
    }
    let same_card = one.plan.devices == other.plan.devices;
    if one.machine() == other.machine() && one.fixed_ghz() == other.fixed_ghz() && same_card {
        let (host, _) = one.machine();
        return Some(format!(
            "both are of {host} with the same ports and clock, so a reader could not tell them apart: \
             leave one out"
        ));
    }
    None
}
