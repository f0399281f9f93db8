//! Compares the measured figures with the recorded ones.

use std::collections::BTreeMap;

use record::{Implementation, Metric, Sample};

use super::figures::{BoundsChecks, Budget, CycleRatio, Figure, Key, Ratio};
use crate::build::builds::variants::DEFAULT;
use crate::interval::Interval;

const WIDTH: usize = 46;

/// The compiler of each driver, and its instructions per packet or why there are none.
pub(super) type Measured = BTreeMap<Key, (String, Result<f64, String>)>;

#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub lines: Vec<String>,
    /// The violations; empty if the budget is kept.
    pub violations: Vec<String>,
    /// Figures that can be lowered, because a driver needs less than recorded.
    pub savings: Vec<String>,
    /// Cycles that are not as recorded, which is no violation.
    pub warnings: Vec<String>,
}

impl Verdict {
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
        let recorded = figure.per_packet;
        let percent = 100.0 * (value / recorded - 1.0);
        let other = figure.compiler.as_ref().is_some_and(|it| it != compiler);
        let (tolerance, compiler) = if other {
            (budget.tolerance_other_compiler, "  another compiler")
        } else {
            (budget.tolerance, "")
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
            let exceeded = (value > ratio.at_most).then(|| {
                format!(
                    "{value:.3} times as many instructions, at most {} is allowed",
                    ratio.at_most
                )
            });
            self.limit(
                &name,
                &format!("{value:.3}"),
                &format!("{:.2}", ratio.at_most),
                exceeded,
            );
        }
    }

    /// Compares the bounds checks in a driver's loops with a limit.
    pub(super) fn judge_checks(&mut self, rule: &BoundsChecks, count: usize) {
        let BoundsChecks {
            implementation,
            at_most,
        } = rule;
        let name = format!("{implementation} bounds checks in loops");
        let exceeded = (count > *at_most).then(|| {
            format!(
                "{count}, and at most {at_most} are allowed; `triptych asm {implementation}` shows them"
            )
        });
        self.limit(&name, &count.to_string(), &at_most.to_string(), exceeded);
    }

    fn limit(&mut self, name: &str, value: &str, at_most: &str, exceeded: Option<String>) {
        let mark = exceeded.as_ref().map_or("", |_| "           too many");
        let allowed = format!("<= {at_most}");
        self.lines
            .push(format!("{name:WIDTH$} {value:>10} {allowed:>10}{mark}"));
        self.violations
            .extend(exceeded.map(|why| format!("{name}: {why}")));
    }

    /// Compares cycles. An interval that excludes the recorded figure is a warning.
    pub(super) fn judge_cycles(&mut self, ratios: &[CycleRatio], samples: &[Sample]) {
        for ratio in ratios {
            let Some(found) = measured_ratio(ratio, samples) else {
                continue;
            };
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
        for (c, compiler, violation, saving) in [
            (100.0, "gcc 12.2.0", None, None),
            (102.5, "gcc 12.2.0", Some("2.5 % more"), None),
            (105.0, "gcc 14.2.0", None, None),
            (111.0, "gcc 14.2.0", Some("at most 10 %"), None),
            (97.0, "gcc 12.2.0", None, Some("per_packet = 97.00")),
            (97.0, "gcc 14.2.0", None, None),
        ] {
            let verdict = judged(c, 150.0, |_, measured| {
                measured.values_mut().next().unwrap().0 = compiler.to_owned();
            });
            for (found, expected) in [(verdict.violations, violation), (verdict.savings, saving)] {
                assert_eq!(
                    found.len(),
                    expected.iter().count(),
                    "{c} {compiler}: {found:?}"
                );
                assert!(found.concat().contains(expected.unwrap_or_default()));
            }
        }
        let failed = judged(100.0, 150.0, |_, measured| {
            measured.values_mut().last().unwrap().1 = Err("it broke".to_owned());
        });
        assert_eq!(failed.violations, ["it broke"]);
    }

    #[test]
    fn the_ratio_and_the_bounds_checks_are_separate_limits() {
        let mut verdict = judged(100.0, 150.0, |budget, measured| {
            budget.ratio[0].variant = TUNED.to_owned();
            for (driver, value) in [(C, 20.0), (Rust, 34.0)] {
                let key = (driver, TUNED.to_owned(), 32);
                measured.insert(key, (String::new(), Ok(value)));
            }
        });
        assert!(verdict.violations[0].contains("rust / c (tuned) batch 32: 1.700 times"));
        let rule = &Budget::parse(EXAMPLE).unwrap().bounds_checks_hot[0];
        verdict.judge_checks(rule, 1);
        assert_eq!(verdict.violations.len(), 1);
        verdict.judge_checks(rule, 2);
        assert!(verdict.lines.last().unwrap().contains("too many"));
        assert!(verdict.violations[1].contains("`triptych asm rust`"));
    }

    #[test]
    fn cycles_are_paired_by_round_and_only_warn() {
        let mut budget = Budget::parse(EXAMPLE).unwrap();
        let of = |implementation, factor: f64| {
            let key = (implementation, DEFAULT.to_owned(), 32);
            let cell = cell_of(Path::new("/none"), &key);
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
        let same = measured_ratio(&budget.cycles[0], &samples).unwrap();
        assert!((same.median - 1.05).abs() < 1e-9, "{same:?}");
        let mut verdict = Verdict::default();
        verdict.judge_cycles(&budget.cycles, &[]);
        assert!(verdict.lines.is_empty());
        budget.cycles[0].expected = 1.2;
        verdict.judge_cycles(&budget.cycles, &samples);
        assert!(verdict.lines[0].contains("1.050"), "{verdict:?}");
        assert!(verdict.warnings[0].contains("and 1.20 is recorded"));
        assert!(verdict.violations.is_empty());
    }
}
