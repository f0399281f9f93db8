//! `triptych compare`: builds the drivers with several compilers and compares the builds.

use std::path::Path;
use std::time::SystemTime;

use anyhow::{bail, Context, Result};
use perfcounters::placement::Topology;
use perfcounters::Interrupt;
use record::{GitFacts, HostFacts, Implementation, RunFolder, RunRecord, SAMPLES_FILE};
use serde_json::json;

use crate::build::request::Builder;
use crate::build::stamp::write;
use crate::build::toolchain::recipe::BuildRecipe;
use crate::measure::run::recorder::Recorder;
use crate::usage::{Outcome, UsageError};
use arguments::CompareArguments;
use baseline::Baseline;
use comparisons::{Comparisons, Judge};
use measure::{measure, Build};
use plan::{Block, CompareFile, Plan};
use result::{ComparisonResult, UsedBaseline, FORMAT, RESULT_FILE};

pub mod arguments;
mod baseline;
mod commits;
mod comparisons;
mod measure;
mod peers;
mod plan;
mod result;
mod rows;
mod table;
pub mod track;

const TABLE_FILE: &str = "compilers.md";

/// Builds, measures, and prints the tables. The outcome says whether a build is worse than the baseline.
pub fn run(arguments: &CompareArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let mut file = selected_file(arguments)?;
    let baseline = arguments.baseline.as_ref();
    let baseline = baseline.map(|name| Baseline::of(name, &mut file));
    let mut baseline = baseline.transpose()?;
    let plan = file.plan()?;
    let skipped = plan.skipped.iter();
    skipped.for_each(|skip| eprintln!("skipped: {skip}"));
    plan.same.iter().for_each(|same| eprintln!("{same}"));
    if let Some(baseline) = &mut baseline {
        baseline.identify(&plan.recipes)?;
    }
    let builds = selected_builds(arguments, &plan.recipes)?;
    if arguments.list {
        list(&builds);
    }
    if arguments.strict && !plan.skipped.is_empty() {
        let count = plan.skipped.len();
        bail!("{count} compilers cannot be used, but --strict needs all; see `skipped` above");
    }
    if arguments.list {
        return Ok(Outcome::Good);
    }
    let sources = std::env::current_dir().context("cannot find the current folder")?;
    if !sources.join("Makefile").is_file() {
        bail!("there is no Makefile here: run this in the top folder of the repository");
    }
    if let Some(range) = &arguments.commits {
        return commits::run(arguments, range, &file, &builds, interrupt);
    }
    let builder = Builder {
        output: arguments.build_dir.join("compare"),
        build: &arguments.build_dir,
        sources,
        interrupt,
    };
    let mut recorder = recorder(arguments, &file, &plan)?;
    measure(&builder, &builds, &file, &mut recorder)?;
    report(arguments, &recorder, &file, &plan, baseline.as_ref())
}

fn list(builds: &[Build<'_>]) {
    for (recipe, driver) in builds {
        let (label, flags) = (&recipe.toolchain.label, recipe.flags());
        let identity = &recipe.toolchain.identity;
        let (key, path) = (identity.key(), &identity.path);
        println!("{driver:12} {label:24} {flags:20} {key} {path}");
    }
}

/// The builds that the command line selects: recipes and drivers.
fn selected_builds<'r>(
    arguments: &CompareArguments,
    recipes: &'r [BuildRecipe],
) -> Result<Vec<Build<'r>>> {
    let wanted = |driver: Implementation| match arguments.implementations.as_slice() {
        [] => !driver.is_peer(),
        named => named.contains(&driver),
    };
    let of = |recipe: &'r BuildRecipe| {
        let drivers = recipe.implementations().iter().copied();
        drivers.map(move |driver| (recipe, driver))
    };
    let builds = recipes.iter().flat_map(of);
    let builds: Vec<_> = builds.filter(|(_, driver)| wanted(*driver)).collect();
    if builds.is_empty() {
        let why = "no selected compiler builds a selected driver on this machine; \
                   `bench/setup/compilers.sh` installs compilers";
        bail!(UsageError(why.to_owned()));
    }
    let unending = builds
        .iter()
        .find(|(recipe, driver)| recipe.pgo && driver.is_peer());
    if let Some((_, driver)) = unending {
        let why = "because it does not end by itself and so writes no profile";
        let way_out = "leave --pgo out, or name our drivers with --impl";
        let text = format!("{driver} cannot be built with PGO, {why}: {way_out}");
        bail!(UsageError(text));
    }
    Ok(builds)
}

/// Writes the tables and the whole result beside the samples, and prints the tables.
fn report(
    arguments: &CompareArguments,
    recorder: &Recorder,
    file: &CompareFile,
    plan: &Plan,
    baseline: Option<&Baseline>,
) -> Result<Outcome> {
    let folder = recorder.folder.path();
    let record = &recorder.folder.record;
    let samples = record::read_samples(&folder.join(SAMPLES_FILE))?;
    let (mut rows, mut same_llvm) = (Vec::new(), Vec::new());
    for batch in &file.batch {
        let measured = rows::rows(&plan.recipes, record, &samples, *batch);
        same_llvm.extend(rows::pairs(&measured));
        rows.extend(measured);
    }
    let judge = Judge::new(arguments.threshold);
    let comparisons = Comparisons {
        judge,
        rows: &rows,
        baseline: baseline.map(|baseline| (baseline.rows(&rows), baseline.stored.is_some())),
    };
    let (comparisons, not_compared) = comparisons.find();
    let failures: Vec<_> = record.failures.iter().map(ToString::to_string).collect();
    let stored = baseline.and_then(|baseline| baseline.stored.as_ref());
    let result = ComparisonResult {
        format: FORMAT,
        run: &record.id,
        start: &record.start,
        git: record.git.as_ref(),
        judge,
        baseline: baseline.map(|baseline| UsedBaseline {
            name: &baseline.name,
            run: stored.map(|stored| stored.run.as_str()),
        }),
        toolchains: result::toolchains(&plan.recipes),
        rows: &rows,
        comparisons,
        not_compared,
        same_llvm,
        skipped: &plan.skipped,
        failures: &failures,
    };
    let text = table::markdown(&result);
    let json = record::to_json(&result).context("cannot write the result as JSON")?;
    write(&folder.join(TABLE_FILE), &text)?;
    write(&folder.join(RESULT_FILE), &json)?;
    if let Some(file) = &arguments.json {
        write(file, &json)?;
    }
    println!("{text}");
    if stored.is_some_and(|stored| stored.git != record.git) {
        println!("The baseline measured other sources of the drivers than this run.\n");
    }
    let count = recorder.folder.count();
    println!("{count} samples in {}", folder.display());
    if !failures.is_empty() {
        let (count, all) = (failures.len(), failures.join("\n  "));
        bail!("{count} builds or measurements failed:\n  {all}");
    }
    let worse = result.worse_than_baseline().then_some(Outcome::Worse);
    Ok(worse.unwrap_or(Outcome::Good))
}

/// The file that the command line selects, with another block if the command line names compilers.
fn selected_file(arguments: &CompareArguments) -> Result<CompareFile> {
    let mut file =
        CompareFile::read(&arguments.config).map_err(|error| UsageError(format!("{error:#}")))?;
    if !arguments.batch.is_empty() {
        file.batch = arguments.batch.to_vec();
    }
    if !arguments.toolchains.is_empty() {
        file.blocks = vec![Block {
            toolchains: arguments.toolchains.clone(),
            opt: arguments.opt.clone(),
            target_cpu: arguments.target_cpu.clone(),
            architecture: None,
            lto: vec![!arguments.no_lto],
            pgo: vec![arguments.pgo],
        }];
    } else if arguments.commits.is_some() {
        file.blocks = vec![Block {
            toolchains: ["gcc", "rustc"].map(str::to_owned).to_vec(),
            ..Block::default()
        }];
    }
    Ok(file)
}

fn recorder(arguments: &CompareArguments, file: &CompareFile, plan: &Plan) -> Result<Recorder> {
    let record = RunRecord {
        machine: arguments.machine.name(),
        command: std::env::args().collect(),
        git: GitFacts::of(Path::new(".")),
        host: HostFacts::gather(),
        plan: json!({"compare": {
            "comparison": file,
            "settings": plan.recipes,
            "toolchains": result::toolchains(&plan.recipes),
            "skipped": plan.skipped,
        }}),
        placement: Topology::here().choose(None),
        ..RunRecord::default()
    };
    let results = arguments.results.as_deref();
    let results = results.unwrap_or(Path::new("results/compilers"));
    let folder = RunFolder::create(results, SystemTime::now(), record)?;
    Ok(Recorder::new(folder, &[]))
}
