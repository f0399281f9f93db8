//! The result of a verdict: a table for a reader, JSON for a program.

use std::fmt::Write;

use serde::Serialize;

/// The driver of a case that compares all three.
pub const ALL_DRIVERS: &str = "all";
/// Width of the widest column but the last, in characters.
const WIDEST: usize = 80;

/// A case: what the record says, and what was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The case in words.
    pub case: String,
    /// `c`, `c-hardened`, `rust`, `rust-unsafe`, or `all`.
    pub driver: String,
    /// The recorded outcome.
    pub expected: String,
    /// The outcome that was seen.
    pub seen: String,
    /// Whether the two differ.
    pub changed: bool,
}

/// The result of a verdict.
#[derive(Debug, Default, Serialize)]
pub struct Verdict {
    /// The files that the patch changed.
    pub patched: Vec<String>,
    /// Whether only a part of the cases was run.
    pub quick: bool,
    /// All cases that were run.
    pub rows: Vec<Row>,
    /// What was not run, with the reason.
    pub not_run: Vec<String>,
}

impl Verdict {
    /// Whether any case differs from the record.
    pub fn changed(&self) -> bool {
        self.rows.iter().any(|row| row.changed)
    }

    /// The changed cases as a table, and a summary.
    pub fn text(&self) -> String {
        let mut changed: Vec<&Row> = self.rows.iter().filter(|row| row.changed).collect();
        // Builds come first. Then the drivers of one case stand together, for comparison.
        changed.sort_by_key(|row| (!is_build(row), &row.case, &row.driver));
        let mut text = table(&changed);
        for reason in &self.not_run {
            let _ = writeln!(text, "not run: {reason}");
        }
        let all = self.rows.len();
        let _ = match changed.len() {
            0 => writeln!(
                text,
                "Nothing changed: all {all} cases came out as recorded."
            ),
            some => {
                let drivers = self.by_driver();
                writeln!(text, "{some} of {all} cases changed: {drivers}.")
            }
        };
        text
    }

    /// How many cases of each driver changed: `c 3 of 30, rust 0 of 30`.
    fn by_driver(&self) -> String {
        let mut drivers: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !drivers.contains(&row.driver.as_str()) {
                drivers.push(&row.driver);
            }
        }
        let counts = drivers.iter().map(|driver| {
            let of_driver: Vec<_> = self
                .rows
                .iter()
                .filter(|row| row.driver == *driver)
                .collect();
            let changed = of_driver.iter().filter(|row| row.changed).count();
            format!("{driver} {changed} of {}", of_driver.len())
        });
        counts.collect::<Vec<_>>().join(", ")
    }
}

/// The row of a driver's build.
pub fn build_row(driver: String, refused: Option<&str>) -> Row {
    Row {
        case: "build".to_owned(),
        driver,
        expected: "compiles".to_owned(),
        seen: refused.map_or_else(
            || "compiles".to_owned(),
            |error| format!("does not compile: {error}"),
        ),
        changed: refused.is_some(),
    }
}

fn is_build(row: &Row) -> bool {
    row.expected == "compiles"
}

fn table(rows: &[&Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let cells: Vec<[&str; 4]> = rows
        .iter()
        .map(|row| [&*row.case, &*row.driver, &*row.expected, &*row.seen])
        .collect();
    let head = ["case", "driver", "expected", "seen"];
    let width = |column: usize| {
        let cells = cells.iter().map(|cells| cells[column].chars().count());
        let widest = cells.chain([head[column].len()]).max().unwrap_or_default();
        widest.min(WIDEST)
    };
    let widths = [width(0), width(1), width(2)];
    let mut text = String::new();
    for [case, driver, expected, seen] in std::iter::once(&head).chain(&cells) {
        let _ = writeln!(
            text,
            "{case:0$}  {driver:1$}  {expected:2$}  {seen}",
            widths[0], widths[1], widths[2]
        );
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: &str, driver: &str, changed: bool) -> Row {
        Row {
            case: case.to_owned(),
            driver: driver.to_owned(),
            expected: "passes".to_owned(),
            seen: "received 4 packets, expected 10".to_owned(),
            changed,
        }
    }

    #[test]
    fn the_table_has_the_changed_cases_only() {
        let verdict = Verdict {
            rows: vec![
                row("data_path: a limit", "c", true),
                row("data_path: a limit", "rust", false),
                build_row("rust-unsafe".to_owned(), Some("x.rs:1:1: error")),
            ],
            not_run: vec!["drv-x, c: because".to_owned()],
            ..Verdict::default()
        };
        assert!(verdict.changed());
        let text = verdict.text();
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with("case "), "{text}");
        assert!(lines[1].contains("does not compile: x.rs:1:1"), "{text}");
        assert!(lines[2].contains("expected 10"), "{text}");
        assert_eq!(lines[4], "not run: drv-x, c: because");
        assert_eq!(
            lines[5],
            "2 of 3 cases changed: c 1 of 1, rust 0 of 1, rust-unsafe 1 of 1."
        );
    }

    #[test]
    fn nothing_changed_is_said() {
        let verdict = Verdict {
            rows: vec![row("a", "c", false)],
            ..Verdict::default()
        };
        assert!(!verdict.changed());
        assert_eq!(
            verdict.text(),
            "Nothing changed: all 1 cases came out as recorded.\n"
        );
    }
}
