//! `triptych budget`: fails if a driver needs more instructions or modelled cycles per packet than
//! recorded.
//!
//! The model counts the same in every run. A slower data path therefore shows within a minute on any
//! machine, while a measurement of time needs a quiet one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use anyhow::{bail, Result};
use model::cpu::Cpu;
use perfcounters::model::processor::Processor;
use perfcounters::Interrupt;
use record::Conditions;

use crate::builds::cells::{cell, describe_build};
use crate::builds::variants::{build_folder, DEFAULT};
use crate::machine_code::checks::Panic;
use crate::machine_code::data_path::checks_in_loops;
use crate::progress::Progress;
use arguments::BudgetArguments;
use count::{clocked, Counter};
use figures::{Budget, CycleFigure};
use verdict::{judge, Key, Measured, Toolchains, Verdict};

pub mod arguments;
pub(crate) mod count;
pub mod figures;
pub mod verdict;

/// Measures every driver, compares, and prints the comparison.
///
/// # Errors
/// If the budget is exceeded, or something cannot be measured.
pub fn run(arguments: &BudgetArguments, interrupt: &Interrupt) -> Result<()> {
    let budget = Budget::read(&arguments.config)?;
    let (measured, toolchains, unmeasured) = measure(&budget, &arguments.build_dir, interrupt)?;
    let mut verdict = judge(&budget, &measured, &toolchains);
    // The cause of a failed measurement says more than the missing figure.
    verdict
        .violations
        .retain(|violation| !violation.ends_with(" not measured"));
    verdict.violations.extend(unmeasured);
    judge_bounds_checks(&budget, &arguments.build_dir, &mut verdict);
    println!("{}", verdict.lines.join("\n"));
    for saving in &verdict.savings {
        println!("note: {saving}");
    }
    match verdict.violations.as_slice() {
        [] => Ok(()),
        some => bail!("the budget is exceeded:\n  {}", some.join("\n  ")),
    }
}

/// The drivers of all figures, each once, and the processors that their cycles need.
fn drivers(budget: &Budget) -> BTreeMap<Key, Vec<&CycleFigure>> {
    let mut drivers: BTreeMap<Key, Vec<&CycleFigure>> = BTreeMap::new();
    for figure in &budget.instructions {
        let key = (figure.implementation, figure.variant.clone(), figure.batch);
        drivers.entry(key).or_default();
    }
    for figure in &budget.cycles {
        let key = (figure.implementation, figure.variant.clone(), figure.batch);
        drivers.entry(key).or_default().push(figure);
    }
    drivers
}

/// The processors of some figures, each with all its clocks.
fn processors(figures: &[&CycleFigure]) -> Result<Vec<Processor>> {
    let mut clocks: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for figure in figures {
        let (cpu, mhz) = clocked(&figure.cpu, figure.clock_ghz);
        clocks.entry(cpu).or_default().insert(mhz);
    }
    let processor = |(name, clocks): (String, BTreeSet<u32>)| {
        Ok(Processor {
            cpu: Cpu::named(&name)?,
            clocks_mhz: clocks.into_iter().collect(),
        })
    };
    clocks.into_iter().map(processor).collect()
}

/// Measures the driver of each figure. Returns the values, the compilers, and the failures.
fn measure(
    budget: &Budget,
    build_dir: &Path,
    interrupt: &Interrupt,
) -> Result<(Measured, Toolchains, Vec<String>)> {
    let drivers = drivers(budget);
    let steps = u32::try_from(drivers.len()).unwrap_or(u32::MAX);
    let estimate = Duration::from_secs(3) * steps;
    let mut progress = Progress::new(estimate);
    progress.begin("budget", steps.into(), estimate);
    let mut measured = Measured::new();
    let mut toolchains = Toolchains::new();
    let mut unmeasured = Vec::new();
    for (key, figures) in drivers {
        let (implementation, variant, batch) = &key;
        let build = describe_build(build_dir, *implementation, variant);
        let built_by = build.toolchain.clone();
        toolchains.insert((*implementation, variant.clone()), built_by);
        let cell = cell(build_dir, &build, Conditions::with_batch(*batch));
        progress.step(&cell.to_string());
        let counter = Counter::new(build_dir, processors(&figures)?, interrupt)?;
        match counter.measure(&cell) {
            Ok(costs) => {
                measured.insert(key, costs);
            }
            Err(error) if interrupt.is_set() => return Err(error),
            Err(error) => unmeasured.push(format!("{cell}: {error:#}")),
        }
    }
    progress.finish();
    Ok((measured, toolchains, unmeasured))
}

/// Counts the bounds checks in the machine code of the default builds.
fn judge_bounds_checks(budget: &Budget, build_dir: &Path, verdict: &mut Verdict) {
    for rule in &budget.bounds_checks_hot {
        let folder = build_folder(build_dir, rule.implementation, DEFAULT);
        match checks_in_loops(&folder.join("ixgbe-fwd")) {
            Ok(counts) => {
                let count = counts.get(&Panic::Bounds).copied().unwrap_or_default();
                let (line, kept) = rule.judge(count);
                if !kept {
                    verdict.violations.push(format!(
                        "{line}; `triptych asm {}` shows them",
                        rule.implementation
                    ));
                }
                verdict.lines.push(line);
            }
            Err(error) => verdict.violations.push(format!("{error:#}")),
        }
    }
}
