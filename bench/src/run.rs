//! `triptych run`: the whole matrix, into a results folder.

use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{bail, Context, Result};
use perfcounters::host::{self, CpuClock, HostFacts};
use perfcounters::placement::{self, Placement, Topology};
use perfcounters::record::{
    self, BackendName, Build, Capacity, Implementation, RunFolder, RunRecord, Stretch,
};
use perfcounters::{Backend, Cell, Interrupt, Observer};

use crate::backends::Surroundings;
use crate::cli::RunArguments;
use crate::config::{Block, Config, ConfigError, Within};
use crate::matrix::{self, Builds, Conditions, Driver, Load, Matrix, DEFAULT, OVERFLOW_CHECKS};
use crate::progress::{rough, Progress};
use crate::recorder::Recorder;
use crate::{artefacts, asm, resume};

/// What an empty or malformed matrix is: an error of the command line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

impl From<ConfigError> for UsageError {
    fn from(error: ConfigError) -> Self {
        Self(error.to_string())
    }
}

/// Measures and records.
///
/// # Errors
/// If anything failed; what could be measured is recorded all the same.
pub fn run(arguments: &RunArguments, interrupt: &Interrupt) -> Result<()> {
    run_in(arguments, interrupt, |_| Ok(()))
}

/// As [`run`]; `begun` may put something into the run's folder before anything is measured.
///
/// # Errors
/// As [`run`], and those of `begun`.
pub fn run_in(
    arguments: &RunArguments,
    interrupt: &Interrupt,
    begun: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let (config, mut recorder, stage) = match &arguments.resume {
        None => begin(arguments)?,
        Some(id) => go_on(arguments, id.as_deref())?,
    };
    begun(recorder.folder.path())?;
    let surroundings = Surroundings {
        config: &config,
        build: &arguments.build_dir,
        placement: &stage.placement,
        interrupt,
    };
    for doubt in stage.placement.doubts() {
        recorder.warning(&doubt);
    }
    recorder.folder.save()?;
    let outcome = measure_all(&surroundings, &stage, &mut recorder);
    recorder.progress.finish();

    let record = &mut recorder.folder.record;
    record.complete = outcome.is_ok();
    if let Some(stretch) = record.stretches.last_mut() {
        stretch.end = Some(now());
        stretch.clocks_after = clocks(&stage.placement);
    }
    let finished = recorder.folder.finish(SystemTime::now());
    let place = recorder.folder.path().display();
    println!("{} samples in {place}", recorder.folder.count());
    outcome.with_context(|| {
        format!(
            "the run is incomplete; what was measured is in {place}, and `triptych run --resume \
             {}` goes on",
            recorder.folder.record.id
        )
    })?;
    finished?;

    let failures = &recorder.folder.record.failures;
    match failures.as_slice() {
        [] => Ok(()),
        some => {
            let list: Vec<_> = some.iter().map(|failure| format!("  {failure}")).collect();
            bail!("{} measurements failed:\n{}", some.len(), list.join("\n"))
        }
    }
}

/// What is measured, with what, where.
struct Stage {
    matrix: Matrix,
    builds: Builds,
    placement: Placement,
}

impl Stage {
    fn new(config: &Config, build: &Path) -> Result<Self> {
        let matrix = Matrix::new(config, build).map_err(UsageError::from)?;
        let builds = Builds::describe(build, &matrix.drivers());
        let node = config
            .devices
            .as_ref()
            .and_then(|[device, _]| placement::node_of_device(device));
        Ok(Self {
            builds,
            matrix,
            placement: Topology::here().choose(node),
        })
    }

    /// The builds, with what their machine code says.
    fn described(&self, build_dir: &Path) -> Vec<Build> {
        let described = self.builds.all().into_iter().map(|build| {
            let folder = matrix::build_folder(build_dir, build.implementation, &build.variant);
            asm::with_checks(build, &folder.join("ixgbe-fwd"))
        });
        described.collect()
    }

    /// Every driver once, for what depends on nothing else.
    fn drivers(&self) -> Vec<Cell> {
        let conditions = Conditions::default();
        self.builds.cells(conditions, None, &self.matrix.drivers())
    }
}

/// A run from its beginning.
fn begin(arguments: &RunArguments) -> Result<(Config, Recorder, Stage)> {
    let config = configuration(arguments).map_err(UsageError::from)?;
    let stage = Stage::new(&config, &arguments.build_dir)?;
    for id in record::unfinished_runs(&arguments.results) {
        let same = record::read_run(&arguments.results.join(&id))
            .ok()
            .and_then(|record| serde_json::from_value::<Config>(record.plan).ok())
            .is_some_and(|plan| plan == config);
        if same {
            eprintln!(
                "note: {id} measures the same and is not complete; `triptych run --resume {id}` \
                 goes on with it"
            );
        }
    }
    let folder = RunFolder::create(
        &arguments.results,
        SystemTime::now(),
        RunRecord {
            command: std::env::args().collect(),
            git: host::git(Path::new(".")),
            host: HostFacts::gather(),
            builds: stage.described(&arguments.build_dir),
            artefacts: artefacts::hashes(&arguments.build_dir, &stage.drivers()),
            plan: serde_json::to_value(&config).context("cannot write down the configuration")?,
            placement: stage.placement.clone(),
            stretches: vec![stretch(&stage.placement)],
            ..RunRecord::default()
        },
    )?;
    Ok((config, Recorder::new(folder, &[]), stage))
}

/// A run that was interrupted.
fn go_on(arguments: &RunArguments, id: Option<&str>) -> Result<(Config, Recorder, Stage)> {
    let unfinished = resume::open(&arguments.results, id)?;
    let mut folder = unfinished.folder;
    let config = unfinished.config;
    if arguments.says_what() {
        let wanted = configuration(arguments).map_err(UsageError::from)?;
        resume::check_config(&folder.record.id, &config, &wanted)?;
    }
    let stage = Stage::new(&config, &arguments.build_dir)?;
    let hashes = artefacts::hashes(&arguments.build_dir, &stage.drivers());
    resume::check(&folder.record, &HostFacts::gather(), &hashes)?;
    folder.record.stretches.push(stretch(&stage.placement));
    folder.record.end = None;
    eprintln!(
        "going on with {}, which has {} samples",
        folder.record.id,
        unfinished.samples.len()
    );
    let recorder = Recorder::new(folder, &unfinished.samples);
    Ok((config, recorder, stage))
}

fn stretch(placement: &Placement) -> Stretch {
    Stretch {
        start: now(),
        end: None,
        command: std::env::args().collect(),
        clocks_before: clocks(placement),
        clocks_after: Vec::new(),
    }
}

fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

fn clocks(placement: &Placement) -> Vec<CpuClock> {
    placement.cpus().into_iter().map(CpuClock::now).collect()
}

/// What the command line asks for: a file, or the rows of the counter table.
fn configuration(arguments: &RunArguments) -> Result<Config, ConfigError> {
    let narrowing = arguments.narrowing();
    let mut config = match &arguments.config {
        Some(path) => {
            let mut config = Config::read(path)?;
            config.narrow(&narrowing)?;
            config
        }
        None => Config::new(table_rows(arguments)),
    };
    if arguments.quick {
        config.make_quick();
    }
    if let Some(repeats) = arguments.repeats {
        config.set_repeats(Within(repeats));
    }
    config.check()?;
    Ok(config)
}

/// The blocks of the counter table, or of what is named instead. Without variants these are the
/// default of all drivers, and overflow checks in safe Rust.
fn table_rows(arguments: &RunArguments) -> Vec<Block> {
    fn or<T: Clone>(named: &[T], usual: Vec<T>) -> Vec<T> {
        match named {
            [] => usual,
            named => named.to_vec(),
        }
    }
    let named = arguments.narrowing();
    let usual = Block::default();
    let block = Block {
        backends: or(&named.backends, usual.backends),
        implementations: or(&named.implementations, usual.implementations),
        variants: or(&named.variants, usual.variants),
        batch: or(&named.batch, vec![Within(32), Within(8)]),
        ring_size: or(&named.ring_size, usual.ring_size),
        frame_size: or(&named.frame_size, usual.frame_size),
        ..Block::default()
    };
    let checked = Block {
        implementations: vec![Implementation::Rust],
        variants: vec![OVERFLOW_CHECKS.to_owned()],
        ..block.clone()
    };
    let with_checks = named.variants.is_empty()
        && block.implementations.contains(&Implementation::Rust)
        && block.variants == [DEFAULT];
    match with_checks {
        true => vec![block, checked],
        false => vec![block],
    }
}

/// A backend and what it is to measure.
struct Work {
    backend: Box<dyn Backend>,
    cells: Vec<Cell>,
}

impl Work {
    /// Measurements that are still to be made, and about how long they take.
    fn remaining(&self, recorder: &Recorder) -> (usize, Duration) {
        let repeats = self.backend.repeats();
        let mut all = (0, Duration::ZERO);
        for cell in &self.cells {
            let wanted = repeats
                .iter()
                .filter(|repeat| recorder.wanted(cell, self.backend.name(), **repeat))
                .count();
            all.0 += wanted;
            all.1 += self.backend.estimate(cell) * u32::try_from(wanted).unwrap_or(u32::MAX);
        }
        all
    }
}

fn measure_all(
    surroundings: &Surroundings<'_>,
    stage: &Stage,
    recorder: &mut Recorder,
) -> Result<()> {
    // All backends are set up first: what they are set to is on record before the first sample.
    let mut works = Vec::new();
    for (choice, groups) in &stage.matrix.saturating {
        let backend = surroundings.backend(*choice)?;
        note_settings(recorder, backend.as_ref());
        if let Some(why) = backend.unavailable() {
            not_measurable(recorder, backend.name(), &why);
            continue;
        }
        let cells = groups
            .iter()
            .flat_map(|(conditions, drivers)| stage.builds.cells(*conditions, None, drivers))
            .collect();
        let cells = built(backend.name(), cells, recorder);
        works.push(Work { backend, cells });
    }
    let latency = latency(surroundings, stage, recorder);

    let mut plan: Vec<_> = works.iter().map(|work| work.remaining(recorder)).collect();
    if let Some(latency) = &latency {
        plan.push(remaining_latency(stage, latency.as_ref(), recorder));
    }
    let (count, time) = plan.iter().fold((0, Duration::ZERO), |all, part| {
        (all.0 + part.0, all.1 + part.1)
    });
    eprintln!("{count} measurements, about {}", rough(time));
    recorder.progress = Progress::new(time);

    for mut work in works {
        recorder.estimate = work.remaining(recorder).1;
        work.backend.measure(&work.cells, recorder)?;
        recorder.folder.save()?;
    }
    if let Some(mut latency) = latency {
        let cells = loaded_cells(stage, recorder);
        let cells = built(latency.name(), cells, recorder);
        recorder.folder.save()?;
        recorder.estimate = remaining_latency(stage, latency.as_ref(), recorder).1;
        latency.measure(&cells, recorder)?;
        recorder.folder.save()?;
    }
    Ok(())
}

fn note_settings(recorder: &mut Recorder, backend: &dyn Backend) {
    recorder
        .folder
        .record
        .settings
        .entry(backend.name().to_string())
        .or_default()
        .extend(backend.settings());
}

fn not_measurable(recorder: &mut Recorder, backend: BackendName, why: &str) {
    recorder
        .progress
        .say(&format!("{backend}: not measurable here: {why}"));
    let record = &mut recorder.folder.record;
    record.not_measurable.insert(backend, why.to_owned());
}

/// The cells that are built; the others have failed.
fn built(backend: BackendName, cells: Vec<Cell>, recorder: &mut Recorder) -> Vec<Cell> {
    let mut built = Vec::new();
    for cell in cells {
        let library = matches!(backend, BackendName::Lockstep | BackendName::Perf);
        match matrix::missing(&cell, library) {
            None => built.push(cell),
            Some(why) if !recorder.has_failed(&cell, backend) => {
                recorder.failure(cell.failure(backend, &why));
            }
            Some(_) => {}
        }
    }
    built
}

/// What measures latency, if that is wanted and possible.
fn latency(
    surroundings: &Surroundings<'_>,
    stage: &Stage,
    recorder: &mut Recorder,
) -> Option<Box<dyn Backend>> {
    if stage.matrix.loaded.is_empty() {
        return None;
    }
    let latency = match surroundings.latency() {
        Ok(latency) => latency,
        Err(why) => {
            recorder.warning(&why);
            return None;
        }
    };
    note_settings(recorder, &latency);
    match latency.unavailable() {
        None => Some(Box::new(latency)),
        Some(why) => {
            not_measurable(recorder, latency.name(), &why);
            None
        }
    }
}

/// As [`Work::remaining`]; a load that is not known yet was not measured yet.
fn remaining_latency(
    stage: &Stage,
    latency: &dyn Backend,
    recorder: &Recorder,
) -> (usize, Duration) {
    let mut all = (0, Duration::ZERO);
    for (conditions, load, drivers) in &stage.matrix.loaded {
        let offered = match load {
            Load::Mpps(mpps) => Some(*mpps),
            Load::Fraction(share) => {
                known_capacity(recorder, *conditions).map(|capacity| offered(capacity, *share))
            }
        };
        for cell in stage.builds.cells(*conditions, offered, drivers) {
            let wanted = latency
                .repeats()
                .iter()
                .filter(|repeat| {
                    offered.is_none() || recorder.wanted(&cell, latency.name(), **repeat)
                })
                .count();
            all.0 += wanted;
            all.1 += latency.estimate(&cell) * u32::try_from(wanted).unwrap_or(u32::MAX);
        }
    }
    all
}

/// The cells under given loads. Shares of the capacity become loads, which stay what they are when
/// the run is resumed.
fn loaded_cells(stage: &Stage, recorder: &mut Recorder) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (conditions, load, drivers) in &stage.matrix.loaded {
        let offered = match load {
            Load::Mpps(mpps) => *mpps,
            Load::Fraction(share) => match capacity(stage, recorder, *conditions, drivers) {
                Some(capacity) => offered(capacity, *share),
                None => continue,
            },
        };
        for cell in stage.builds.cells(*conditions, Some(offered), drivers) {
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
    }
    cells
}

/// Share of a capacity, to three significant digits.
fn offered(capacity: f64, share: f64) -> f64 {
    format!("{:.2e}", capacity * share)
        .parse()
        .unwrap_or(capacity * share)
}

fn known_capacity(recorder: &Recorder, conditions: Conditions) -> Option<f64> {
    let known = recorder.folder.record.capacities.iter().find(|capacity| {
        (capacity.batch, capacity.ring_size, capacity.frame_size)
            == (
                conditions.batch.0,
                conditions.ring_size.0,
                conditions.frame_size.0,
            )
    });
    known.map(|capacity| capacity.mpps)
}

/// What the slowest of the drivers carries, Mpps; `None`, with a warning, if none was measured.
fn capacity(
    stage: &Stage,
    recorder: &mut Recorder,
    conditions: Conditions,
    drivers: &[Driver],
) -> Option<f64> {
    if let Some(known) = known_capacity(recorder, conditions) {
        return Some(known);
    }
    let slowest = stage
        .builds
        .cells(conditions, None, drivers)
        .iter()
        .filter_map(|cell| recorder.median_throughput(cell))
        .min_by(f64::total_cmp);
    match slowest {
        Some(mpps) => recorder.folder.record.capacities.push(Capacity {
            batch: conditions.batch.0,
            ring_size: conditions.ring_size.0,
            frame_size: conditions.frame_size.0,
            mpps,
        }),
        None => recorder.warning(
            "no throughput was measured, so no share of it can be offered: there is no latency at \
             such loads",
        ),
    }
    slowest
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::BackendChoice;

    fn arguments(words: &[&str]) -> RunArguments {
        let words = ["triptych", "run"].iter().chain(words);
        match crate::cli::Cli::parse_from(words).command {
            crate::cli::Command::Run(run) => *run,
            _ => panic!("not run"),
        }
    }

    fn drivers(words: &[&str]) -> Vec<String> {
        let config = configuration(&arguments(words)).unwrap();
        let matrix = Matrix::new(&config, Path::new("/nonexistent")).unwrap();
        matrix
            .drivers()
            .iter()
            .map(|(implementation, variant)| format!("{implementation}/{variant}"))
            .collect()
    }

    #[test]
    fn the_tables_rows_are_the_default() {
        assert_eq!(
            drivers(&[]),
            [
                "c/default",
                "rust/default",
                "rust/overflow-checks",
                "rust-unsafe/default"
            ]
        );
        assert_eq!(drivers(&["--impl", "c"]), ["c/default"]);
        assert_eq!(
            drivers(&["--impl", "rust", "--variant", "default"]),
            ["rust/default"]
        );
        assert_eq!(
            drivers(&[
                "--variant",
                "default,overflow-checks",
                "--impl",
                "c,rust-unsafe,c"
            ]),
            [
                "c/default",
                "rust-unsafe/default",
                "rust-unsafe/overflow-checks"
            ]
        );
        let config = configuration(&arguments(&[])).unwrap();
        assert_eq!(config.blocks[0].batch, [Within(32), Within(8)]);
    }

    #[test]
    fn options_change_a_configuration() {
        let config = configuration(&arguments(&[
            "--quick",
            "--repeats",
            "7",
            "--ring-size",
            "64",
            "--batch",
            "8",
            "--backend",
            "wall",
        ]))
        .unwrap();
        assert_eq!(config.wall.repeats.0, 7);
        assert_eq!(config.lockstep.sessions.0, 1);
        assert_eq!(config.blocks[0].ring_size.len(), 1);
        assert_eq!(config.blocks[0].backends, [BackendChoice::Wall]);
    }

    #[test]
    fn loads_are_round() {
        assert_eq!(offered(123.456, 0.5), 61.7);
        assert_eq!(offered(20.0, 0.1), 2.0);
        assert_eq!(offered(0.123_456, 1.0), 0.123);
    }
}
