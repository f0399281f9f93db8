//! Going on with a run that was interrupted: only with what it was begun with.

use std::collections::BTreeMap;
use std::path::Path;

use record::{HostFacts, RecordError, RunFolder, RunRecord, Sample};

use super::config::Config;
use crate::builds::artefacts;

/// Why a run cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// There is none.
    #[error("no run in {0} can be resumed: all were completed, or there are none")]
    None(String),
    /// The one that was named is complete, or not there.
    #[error("{id} cannot be resumed: {why}")]
    Not {
        /// The run.
        id: String,
        /// Why not.
        why: String,
    },
    /// Another configuration.
    #[error(
        "{id} was begun with another configuration, which differs in: {keys}; resume it with \
         `triptych run --resume {id}` alone, or begin a new run"
    )]
    Configuration {
        /// The run.
        id: String,
        /// What differs.
        keys: String,
    },
    /// Other builds.
    #[error(
        "{id} was begun with other builds, different are: {files}; samples of different builds do \
         not belong into one run: build what it was begun with, or begin a new run"
    )]
    Builds {
        /// The run.
        id: String,
        /// What differs.
        files: String,
    },
    /// Another machine.
    #[error("{id} was begun on another machine, {theirs}; this is {ours}: begin a new run")]
    Machine {
        /// The run.
        id: String,
        /// Where it was begun.
        theirs: String,
        /// Where it is to go on.
        ours: String,
    },
    /// Its folder cannot be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// A run that can go on.
#[derive(Debug)]
pub struct Unfinished {
    /// Its folder.
    pub folder: RunFolder,
    /// What it has already.
    pub samples: Vec<Sample>,
    /// What it was begun with.
    pub config: Config,
}

/// Opens a run that was interrupted: `id`, or the newest.
///
/// # Errors
/// See [`ResumeError`].
pub fn open(results: &Path, id: Option<&str>) -> Result<Unfinished, ResumeError> {
    let unfinished = record::unfinished_runs(results);
    let id = match id {
        None => unfinished
            .last()
            .cloned()
            .ok_or_else(|| ResumeError::None(results.display().to_string()))?,
        Some(id) => id.to_owned(),
    };
    let not = |why: String| ResumeError::Not {
        id: id.clone(),
        why,
    };
    if !unfinished.contains(&id) {
        let folder = results.join(&id);
        return Err(not(match folder.is_dir() {
            true => "it is complete".to_owned(),
            false => format!("there is no {}", folder.display()),
        }));
    }
    let (folder, samples) = RunFolder::reopen(results, &id)?;
    let config = serde_json::from_value(folder.record.plan.clone())
        .map_err(|error| not(format!("its configuration is not understood: {error}")))?;
    Ok(Unfinished {
        folder,
        samples,
        config,
    })
}

/// Whether a run may go on with these builds on this machine.
///
/// # Errors
/// [`ResumeError::Builds`], [`ResumeError::Machine`].
pub fn check(
    record: &RunRecord,
    host: &HostFacts,
    hashes: &BTreeMap<String, String>,
) -> Result<(), ResumeError> {
    let machine = |host: &HostFacts| {
        let model = host.cpu.model_name.as_deref().unwrap_or("unknown");
        format!("{} ({model}, {} CPUs)", host.host, host.cpu.cpus)
    };
    let (ours, theirs) = (machine(host), machine(&record.host));
    if ours != theirs {
        return Err(ResumeError::Machine {
            id: record.id.clone(),
            theirs,
            ours,
        });
    }
    match artefacts::differences(&record.artefacts, hashes).as_slice() {
        [] => Ok(()),
        files => Err(ResumeError::Builds {
            id: record.id.clone(),
            files: files.join(", "),
        }),
    }
}

/// Whether what the command line says, if it says anything, is what the run was begun with.
///
/// # Errors
/// [`ResumeError::Configuration`].
pub fn check_config(id: &str, begun_with: &Config, wanted: &Config) -> Result<(), ResumeError> {
    let keys = begun_with.differences(wanted);
    match keys.is_empty() {
        true => Ok(()),
        false => Err(ResumeError::Configuration {
            id: id.to_owned(),
            keys: keys.into_iter().collect::<Vec<_>>().join(", "),
        }),
    }
}
