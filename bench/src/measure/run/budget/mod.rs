//! `triptych run --budget`: fails if a driver needs more instructions per packet than recorded, and warns if
//! its cycles relative to another driver are not the recorded ones.
//!
//! The tracer counts the same in every run. A slower data path therefore shows within a minute on any
//! machine. Time depends on the machine, so cycles only warn.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{bail, Result};
use perfcounters::Interrupt;
use record::Conditions;

use crate::build::builds::cells::{cell, describe_build};
use crate::build::builds::variants::{build_folder, DEFAULT};
use crate::code::checks::Panic;
use crate::code::data_path::checks_in_loops;
use crate::progress::Progress;
use crate::usage::Outcome;
use count::Counter;
use figures::Budget;
use verdict::{judge, Key, Measured, Toolchains, Verdict};

pub(crate) mod count;
mod cycles;
pub mod figures;
pub mod verdict;

/// Measures every driver, compares, and prints the comparison.
///
/// # Errors
/// If the budget is exceeded, or something cannot be measured.
pub(super) fn run(file: &Path, build: &Path, interrupt: &Interrupt) -> Result<Outcome> {
    let budget = Budget::read(file)?;
    let (measured, toolchains, unmeasured) = measure(&budget, build, interrupt)?;
    let mut verdict = judge(&budget, &measured, &toolchains);
    // The cause of a failed measurement says more than the missing figure.
    verdict
        .violations
        .retain(|violation| !violation.ends_with(" not measured"));
    verdict.violations.extend(unmeasured);
    judge_bounds_checks(&budget, build, &mut verdict);
    if let Err(error) = cycles::judge(&budget.cycles, build, interrupt, &mut verdict) {
        if interrupt.is_set() {
            return Err(error);
        }
        let warning = format!("cycles are not compared: {error:#}");
        verdict.warnings.push(warning);
    }
    println!("{}", verdict.lines.join("\n"));
    for saving in &verdict.savings {
        println!("note: {saving}");
    }
    for warning in &verdict.warnings {
        println!("warning: {warning}");
    }
    match verdict.violations.as_slice() {
        [] => Ok(Outcome::Good),
        some => bail!("the budget is exceeded:\n  {}", some.join("\n  ")),
    }
}

/// Measures the driver of each figure. Returns the values, the compilers, and the failures.
fn measure(
    budget: &Budget,
    build_dir: &Path,
    interrupt: &Interrupt,
) -> Result<(Measured, Toolchains, Vec<String>)> {
    let figures = budget.instructions.iter();
    let drivers: BTreeSet<Key> = figures
        .map(|figure| (figure.implementation, figure.variant.clone(), figure.batch))
        .collect();
    let mut counter = Counter::new(build_dir, interrupt)?;
    let steps = u32::try_from(drivers.len()).unwrap_or(u32::MAX);
    let estimate = Duration::from_secs(3) * steps;
    let mut progress = Progress::new(estimate);
    progress.begin("budget", steps.into(), estimate);
    let mut measured = Measured::new();
    let mut toolchains = Toolchains::new();
    let mut unmeasured = Vec::new();
    for key in drivers {
        let (implementation, variant, batch) = &key;
        let build = describe_build(build_dir, *implementation, variant);
        let built_by = build.toolchain.clone();
        toolchains.insert((*implementation, variant.clone()), built_by);
        let cell = cell(build_dir, &build, Conditions::with_batch(*batch));
        progress.step(&cell.to_string());
        match counter.measure(&cell) {
            Ok(instructions) => {
                measured.insert(key, instructions);
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
