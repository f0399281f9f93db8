//! The findings of the self-test: what was checked, and how it ended.

use std::collections::BTreeMap;
use std::fmt;

use record::Implementation;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is as it must be.
    Pass,
    /// Something is wrong.
    Fail,
    /// It could not be checked here.
    NotAvailable,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::NotAvailable => "not available",
        })
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The driver that was checked; `None` for a check of the machine or of the ports alone.
    pub driver: Option<Implementation>,
    /// What was checked: `start`, `link`, `cable`, `frames 0 to 1`, …
    pub check: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The figures, or what is wrong and what to do.
    pub text: String,
    /// Figures for programs.
    pub figures: BTreeMap<String, Value>,
}

impl Finding {
    /// A finding without figures.
    pub fn new(outcome: Outcome, check: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            driver: None,
            check: check.into(),
            outcome,
            text: text.into(),
            figures: BTreeMap::new(),
        }
    }

    /// A passed check.
    pub fn pass(check: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(Outcome::Pass, check, text)
    }

    /// A failed check.
    pub fn fail(check: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(Outcome::Fail, check, text)
    }

    /// A check that was not possible, with the reason.
    pub fn not_available(check: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(Outcome::NotAvailable, check, why)
    }

    /// The same finding with one more figure.
    #[must_use]
    pub fn figure(mut self, name: &str, value: impl Serialize) -> Self {
        // The figures are numbers, texts and lists of these, which JSON can hold.
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        self.figures.insert(name.to_owned(), value);
        self
    }

    /// The finding as a row of the table, without a line break at the end.
    pub fn row(&self) -> String {
        let mut lines = self.text.lines();
        let first = lines.next().unwrap_or_default();
        let mut row = format!("  {:13}  {:16}  {first}", self.outcome, self.check);
        for line in lines {
            row += &format!("\n{:35}{line}", "");
        }
        row
    }
}

/// The heading above the findings of a driver, or of the machine.
pub fn heading(driver: Option<Implementation>) -> String {
    match driver {
        Some(Implementation::C) => "C driver".to_owned(),
        Some(Implementation::Rust) => "safe Rust driver".to_owned(),
        Some(Implementation::RustUnsafe) => "unsafe Rust driver".to_owned(),
        Some(peer) => format!("{peer} driver"),
        None => "machine and ports".to_owned(),
    }
}

/// How many findings have each outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Passed checks.
    pub passed: usize,
    /// Failed checks.
    pub failed: usize,
    /// Checks that were not possible.
    pub not_available: usize,
}

impl Tally {
    /// Counts findings.
    pub fn of(findings: &[Finding]) -> Self {
        let count = |outcome| findings.iter().filter(|it| it.outcome == outcome).count();
        Self {
            passed: count(Outcome::Pass),
            failed: count(Outcome::Fail),
            not_available: count(Outcome::NotAvailable),
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} not available",
            self.passed, self.failed, self.not_available
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_keeps_its_columns() {
        let row = Finding::fail("cable", "first\nsecond").row();
        assert_eq!(
            row,
            "  FAIL           cable             first\n                                   second"
        );
        let column = row.find("first").unwrap();
        assert_eq!(row.lines().nth(1).unwrap().find("second"), Some(column));
    }

    #[test]
    fn a_tally_counts_each_outcome() {
        let findings = [
            Finding::pass("a", ""),
            Finding::pass("b", ""),
            Finding::not_available("c", "no PMU").figure("n", 1),
        ];
        let text = Tally::of(&findings).to_string();
        assert_eq!(text, "2 passed, 0 failed, 1 not available");
        assert_eq!(findings[2].figures["n"], 1);
    }
}
