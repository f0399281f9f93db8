//! Analyses a comparison: C beside Rust of the same LLVM, and regressions of newer compilers.

use std::collections::BTreeMap;

use record::{BackendName, Implementation, Metric, Sample};
use serde::Serialize;

use crate::toolchain::compiler::older;
use crate::toolchain::recipe::BuildRecipe;

/// A regression needs more instructions per packet than this. Two counts of one program agree to 0.1.
const MORE_INSTRUCTIONS: f64 = 0.2;
/// A regression needs a larger share of instructions than this.
const MORE_SHARE: f64 = 0.01;
/// A regression needs a larger share of cycles than this, because alignment alone changes cycles.
const MORE_CYCLES: f64 = 0.02;

/// The median, the 10th and the 90th percentile of some values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// 10th percentile.
    pub low: f64,
    /// Median.
    pub median: f64,
    /// 90th percentile.
    pub high: f64,
}

impl Spread {
    /// The spread of some values; `None` if there are none.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let at = |share: f64| {
            let place = share * last as f64;
            let (below, part) = (place.floor() as usize, place.fract());
            let next = (below + 1).min(last);
            values[below] + (values[next] - values[below]) * part
        };
        Some(Self {
            low: at(0.1),
            median: at(0.5),
            high: at(0.9),
        })
    }
}

/// The metrics in the table, and the backends that give them.
pub const SHOWN: [(Metric, BackendName); 5] = [
    (Metric::Instructions, BackendName::Valgrind),
    (Metric::Loads, BackendName::Valgrind),
    (Metric::Stores, BackendName::Valgrind),
    (Metric::Branches, BackendName::Valgrind),
    (Metric::TscCycles, BackendName::Lockstep),
];

/// The values of one build, by metric and repeat.
type Values = BTreeMap<Metric, BTreeMap<u32, f64>>;

/// The measurements of one build.
#[derive(Debug, Clone)]
pub struct Row {
    /// The driver.
    pub implementation: Implementation,
    /// The compiler and its flags.
    pub recipe: BuildRecipe,
    values: Values,
}

impl Row {
    /// The spread of a metric; `None` if it was not measured.
    pub fn spread(&self, metric: Metric) -> Option<Spread> {
        Spread::of(self.values.get(&metric)?.values().copied().collect())
    }
}

/// The rows of a batch size, without builds that were not measured.
pub fn rows(recipes: &[BuildRecipe], samples: &[Sample], batch: u32) -> Vec<Row> {
    let mut values: BTreeMap<(Implementation, &str), Values> = BTreeMap::new();
    for sample in samples {
        if sample.conditions.batch == batch && SHOWN.contains(&(sample.metric, sample.backend)) {
            values
                .entry((sample.implementation, &sample.variant))
                .or_default()
                .entry(sample.metric)
                .or_default()
                .insert(sample.repeat, sample.value);
        }
    }
    let mut rows = Vec::new();
    for implementation in [
        Implementation::C,
        Implementation::Rust,
        Implementation::RustUnsafe,
    ] {
        for recipe in recipes {
            if let Some(values) = values.remove(&(implementation, recipe.variant.as_str())) {
                rows.push(Row {
                    implementation,
                    recipe: recipe.clone(),
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
    /// The major version of the LLVM.
    pub llvm: u32,
    /// The C compiler, such as `clang 19.1.7`.
    pub c: String,
    /// The Rust compiler.
    pub rust: String,
    /// The Rust driver.
    pub implementation: Implementation,
    /// Instructions divided by those of C.
    pub instructions: Option<f64>,
    /// Cycles divided by those of C in the same round. Rounds are interleaved.
    pub cycles: Option<Spread>,
}

/// Pairs the rows that were built with the same LLVM.
pub fn pairs(rows: &[Row]) -> Vec<SameLlvmPair> {
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
            row.implementation != Implementation::C && row.recipe.toolchain.llvm == Some(llvm)
        };
        for rust in rows.iter().filter(default_flags).filter(same) {
            let instructions = ratio(rust, c, Metric::Instructions);
            let cycles = ratio(rust, c, Metric::TscCycles);
            pairs.push(SameLlvmPair {
                llvm,
                c: c.recipe.toolchain.name(),
                rust: rust.recipe.toolchain.name(),
                implementation: rust.implementation,
                instructions: instructions.map(|spread| spread.median),
                cycles,
            });
        }
    }
    pairs
}

fn ratio(a: &Row, b: &Row, metric: Metric) -> Option<Spread> {
    let (a, b) = (a.values.get(&metric)?, b.values.get(&metric)?);
    let ratios = a
        .iter()
        .filter_map(|(repeat, value)| Some(value / b.get(repeat)?))
        .collect();
    Spread::of(ratios)
}

/// A newer compiler whose code costs more than that of the next older one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Regression {
    /// The driver.
    pub implementation: Implementation,
    /// The older compiler.
    pub from: String,
    /// The newer compiler.
    pub to: String,
    /// The flags of both.
    pub flags: String,
    /// The metric that increased.
    pub metric: Metric,
    /// The medians before and after.
    pub values: [f64; 2],
}

/// Compares each version with the next older version of the same family and flags.
pub fn regressions(rows: &[Row]) -> Vec<Regression> {
    let mut found = Vec::new();
    for new in rows {
        let comparable = |old: &&Row| {
            old.implementation == new.implementation
                && old.recipe.toolchain.family == new.recipe.toolchain.family
                && old.recipe.flags() == new.recipe.flags()
                && older(&old.recipe.toolchain.version, &new.recipe.toolchain.version)
        };
        // Rows stand in the order of versions.
        let Some(old) = rows.iter().rfind(comparable) else {
            continue;
        };
        for metric in [Metric::Instructions, Metric::TscCycles] {
            let (Some(before), Some(after)) = (old.spread(metric), new.spread(metric)) else {
                continue;
            };
            if is_regression(metric, before, after) {
                found.push(Regression {
                    implementation: new.implementation,
                    from: old.recipe.toolchain.name(),
                    to: new.recipe.toolchain.name(),
                    flags: new.recipe.flags(),
                    metric,
                    values: [before.median, after.median],
                });
            }
        }
    }
    found
}

/// Whether `after` is worse beyond noise. Instructions are exact to a tenth. For cycles, the 10th
/// percentile must be above the earlier 90th.
fn is_regression(metric: Metric, before: Spread, after: Spread) -> bool {
    let more = after.median - before.median;
    match metric {
        Metric::TscCycles => after.low > before.high && more > MORE_CYCLES * before.median,
        _ => more > MORE_INSTRUCTIONS && more > MORE_SHARE * before.median,
    }
}

/// The pairs and regressions at a batch size, for the report.
#[derive(Debug, Serialize)]
pub struct Findings {
    batch: u32,
    pairs: Vec<SameLlvmPair>,
    regressions: Vec<Regression>,
}

/// The pairs and regressions at each batch size.
pub fn findings(batches: &[(u32, Vec<Row>)]) -> Vec<Findings> {
    let found = batches.iter().map(|(batch, rows)| Findings {
        batch: *batch,
        pairs: pairs(rows),
        regressions: regressions(rows),
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::compiler::test_values::toolchain;
    use crate::toolchain::compiler::Family;
    use crate::toolchain::recipe::{OptLevel, DEFAULT_CPU};
    use proptest::prelude::*;
    use Implementation::{Rust, C};

    fn recipe(family: Family, version: &str, llvm: Option<u32>) -> BuildRecipe {
        let toolchain = toolchain(family, version, llvm);
        BuildRecipe::new(toolchain, OptLevel::Default, DEFAULT_CPU, true, false)
    }

    fn row(
        implementation: Implementation,
        recipe: BuildRecipe,
        instructions: f64,
        cycles: &[f64],
    ) -> Row {
        let rounds = (0..).zip(cycles.iter().copied()).collect();
        Row {
            implementation,
            recipe,
            values: BTreeMap::from([
                (Metric::Instructions, BTreeMap::from([(0, instructions)])),
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
        let pairs = pairs(&rows);
        assert_eq!(pairs.len(), 1);
        assert_eq!(
            (pairs[0].llvm, pairs[0].rust.as_str()),
            (19, "rustc 1.85.0")
        );
        assert!((pairs[0].instructions.unwrap() - 1.1).abs() < 1e-9);
        let cycles = pairs[0].cycles.unwrap();
        assert!((cycles.median - 1.1).abs() < 1e-9 && (cycles.high - cycles.low).abs() < 1e-9);
    }

    #[test]
    fn only_the_next_older_version_of_the_same_family_is_compared() {
        let rows = [
            row(C, recipe(Family::Gcc, "9.5.0", None), 70.0, &[10.0; 5]),
            row(C, recipe(Family::Gcc, "11.4.0", None), 80.0, &[10.0; 5]),
            row(C, recipe(Family::Gcc, "12.2.0", None), 80.1, &[10.1; 5]),
            row(
                C,
                recipe(Family::Clang, "19.1.7", Some(19)),
                90.0,
                &[20.0; 5],
            ),
        ];
        let found = regressions(&rows);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].from.as_str(), found[0].to.as_str()),
            ("gcc 9.5.0", "gcc 11.4.0")
        );
        assert_eq!(found[0].metric, Metric::Instructions);
    }

    #[test]
    fn cycles_are_worse_only_if_the_spreads_do_not_overlap() {
        let before = Spread::of(vec![10.0, 10.5, 11.0, 12.0]).unwrap();
        let noisy = Spread::of(vec![11.0, 12.0, 13.0, 14.0]).unwrap();
        let clear = Spread::of(vec![14.0, 14.5, 15.0]).unwrap();
        assert!(!is_regression(Metric::TscCycles, before, noisy));
        assert!(is_regression(Metric::TscCycles, before, clear));
    }

    proptest! {
        /// Equal or smaller values are never a regression.
        #[test]
        fn better_is_no_regression(
            values in proptest::collection::vec(1.0..1000.0f64, 1..50),
            factor in 0.1..1.0f64,
        ) {
            let before = Spread::of(values.clone()).unwrap();
            let after = Spread::of(values.iter().map(|value| value * factor).collect()).unwrap();
            prop_assert!(before.low <= before.median && before.median <= before.high);
            for metric in [Metric::TscCycles, Metric::Instructions] {
                prop_assert!(!is_regression(metric, before, after));
            }
        }
    }
}
