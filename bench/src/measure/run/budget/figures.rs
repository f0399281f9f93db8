//! The recorded figures: `bench/budget.toml`.

use std::path::Path;

use anyhow::{ensure, Context, Result};
use record::Implementation;
use serde::de::{Deserializer, Error};
use serde::Deserialize;

use crate::build::builds::variants::DEFAULT;
use crate::measure::settings::integer;

pub(super) type Key = (Implementation, String, u32);

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Budget {
    /// The share by which a driver may exceed its figure: 0.02 is 2 %.
    #[serde(deserialize_with = "positive")]
    pub tolerance: f64,
    /// The same for a driver that was built by another compiler than the recorded one.
    #[serde(deserialize_with = "positive")]
    pub tolerance_other_compiler: f64,
    pub instructions: Vec<Figure>,
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
pub(super) struct BoundsChecks {
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The largest number of checks. [`crate::code::checks`] defines a check.
    pub at_most: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figure {
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    #[serde(default = "default_variant")]
    pub variant: String,
    #[serde(deserialize_with = "integer::<_, 1, 512>")]
    pub batch: u32,
    #[serde(deserialize_with = "positive")]
    pub per_packet: f64,
    /// The compiler of the measured build, as `samples.csv` names toolchains.
    pub compiler: Option<String>,
}

impl Figure {
    pub(super) fn key(&self) -> Key {
        (self.implementation, self.variant.clone(), self.batch)
    }
}

/// TSC cycles of one driver relative to another in the same run, both in the same variant, with the
/// lines of DMA in memory.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CycleRatio {
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The driver that it is compared with.
    pub to: Implementation,
    #[serde(default = "default_variant")]
    pub variant: String,
    #[serde(deserialize_with = "integer::<_, 1, 512>")]
    pub batch: u32,
    /// The ratio. An interval of the measured one that excludes it is a warning.
    #[serde(deserialize_with = "positive")]
    pub expected: f64,
}

impl CycleRatio {
    pub(super) fn keys(&self) -> [Key; 2] {
        [self.to, self.implementation].map(|driver| (driver, self.variant.clone(), self.batch))
    }
}

/// A limit on one driver relative to another, both in the same variant. It holds at every batch
/// size that the figures list.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ratio {
    #[serde(rename = "impl")]
    pub implementation: Implementation,
    /// The driver that it is compared with.
    pub to: Implementation,
    #[serde(default = "default_variant")]
    pub variant: String,
    /// The largest ratio of their instructions per packet.
    #[serde(deserialize_with = "positive")]
    pub at_most: f64,
}

fn default_variant() -> String {
    DEFAULT.to_owned()
}

fn positive<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    let wrong = || D::Error::custom(format!("{number} is not a positive number"));
    let positive = number.is_finite() && number > 0.0;
    positive.then_some(number).ok_or_else(wrong)
}

impl Budget {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the budget {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is not a budget", path.display()))
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let budget: Self = toml::from_str(text)?;
        let empty = budget.instructions.is_empty();
        ensure!(!empty, "it has no figure under [[instructions]]");
        Ok(budget)
    }
}

#[cfg(test)]
pub(super) const EXAMPLE: &str = r#"
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
    [[bounds_checks_hot]]
    impl = "rust"
    at_most = 1
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_budgets_are_refused() {
        for (from, to, why) in [
            ("tolerance = 0.02", "", "tolerance"),
            ("tolerance = 0.02", "tolerance = -1.0", "-1 is not"),
            ("batch = 32", "batch = 513", "513"),
            ("per_packet = 100.0", "perpacket = 1.0", "perpacket"),
            (r#"impl = "c""#, r#"impl = "ada""#, "ada"),
            ("expected = 1.05", "expected = -1.0", "-1 is not"),
        ] {
            let error = Budget::parse(&EXAMPLE.replacen(from, to, 1)).unwrap_err();
            assert!(format!("{error:#}").contains(why), "{error:#}");
        }
    }

    #[test]
    fn the_budget_of_this_repository_is_well_formed() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("budget.toml");
        let budget = Budget::read(&path).unwrap();
        assert_eq!(budget.instructions.len(), 15);
        assert_eq!((budget.cycles.len(), budget.ratio.len()), (3, 3));
    }
}
