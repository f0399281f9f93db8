//! Compares the measured figures with the recorded ones.

use std::collections::BTreeMap;

use record::{Implementation, Metric, Sample};

use super::figures::{BoundsChecks, Budget, CycleRatio, Figure, Key, Ratio};
use crate::build::builds::variants::DEFAULT;
use crate::interval::Interval;

/// Width of the names in the printed table.
const WIDTH: usize = 46;

/// The compiler of each driver, and its instructions per packet or why there are none.
pub(super) type Measured = BTreeMap<Key, (String, Result<f64, String>)>;

/// The result of a comparison.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    /// The lines of the table.
    pub lines: Vec<String>,
    /// The violations; empty if the budget is kept.
    pub violations: Vec<String>,
    /// Figures that can be lowered, because a driver needs less than recorded.
    pub savings: Vec<String>,
    /// Cycles that are not as recorded, which is no violation.
    pub warnings: Vec<String>,
}

impl Verdict {
    /// Compares instructions.
    pub(super) fn of(budget: &Budget, measured: &Measured) -> Self {
        let mut verdict = Self::default();
        let title = "instructions per packet";
        verdict.lines.push(format!(
            "{title:WIDTH$} {:>10} {:>10} {:>8}",
            "measured", "recorded", "change"
        ));
        for figure in &budget.instructions {
            match measured.get(&figure.key()) {
                Some((compiler, Ok(value))) => {
                    verdict.judge_figure(budget, figure, compiler, *value);
                }
                Some((_, Err(why))) => verdict.violations.push(why.clone()),
                None => {}
            }
        }
        for ratio in &budget.ratio {
            verdict.judge_ratio(ratio, measured);
        }
        verdict
    }

    fn judge_figure(&mut self, budget: &Budget, figure: &Figure, compiler: &str, value: f64) {
        let Figure {
            implementation,
            variant,
            batch,
            ..
        } = figure;
        let name = format!("{implementation}/{variant} batch {batch}");
        let Some(recorded) = figure.per_packet else {
            self.lines
                .push(format!("{name:WIDTH$} {value:10.2} {:>10}", "-"));
            self.violations.push(format!(
                "{name}: no figure is recorded; add `per_packet = {value:.2}`"
            ));
            return;
        };
        let percent = 100.0 * (value / recorded - 1.0);
        let other = figure.compiler.as_ref().is_some_and(|it| it != compiler);
        let (tolerance, compiler) = match other {
            true => (budget.tolerance_other_compiler, "  another compiler"),
            false => (budget.tolerance, ""),
        };
        let allowed = 100.0 * tolerance;
        let mut line =
            format!("{name:WIDTH$} {value:10.2} {recorded:10.2} {percent:>+7.1}%{compiler}");
        if percent > allowed {
            line.push_str("  too many");
            self.violations.push(format!(
                "{name}: {value:.2} instructions per packet, {percent:.1} % more than the recorded \
                 {recorded:.2}; at most {allowed:.0} % is allowed. If the change is intended, record \
                 `per_packet = {value:.2}`"
            ));
        } else if percent < -allowed && !other {
            line.push_str("  fewer");
            self.savings.push(format!(
                "{name}: {:.1} % fewer instructions than recorded; record `per_packet = {value:.2}` \
                 to keep the saving",
                -percent
            ));
        }
        self.lines.push(line);
    }

    fn judge_ratio(&mut self, ratio: &Ratio, measured: &Measured) {
        let instructions = |implementation, batch: u32| {
            let key = (implementation, ratio.variant.clone(), batch);
            measured.get(&key)?.1.as_ref().ok()
        };
        for (implementation, variant, batch) in measured.keys() {
            if (*implementation, variant) != (ratio.implementation, &ratio.variant) {
                continue;
            }
            let both = instructions(*implementation, *batch).zip(instructions(ratio.to, *batch));
            let Some((instructions, base)) = both else {
                continue;
            };
            let value = instructions / base;
            let paths = in_brackets(variant);
            let name = format!("{implementation} / {}{paths} batch {batch}", ratio.to);
            let allowed = format!("<= {:.2}", ratio.at_most);
            self.limit(
                &name,
                format!("{value:10.3}"),
                &allowed,
                value <= ratio.at_most,
            );
            if value > ratio.at_most {
                self.violations.push(format!(
                    "{name}: {value:.3} times as many instructions, at most {} is allowed",
                    ratio.at_most
                ));
            }
        }
    }

    /// Compares the bounds checks in a driver's loops with a limit.
    pub(super) fn judge_checks(&mut self, rule: &BoundsChecks, count: Option<usize>) {
        let count = count.unwrap_or_default();
        let name = format!("{} bounds checks in loops", rule.implementation);
        let allowed = format!("<= {}", rule.at_most);
        let kept = count <= rule.at_most;
        self.limit(&name, format!("{count:10}"), &allowed, kept);
        if !kept {
            self.violations.push(format!(
                "{name}: {count}, and at most {} are allowed; `triptych asm {}` shows them",
                rule.at_most, rule.implementation
            ));
        }
    }

    fn limit(&mut self, name: &str, value: String, allowed: &str, kept: bool) {
        let mark = if kept { "" } else { "           too many" };
        self.lines
            .push(format!("{name:WIDTH$} {value} {allowed:>10}{mark}"));
    }

    /// Compares cycles. An interval that excludes the recorded figure is a warning.
    pub(super) fn judge_cycles(&mut self, ratios: &[CycleRatio], samples: &[Sample]) {
        for ratio in ratios {
            if let Some(found) = measured_ratio(ratio, samples) {
                self.judge_cycle_ratio(ratio, found);
            }
        }
    }

    fn judge_cycle_ratio(&mut self, ratio: &CycleRatio, found: Interval) {
        let CycleRatio {
            implementation,
            to,
            variant,
            batch,
            expected,
        } = ratio;
        let paths = in_brackets(variant);
        let name = format!("{implementation} / {to}{paths} batch {batch}, TSC cycles");
        let Interval { low, median, high } = found;
        self.lines.push(format!(
            "{name:WIDTH$} {median:10.3} {expected:10.2}  95 % interval {low:.3} to {high:.3}"
        ));
        if !found.contains(*expected) {
            self.warnings.push(format!(
                "{name}: {median:.3} times as many ({low:.3} to {high:.3}), and {expected:.2} is recorded"
            ));
        }
    }
}

/// A variant beside the names of drivers; nothing for the default.
fn in_brackets(variant: &str) -> String {
    match variant {
        DEFAULT => String::new(),
        variant => format!(" ({variant})"),
    }
}

/// The ratios of the rounds, in which both drivers were measured, by process.
fn measured_ratio(ratio: &CycleRatio, samples: &[Sample]) -> Option<Interval> {
    let rounds = |of: Implementation| {
        let fits = move |sample: &&Sample| {
            (sample.implementation, sample.metric) == (of, Metric::TscCycles)
                && (&sample.variant, sample.conditions.batch) == (&ratio.variant, ratio.batch)
        };
        let of = samples.iter().filter(fits);
        of.map(|sample| ((sample.process, sample.repeat), sample.value))
    };
    Interval::of_ratios(
        &rounds(ratio.implementation).collect(),
        &rounds(ratio.to).collect(),
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::cell_of;
    use super::super::figures::EXAMPLE;
    use super::*;
    use crate::build::builds::variants::TUNED;
    use Implementation::{Rust, C};

    /// The verdict for figures at batch 32, after a change of the example.
    fn judged(c: f64, rust: f64, change: impl FnOnce(&mut Budget, &mut Measured)) -> Verdict {
        let mut budget = Budget::parse(EXAMPLE).unwrap();
        let entry = |driver, value| {
            let key = (driver, DEFAULT.to_owned(), 32);
            (key, ("gcc 12.2.0".to_owned(), Ok(value)))
        };
        let mut measured = Measured::from([entry(C, c), entry(Rust, rust)]);
        change(&mut budget, &mut measured);
        Verdict::of(&budget, &measured)
    }

    #[test]
    fn instructions_beyond_the_tolerance_fail_and_savings_are_noted() {
        let verdict = judged(100.0, 152.9, |_, _| {});
        assert!(verdict.violations.is_empty() && verdict.savings.is_empty());
        assert_eq!(verdict.lines.len(), 4);
        let verdict = judged(102.5, 150.0, |_, _| {});
        let [violation] = verdict.violations.as_slice() else {
            panic!("{verdict:?}");
        };
        assert!(violation.contains("c/default batch 32") && violation.contains("2.5 % more"));
        let verdict = judged(97.0, 150.0, |_, _| {});
        assert!(verdict.violations.is_empty());
        assert!(verdict.savings[0].contains("per_packet = 97.00"));
    }

    #[test]
    fn another_compiler_has_a_larger_tolerance() {
        let violations = |c, compiler: &str| {
            let verdict = judged(c, 150.0, |_, measured| {
                measured.values_mut().next().unwrap().0 = compiler.to_owned();
            });
            verdict.violations.len()
        };
        assert_eq!(violations(105.0, "gcc 12.2.0"), 1);
        assert_eq!(violations(105.0, "gcc 14.2.0"), 0);
        assert_eq!(violations(111.0, "gcc 14.2.0"), 1);
    }

    #[test]
    fn the_ratio_is_a_separate_limit_for_each_variant() {
        let verdict = judged(100.0, 166.0, |budget, _| {
            budget.instructions[1].per_packet = Some(166.0);
        });
        let [violation] = verdict.violations.as_slice() else {
            panic!("{verdict:?}");
        };
        assert!(violation.contains("1.660 times"));
        let verdict = judged(100.0, 150.0, |budget, measured| {
            budget.ratio[0].variant = TUNED.to_owned();
            for (driver, value) in [(C, 20.0), (Rust, 34.0)] {
                let key = (driver, TUNED.to_owned(), 32);
                measured.insert(key, (String::new(), Ok(value)));
            }
        });
        assert!(verdict.violations[0].contains("rust / c (tuned) batch 32: 1.700 times"));
    }

    #[test]
    fn a_missing_figure_is_proposed_and_a_failed_measurement_named() {
        let verdict = judged(100.0, 150.0, |budget, measured| {
            budget.instructions[0].per_packet = None;
            measured.values_mut().last().unwrap().1 = Err("it broke".to_owned());
        });
        assert!(verdict.violations[0].contains("add `per_packet = 100.00`"));
        assert_eq!(verdict.violations[1], "it broke");
    }

    #[test]
    fn bounds_checks_are_counted_against_a_rule() {
        let rule = &Budget::parse(EXAMPLE).unwrap().bounds_checks_hot[0];
        let mut verdict = Verdict::default();
        verdict.judge_checks(rule, Some(1));
        assert!(verdict.violations.is_empty());
        verdict.judge_checks(rule, Some(2));
        assert!(verdict.lines[1].contains("too many"), "{verdict:?}");
        assert!(verdict.violations[0].contains("`triptych asm rust`"));
    }

    #[test]
    fn cycles_are_paired_by_round_and_only_warn() {
        let ratio = &Budget::parse(EXAMPLE).unwrap().cycles[0];
        let of = |implementation, factor: f64| {
            let cell = cell_of(
                Path::new("/none"),
                &(implementation, DEFAULT.to_owned(), 32),
            );
            (0..12).map(move |round| {
                let value = f64::from(50 + round) * factor;
                let backend = record::BackendName::Lockstep;
                let sample = cell.sample(backend, Metric::TscCycles, value, 1, round % 4);
                Sample {
                    process: round / 4,
                    ..sample
                }
            })
        };
        let samples: Vec<_> = of(C, 1.0).chain(of(Rust, 1.05)).collect();
        let same = measured_ratio(ratio, &samples).unwrap();
        assert!((same.median - 1.05).abs() < 1e-9, "{same:?}");
        assert_eq!(measured_ratio(ratio, &[]), None);
        let mut verdict = Verdict::default();
        for (low, high) in [(1.04, 1.06), (1.10, 1.20)] {
            let median = (low + high) / 2.0;
            verdict.judge_cycle_ratio(ratio, Interval { low, median, high });
        }
        assert!(verdict.lines[1].contains("1.150") && verdict.lines[1].contains("1.100 to 1.200"));
        let [warning] = verdict.warnings.as_slice() else {
            panic!("{verdict:?}");
        };
        assert!(warning.contains("and 1.05 is recorded"));
        assert!(verdict.violations.is_empty());
    }
}
