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
    #[serde(flatten)]
    pub interval: Interval,
    pub repeats: usize,
    pub unit: String,
    pub backend: BackendName,
    /// The values, which a stored result does not have.
    #[serde(skip)]
    pub rounds: Rounds,
}

/// A driver, built by a compiler with some flags, measured at a batch size. bench/README.md describes the fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BuildRow {
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    pub batch: u32,
    pub compiler: String,
    pub family: Family,
    pub version: String,
    pub path: String,
    pub sha256: String,
    pub flags: String,
    pub default_flags: bool,
    pub variant: String,
    pub command: String,
    pub metrics: BTreeMap<Metric, Measured>,
    /// The compiler's LLVM, which a stored result has elsewhere.
    #[serde(skip)]
    pub llvm: Option<u32>,
}

impl BuildRow {
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
    let traced = samples.iter().any(traced);
    let backend = |metric: Metric| match metric {
        Metric::TscCycles => BackendName::Lockstep,
        _ if traced => BackendName::Trace,
        _ => BackendName::Valgrind,
    };
    let mut values: BTreeMap<_, BTreeMap<Metric, Rounds>> = BTreeMap::new();
    for sample in samples.iter().filter(|of| of.conditions.batch == batch) {
        let metric = sample.metric;
        if SHOWN.contains(&metric) && sample.backend == backend(metric) {
            let key = (sample.implementation, sample.variant.as_str());
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
        let ours = (implementation, &recipe.variant);
        let mut builds = record.builds.iter();
        let build = builds.find(|build| (build.implementation, &build.variant) == ours);
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
    let fits = |row: &&BuildRow| row.default_flags && row.llvm.is_some();
    let is_c = |row: &&BuildRow| row.implementation == Implementation::C;
    let is_rust = |row: &&BuildRow| !is_c(row) && !row.implementation.is_peer();
    let pairs = rows.iter().filter(fits).filter(is_c).flat_map(|c| {
        let same = move |rust: &&BuildRow| rust.llvm == c.llvm;
        let rust = rows.iter().filter(fits).filter(is_rust).filter(same);
        rust.map(move |rust| SameLlvmPair {
            batch: c.batch,
            llvm: c.llvm.unwrap_or_default(),
            c: c.compiler.clone(),
            rust: rust.compiler.clone(),
            implementation: rust.implementation,
            instructions: rust
                .times(c, Metric::Instructions)
                .map(|ratio| ratio.median),
            cycles: rust.times(c, Metric::TscCycles),
        })
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use record::Conditions;
    use Implementation::{Rust, C};

    use super::*;
    use crate::build::toolchain::compiler::test_values::toolchain;
    use crate::build::toolchain::recipe::{OptLevel, DEFAULT_CPU};

    /// A build with the default flags, and its samples: instructions by both backends, and TSC cycles of some rounds.
    fn build(
        implementation: Implementation,
        (family, version, llvm): (Family, &str, Option<u32>),
        instructions: f64,
        cycles: &[f64],
    ) -> (BuildRecipe, Vec<Sample>) {
        let toolchain = toolchain(family, version, llvm);
        let recipe = BuildRecipe::new(toolchain, OptLevel::Default, DEFAULT_CPU, true, false);
        let cell = perfcounters::Cell {
            implementation,
            variant: recipe.variant.clone(),
            toolchain: String::new(),
            conditions: Conditions::with_batch(32),
            program: "c".into(),
            library: "c".into(),
            peer: None,
        };
        let counts = [
            (BackendName::Valgrind, instructions + 1.0),
            (BackendName::Trace, instructions),
        ];
        let counts =
            counts.map(|(name, value)| cell.sample(name, Metric::Instructions, value, 0, 0));
        let cycles = (0..).zip(cycles).map(|(round, value)| {
            cell.sample(BackendName::Lockstep, Metric::TscCycles, *value, 0, round)
        });
        let samples = cycles.chain(counts).collect();
        (recipe, samples)
    }

    #[test]
    fn the_tracer_counts_where_it_can_and_c_and_rust_are_paired_by_llvm_and_round() {
        let (gcc, clang) = (
            (Family::Gcc, "12.2.0", None),
            (Family::Clang, "19.1.7", Some(19)),
        );
        let (old, new) = (
            (Family::Rustc, "1.85.0", Some(19)),
            (Family::Rustc, "1.95.0", Some(22)),
        );
        let (recipes, samples): (Vec<_>, Vec<_>) = [
            build(C, gcc, 76.0, &[1.0]),
            build(C, clang, 70.0, &[10.0, 20.0, 40.0]),
            build(Rust, old, 77.0, &[11.0, 22.0, 44.0]),
            build(Rust, new, 75.0, &[1.0]),
        ]
        .into_iter()
        .unzip();
        let mut samples = samples.concat();
        let record = RunRecord::default();
        let found = rows(&recipes, &record, &samples, 32);
        samples.retain(|sample| sample.backend != BackendName::Trace);
        let untraced = rows(&recipes, &record, &samples, 32);
        for (rows, instructions) in [(&found, 76.0), (&untraced, 77.0)] {
            let measured = &rows[0].metrics[&Metric::Instructions];
            assert_eq!(measured.interval.median, instructions);
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
