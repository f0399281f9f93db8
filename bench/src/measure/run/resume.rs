//! Resumes an interrupted run, with the same matrix and builds and on the same machine.

use std::collections::BTreeMap;
use std::path::Path;

use record::{HostFacts, RecordError, RunFolder, RunRecord, Sample};

use super::config::Config;
use crate::build::builds::artefacts;

/// Why a run cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// No run is incomplete.
    #[error(
        "no run in {0} can be resumed: all are complete, or there are none; `triptych run \
         --retry-failed` measures the failed cells of the newest run again"
    )]
    None(String),
    /// There is no run.
    #[error(
        "no run in {0} can be continued, because there is none: start one with `triptych run`"
    )]
    NoRun(String),
    /// The named run is complete or does not exist.
    #[error("{id} cannot be resumed: {why}")]
    Not {
        /// The run.
        id: String,
        /// Why it cannot be resumed.
        why: String,
    },
    /// The run has another configuration.
    #[error(
        "{id} has another configuration, which differs in: {keys}; resume it with \
         `triptych run --resume {id}` alone, or start a new run"
    )]
    Configuration {
        /// The run.
        id: String,
        /// The keys that differ.
        keys: String,
    },
    /// The run measured other builds.
    #[error(
        "{id} measured other builds of {files}, and one run must not mix builds: restore those \
         builds, or start a new run"
    )]
    Builds {
        /// The run.
        id: String,
        /// The files that differ.
        files: String,
    },
    /// The run started on another machine.
    #[error("{id} started on another machine, {theirs}; this is {ours}: start a new run")]
    Machine {
        /// The run.
        id: String,
        /// The machine of the run.
        theirs: String,
        /// This machine.
        ours: String,
    },
    /// The run's folder cannot be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// An incomplete run that can be resumed.
#[derive(Debug)]
pub struct UnfinishedRun {
    /// Its folder.
    pub folder: RunFolder,
    /// The samples that it has.
    pub samples: Vec<Sample>,
    /// Its configuration.
    pub config: Config,
}

/// Opens the run `id`, or the newest one: an incomplete one, or with `retry` one with failures.
///
/// # Errors
/// See [`ResumeError`].
pub fn open(results: &Path, id: Option<&str>, retry: bool) -> Result<UnfinishedRun, ResumeError> {
    if let Some(id) = id {
        return reopen(results, id, retry);
    }
    let runs = match retry {
        true => record::runs(results),
        false => record::unfinished_runs(results),
    };
    for id in runs.iter().rev() {
        match reopen(results, id, retry) {
            Err(ResumeError::Record(
                error @ (RecordError::Read { .. } | RecordError::Malformed { .. }),
            )) => eprintln!(
                "note: skipped {}, which cannot be read; remove it if it is not needed: {error}",
                results.join(id).display()
            ),
            outcome => return outcome,
        }
    }
    let results = results.display().to_string();
    Err(match retry {
        true => ResumeError::NoRun(results),
        false => ResumeError::None(results),
    })
}

fn reopen(results: &Path, id: &str, retry: bool) -> Result<UnfinishedRun, ResumeError> {
    let not = |why: String| ResumeError::Not {
        id: id.to_owned(),
        why,
    };
    let path = results.join(id);
    if !path.is_dir() {
        return Err(not(format!("there is no {}", path.display())));
    }
    let unfinished = record::unfinished_runs(results).iter().any(|run| run == id);
    if !unfinished && !retry {
        let more = "`triptych run --retry-failed` measures failed cells again";
        return Err(not(format!("it is complete; {more}")));
    }
    let (folder, samples) = RunFolder::reopen(results, id)?;
    if !unfinished && folder.record.failures.is_empty() {
        return Err(not("it is complete, and no measurement failed".to_owned()));
    }
    let config = Config::from_record(folder.record.plan.clone()).map_err(|error| {
        not(format!(
            "this version cannot read its configuration: {error}"
        ))
    })?;
    Ok(UnfinishedRun {
        folder,
        samples,
        config,
    })
}

/// Checks that a run may be resumed with these builds on this machine.
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
        let id = host.machine_id.as_deref().unwrap_or("unknown");
        format!("{id} ({model}, {} CPUs)", host.cpu.cpus)
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

/// Checks that the configuration of the command line is the configuration of the run.
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
