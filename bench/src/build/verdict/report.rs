//! The result of a verdict: a table for a reader, JSON for a program.

use std::collections::BTreeMap;
use std::fmt::Write;

use record::Implementation;
use serde::Serialize;

const WIDEST: usize = 80;

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

impl Verdict {
    pub(super) fn changed(&self) -> bool {
        self.rows.iter().any(|row| row.changed)
    }

    pub(super) fn text(&self) -> String {
        let mut changed: Vec<&Row> = self.rows.iter().filter(|row| row.changed).collect();
        // Builds come first. Then the drivers of one case stand together, for comparison.
        changed.sort_by_key(|row| (!is_build(row), &row.case, &row.driver));
        let mut text = table(&changed);
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

pub(super) fn build_row(driver: Implementation, refused: Option<&str>) -> Row {
    Row {
        case: "build".to_owned(),
        driver: driver.to_string(),
        expected: "compiles".to_owned(),
        seen: match refused {
            None => "compiles".to_owned(),
            Some(error) => format!("does not compile: {error}"),
        },
        changed: refused.is_some(),
    }
}

fn is_build(row: &Row) -> bool {
    row.expected == "compiles"
}

fn table(rows: &[&Row]) -> String {
    let head = ["case", "driver", "expected", "seen"];
    let cells = rows
        .iter()
        .map(|row| [&*row.case, &*row.driver, &*row.expected, &*row.seen]);
    let lines: Vec<[&str; 4]> = std::iter::once(head).chain(cells).collect();
    let [a, b, c, _] = [0, 1, 2, 3].map(|column| {
        let widths = lines.iter().map(|cells| cells[column].chars().count());
        widths.max().unwrap_or_default().min(WIDEST)
    });
    let mut text = String::new();
    if rows.is_empty() {
        return text;
    }
    for [case, driver, expected, seen] in lines {
        let _ = writeln!(text, "{case:a$}  {driver:b$}  {expected:c$}  {seen}");
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_changed_cases_only() {
        let row = |driver: &str, changed| Row {
            case: "data_path: a limit".to_owned(),
            driver: driver.to_owned(),
            expected: "passes".to_owned(),
            seen: "received 4 packets, expected 10".to_owned(),
            changed,
        };
        let refused = build_row(Implementation::RustUnsafe, Some("x.rs:1:1: error"));
        let mut verdict = Verdict {
            rows: vec![row("c", true), row("rust", false), refused],
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
