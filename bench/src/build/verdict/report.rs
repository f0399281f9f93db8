//! The result of a verdict: a table for a reader, JSON for a program.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::usage::columns;

/// The case of a driver that must compile.
pub(super) const BUILD: &str = "build";

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Row {
    pub(super) case: String,
    /// `c`, `c-hardened`, `rust`, `rust-unsafe`, or `all`.
    pub(super) driver: String,
    pub(super) expected: String,
    pub(super) seen: String,
    pub(super) changed: bool,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Verdict {
    pub(super) patched: Vec<String>,
    pub(super) quick: bool,
    pub(super) rows: Vec<Row>,
    pub(super) not_run: Vec<String>,
}

impl Row {
    /// A case whose outcome is that of the record, or changed.
    pub(super) fn new(case: &str, driver: &str, expected: &str, seen: &str) -> Self {
        Self {
            case: case.to_owned(),
            driver: driver.to_owned(),
            expected: expected.to_owned(),
            changed: seen != expected,
            seen: seen.to_owned(),
        }
    }
}

impl Verdict {
    pub(super) fn changed(&self) -> bool {
        self.rows.iter().any(|row| row.changed)
    }

    pub(super) fn text(&self) -> String {
        let mut changed: Vec<&Row> = self.rows.iter().filter(|row| row.changed).collect();
        // Builds come first. Then the drivers of one case stand together, for comparison.
        changed.sort_by_key(|row| (row.case != BUILD, &row.case, &row.driver));
        let cells =
            |row: &&Row| [&row.case, &row.driver, &row.expected, &row.seen].map(Clone::clone);
        let cells = changed.iter().map(cells).collect();
        let mut text = columns(["case", "driver", "expected", "seen"], cells);
        if !text.is_empty() {
            text.push('\n');
        }
        for reason in &self.not_run {
            let _ = writeln!(text, "not run: {reason}");
        }
        let all = self.rows.len();
        let by_driver = self.by_driver();
        text += &match changed.len() {
            0 => format!("Nothing changed: all {all} cases came out as recorded.\n"),
            some => format!("{some} of {all} cases changed: {by_driver}.\n"),
        };
        text
    }

    fn by_driver(&self) -> String {
        let mut drivers: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for row in &self.rows {
            let (changed, all) = drivers.entry(&row.driver).or_default();
            *changed += usize::from(row.changed);
            *all += 1;
        }
        let counts = drivers.iter();
        let counts = counts.map(|(driver, (changed, all))| format!("{driver} {changed} of {all}"));
        counts.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_changed_cases_only() {
        let row = |case, driver, seen| Row::new(case, driver, "passes", seen);
        let mut verdict = Verdict {
            rows: vec![
                row("data_path: a limit", "c", "received 4 packets, expected 10"),
                row("data_path: a limit", "rust", "passes"),
                row(BUILD, "rust-unsafe", "does not compile: x.rs:1:1: error"),
            ],
            not_run: vec!["drv-x, c: because".to_owned()],
            ..Verdict::default()
        };
        assert!(verdict.changed());
        let text = verdict.text();
        let lines: Vec<_> = text.lines().collect();
        let sum = "2 of 3 cases changed: c 1 of 1, rust 0 of 1, rust-unsafe 1 of 1.";
        for (line, part) in [
            (1, "does not compile: x.rs:1:1"),
            (2, "expected 10"),
            (4, "not run: drv-x, c: because"),
            (5, sum),
        ] {
            assert!(lines[line].contains(part), "{text}");
        }
        verdict.rows.retain(|row| !row.changed);
        assert!(!verdict.changed());
        assert!(verdict.text().contains("Nothing changed: all 1 cases"));
    }
}
