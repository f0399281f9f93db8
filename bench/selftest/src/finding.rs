//! The findings of the self-test: what was checked, and how it ended. The terminal shows them as they come.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum Grade {
    /// It is as it must be.
    Pass,
    /// Something is wrong.
    #[strum(serialize = "FAIL")]
    Fail,
    /// It could not be checked here.
    #[strum(serialize = "not available")]
    NotAvailable,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What was checked: `start`, `link`, `cable`, `frames 0 to 1`, …
    pub check: String,
    /// How it ended.
    pub outcome: Grade,
    /// The figures, or what is wrong and what to do.
    pub text: String,
    /// Figures for programs.
    pub figures: BTreeMap<String, Value>,
}

impl Finding {
    fn new(outcome: Grade, check: impl Into<String>, text: impl fmt::Display) -> Self {
        Self {
            check: check.into(),
            outcome,
            text: text.to_string(),
            figures: BTreeMap::new(),
        }
    }

    /// A check that found what must be.
    pub fn pass(check: impl Into<String>, text: impl fmt::Display) -> Self {
        Self::new(Grade::Pass, check, text)
    }

    pub(crate) fn fail(check: impl Into<String>, text: impl fmt::Display) -> Self {
        Self::new(Grade::Fail, check, text)
    }

    /// A check that was not possible, with the reason.
    pub fn not_available(check: impl Into<String>, why: impl fmt::Display) -> Self {
        Self::new(Grade::NotAvailable, check, why)
    }

    /// A check that passes if nothing is wrong.
    pub(crate) fn unless(
        wrong: &[String],
        check: impl Into<String>,
        right: impl fmt::Display,
    ) -> Self {
        match wrong {
            [] => Self::pass(check, right),
            wrong => Self::fail(check, wrong.join("\n")),
        }
    }

    /// The same finding with one more figure.
    #[must_use]
    pub fn figure(mut self, name: &str, value: impl Serialize) -> Self {
        self.add(name, value);
        self
    }

    pub(crate) fn add(&mut self, name: &str, value: impl Serialize) {
        // The figures are numbers, texts and lists of these, which JSON can hold.
        let value = serde_json::to_value(value).unwrap_or(Value::Null);
        self.figures.insert(name.to_owned(), value);
    }
}

/// A row of the table, or several if the text has several lines.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.text.replace('\n', &format!("\n{:33}", ""));
        write!(f, "{:13}  {:16}  {text}", self.outcome, self.check)
    }
}
