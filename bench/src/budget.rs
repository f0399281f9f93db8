//! `triptych budget`: fails when a driver needs more instructions per packet than recorded.
//!
//! Instructions under valgrind hardly vary from run to run, so that a slower data path shows
//! in a minute on any machine, where measured time would need a quiet one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use perfcounters::callgrind::PerPacket;
use perfcounters::device::NicProgram;
use perfcounters::record::{Implementation, Metric};
use perfcounters::valgrind::Valgrind;
use perfcounters::{Backend, Interrupt};
use serde::Deserialize;

use crate::asm::{self, checks::Panic};
use crate::cli::BudgetArguments;
use crate::config::Within;
use crate::matrix::{self, Conditions};
use crate::progress::Progress;

/// Packets of the shorter of two runs: as `triptych run`.
const PACKETS: u64 = 409_600;

/// Measurements of one driver, until two of them agree.
const MOST_MEASUREMENTS: usize = 4;

/// The recorded figures.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// How much more than recorded a driver may need, as a share: 0.02 is 2 %.
    pub tolerance: f64,
    /// The same for a driver that another compiler has built than the recorded one.
    pub tolerance_other_compiler: f64,
    /// How far two measurements of one driver may be apart, instructions per packet.
    pub repeatability: f64,
    /// The figures.
    pub instructions: Vec<Figure>,
    /// How much more than another a driver may need.
    #[serde(default)]
    pub ratio: Vec<Ratio>,
    /// How many bounds checks may remain in the loops of a driver's data path.
    #[serde(default)]
    pub bounds_checks_hot: Vec<BoundsChecks>,
}

/// A rule about a driver's machine code, in its default variant.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundsChecks {
    /// Which driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// How many, at most; see [`crate::asm::checks`] for what counts.
    pub at_most: usize,
}

impl BoundsChecks {
    /// The line for a count, and whether it is kept.
    fn judge(&self, count: usize) -> (String, bool) {
        let name = format!("{} bounds checks in loops", self.implementation);
        let allowed = format!("<= {}", self.at_most);
        let kept = count <= self.at_most;
        let mark = if kept { "" } else { "           too many" };
        (format!("{name:32} {count:10} {allowed:>10}{mark}"), kept)
    }
}

/// A recorded figure.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Which driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// How it is built.
    #[serde(default = "default_variant")]
    pub variant: String,
    /// Batch size, 1 to 512.
    pub batch: u32,
    /// Instructions per packet; absent until it was measured once.
    pub per_packet: Option<f64>,
    /// The compiler that this was measured with, as `samples.csv` names toolchains.
    pub compiler: Option<String>,
}

/// A rule about two drivers in their default variant; it holds at every batch size listed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// The driver that may need more.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The one that it is compared with.
    pub to: Implementation,
    /// How many times as many instructions, at most.
    pub at_most: f64,
}

fn default_variant() -> String {
    matrix::DEFAULT.to_owned()
}

impl Budget {
    /// Reads and checks the figures.
    ///
    /// # Errors
    /// Names the file and what is wrong with it.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the budget {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is not a budget", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let budget: Self = toml::from_str(text)?;
        let positive = |what: &str, value: f64| match value.is_finite() && value > 0.0 {
            true => Ok(()),
            false => bail!("{what} is {value}, not a positive number"),
        };
        positive("tolerance", budget.tolerance)?;
        positive("tolerance_other_compiler", budget.tolerance_other_compiler)?;
        positive("repeatability", budget.repeatability)?;
        for ratio in &budget.ratio {
            positive("at_most", ratio.at_most)?;
        }
        if budget.instructions.is_empty() {
            bail!("it lists no driver under [[instructions]]");
        }
        for figure in &budget.instructions {
            if !(1..=512).contains(&figure.batch) {
                bail!("batch {} is not in 1 to 512", figure.batch);
            }
            positive("per_packet", figure.per_packet.unwrap_or(1.0))?;
        }
        Ok(budget)
    }
}

/// Instructions per packet of two measurements of one driver.
pub type Pair = [f64; 2];
/// What was measured, by driver, variant and batch size.
pub type Measured = BTreeMap<(Implementation, String, u32), Pair>;

/// Which compiler built them, as `samples.csv` names toolchains, by driver and variant.
pub type Toolchains = BTreeMap<(Implementation, String), String>;

/// What came out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The comparison, a line each.
    pub lines: Vec<String>,
    /// What is wrong; empty if the budget is kept.
    pub violations: Vec<String>,
    /// What is better than recorded, so that the record can be tightened.
    pub savings: Vec<String>,
}

/// Compares what was measured with what is recorded.
pub fn judge(budget: &Budget, measured: &Measured, toolchains: &Toolchains) -> Verdict {
    let mut verdict = Verdict::default();
    verdict.lines.push(format!(
        "{:32} {:>10} {:>10} {:>8}",
        "instructions per packet", "measured", "recorded", "change"
    ));
    for figure in &budget.instructions {
        let built_by = toolchains.get(&(figure.implementation, figure.variant.clone()));
        let built_by = built_by.map(String::as_str);
        judge_figure(budget, figure, measured, built_by, &mut verdict);
    }
    for ratio in &budget.ratio {
        judge_ratio(ratio, measured, &mut verdict);
    }
    verdict
}

fn judge_figure(
    budget: &Budget,
    figure: &Figure,
    measured: &Measured,
    built_by: Option<&str>,
    verdict: &mut Verdict,
) {
    let name = format!(
        "{}/{} batch {}",
        figure.implementation, figure.variant, figure.batch
    );
    let key = (figure.implementation, figure.variant.clone(), figure.batch);
    let Some([first, second]) = measured.get(&key).copied() else {
        verdict.violations.push(format!("{name}: not measured"));
        return;
    };
    let value = first.min(second);
    if (first - second).abs() > budget.repeatability {
        verdict.violations.push(format!(
            "{name}: two measurements differ, {first:.2} and {second:.2} instructions per packet; \
             at most {} is allowed. Is the machine busy, or does the driver's work vary?",
            budget.repeatability
        ));
    }
    let Some(recorded) = figure.per_packet else {
        verdict
            .lines
            .push(format!("{name:32} {value:10.2} {:>10}", "-"));
        verdict.violations.push(format!(
            "{name}: no figure is recorded; add `per_packet = {value:.2}`"
        ));
        return;
    };
    let change = value / recorded - 1.0;
    let other = match (figure.compiler.as_deref(), built_by) {
        (Some(compiler), Some(built_by)) => built_by != compiler,
        _ => false,
    };
    let tolerance = if other {
        budget.tolerance_other_compiler
    } else {
        budget.tolerance
    };
    let mut line = format!(
        "{name:32} {value:10.2} {recorded:10.2} {:>+7.1}%",
        100.0 * change
    );
    if other {
        line.push_str("  another compiler");
    }
    if change > tolerance {
        line.push_str("  too many");
        verdict.violations.push(format!(
            "{name}: {value:.2} instructions per packet, {:.1} % more than the recorded \
             {recorded:.2}; at most {:.0} % is allowed. If this is meant, record \
             `per_packet = {value:.2}`",
            100.0 * change,
            100.0 * tolerance
        ));
    } else if change < -tolerance && !other {
        line.push_str("  fewer");
        verdict.savings.push(format!(
            "{name}: {:.1} % fewer instructions than recorded; record `per_packet = {value:.2}` \
             so that they stay saved",
            -100.0 * change
        ));
    }
    verdict.lines.push(line);
}

fn judge_ratio(ratio: &Ratio, measured: &Measured, verdict: &mut Verdict) {
    for ((implementation, variant, batch), [first, second]) in measured {
        if *implementation != ratio.implementation || variant != matrix::DEFAULT {
            continue;
        }
        let Some(base) = measured.get(&(ratio.to, variant.clone(), *batch)) else {
            continue;
        };
        let value = first.min(*second) / base[0].min(base[1]);
        let name = format!("{implementation} / {} batch {batch}", ratio.to);
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            line,
            "{name:32} {value:10.3} {:>10}",
            format!("<= {:.2}", ratio.at_most)
        );
        if value > ratio.at_most {
            line.push_str("           too many");
            verdict.violations.push(format!(
                "{name}: {value:.3} times as many instructions, at most {} is allowed",
                ratio.at_most
            ));
        }
        verdict.lines.push(line);
    }
}

/// Measures every driver twice and compares.
///
/// # Errors
/// If the budget is exceeded, or something could not be measured.
pub fn run(arguments: &BudgetArguments, interrupt: &Interrupt) -> Result<()> {
    let budget = Budget::read(&arguments.config)?;
    let valgrind = counter(&arguments.build_dir, interrupt)?;
    let steps = 2 * budget.instructions.len();
    // Two runs each; starting a driver under valgrind takes most of a second.
    let estimate = Duration::from_secs(3) * u32::try_from(steps).unwrap_or(u32::MAX);
    let mut progress = Progress::new(estimate);
    progress.begin("budget", steps as u64, estimate);
    let mut measured = Measured::new();
    let mut toolchains = Toolchains::new();
    let mut unmeasured = Vec::new();
    for figure in &budget.instructions {
        let build =
            matrix::describe_build(&arguments.build_dir, figure.implementation, &figure.variant);
        toolchains.insert(
            (figure.implementation, figure.variant.clone()),
            build.toolchain.clone(),
        );
        let conditions = Conditions {
            batch: Within(figure.batch),
            ..Conditions::default()
        };
        let cell = matrix::cell(&arguments.build_dir, &build, conditions);
        match measure_twice(&valgrind, &cell, budget.repeatability, &mut progress) {
            Ok(pair) => {
                let key = (cell.implementation, cell.variant, cell.batch);
                measured.insert(key, pair);
            }
            Err(error) if interrupt.is_set() => return Err(error),
            Err(error) => unmeasured.push(format!("{cell}: {error:#}")),
        }
    }
    progress.finish();
    let mut verdict = judge(&budget, &measured, &toolchains);
    // Of what could not be measured, the cause says more than that it is missing.
    verdict
        .violations
        .retain(|violation| !violation.ends_with(": not measured"));
    verdict.violations.extend(unmeasured);
    for rule in &budget.bounds_checks_hot {
        let folder =
            matrix::build_folder(&arguments.build_dir, rule.implementation, matrix::DEFAULT);
        match asm::checks_in_loops(&folder.join("ixgbe-fwd")) {
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
    println!("{}", verdict.lines.join("\n"));
    for saving in &verdict.savings {
        println!("note: {saving}");
    }
    match verdict.violations.as_slice() {
        [] => Ok(()),
        some => bail!("the budget is not kept:\n  {}", some.join("\n  ")),
    }
}

/// What counts the instructions.
///
/// # Errors
/// If they cannot be counted here.
pub(crate) fn counter(build: &Path, interrupt: &Interrupt) -> Result<Valgrind> {
    let valgrind = Valgrind {
        nic: NicProgram::new(build.join("bin/nic")),
        packets: PACKETS,
        repeats: 1,
        interrupt: interrupt.clone(),
    };
    match valgrind.unavailable() {
        Some(why) => bail!("instructions are not measurable here: {why}"),
        None => Ok(valgrind),
    }
}

/// Measures until two measurements agree, or it has been done often enough: the NIC runs beside the
/// driver, and each look for sent packets that finds none yet costs a few instructions. What was
/// disturbed does not count and is measured again.
///
/// # Errors
/// If it cannot be measured, or is disturbed again and again.
pub(crate) fn measure_twice(
    valgrind: &Valgrind,
    cell: &perfcounters::Cell,
    repeatability: f64,
    progress: &mut Progress,
) -> Result<Pair> {
    if let Some(why) = matrix::missing(cell, false) {
        bail!(why);
    }
    let mut values = Vec::new();
    loop {
        if values.len() < 2 {
            progress.step(&cell.to_string());
        }
        let value = undisturbed(valgrind, cell)?.get(Metric::Instructions);
        values.push(value.context("valgrind counted no instructions")?);
        if let Some(pair) = closest(&mut values) {
            if pair[1] - pair[0] <= repeatability || values.len() == MOST_MEASUREMENTS {
                return Ok(pair);
            }
        }
    }
}

/// Measures until nothing disturbs the driver, or it has been done often enough.
fn undisturbed(valgrind: &Valgrind, cell: &perfcounters::Cell) -> Result<PerPacket> {
    let mut measurement = valgrind.measure_cell(cell)?;
    for _ in 1..MOST_MEASUREMENTS {
        if measurement.undisturbed {
            break;
        }
        measurement = valgrind.measure_cell(cell)?;
    }
    ensure!(measurement.undisturbed, measurement.disturbance());
    Ok(measurement.per_packet)
}

/// Sorts the values, and gives the two that are next to each other; none if there are no two.
fn closest(values: &mut [f64]) -> Option<Pair> {
    values.sort_by(f64::total_cmp);
    let pairs = values.windows(2).map(|pair| [pair[0], pair[1]]);
    pairs.min_by(|a, b| f64::total_cmp(&(a[1] - a[0]), &(b[1] - b[0])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Implementation::{Rust, C};

    const TEXT: &str = r#"
        tolerance = 0.02
        tolerance_other_compiler = 0.1
        repeatability = 0.1
        [[instructions]]
        impl = "c"
        batch = 32
        per_packet = 100.0
        compiler = "gcc 12.2.0"
        [[instructions]]
        impl = "rust"
        batch = 32
        per_packet = 150.0
        [[ratio]]
        impl = "rust"
        to = "c"
        at_most = 1.65
    "#;

    fn measured(c: Pair, rust: Pair) -> Measured {
        BTreeMap::from([
            ((C, matrix::DEFAULT.to_owned(), 32), c),
            ((Rust, matrix::DEFAULT.to_owned(), 32), rust),
        ])
    }

    fn judged(c: Pair, rust: Pair) -> Verdict {
        let budget = Budget::parse(TEXT).unwrap();
        judge(&budget, &measured(c, rust), &Toolchains::new())
    }

    #[test]
    fn another_compiler_has_more_room() {
        let budget = Budget::parse(TEXT).unwrap();
        let violations = |c, toolchain: &str| {
            let toolchain = ((C, matrix::DEFAULT.to_owned()), toolchain.to_owned());
            let toolchains = Toolchains::from([toolchain]);
            let verdict = judge(&budget, &measured([c, c], [150.0, 150.0]), &toolchains);
            verdict.violations.len()
        };
        assert_eq!(violations(105.0, "gcc 12.2.0"), 1);
        assert_eq!(violations(105.0, "gcc 14.2.0"), 0);
        assert_eq!(violations(111.0, "gcc 14.2.0"), 1);
    }

    #[test]
    fn what_is_recorded_is_kept() {
        let verdict = judged([100.0, 100.05], [152.9, 152.9]);
        assert!(verdict.violations.is_empty(), "{verdict:?}");
        assert!(verdict.savings.is_empty(), "{verdict:?}");
        assert_eq!(verdict.lines.len(), 4);
    }

    #[test]
    fn more_than_the_tolerance_fails() {
        let verdict = judged([102.5, 102.5], [150.0, 150.0]);
        assert_eq!(verdict.violations.len(), 1);
        assert!(verdict.violations[0].contains("c/default batch 32"));
        assert!(verdict.violations[0].contains("2.5 % more"));
    }

    #[test]
    fn much_less_is_pointed_out_and_no_failure() {
        let verdict = judged([97.0, 97.0], [150.0, 150.0]);
        assert!(verdict.violations.is_empty());
        assert!(verdict.savings[0].contains("per_packet = 97.00"));
    }

    #[test]
    fn two_measurements_have_to_agree() {
        let verdict = judged([100.0, 100.2], [150.0, 150.0]);
        assert!(verdict.violations[0].contains("two measurements differ"));
    }

    #[test]
    fn the_two_that_agree_best_are_taken() {
        assert_eq!(closest(&mut []), None);
        assert_eq!(closest(&mut [1.0]), None);
        assert_eq!(closest(&mut [3.0, 1.0]), Some([1.0, 3.0]));
        assert_eq!(closest(&mut [5.0, 1.0, 4.5, 3.0]), Some([4.5, 5.0]));
    }

    #[test]
    fn the_ratio_is_a_rule_of_its_own() {
        let mut budget = Budget::parse(TEXT).unwrap();
        budget.instructions[1].per_packet = Some(166.0);
        let verdict = judge(
            &budget,
            &measured([100.0, 100.0], [166.0, 166.0]),
            &Toolchains::new(),
        );
        assert_eq!(verdict.violations.len(), 1);
        assert!(verdict.violations[0].contains("1.660 times"));
    }

    #[test]
    fn a_figure_that_is_not_recorded_is_asked_for() {
        let mut budget = Budget::parse(TEXT).unwrap();
        budget.instructions[0].per_packet = None;
        let verdict = judge(
            &budget,
            &measured([100.0, 100.0], [150.0, 150.0]),
            &Toolchains::new(),
        );
        assert!(verdict.violations[0].contains("add `per_packet = 100.00`"));
    }

    #[test]
    fn a_driver_that_was_not_measured_fails() {
        let verdict = judge(
            &Budget::parse(TEXT).unwrap(),
            &Measured::new(),
            &Toolchains::new(),
        );
        assert_eq!(verdict.violations.len(), 2);
    }

    #[test]
    fn bounds_checks_are_counted_against_a_rule() {
        let text = format!("{TEXT}\n[[bounds_checks_hot]]\nimpl = \"rust\"\nat_most = 1\n");
        let rule = Budget::parse(&text).unwrap().bounds_checks_hot.remove(0);
        assert!(rule.judge(1).1);
        let (line, kept) = rule.judge(2);
        assert!(!kept && line.contains("too many"), "{line}");
    }

    #[test]
    fn malformed_budgets_are_refused() {
        for (from, to, why) in [
            ("tolerance = 0.02", "", "tolerance"),
            ("tolerance = 0.02", "tolerance = -1.0", "tolerance is -1"),
            ("batch = 32", "batch = 513", "513"),
            ("per_packet = 100.0", "per_packet = 0.0", "per_packet is 0"),
            ("per_packet = 100.0", "perpacket = 1.0", "perpacket"),
            (r#"impl = "c""#, r#"impl = "ada""#, "ada"),
        ] {
            let error = Budget::parse(&TEXT.replacen(from, to, 1)).unwrap_err();
            assert!(format!("{error:#}").contains(why), "{error:#}");
        }
    }

    #[test]
    fn the_budget_of_this_repository_is_well_formed() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("budget.toml");
        let budget = Budget::read(&path).unwrap();
        assert_eq!(budget.instructions.len(), 6);
        assert_eq!(budget.ratio.len(), 2);
    }
}
