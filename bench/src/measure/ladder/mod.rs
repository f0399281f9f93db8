//! `triptych ladder`: measures the cost of each step from the transpiled driver to the safe driver.
//!
//! `bench/ladder/` has the list of rungs and their patches ([`manifest`]). [`sources`] writes the
//! rungs' sources to `build/ladder/`. [`build`] builds them like the shipped drivers, into
//! `build/variants/ladder-NAME/`. One run measures all of them, and its folder gets the list.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use perfcounters::Interrupt;
use record::{BackendName, Implementation};
use serde::Serialize;

use crate::build::builds::variants::DEFAULT;
use crate::measure::run;
use crate::measure::run::arguments::RunArguments;
use crate::measure::run::config::{Block, Config, COUNTING};
use crate::usage::Outcome;
use arguments::LadderArguments;
use manifest::{Change, Ladder};

pub mod arguments;
pub mod build;
mod limit;
pub mod manifest;
mod shipped;
mod shipped_check;
pub mod sources;

/// The list of rungs in the folder of a run.
const FILE: &str = "ladder.json";

/// The rungs as a run's folder has them.
#[derive(Debug, Serialize)]
struct Record<'l> {
    rungs: Vec<RungRecord<'l>>,
    /// Variants of the shipped safe driver that are measured beside the rungs.
    beside: Vec<BesideRecord<'l>>,
}

#[derive(Debug, Serialize)]
struct BesideRecord<'l> {
    #[serde(rename = "impl")]
    implementation: Implementation,
    variant: &'l str,
    title: &'l str,
    adds: &'l str,
}

#[derive(Debug, Serialize)]
struct RungRecord<'l> {
    name: &'l str,
    #[serde(rename = "impl")]
    implementation: Implementation,
    variant: String,
    change: Change,
    title: &'l str,
    adds: &'l str,
    /// Whether it is the shipped safe driver.
    shipped: bool,
    /// The variant in which it is the only difference from the shipped driver, if there is one.
    alone: Option<String>,
}

/// Checks, builds or measures the rungs.
///
/// # Errors
/// If a patch does not apply, or a rung cannot be built or measured.
pub fn run(arguments: &LadderArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let build: &Path = &arguments.build_dir;
    fs::create_dir_all(build).with_context(|| format!("cannot make {}", build.display()))?;
    if arguments.limit {
        return limit::run(arguments, interrupt);
    }
    let ladder = Ladder::read(&arguments.ladder)?;
    sources::write(&ladder, &arguments.ladder, Path::new("."), build)?;
    if arguments.check {
        let count = build::check(&ladder, build, interrupt)?;
        println!("{count} builds of the ladder: all patches apply and all sources compile");
        let shipped = ladder.shipped().cloned();
        build::build(shipped.as_slice(), build, interrupt)?;
        println!("{}", shipped_check::check(&ladder, build, interrupt)?);
        return Ok(Outcome::Good);
    }
    build::build(&ladder.builds(), build, interrupt)?;
    if arguments.build {
        return Ok(Outcome::Good);
    }
    measure(&ladder, arguments, interrupt)
}

fn measure(ladder: &Ladder, arguments: &LadderArguments, interrupt: &Interrupt) -> Result<Outcome> {
    let folder = arguments.build_dir.join("ladder");
    let config = folder.join("matrix.toml");
    fs::write(&config, toml::to_string(&matrix(ladder))?)
        .with_context(|| format!("cannot write {}", config.display()))?;
    let record = record::to_json(&record(ladder))?;
    let run = RunArguments {
        quick: arguments.quick,
        results: arguments.results.clone(),
        build_dir: arguments.build_dir.clone(),
        attached: Some((FILE.to_owned(), record + "\n")),
        ..RunArguments::of(&config)
    };
    run::run(&run, interrupt)
}

/// The matrix of all rungs and the shipped drivers. The figures of the shipped drivers show that the
/// rungs built from them are equal.
fn matrix(ladder: &Ladder) -> Config {
    let block = Block {
        name: "ladder".to_owned(),
        backends: vec![BackendName::Perf, COUNTING, BackendName::Lockstep],
        batch: vec![32, 8],
        ..Block::default()
    };
    let rungs = ladder.builds().into_iter().map(|rung| rung.variant());
    let beside = ladder.variants.iter().map(|beside| beside.name.clone());
    Config::new(vec![
        Block {
            name: "shipped".to_owned(),
            variants: vec![DEFAULT.to_owned()],
            ..block.clone()
        },
        Block {
            implementations: vec![Implementation::Rust],
            variants: rungs.chain(beside).collect(),
            ..block
        },
    ])
}

fn record(ladder: &Ladder) -> Record<'_> {
    let shipped = ladder.shipped().map(|rung| &rung.name);
    let rungs = ladder.rungs.iter().map(|rung| RungRecord {
        name: &rung.name,
        implementation: rung.implementation(),
        variant: rung.variant(),
        change: rung.change,
        title: &rung.title,
        adds: &rung.adds,
        shipped: Some(&rung.name) == shipped,
        alone: rung.apart().map(|rung| rung.variant()),
    });
    let beside = ladder.variants.iter().map(|beside| BesideRecord {
        implementation: Implementation::Rust,
        variant: &beside.name,
        title: &beside.title,
        adds: &beside.adds,
    });
    Record {
        rungs: rungs.collect(),
        beside: beside.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder() -> Ladder {
        Ladder::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("ladder")).unwrap()
    }

    #[test]
    fn every_rung_is_measured_once_and_recorded() {
        let ladder = ladder();
        let config = matrix(&ladder);
        config.check().unwrap();
        for block in &config.blocks {
            assert!(block.backends.contains(&COUNTING));
            assert!(block.backends.contains(&BackendName::Lockstep));
        }
        let record = record(&ladder);
        let mut drivers: Vec<_> = config
            .blocks
            .iter()
            .flat_map(|block| {
                block.implementations.iter().flat_map(|implementation| {
                    let variants = block.variants.iter();
                    variants.map(|variant| (*implementation, variant.clone()))
                })
            })
            .collect();
        for rung in &record.rungs {
            let driver = (rung.implementation, rung.variant.clone());
            assert!(drivers.contains(&driver), "{driver:?}");
        }
        for beside in &record.beside {
            let driver = (beside.implementation, beside.variant.to_owned());
            assert!(drivers.contains(&driver), "{driver:?}");
        }
        let all = drivers.len();
        drivers.sort();
        drivers.dedup();
        assert_eq!(drivers.len(), all);
        assert_eq!(record.rungs.iter().filter(|rung| rung.shipped).count(), 1);
        let back: Config = toml::from_str(&toml::to_string(&config).unwrap()).unwrap();
        assert_eq!(back, config);
    }
}
