//! Builds the drivers with each compiler, and measures the builds.

use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use perfcounters::{Backend, Cell, Observer};
use record::{Implementation, LinePlacement};

use super::peers;
use super::plan::CompareFile;
use crate::build::builds::cells::{describe_build, hashes};
use crate::build::peers::record::Peers;
use crate::build::request::Builder;
use crate::build::toolchain::recipe::BuildRecipe;
use crate::code::data_path::with_checks;
use crate::measure::run::config::{Config, COUNTING};
use crate::measure::run::measure::BackendWork;
use crate::measure::run::peers::measurable;
use crate::measure::run::recorder::Recorder;
use crate::measure::run::setup::Backends;
use crate::progress::Progress;

/// A driver, and the compiler and flags that build it.
pub type Build<'r> = (&'r BuildRecipe, Implementation);

/// Builds and measures everything. Failures are recorded.
pub fn measure(
    builder: &Builder<'_>,
    builds: &[Build<'_>],
    file: &CompareFile,
    recorder: &mut Recorder,
) -> Result<()> {
    let mut peers = Peers::none(builder.build)?;
    let cells = build_all(builder, &mut peers, builds, file, recorder)?;
    let record = &mut recorder.folder.record;
    record.artefacts = hashes(builder.build, &cells);
    record.peers = peers.facts(|_| true);
    recorder.folder.save()?;
    let outcome = measure_all(builder, &cells, file, recorder);
    recorder.progress.finish();
    recorder.folder.record.complete = outcome.is_ok();
    let finished = recorder.folder.finish(SystemTime::now());
    outcome?;
    Ok(finished?)
}

/// Returns the cells of the successful builds, and records what they are, with the checks in their machine code.
fn build_all(
    builder: &Builder<'_>,
    peers: &mut Peers,
    builds: &[Build<'_>],
    file: &CompareFile,
    recorder: &mut Recorder,
) -> Result<Vec<Cell>> {
    let counting = file.backends.first().copied().unwrap_or(COUNTING);
    let estimate = Duration::from_secs(8) * u32::try_from(builds.len()).unwrap_or(u32::MAX);
    recorder.progress = Progress::new(estimate);
    recorder
        .progress
        .begin("building", builds.len() as u64, estimate);
    let mut cells = Vec::new();
    for (recipe, driver) in builds {
        recorder
            .progress
            .step(&format!("{driver} {}", recipe.variant));
        let cell = |batch: &u32| builder.cell(recipe, *driver, *batch);
        let planned: Vec<Cell> = file.batch.iter().map(cell).collect();
        let outcome = if driver.is_peer() {
            peers::build(builder, peers, (recipe, *driver), &file.batch)
        } else {
            builder.build(recipe, *driver).map(|()| {
                let build = describe_build(&builder.output, *driver, &recipe.variant);
                let build = with_checks(build, Path::new(&planned[0].program));
                let toolchain = planned[0].toolchain.clone();
                (record::Build { toolchain, ..build }, planned.clone())
            })
        };
        match outcome {
            Ok((build, built)) => {
                recorder.folder.record.builds.push(build);
                cells.extend(built);
            }
            Err(error) if builder.interrupt.is_set() => return Err(error),
            Err(error) => {
                let cause = format!("the build failed: {error:#}");
                for cell in planned {
                    recorder.failure(cell.failure(counting, &cause));
                }
            }
        }
    }
    recorder.progress.finish();
    Ok(cells)
}

fn measure_all(
    builder: &Builder<'_>,
    cells: &[Cell],
    file: &CompareFile,
    recorder: &mut Recorder,
) -> Result<()> {
    let config = Config {
        placements: vec![LinePlacement::Memory],
        valgrind: file.valgrind.clone(),
        lockstep: file.lockstep.clone(),
        ..Config::default()
    };
    let factory = Backends::new(&config, builder.build, builder.interrupt);
    let names = file.backends.iter();
    let backends = names.map(|name| factory.backend(*name));
    let backends: Vec<_> = backends.collect::<Result<_>>()?;
    let time = |backend: &dyn Backend| -> Duration {
        let repeats = u32::try_from(backend.repeats().len()).unwrap_or(u32::MAX);
        let times = cells.iter().map(|cell| backend.estimate(cell));
        times.sum::<Duration>() * repeats
    };
    let all = backends.iter().map(|backend| time(backend.as_ref())).sum();
    recorder.progress = Progress::new(all);
    for backend in backends {
        recorder.note_settings(backend.as_ref());
        if let Some(why) = backend.unavailable() {
            recorder.not_measurable(backend.name(), &why);
            continue;
        }
        let all = cells.iter().flat_map(|cell| backend.cells_of(cell));
        let cells = measurable(backend.as_ref(), all.collect(), recorder);
        BackendWork { backend, cells }.measure(recorder)?;
    }
    Ok(())
}
