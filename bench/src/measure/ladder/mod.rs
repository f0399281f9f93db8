//! `triptych ladder`: measures the cost of each step from the transpiled driver to the safe driver, or from the default
//! path to the tuned one.
//!
//! `bench/ladder/` has the lists of rungs and their patches ([`manifest`]). [`build`] builds the rungs like the shipped
//! drivers, into `build/variants/`. One run measures all of them.

use std::path::{absolute, Path, PathBuf};

use anyhow::{ensure, Context, Result};
use clap::Args;
use perfcounters::Interrupt;
use record::{BackendName, Conditions, Implementation, LinePlacement, SAMPLES_FILE};
use serde_json::{json, Value};

use self::build::Place;
use self::manifest::{Build, Ladder};
use crate::build::builds::cells::{self, describe_build};
use crate::build::builds::variants::DEFAULT;
use crate::build::stamp;
use crate::measure::run;
use crate::measure::run::arguments::RunArguments;
use crate::measure::run::budget::Counter;
use crate::measure::run::config::{Block, Config, COUNTING};
use crate::usage::{BuildDir, Outcome, ResultsDir};

mod build;
mod limit_table;
mod manifest;

/// The largest difference between the shipped driver and the rung that equals it, instructions per packet. They differ
/// only in their symbols. Valgrind, which counts where the tracer cannot, varies by 0.1. The cheapest rung costs 0.3.
const APART: f64 = 0.2;
const BATCHES: [u32; 2] = [32, 8];

/// Arguments of `triptych ladder`.
#[derive(Debug, Args)]
pub struct LadderArguments {
    /// Only check that every patch applies, that every rung compiles, and that the shipped driver
    /// needs as many instructions when it is built as a rung
    #[arg(long, conflicts_with = "quick")]
    check: bool,
    /// Only build the rungs
    #[arg(long, conflicts_with_all = ["quick", "check"])]
    build: bool,
    /// Only check that everything works: short runs, rough figures
    #[arg(long)]
    quick: bool,
    /// The ladder from the default path to the tuned one instead, in all three languages
    #[arg(long)]
    limit: bool,
    /// The folder with rungs.toml and the patches
    #[arg(long, value_name = "DIR", default_value = "bench/ladder")]
    ladder: PathBuf,
    #[command(flatten)]
    results: ResultsDir,
    #[command(flatten)]
    build_dir: BuildDir,
}

/// Checks, builds or measures the rungs.
pub fn run(arguments: &LadderArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let (part, rungs) = if arguments.limit {
        ("limit", "limit")
    } else {
        ("", "ladder")
    };
    let is_here = !arguments.limit || cfg!(target_arch = "x86_64");
    ensure!(is_here, "the patches to the limit are for x86-64");
    let ladder = Ladder::read(&arguments.ladder.join(part))?;
    let builds = ladder.builds();
    let folder: &Path = &arguments.build_dir;
    stamp::make_folder(folder)?;
    let place = Place {
        repository: &absolute(".")?,
        build: &absolute(folder)?,
        rungs,
        interrupt,
    };
    place.remove_others(&builds)?;
    if arguments.check {
        place.check(&builds)?;
        let count = builds.len();
        println!("{count} builds of the ladder: all patches apply and all sources compile");
        if let Some(shipped) = ladder.shipped() {
            let variant = shipped.variant();
            let build = builds.into_iter().filter(|build| build.variant == variant);
            place.build(&build.collect::<Vec<_>>())?;
            check_shipped(&variant, &arguments.build_dir, interrupt)?;
        }
        return Ok(Outcome::Good);
    }
    place.build(&builds)?;
    if arguments.build {
        Ok(Outcome::Good)
    } else {
        measure(&ladder, &builds, arguments, interrupt)
    }
}

/// Counts the instructions of the shipped rung, which must be built, and of the shipped driver. The
/// bottom rung needs no check: it is the transpiled driver itself.
fn check_shipped(variant: &str, build: &Path, interrupt: &Interrupt) -> Result<()> {
    let mut counter = Counter::new(build, interrupt)?;
    for batch in BATCHES {
        let mut count = |variant: &str| {
            let described = describe_build(build, Implementation::Rust, variant);
            let cell = cells::cell(build, &described, Conditions::with_batch(batch));
            counter.measure(&cell).with_context(|| cell.to_string())
        };
        let (rung, itself) = (count(variant)?, count(DEFAULT)?);
        println!("batch {batch}: {variant} needs {rung:.2} instructions per packet, the shipped driver {itself:.2}");
        ensure!(
            (rung - itself).abs() <= APART,
            "these are the same sources and flags: build/bin/rust may be out of date, run `make build`"
        );
    }
    Ok(())
}

fn measure(
    ladder: &Ladder,
    builds: &[Build],
    arguments: &LadderArguments,
    interrupt: &Interrupt,
) -> Result<Outcome> {
    let config = arguments.build_dir.join("ladder.toml");
    let matrix = if arguments.limit {
        limit_matrix(ladder)
    } else {
        matrix(ladder, builds)
    };
    stamp::write(&config, &toml::to_string(&matrix)?)?;
    let mut run = RunArguments {
        quick: arguments.quick,
        results: arguments.results.clone(),
        build_dir: arguments.build_dir.clone(),
        ..RunArguments::of(&config)
    };
    if !arguments.limit {
        let record = record::to_json(&record(ladder))?;
        run.attached = Some(("ladder.json".to_owned(), record + "\n"));
        return run::run(&run, interrupt);
    }
    for folder in run::record_runs(&run, interrupt)? {
        let samples = record::read_samples(&folder.join(SAMPLES_FILE))?;
        print!("{}", limit_table::table(ladder, &samples));
    }
    Ok(Outcome::Good)
}

/// The matrix of all rungs and the shipped drivers. The figures of the shipped drivers show that the
/// rungs built from them are equal.
fn matrix(ladder: &Ladder, builds: &[Build]) -> Config {
    let shipped = Block {
        name: "shipped".to_owned(),
        backends: vec![BackendName::Perf, COUNTING, BackendName::Lockstep],
        batch: BATCHES.to_vec(),
        ..Block::default()
    };
    let rungs = builds.iter().map(|build| build.variant.clone());
    let beside = ladder.beside.iter().map(|beside| beside.name.clone());
    let rungs = Block {
        name: "ladder".to_owned(),
        implementations: vec![Implementation::Rust],
        variants: rungs.chain(beside).collect(),
        ..shipped.clone()
    };
    Config::new(vec![shipped, rungs])
}

/// Instructions at two batch sizes, cycles at one: where lines lie matters more than the batch.
fn limit_matrix(ladder: &Ladder) -> Config {
    let counted = Block {
        name: "limit".to_owned(),
        backends: vec![COUNTING],
        variants: ladder.rungs.iter().map(|rung| rung.name.clone()).collect(),
        batch: BATCHES.to_vec(),
        ..Block::default()
    };
    let timed = Block {
        name: "limit, cycles".to_owned(),
        backends: vec![BackendName::Lockstep],
        batch: vec![BATCHES[0]],
        ..counted.clone()
    };
    let mut config = Config::new(vec![counted, timed]);
    use LinePlacement::{Memory, Warm, L3};
    config.placements = vec![Warm, L3, Memory];
    config
}

/// The rungs as a run's folder has them, in `ladder.json`.
fn record(ladder: &Ladder) -> Value {
    let shipped = ladder.shipped().map(|rung| &rung.name);
    let rungs = ladder.rungs.iter().map(|rung| {
        json!({
            "name": rung.name,
            "impl": rung.implementation(),
            "variant": rung.variant(),
            "change": rung.change,
            "title": rung.title,
            "adds": rung.adds,
            "shipped": Some(&rung.name) == shipped,
            "alone": rung.alone(),
        })
    });
    let beside = ladder.beside.iter().map(|beside| {
        json!({
            "impl": Implementation::Rust,
            "variant": beside.name,
            "title": beside.title,
            "adds": beside.adds,
        })
    });
    json!({"rungs": rungs.collect::<Value>(), "beside": beside.collect::<Value>()})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rung_is_measured_and_recorded() {
        let [safety, limit] = manifest::both();
        let config = matrix(&safety, &safety.builds());
        let record = record(&safety);
        let rungs = [&record["rungs"], &record["beside"]].map(|list| list.as_array().unwrap());
        for rung in rungs.into_iter().flatten() {
            let is_of = |block: &Block| {
                let drivers = json!(block.implementations);
                let is_there = drivers.as_array().unwrap().contains(&rung["impl"]);
                is_there && block.variants.iter().any(|name| rung["variant"] == **name)
            };
            assert!(config.blocks.iter().any(is_of), "{rung}");
        }
        for config in [config, limit_matrix(&limit)] {
            config.check().unwrap();
            let back: Config = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
            assert_eq!(back, config);
        }
    }
}
