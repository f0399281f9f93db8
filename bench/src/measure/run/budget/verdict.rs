//! Compares the measured figures with the recorded ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use record::Implementation;

use super::figures::{in_brackets, Budget, Ratio, WIDTH};

/// A driver, its variant and the batch size.
pub type Key = (Implementation, String, u32);
/// Instructions per packet.
pub type Measured = BTreeMap<Key, f64>;

/// The compiler of each build, as `samples.csv` names toolchains, by driver and variant.
pub type Toolchains = BTreeMap<(Implementation, String), String>;

/// The result of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The lines of the table.
    pub lines: Vec<String>,
    /// The violations; empty if the budget is kept.
    pub violations: Vec<String>,
    /// Figures that can be lowered, because a driver needs less than recorded.
    pub savings: Vec<String>,
    /// Cycles that are not as recorded, which is no violation.
    pub warnings: Vec<String>,
}

/// A recorded figure beside the measured one.
struct Gate<'a> {
    name: String,
    recorded: Option<f64>,
    compiler: Option<&'a str>,
    built_by: Option<&'a str>,
    measured: Option<f64>,
}

/// Compares the measured figures with the recorded ones.
pub fn judge(budget: &Budget, measured: &Measured, toolchains: &Toolchains) -> Verdict {
    let mut verdict = Verdict::default();
    let built_by = |implementation, variant: &str| {
        let built_by = toolchains.get(&(implementation, variant.to_owned()));
        built_by.map(String::as_str)
    };
    verdict.head("instructions per packet");
    for figure in &budget.instructions {
        let (implementation, variant) = (figure.implementation, figure.variant.as_str());
        let found = measured.get(&(implementation, variant.to_owned(), figure.batch));
        let gate = Gate {
            name: format!("{implementation}/{variant} batch {}", figure.batch),
            recorded: figure.per_packet,
            compiler: figure.compiler.as_deref(),
            built_by: built_by(implementation, variant),
            measured: found.copied(),
        };
        judge_figure(budget, &gate, &mut verdict);
    }
    for ratio in &budget.ratio {
        judge_ratio(ratio, measured, &mut verdict);
    }
    verdict
}

impl Verdict {
    fn head(&mut self, title: &str) {
        self.lines.push(format!(
            "{title:WIDTH$} {:>10} {:>10} {:>8}",
            "measured", "recorded", "change"
        ));
    }
}

fn judge_figure(budget: &Budget, gate: &Gate<'_>, verdict: &mut Verdict) {
    let name = &gate.name;
    let Some(value) = gate.measured else {
        verdict
            .violations
            .push(format!("{name}: instructions not measured"));
        return;
    };
    let Some(recorded) = gate.recorded else {
        verdict
            .lines
            .push(format!("{name:WIDTH$} {value:10.2} {:>10}", "-"));
        verdict.violations.push(format!(
            "{name}: no figure is recorded; add `per_packet = {value:.2}`"
        ));
        return;
    };
    let change = value / recorded - 1.0;
    let other = match (gate.compiler, gate.built_by) {
        (Some(compiler), Some(built_by)) => built_by != compiler,
        _ => false,
    };
    let tolerance = if other {
        budget.tolerance_other_compiler
    } else {
        budget.tolerance
    };
    let mut line = format!(
        "{name:WIDTH$} {value:10.2} {recorded:10.2} {:>+7.1}%",
        100.0 * change
    );
    if other {
        line.push_str("  another compiler");
    }
    if change > tolerance {
        line.push_str("  too many");
        verdict.violations.push(format!(
            "{name}: {value:.2} instructions per packet, {:.1} % more than the recorded \
             {recorded:.2}; at most {:.0} % is allowed. If the change is intended, record \
             `per_packet = {value:.2}`",
            100.0 * change,
            100.0 * tolerance
        ));
    } else if change < -tolerance && !other {
        line.push_str("  fewer");
        verdict.savings.push(format!(
            "{name}: {:.1} % fewer instructions than recorded; record `per_packet = {value:.2}` \
             to keep the saving",
            -100.0 * change
        ));
    }
    verdict.lines.push(line);
}

fn judge_ratio(ratio: &Ratio, measured: &Measured, verdict: &mut Verdict) {
    for ((implementation, variant, batch), instructions) in measured {
        if *implementation != ratio.implementation || *variant != ratio.variant {
            continue;
        }
        let Some(base) = measured.get(&(ratio.to, variant.clone(), *batch)) else {
            continue;
        };
        let value = instructions / base;
        let paths = in_brackets(variant);
        let name = format!("{implementation} / {}{paths} batch {batch}", ratio.to);
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            line,
            "{name:WIDTH$} {value:10.3} {:>10}",
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

#[cfg(test)]
mod tests {
    use super::super::figures::example::TEXT;
    use super::*;
    use crate::build::builds::variants::{DEFAULT, TUNED};
    use Implementation::{Rust, C};

    /// Figures at batch 32.
    fn measured(c: f64, rust: f64) -> Measured {
        let key = |implementation| (implementation, DEFAULT.to_owned(), 32);
        BTreeMap::from([(key(C), c), (key(Rust), rust)])
    }

    fn judged(c: f64, rust: f64) -> Verdict {
        let budget = Budget::parse(TEXT).unwrap();
        judge(&budget, &measured(c, rust), &Toolchains::new())
    }

    #[test]
    fn another_compiler_has_a_larger_tolerance() {
        let budget = Budget::parse(TEXT).unwrap();
        let violations = |c, toolchain: &str| {
            let toolchain = ((C, DEFAULT.to_owned()), toolchain.to_owned());
            let toolchains = Toolchains::from([toolchain]);
            let verdict = judge(&budget, &measured(c, 150.0), &toolchains);
            verdict.violations.len()
        };
        assert_eq!(violations(105.0, "gcc 12.2.0"), 1);
        assert_eq!(violations(105.0, "gcc 14.2.0"), 0);
        assert_eq!(violations(111.0, "gcc 14.2.0"), 1);
    }

    #[test]
    fn figures_within_the_tolerance_pass() {
        let verdict = judged(100.0, 152.9);
        assert!(verdict.violations.is_empty(), "{verdict:?}");
        assert!(verdict.savings.is_empty(), "{verdict:?}");
        assert_eq!(verdict.lines.len(), 4);
    }

    #[test]
    fn more_than_the_tolerance_fails() {
        let verdict = judged(102.5, 150.0);
        assert_eq!(verdict.violations.len(), 1);
        assert!(verdict.violations[0].contains("c/default batch 32"));
        assert!(verdict.violations[0].contains("2.5 % more"));
    }

    #[test]
    fn a_large_saving_is_noted_and_no_failure() {
        let verdict = judged(97.0, 150.0);
        assert!(verdict.violations.is_empty());
        assert!(verdict.savings[0].contains("per_packet = 97.00"));
    }

    #[test]
    fn the_ratio_is_a_separate_limit() {
        let mut budget = Budget::parse(TEXT).unwrap();
        budget.instructions[1].per_packet = Some(166.0);
        let verdict = judge(&budget, &measured(100.0, 166.0), &Toolchains::new());
        assert_eq!(verdict.violations.len(), 1);
        assert!(verdict.violations[0].contains("1.660 times"));
        // That of another variant has a limit of its own.
        budget.ratio[0].variant = TUNED.to_owned();
        let mut all = measured(100.0, 166.0);
        for (implementation, instructions) in [(C, 20.0), (Rust, 34.0)] {
            all.insert((implementation, TUNED.to_owned(), 32), instructions);
        }
        let verdict = judge(&budget, &all, &Toolchains::new());
        assert!(verdict.violations[0].contains("rust / c (tuned) batch 32: 1.700 times"));
    }

    #[test]
    fn a_missing_figure_is_proposed() {
        let mut budget = Budget::parse(TEXT).unwrap();
        budget.instructions[0].per_packet = None;
        let verdict = judge(&budget, &measured(100.0, 150.0), &Toolchains::new());
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
}
