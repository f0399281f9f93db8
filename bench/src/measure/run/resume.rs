//! Resumes an interrupted run, with the same matrix and builds and on the same machine.

use std::path::Path;

use anyhow::{bail, Context, Result};
use record::{HostFacts, RunFolder, Sample};

use super::arguments::RunArguments;
use super::config::Config;
use super::selection::configuration;
use super::setup::RunSetup;
use crate::build::builds::cells;

#[derive(Debug)]
pub(super) struct UnfinishedRun {
    pub folder: RunFolder,
    pub samples: Vec<Sample>,
    pub config: Config,
}

/// Opens the run `id`, or the newest one: an incomplete one, or with `retry` one with failures.
pub(super) fn open(results: &Path, id: Option<&str>, retry: bool) -> Result<UnfinishedRun> {
    if let Some(id) = id {
        return reopen(results, id, retry);
    }
    let runs = if retry {
        record::runs(results)
    } else {
        record::unfinished_runs(results)
    };
    let Some(newest) = runs.last() else {
        bail!(
            "no run in {} can be continued: all are complete, or there are none; `triptych run` starts \
             one, and `triptych run --retry-failed` measures the failed cells of the newest run again",
            results.display()
        );
    };
    reopen(results, newest, retry)
}

fn reopen(results: &Path, id: &str, retry: bool) -> Result<UnfinishedRun> {
    let id = match record::find_runs(results, id).as_slice() {
        [] => bail!(
            "{id} cannot be resumed: there is no such run in {}",
            results.display()
        ),
        [one] => one.clone(),
        several => bail!(
            "{id} may be any of {}: name one of them",
            several.join(", ")
        ),
    };
    let id = &*id;
    let unfinished = record::unfinished_runs(results).iter().any(|run| run == id);
    if !unfinished && !retry {
        bail!(
            "{id} cannot be resumed: it is complete; `triptych run --retry-failed` measures failed \
             cells again"
        );
    }
    let (folder, samples) = RunFolder::reopen(results, id)?;
    if !unfinished && folder.record.failures.is_empty() {
        bail!("{id} cannot be resumed: it is complete, and no measurement failed");
    }
    let config = Config::from_record(folder.record.plan.clone())
        .with_context(|| format!("this version cannot read the configuration of {id}"))?;
    Ok(UnfinishedRun {
        folder,
        samples,
        config,
    })
}

/// Checks that an interrupted run may continue here: with these arguments and builds, on this machine.
pub(super) fn check(
    arguments: &RunArguments,
    unfinished: &UnfinishedRun,
    setup: &RunSetup<'_>,
) -> Result<()> {
    let record = &unfinished.folder.record;
    let id = &record.id;
    if arguments.selects_measurements() && unfinished.config != configuration(arguments)? {
        bail!(
            "{id} has another configuration; resume it with `triptych run --resume {id}` alone, or \
             start a new run"
        );
    }
    let machine = |host: &HostFacts| {
        let model = host.cpu.model_name.as_deref().unwrap_or("unknown");
        let id = host.machine_id.as_deref().unwrap_or("unknown");
        format!("{id} ({model}, {} CPUs)", host.cpu.cpus)
    };
    let (ours, theirs) = (machine(&HostFacts::gather()), machine(&record.host));
    if ours != theirs {
        bail!("{id} started on another machine, {theirs}; this is {ours}: start a new run");
    }
    let hashes = cells::hashes(&arguments.build_dir, &setup.builds.programs());
    match cells::differences(&record.artefacts, &hashes).as_slice() {
        [] => Ok(()),
        files => bail!(
            "{id} measured other builds of {}, and one run must not mix builds: restore those \
             builds, or start a new run",
            files.join(", ")
        ),
    }
}
