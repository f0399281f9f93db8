//! The measurements of each build, and C beside Rust of the same LLVM.

use std::collections::BTreeMap;

use record::{BackendName, Implementation, Metric, Sample};
use serde::Serialize;

use crate::build::toolchain::recipe::BuildRecipe;
use crate::interval::{Interval, Rounds};

/// The metrics in the table.
pub const SHOWN: [Metric; 5] = [
    Metric::Instructions,
    Metric::Loads,
    Metric::Stores,
    Metric::Branches,
    Metric::TscCycles,
];

/// The backend that counted in a run. Values of two backends do not compare, so all rows have one.
fn counted_by(samples: &[Sample]) -> BackendName {
    let traced = |sample: &Sample| {
        (sample.metric, sample.backend) == (Metric::Instructions, BackendName::Trace)
    };
    match samples.iter().any(traced) {
        true => BackendName::Trace,
        false => BackendName::Valgrind,
    }
}

/// The backend of a metric, if `counted_by` counts.
fn backend(metric: Metric, counted_by: BackendName) -> BackendName {
    match metric {
        Metric::TscCycles => BackendName::Lockstep,
        _ => counted_by,
    }
}

/// The values of one build, by metric.
type Values = BTreeMap<Metric, Rounds>;

/// The measurements of one build.
#[derive(Debug, Clone)]
pub struct Row {
    /// The driver.
    pub implementation: Implementation,
    /// The compiler and its flags.
    pub recipe: BuildRecipe,
    counted_by: BackendName,
    values: Values,
}

impl Row {
    /// The median of a metric with its interval; `None` if it was not measured.
    pub fn interval(&self, metric: Metric) -> Option<Interval> {
        Interval::of_rounds(self.values.get(&metric)?)
    }

    /// The backend that gave a metric.
    pub fn backend(&self, metric: Metric) -> BackendName {
        backend(metric, self.counted_by)
    }

    /// The number of values of a metric.
    pub fn repeats(&self, metric: Metric) -> usize {
        self.values.get(&metric).map_or(0, Rounds::len)
    }
}

/// The rows of a batch size, without builds that were not measured.
pub fn rows(recipes: &[BuildRecipe], samples: &[Sample], batch: u32) -> Vec<Row> {
    let counted_by = counted_by(samples);
    let mut values: BTreeMap<(Implementation, &str), Values> = BTreeMap::new();
    for sample in samples.iter().filter(|of| of.conditions.batch == batch) {
        let key = (sample.implementation, sample.variant.as_str());
        let (metric, from) = (sample.metric, sample.backend);
        if SHOWN.contains(&metric) && from == backend(metric, counted_by) {
            let of_metric = values.entry(key).or_default().entry(metric).or_default();
            of_metric.insert((sample.process, sample.repeat), sample.value);
        }
    }
    let mut rows = Vec::new();
    for implementation in Implementation::OURS
        .into_iter()
        .chain(Implementation::PEERS)
    {
        for recipe in recipes {
            let key = (implementation, recipe.variant.as_str());
            if let Some(values) = values.remove(&key) {
                rows.push(Row {
                    implementation,
                    recipe: recipe.clone(),
                    counted_by,
                    values,
                });
            }
        }
    }
    rows
}

/// The C driver and a Rust driver, built with the same LLVM and the default flags.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SameLlvmPair {
    /// The batch size.
    pub batch: u32,
    /// The major version of the LLVM.
    pub llvm: u32,
    /// The C compiler, such as `clang 19.1.7`.
    pub c: String,
    /// The Rust compiler.
    pub rust: String,
    /// The Rust driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// Instructions divided by those of C.
    pub instructions: Option<f64>,
    /// Cycles divided by those of C in the same round. Rounds are interleaved.
    pub cycles: Option<Interval>,
}

/// Pairs the rows that were built with the same LLVM.
pub fn pairs(rows: &[Row], batch: u32) -> Vec<SameLlvmPair> {
    let default_flags = |row: &&Row| row.recipe.default_flags;
    let mut pairs = Vec::new();
    for c in rows
        .iter()
        .filter(default_flags)
        .filter(|row| row.implementation == Implementation::C)
    {
        let Some(llvm) = c.recipe.toolchain.llvm else {
            continue;
        };
        let same = |row: &&Row| {
            row.implementation != Implementation::C
                && !row.implementation.is_peer()
                && row.recipe.toolchain.llvm == Some(llvm)
        };
        for rust in rows.iter().filter(default_flags).filter(same) {
            let instructions = ratio(rust, c, Metric::Instructions);
            let cycles = ratio(rust, c, Metric::TscCycles);
            pairs.push(SameLlvmPair {
                batch,
                llvm,
                c: c.recipe.toolchain.label.clone(),
                rust: rust.recipe.toolchain.label.clone(),
                implementation: rust.implementation,
                instructions: instructions.map(|ratio| ratio.median),
                cycles,
            });
        }
    }
    pairs
}

fn ratio(row: &Row, base: &Row, metric: Metric) -> Option<Interval> {
    Interval::of_ratios(row.values.get(&metric)?, base.values.get(&metric)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::toolchain::compiler::test_values::toolchain;
    use crate::build::toolchain::compiler::Family;
    use crate::build::toolchain::recipe::{OptLevel, DEFAULT_CPU};
    use Implementation::{Rust, C};

    fn recipe(family: Family, version: &str, llvm: Option<u32>) -> BuildRecipe {
        let toolchain = toolchain(family, version, llvm);
        BuildRecipe::new(toolchain, OptLevel::Default, DEFAULT_CPU, true, false)
    }

    #[test]
    fn the_tracer_counts_where_it_can() {
        use record::Conditions;
        let recipe = recipe(Family::Gcc, "12.2.0", None);
        let cell = perfcounters::Cell {
            implementation: C,
            variant: recipe.variant.clone(),
            toolchain: String::new(),
            conditions: Conditions::with_batch(32),
            program: "c".into(),
            library: "c".into(),
            peer: None,
        };
        let sample = |backend, metric, value| cell.sample(backend, metric, value, 1, 0);
        let valgrind = sample(BackendName::Valgrind, Metric::Instructions, 77.0);
        let old = rows(
            std::slice::from_ref(&recipe),
            std::slice::from_ref(&valgrind),
            32,
        );
        assert_eq!(old[0].interval(Metric::Instructions).unwrap().median, 77.0);
        assert_eq!(old[0].backend(Metric::Instructions), BackendName::Valgrind);
        let samples = [
            valgrind,
            sample(BackendName::Trace, Metric::Instructions, 76.5),
        ];
        let new = rows(&[recipe], &samples, 32);
        assert_eq!(new[0].interval(Metric::Instructions).unwrap().median, 76.5);
        assert_eq!(new[0].backend(Metric::Loads), BackendName::Trace);
        assert_eq!(new[0].backend(Metric::TscCycles), BackendName::Lockstep);
    }

    fn row(
        implementation: Implementation,
        recipe: BuildRecipe,
        instructions: f64,
        cycles: &[f64],
    ) -> Row {
        let rounds = (0..).map(|repeat| (0, repeat));
        let rounds = rounds.zip(cycles.iter().copied()).collect();
        Row {
            implementation,
            recipe,
            counted_by: BackendName::Trace,
            values: BTreeMap::from([
                (
                    Metric::Instructions,
                    BTreeMap::from([((0, 0), instructions)]),
                ),
                (Metric::TscCycles, rounds),
            ]),
        }
    }

    #[test]
    fn c_and_rust_are_paired_by_llvm_and_round() {
        let rows = [
            row(C, recipe(Family::Gcc, "12.2.0", None), 76.0, &[1.0]),
            row(
                C,
                recipe(Family::Clang, "19.1.7", Some(19)),
                70.0,
                &[10.0, 20.0, 40.0],
            ),
            row(
                Rust,
                recipe(Family::Rustc, "1.85.0", Some(19)),
                77.0,
                &[11.0, 22.0, 44.0],
            ),
            row(
                Rust,
                recipe(Family::Rustc, "1.95.0", Some(22)),
                75.0,
                &[1.0],
            ),
        ];
        let pairs = pairs(&rows, 32);
        assert_eq!(pairs.len(), 1);
        assert_eq!(
            (pairs[0].llvm, pairs[0].rust.as_str()),
            (19, "rustc 1.85.0")
        );
        assert!((pairs[0].instructions.unwrap() - 1.1).abs() < 1e-9);
        let cycles = pairs[0].cycles.unwrap();
        assert!((cycles.median - 1.1).abs() < 1e-9 && (cycles.high - cycles.low).abs() < 1e-9);
    }
}
