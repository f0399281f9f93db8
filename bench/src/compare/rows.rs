//! The measured builds, and C beside Rust of the same LLVM.

use std::collections::BTreeMap;

use record::{BackendName, Implementation, Metric, RunRecord, Sample};
use serde::{Deserialize, Serialize};

use crate::build::toolchain::compiler::Family;
use crate::build::toolchain::recipe::BuildRecipe;
use crate::interval::{Interval, Rounds};

pub const SHOWN: [Metric; 5] = [
    Metric::Instructions,
    Metric::Loads,
    Metric::Stores,
    Metric::Branches,
    Metric::TscCycles,
];

/// A metric of a build, per packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Median and 95 % interval.
    #[serde(flatten)]
    pub interval: Interval,
    pub repeats: usize,
    pub unit: String,
    /// The backend that counted.
    pub backend: BackendName,
}

/// A driver, built by a compiler with some flags, measured at a batch size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuildRow {
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    pub batch: u32,
    pub compiler: String,
    pub family: Family,
    pub version: String,
    /// Canonical path of its program.
    pub path: String,
    /// SHA-256 of its contents.
    pub sha256: String,
    /// The flags in short, such as `-O2 no LTO`.
    pub flags: String,
    /// Whether only the compiler differs from `make build`.
    pub default_flags: bool,
    /// The name of the build in `samples.csv`.
    pub variant: String,
    /// The compiler's version line and all flags, as the build recorded them.
    pub command: String,
    pub metrics: BTreeMap<Metric, Measured>,
    /// The compiler's LLVM, which a stored result has elsewhere.
    #[serde(skip)]
    pub llvm: Option<u32>,
    /// The values, which a stored result does not have.
    #[serde(skip)]
    pub rounds: BTreeMap<Metric, Rounds>,
}

impl BuildRow {
    pub fn name(&self) -> String {
        format!("{} {}", self.family, self.version)
    }

    /// Whether a compiler made it.
    pub fn has_compiler(&self, path: &str, sha256: &str) -> bool {
        (self.path.as_str(), self.sha256.as_str()) == (path, sha256)
    }

    /// A metric, times that of another row, round by round.
    fn times(&self, base: &Self, metric: Metric) -> Option<Interval> {
        Interval::of_ratios(self.rounds.get(&metric)?, base.rounds.get(&metric)?)
    }

    fn new(
        implementation: Implementation,
        batch: u32,
        recipe: &BuildRecipe,
        counted_by: BackendName,
        rounds: BTreeMap<Metric, Rounds>,
        record: &RunRecord,
    ) -> Self {
        let measured = rounds.iter().filter_map(|(metric, rounds)| {
            let measured = Measured {
                interval: Interval::of_rounds(rounds)?,
                repeats: rounds.len(),
                unit: metric.unit().to_owned(),
                backend: backend(*metric, counted_by),
            };
            Some((*metric, measured))
        });
        let toolchain = &recipe.toolchain;
        let of_build = |build: &&record::Build| {
            build.implementation == implementation && build.variant == recipe.variant
        };
        let build = record.builds.iter().find(of_build);
        Self {
            implementation,
            batch,
            compiler: toolchain.label.clone(),
            family: toolchain.family,
            version: toolchain.version.clone(),
            path: toolchain.identity.path.clone(),
            sha256: toolchain.identity.sha256.clone(),
            flags: recipe.flags(),
            default_flags: recipe.default_flags,
            variant: recipe.variant.clone(),
            command: build.map_or(String::new(), |build| build.flags.clone()),
            metrics: measured.collect(),
            llvm: toolchain.llvm,
            rounds,
        }
    }
}

/// The backend of a metric, if `counted_by` counts.
fn backend(metric: Metric, counted_by: BackendName) -> BackendName {
    match metric {
        Metric::TscCycles => BackendName::Lockstep,
        _ => counted_by,
    }
}

/// The rows of a batch size, without builds that were not measured.
pub fn rows(
    recipes: &[BuildRecipe],
    record: &RunRecord,
    samples: &[Sample],
    batch: u32,
) -> Vec<BuildRow> {
    // Values of two backends do not compare, so all rows have one.
    let traced = |sample: &Sample| {
        (sample.metric, sample.backend) == (Metric::Instructions, BackendName::Trace)
    };
    let counted_by = match samples.iter().any(traced) {
        true => BackendName::Trace,
        false => BackendName::Valgrind,
    };
    let mut values: BTreeMap<_, BTreeMap<Metric, Rounds>> = BTreeMap::new();
    for sample in samples.iter().filter(|of| of.conditions.batch == batch) {
        let key = (sample.implementation, sample.variant.as_str());
        let (metric, from) = (sample.metric, sample.backend);
        if SHOWN.contains(&metric) && from == backend(metric, counted_by) {
            let of_metric = values.entry(key).or_default().entry(metric).or_default();
            of_metric.insert((sample.process, sample.repeat), sample.value);
        }
    }
    let ours = Implementation::OURS.into_iter();
    let drivers = ours.chain(Implementation::PEERS);
    let builds = drivers.flat_map(|driver| recipes.iter().map(move |recipe| (driver, recipe)));
    let rows = builds.filter_map(|(driver, recipe)| {
        let rounds = values.remove(&(driver, recipe.variant.as_str()))?;
        Some(BuildRow::new(
            driver, batch, recipe, counted_by, rounds, record,
        ))
    });
    rows.collect()
}

/// The C driver and a Rust driver, built with the same LLVM and the default flags.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SameLlvmPair {
    pub batch: u32,
    pub llvm: u32,
    /// The C compiler, such as `clang 19.1.7`.
    pub c: String,
    pub rust: String,
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// Instructions divided by those of C.
    pub instructions: Option<f64>,
    /// Cycles divided by those of C in the same round. Rounds are interleaved.
    pub cycles: Option<Interval>,
}

/// Pairs the rows of a batch size that were built with the same LLVM.
pub fn pairs(rows: &[BuildRow]) -> Vec<SameLlvmPair> {
    let with_llvm = || {
        rows.iter()
            .filter(|row| row.default_flags && row.llvm.is_some())
    };
    let is_c = |row: &&BuildRow| row.implementation == Implementation::C;
    let is_rust = |row: &&BuildRow| !is_c(row) && !row.implementation.is_peer();
    let mut pairs = Vec::new();
    for c in with_llvm().filter(is_c) {
        for rust in with_llvm()
            .filter(is_rust)
            .filter(|rust| rust.llvm == c.llvm)
        {
            let instructions = rust.times(c, Metric::Instructions);
            pairs.push(SameLlvmPair {
                batch: c.batch,
                llvm: c.llvm.unwrap_or_default(),
                c: c.compiler.clone(),
                rust: rust.compiler.clone(),
                implementation: rust.implementation,
                instructions: instructions.map(|ratio| ratio.median),
                cycles: rust.times(c, Metric::TscCycles),
            });
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use record::Conditions;
    use Implementation::{Rust, C};

    use super::*;
    use crate::build::toolchain::compiler::test_values::toolchain;
    use crate::build::toolchain::recipe::{OptLevel, DEFAULT_CPU};

    fn recipe(family: Family, version: &str, llvm: Option<u32>) -> BuildRecipe {
        let toolchain = toolchain(family, version, llvm);
        BuildRecipe::new(toolchain, OptLevel::Default, DEFAULT_CPU, true, false)
    }

    /// Samples of a build: instructions, and TSC cycles of some rounds.
    fn samples(
        implementation: Implementation,
        recipe: &BuildRecipe,
        counted: BackendName,
        instructions: f64,
        cycles: &[f64],
    ) -> Vec<Sample> {
        let cell = perfcounters::Cell {
            implementation,
            variant: recipe.variant.clone(),
            toolchain: String::new(),
            conditions: Conditions::with_batch(32),
            program: "c".into(),
            library: "c".into(),
            peer: None,
        };
        let cycles = (0..).zip(cycles).map(|(repeat, cycles)| {
            cell.sample(BackendName::Lockstep, Metric::TscCycles, *cycles, 0, repeat)
        });
        let counted = cell.sample(counted, Metric::Instructions, instructions, 1, 0);
        cycles.chain([counted]).collect()
    }

    #[test]
    fn the_tracer_counts_where_it_can() {
        let recipe = recipe(Family::Gcc, "12.2.0", None);
        let mut all = samples(C, &recipe, BackendName::Valgrind, 77.0, &[]);
        for (name, instructions) in [(BackendName::Valgrind, 77.0), (BackendName::Trace, 76.5)] {
            let recipes = std::slice::from_ref(&recipe);
            let rows = rows(recipes, &RunRecord::default(), &all, 32);
            let counted = &rows[0].metrics[&Metric::Instructions];
            assert_eq!(
                (counted.backend, counted.interval.median),
                (name, instructions)
            );
            all.extend(samples(C, &recipe, BackendName::Trace, 76.5, &[]));
        }
    }

    #[test]
    fn c_and_rust_are_paired_by_llvm_and_round() {
        let builds = [
            (C, recipe(Family::Gcc, "12.2.0", None), 76.0, &[1.0][..]),
            (
                C,
                recipe(Family::Clang, "19.1.7", Some(19)),
                70.0,
                &[10.0, 20.0, 40.0],
            ),
            (
                Rust,
                recipe(Family::Rustc, "1.85.0", Some(19)),
                77.0,
                &[11.0, 22.0, 44.0],
            ),
            (
                Rust,
                recipe(Family::Rustc, "1.95.0", Some(22)),
                75.0,
                &[1.0],
            ),
        ];
        let measured = builds
            .iter()
            .flat_map(|(driver, recipe, instructions, cycles)| {
                samples(*driver, recipe, BackendName::Trace, *instructions, cycles)
            });
        let measured: Vec<_> = measured.collect();
        let recipes = builds.map(|(_, recipe, ..)| recipe);
        let pairs = pairs(&rows(&recipes, &RunRecord::default(), &measured, 32));
        let [pair] = pairs.as_slice() else {
            panic!("{pairs:?}")
        };
        assert_eq!((pair.llvm, pair.rust.as_str()), (19, "rustc 1.85.0"));
        assert!((pair.instructions.unwrap() - 1.1).abs() < 1e-9);
        let cycles = pair.cycles.unwrap();
        assert!((cycles.median - 1.1).abs() < 1e-9 && (cycles.high - cycles.low).abs() < 1e-9);
    }
}
