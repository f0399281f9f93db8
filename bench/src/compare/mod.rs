//! `triptych compare`: builds the drivers with several compilers and compares the builds.

use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{bail, Context, Result};
use perfcounters::placement::Topology;
use perfcounters::{Cell, Interrupt, Observer};
use record::{GitFacts, HostFacts, Implementation, RunFolder, RunRecord, SAMPLES_FILE};
use serde_json::json;

use crate::build::builds::artefacts;
use crate::build::builds::cells::describe_build;
use crate::build::toolchain::builder::{self, Builder};
use crate::build::toolchain::identity::Identity;
use crate::build::toolchain::machine::ThisMachine;
use crate::build::toolchain::recipe::{BuildRecipe, OptLevel, DEFAULT_CPU};
use crate::code::data_path::with_checks;
use crate::measure::run::config::COUNTING;
use crate::measure::run::recorder::Recorder;
use crate::progress::Progress;
use crate::usage::{Outcome, UsageError};
use analysis::SameLlvmPair;
use arguments::CompareArguments;
use baseline::NamedBaseline;
use comparisons::{Comparisons, Judge};
use measure::Measurement;
use peers::PeerBuilds;
use plan::{Block, Comparison, Plan};
use result::{ComparisonResult, FORMAT, RESULT_FILE};
use rows::ResultRow;

pub mod analysis;
pub mod arguments;
pub mod baseline;
pub mod comparisons;
mod measure;
pub mod peers;
pub mod plan;
pub mod result;
pub mod rows;
pub mod table;

/// The file with the table, beside the samples.
pub const TABLE_FILE: &str = "compilers.md";

/// Builds, measures, and prints the tables. Returns whether a build is worse than the baseline.
///
/// # Errors
/// If there is nothing to compare, or something cannot be built or measured. All other results are
/// recorded.
pub fn run(arguments: &CompareArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let mut comparison = comparison(arguments)?;
    let baseline = match &arguments.baseline {
        Some(name) => Some(NamedBaseline::of(name, &mut comparison)?),
        None => None,
    };
    let plan = comparison.plan(&ThisMachine)?;
    for skip in &plan.skipped {
        eprintln!("skipped: {skip}");
    }
    for sentence in &plan.same {
        eprintln!("{sentence}");
    }
    let baseline = match baseline {
        Some(named) => Some((named.identity(&ThisMachine, &plan.recipes)?, named)),
        None => None,
    };
    let recipes = &plan.recipes;
    let builds = selected_builds(arguments, recipes)?;
    if arguments.list {
        list(&builds);
    }
    if arguments.strict && !plan.skipped.is_empty() {
        let count = plan.skipped.len();
        bail!(
            "{count} compilers cannot be used, and --strict needs all; `skipped` above names them"
        );
    }
    if arguments.list {
        return Ok(Outcome::Good);
    }
    let sources = std::env::current_dir().context("cannot find the current folder")?;
    if !sources.join("Makefile").is_file() {
        bail!("there is no Makefile here: run this in the top folder of the repository");
    }
    let builder = Builder {
        output: arguments.build_dir.join("compare"),
        build: &arguments.build_dir,
        sources,
        interrupt,
    };
    let mut recorder = recorder(arguments, &comparison, &plan)?;
    let mut peers = PeerBuilds::new(&builder)?;
    let cells = build_all(&builder, &mut peers, &builds, &comparison, &mut recorder)?;
    recorder.folder.record.artefacts = artefacts::hashes(&arguments.build_dir, &cells);
    recorder.folder.record.builds = described(&builder, &peers, &builds, &cells);
    recorder.folder.record.peers = peers.facts(&cells);
    recorder.folder.save()?;
    let measurement = Measurement {
        build: &arguments.build_dir,
        comparison: &comparison,
        interrupt,
    };
    let outcome = measurement.measure(&cells, &mut recorder);
    recorder.progress.finish();
    recorder.folder.record.complete = outcome.is_ok();
    let finished = recorder.folder.finish(SystemTime::now());
    outcome?;
    finished?;
    let measured = measured_rows(&recorder, &comparison, &plan)?;
    report(arguments, &recorder, measured, &plan, baseline.as_ref())
}

/// The rows and the pairs of the same LLVM, from the samples of a run.
fn measured_rows(
    recorder: &Recorder,
    comparison: &Comparison,
    plan: &Plan,
) -> Result<(Vec<ResultRow>, Vec<SameLlvmPair>)> {
    let samples = record::read_samples(&recorder.folder.path().join(SAMPLES_FILE))?;
    let (mut rows, mut same_llvm) = (Vec::new(), Vec::new());
    for &batch in &comparison.batch {
        let measured = analysis::rows(&plan.recipes, &samples, batch);
        same_llvm.extend(analysis::pairs(&measured, batch));
        rows.extend(measured.iter().map(|row| {
            let record = &recorder.folder.record;
            let command = command_of(record, row.implementation, &row.recipe.variant);
            ResultRow::new(row, batch, command)
        }));
    }
    Ok((rows, same_llvm))
}

/// Prints the builds: driver, compiler, flags, and the short name and the path of the identity.
fn list(builds: &[(&BuildRecipe, Implementation)]) {
    let labels = builds
        .iter()
        .map(|(recipe, _)| recipe.toolchain.label.len());
    let width = labels.max().unwrap_or(0);
    for (recipe, implementation) in builds {
        let (label, flags) = (&recipe.toolchain.label, recipe.flags());
        let (key, path) = (
            recipe.toolchain.identity.key(),
            &recipe.toolchain.identity.path,
        );
        println!("{implementation:12} {label:width$} {flags:20} {key} {path}");
    }
}

/// The builds that the command line selects: recipes and drivers.
fn selected_builds<'r>(
    arguments: &CompareArguments,
    recipes: &'r [BuildRecipe],
) -> Result<Vec<(&'r BuildRecipe, Implementation)>> {
    let wanted = |implementation: &Implementation| match arguments.implementations.as_slice() {
        [] => !implementation.is_peer(),
        named => named.contains(implementation),
    };
    let builds: Vec<_> = recipes
        .iter()
        .flat_map(|recipe| {
            recipe
                .implementations()
                .iter()
                .map(move |driver| (recipe, *driver))
        })
        .filter(|(_, driver)| wanted(driver))
        .collect();
    if builds.is_empty() {
        bail!(UsageError(
            "no selected compiler builds a selected driver on this machine; \
             `make setup-compilers` installs compilers"
                .to_owned()
        ));
    }
    PeerBuilds::check(&builds)?;
    Ok(builds)
}

/// Writes the tables and the whole result beside the samples, and prints the tables. Returns whether
/// a build is worse than the baseline.
fn report(
    arguments: &CompareArguments,
    recorder: &Recorder,
    (rows, same_llvm): (Vec<ResultRow>, Vec<SameLlvmPair>),
    plan: &Plan,
    baseline: Option<&(Option<Identity>, NamedBaseline)>,
) -> Result<Outcome> {
    let folder = recorder.folder.path();
    let record = &recorder.folder.record;
    let judge = Judge::new(arguments.threshold);
    let with = baseline.map(|(identity, named)| named.rows(identity.as_ref(), &rows));
    let comparisons = Comparisons::of(judge, &rows, with.as_ref());
    let failures: Vec<_> = record.failures.iter().map(ToString::to_string).collect();
    let result = ComparisonResult {
        format: FORMAT,
        run: &record.id,
        start: &record.start,
        git: record.git.as_ref(),
        judge,
        baseline: baseline.map(|(_, named)| named.used()),
        toolchains: result::toolchains(&plan.recipes),
        rows: &rows,
        comparisons: &comparisons.made,
        not_compared: &comparisons.missing,
        same_llvm,
        skipped: &plan.skipped,
        failures: &failures,
    };
    let text = table::markdown(&result, &comparisons);
    let json = record::to_json(&result).context("cannot write the result as JSON")?;
    write(&folder.join(TABLE_FILE), &text)?;
    write(&folder.join(RESULT_FILE), &json)?;
    if let Some(file) = &arguments.json {
        write(file, &json)?;
    }
    println!("{text}");
    if let Some((_, NamedBaseline::Stored(name, stored))) = baseline {
        if stored.git != record.git {
            println!("The baseline {name} measured other sources of the drivers than this run.\n");
        }
    }
    println!(
        "{} samples in {}",
        recorder.folder.count(),
        folder.display()
    );
    if !failures.is_empty() {
        bail!(
            "{} builds or measurements failed:\n  {}",
            failures.len(),
            failures.join("\n  ")
        )
    }
    Ok(match comparisons.worse_than_baseline() {
        true => Outcome::Worse,
        false => Outcome::Good,
    })
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// The line that a build recorded: its compiler and all flags.
fn command_of(record: &RunRecord, implementation: Implementation, variant: &str) -> String {
    let of_build =
        |build: &&record::Build| build.implementation == implementation && build.variant == variant;
    let build = record.builds.iter().find(of_build);
    build.map_or(String::new(), |build| build.flags.clone())
}

/// Each build once, with the number of checks in its machine code.
fn described(
    builder: &Builder<'_>,
    peers: &PeerBuilds,
    recipes: &[(&BuildRecipe, Implementation)],
    cells: &[Cell],
) -> Vec<record::Build> {
    let mut builds: Vec<record::Build> = Vec::new();
    for cell in cells {
        let same = |build: &record::Build| {
            build.implementation == cell.implementation && build.variant == cell.variant
        };
        if builds.iter().any(same) {
            continue;
        }
        let of_cell = |(recipe, driver): &&(&BuildRecipe, Implementation)| {
            cell.peer.is_some() && *driver == cell.implementation && recipe.variant == cell.variant
        };
        if let Some((recipe, driver)) = recipes.iter().find(of_cell) {
            builds.push(peers.describe(recipe, *driver));
            continue;
        }
        let build = describe_build(&builder.output, cell.implementation, &cell.variant);
        builds.push(record::Build {
            toolchain: cell.toolchain.clone(),
            ..with_checks(build, &cell.program)
        });
    }
    builds
}

/// The comparison that the command line selects: the file, with other blocks if it names compilers.
fn comparison(arguments: &CompareArguments) -> Result<Comparison> {
    let mut comparison =
        Comparison::read(&arguments.config).map_err(|error| UsageError(format!("{error:#}")))?;
    if !arguments.batch.is_empty() {
        comparison.batch = arguments.batch.to_vec();
    }
    let named = !arguments.opt.is_empty()
        || !arguments.target_cpu.is_empty()
        || arguments.no_lto
        || arguments.pgo;
    if arguments.toolchains.is_empty() {
        if named {
            bail!(UsageError(
                "--opt, --target-cpu, --no-lto and --pgo need --toolchain, because the file has the \
                 flags of its own compilers"
                    .to_owned()
            ));
        }
        return Ok(comparison);
    }
    let or = |named: &[String], default: &str| match named {
        [] => vec![default.to_owned()],
        named => named.to_vec(),
    };
    comparison.blocks = vec![Block {
        toolchains: arguments.toolchains.clone(),
        opt: match arguments.opt.as_slice() {
            [] => vec![OptLevel::Default],
            levels => levels.to_vec(),
        },
        target_cpu: or(&arguments.target_cpu, DEFAULT_CPU),
        architecture: None,
        lto: vec![!arguments.no_lto],
        pgo: vec![arguments.pgo],
    }];
    Ok(comparison)
}

fn recorder(
    arguments: &CompareArguments,
    comparison: &Comparison,
    plan: &Plan,
) -> Result<Recorder> {
    let record = RunRecord {
        command: std::env::args().collect(),
        git: GitFacts::of(Path::new(".")),
        host: HostFacts::gather(),
        plan: json!({"compare": {
            "comparison": comparison,
            "settings": plan.recipes,
            "toolchains": result::toolchains(&plan.recipes),
            "skipped": plan.skipped,
        }}),
        placement: Topology::here().choose(None),
        ..RunRecord::default()
    };
    let folder = RunFolder::create(&arguments.results, SystemTime::now(), record)?;
    Ok(Recorder::new(folder, &[]))
}

/// Builds everything, and records failures. Returns the cells of the successful builds.
fn build_all(
    builder: &Builder<'_>,
    peers: &mut PeerBuilds,
    builds: &[(&BuildRecipe, Implementation)],
    comparison: &Comparison,
    recorder: &mut Recorder,
) -> Result<Vec<Cell>> {
    let batches = &comparison.batch;
    let counting = comparison.backends.first().copied().unwrap_or(COUNTING);
    let estimate = Duration::from_secs(8) * u32::try_from(builds.len()).unwrap_or(u32::MAX);
    recorder.progress = Progress::new(estimate);
    recorder
        .progress
        .begin("building", builds.len() as u64, estimate);
    let mut cells = Vec::new();
    for (recipe, implementation) in builds {
        recorder
            .progress
            .step(&format!("{implementation} {}", recipe.variant));
        let of_build = comparison
            .batch
            .iter()
            .map(|batch| builder::cell(builder, recipe, *implementation, *batch));
        let outcome = match implementation.is_peer() {
            false => builder
                .build(recipe, *implementation)
                .map(|()| of_build.clone().collect()),
            true => peers
                .build(builder, recipe, *implementation, &batches)
                .and_then(|()| {
                    let cells = batches.iter();
                    cells
                        .map(|batch| peers.cell(recipe, *implementation, *batch))
                        .collect()
                }),
        };
        match outcome {
            Ok(built) => cells.extend::<Vec<Cell>>(built),
            Err(error) if builder.interrupt.is_set() => return Err(error),
            Err(error) => {
                let cause = format!("the build failed: {error:#}");
                for cell in of_build {
                    recorder.failure(cell.failure(counting, &cause));
                }
            }
        }
    }
    recorder.progress.finish();
    Ok(cells)
}
