//! The recorded figures: `bench/budget.toml`.

use std::path::Path;

use anyhow::{bail, Context, Result};
use record::Implementation;
use serde::Deserialize;

use crate::build::builds::variants::DEFAULT;

/// Width of the names in the printed table.
pub(super) const WIDTH: usize = 46;

/// The recorded figures.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The share by which a driver may exceed its figure: 0.02 is 2 %.
    pub tolerance: f64,
    /// The same for a driver that was built by another compiler than the recorded one.
    pub tolerance_other_compiler: f64,
    /// The figures of instructions.
    pub instructions: Vec<Figure>,
    /// Limits on one driver relative to another.
    #[serde(default)]
    pub ratio: Vec<Ratio>,
    /// Cycles of one driver relative to another. They only warn: time depends on the machine.
    #[serde(default)]
    pub cycles: Vec<CycleRatio>,
    /// Limits on the bounds checks in the loops of a driver's data path.
    #[serde(default)]
    pub bounds_checks_hot: Vec<BoundsChecks>,
}

/// A limit on a driver's machine code, in its default variant.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundsChecks {
    /// The driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The largest number of checks. [`crate::code::checks`] defines a check.
    pub at_most: usize,
}

impl BoundsChecks {
    /// The line for a count, and whether the count is within the limit.
    pub(super) fn judge(&self, count: usize) -> (String, bool) {
        let name = format!("{} bounds checks in loops", self.implementation);
        let allowed = format!("<= {}", self.at_most);
        let kept = count <= self.at_most;
        let mark = if kept { "" } else { "           too many" };
        (
            format!("{name:WIDTH$} {count:10} {allowed:>10}{mark}"),
            kept,
        )
    }
}

/// A recorded figure.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The variant of the driver.
    #[serde(default = "default_variant")]
    pub variant: String,
    /// Batch size, 1 to 512.
    pub batch: u32,
    /// Instructions per packet; absent until the first measurement.
    pub per_packet: Option<f64>,
    /// The compiler of the measured build, as `samples.csv` names toolchains.
    pub compiler: Option<String>,
}

/// TSC cycles of one driver relative to another in the same run, both in the same variant, with the
/// lines of DMA in memory.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CycleRatio {
    /// The driver.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The driver that it is compared with.
    pub to: Implementation,
    /// The variant of both.
    #[serde(default = "default_variant")]
    pub variant: String,
    /// Batch size, 1 to 512.
    pub batch: u32,
    /// The ratio. An interval of the measured one that excludes it is a warning.
    pub expected: f64,
}

/// A limit on one driver relative to another, both in the same variant. It holds at every batch
/// size that the figures list.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// The driver that has the limit.
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The driver that it is compared with.
    pub to: Implementation,
    /// The variant of both.
    #[serde(default = "default_variant")]
    pub variant: String,
    /// The largest ratio of their instructions per packet.
    pub at_most: f64,
}

/// A variant beside the names of drivers; nothing for the default.
pub(super) fn in_brackets(variant: &str) -> String {
    match variant {
        DEFAULT => String::new(),
        variant => format!(" ({variant})"),
    }
}

fn default_variant() -> String {
    DEFAULT.to_owned()
}

impl Budget {
    /// Reads and checks the figures.
    ///
    /// # Errors
    /// Names the file and the mistake.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the budget {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is not a budget", path.display()))
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let budget: Self = toml::from_str(text)?;
        let positive = |what: &str, value: f64| match value.is_finite() && value > 0.0 {
            true => Ok(()),
            false => bail!("{what} is {value}, not a positive number"),
        };
        positive("tolerance", budget.tolerance)?;
        positive("tolerance_other_compiler", budget.tolerance_other_compiler)?;
        for ratio in &budget.ratio {
            positive("at_most", ratio.at_most)?;
        }
        if budget.instructions.is_empty() {
            bail!("it has no figure under [[instructions]]");
        }
        let instructions = budget.instructions.iter();
        let cycles = budget.cycles.iter();
        let figures = instructions
            .map(|figure| (figure.batch, figure.per_packet.unwrap_or(1.0)))
            .chain(cycles.map(|ratio| (ratio.batch, ratio.expected)));
        for (batch, per_packet) in figures {
            if !(1..=512).contains(&batch) {
                bail!("batch {batch} is not from 1 to 512");
            }
            positive("a figure", per_packet)?;
        }
        Ok(budget)
    }
}

/// A small budget for tests.
#[cfg(test)]
pub(super) mod example {
    pub const TEXT: &str = r#"
        tolerance = 0.02
        tolerance_other_compiler = 0.1
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
        [[cycles]]
        impl = "rust"
        to = "c"
        batch = 32
        expected = 1.05
    "#;
}

#[cfg(test)]
mod tests {
    use super::example::TEXT;
    use super::*;

    #[test]
    fn malformed_budgets_are_refused() {
        for (from, to, why) in [
            ("tolerance = 0.02", "", "tolerance"),
            ("tolerance = 0.02", "tolerance = -1.0", "tolerance is -1"),
            ("batch = 32", "batch = 513", "513"),
            ("per_packet = 100.0", "per_packet = 0.0", "a figure is 0"),
            ("per_packet = 100.0", "perpacket = 1.0", "perpacket"),
            (r#"impl = "c""#, r#"impl = "ada""#, "ada"),
            ("expected = 1.05", "expected = -1.0", "a figure is -1"),
        ] {
            let error = Budget::parse(&TEXT.replacen(from, to, 1)).unwrap_err();
            assert!(format!("{error:#}").contains(why), "{error:#}");
        }
    }

    #[test]
    fn the_budget_of_this_repository_is_well_formed() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("budget.toml");
        let budget = Budget::read(&path).unwrap();
        assert_eq!(budget.instructions.len(), 15);
        assert_eq!(budget.cycles.len(), 3);
        assert_eq!(budget.ratio.len(), 3);
    }

    #[test]
    fn bounds_checks_are_counted_against_a_rule() {
        let text = format!(
            "{}\n[[bounds_checks_hot]]\nimpl = \"rust\"\nat_most = 1\n",
            TEXT
        );
        let rule = Budget::parse(&text).unwrap().bounds_checks_hot.remove(0);
        assert!(rule.judge(1).1);
        let (line, kept) = rule.judge(2);
        assert!(!kept && line.contains("too many"), "{line}");
    }
}
