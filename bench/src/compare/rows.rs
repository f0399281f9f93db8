//! The measured builds, and C beside Rust of the same LLVM.

use std::collections::BTreeMap;

use record::{BackendName, Implementation, Metric, RunRecord, Sample};
use serde::{Deserialize, Serialize};

use crate::build::toolchain::family::Family;
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
    /// The values, which a stored result does not have.
    #[serde(skip)]
    pub rounds: Rounds,
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
}

impl BuildRow {
    /// Family and version.
    pub fn name(&self) -> String {
        format!("{} {}", self.family, self.version)
    }

    /// A metric, times that of another row, round by round.
    fn times(&self, base: &Self, metric: Metric) -> Option<Interval> {
        let [ours, theirs] = [self, base].map(|row| row.metrics.get(&metric));
        Interval::of_ratios(&ours?.rounds, &theirs?.rounds)
    }
}

/// The rows of a batch size, without builds that were not measured.
pub fn rows(
    recipes: &[BuildRecipe],
    record: &RunRecord,
    samples: &[Sample],
    batch: u32,
) -> Vec<BuildRow> {
    // Values of two backends do not compare, so one counts for all rows.
    let traced = |sample: &Sample| {
        (sample.metric, sample.backend) == (Metric::Instructions, BackendName::Trace)
    };
    let counting = if samples.iter().any(traced) {
        BackendName::Trace
    } else {
        BackendName::Valgrind
    };
    let backend = |metric: Metric| match metric {
        Metric::TscCycles => BackendName::Lockstep,
        _ => counting,
    };
    let mut values: BTreeMap<_, BTreeMap<Metric, Rounds>> = BTreeMap::new();
    for sample in samples.iter().filter(|of| of.conditions.batch == batch) {
        let (metric, key) = (
            sample.metric,
            (sample.implementation, sample.variant.as_str()),
        );
        if SHOWN.contains(&metric) && sample.backend == backend(metric) {
            let of_metric = values.entry(key).or_default().entry(metric).or_default();
            of_metric.insert((sample.process, sample.repeat), sample.value);
        }
    }
    let ours = Implementation::OURS.into_iter();
    let drivers = ours.chain(Implementation::PEERS);
    let builds = drivers.flat_map(|driver| recipes.iter().map(move |recipe| (driver, recipe)));
    let rows = builds.filter_map(|(implementation, recipe)| {
        let rounds = values.remove(&(implementation, recipe.variant.as_str()))?;
        let metrics = rounds.into_iter().filter_map(|(metric, rounds)| {
            let measured = Measured {
                interval: Interval::of_rounds(&rounds)?,
                repeats: rounds.len(),
                unit: metric.unit().to_owned(),
                backend: backend(metric),
                rounds,
            };
            Some((metric, measured))
        });
        let of_row = |build: &&record::Build| {
            build.implementation == implementation && build.variant == recipe.variant
        };
        let build = record.builds.iter().find(of_row);
        let toolchain = &recipe.toolchain;
        Some(BuildRow {
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
            metrics: metrics.collect(),
            llvm: toolchain.llvm,
        })
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

    /// Samples of a build: instructions by both backends, and TSC cycles of some rounds.
    fn samples(
        implementation: Implementation,
        recipe: &BuildRecipe,
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
        let sample =
            |backend, metric, value, repeat| cell.sample(backend, metric, value, 0, repeat);
        let cycles = (0..).zip(cycles).map(|(repeat, cycles)| {
            sample(BackendName::Lockstep, Metric::TscCycles, *cycles, repeat)
        });
        let valgrind = sample(
            BackendName::Valgrind,
            Metric::Instructions,
            instructions + 1.0,
            0,
        );
        let trace = sample(BackendName::Trace, Metric::Instructions, instructions, 0);
        cycles.chain([valgrind, trace]).collect()
    }

    #[test]
    fn the_tracer_counts_where_it_can_and_c_and_rust_are_paired_by_llvm_and_round() {
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
                samples(*driver, recipe, *instructions, cycles)
            });
        let mut measured: Vec<_> = measured.collect();
        let recipes = builds.map(|(_, recipe, ..)| recipe);
        let record = RunRecord::default();
        let found = rows(&recipes, &record, &measured, 32);
        measured.retain(|sample| sample.backend != BackendName::Trace);
        for (rows, instructions) in [
            (&found, 76.0),
            (&rows(&recipes, &record, &measured, 32), 77.0),
        ] {
            assert_eq!(
                rows[0].metrics[&Metric::Instructions].interval.median,
                instructions
            );
        }
        let pairs = pairs(&found);
        let [pair] = pairs.as_slice() else {
            panic!("{pairs:?}")
        };
        assert_eq!((pair.llvm, pair.rust.as_str()), (19, "rustc 1.85.0"));
        assert!((pair.instructions.unwrap() - 1.1).abs() < 1e-9);
        let cycles = pair.cycles.unwrap();
        assert!((cycles.median - 1.1).abs() < 1e-9 && (cycles.high - cycles.low).abs() < 1e-9);
    }
}
