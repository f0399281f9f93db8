//! The table of outcomes, as Markdown, and its place in a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::cases::{expectation, Case};
use crate::outcome::Outcome;
use crate::subject::{Skipped, Subject};

/// The line above the generated part of a page.
pub const BEGIN: &str = "<!-- foreign: generated -->\n";
/// The line below it.
pub const END: &str = "<!-- /foreign -->";

/// The outcomes of all cases for all programs.
#[derive(Debug)]
pub struct Table<'a> {
    /// The cases: the rows.
    pub cases: &'a [Case],
    /// The programs: the columns.
    pub subjects: &'a [Subject],
    /// The peers that were not built.
    pub skipped: &'a [Skipped],
    /// The outcomes by case, then by program.
    pub outcomes: &'a [Vec<Outcome>],
}

impl Table<'_> {
    /// The table, and below it what the programs are.
    pub fn markdown(&self) -> String {
        let names: Vec<_> = self
            .subjects
            .iter()
            .map(|subject| &subject.name[..])
            .collect();
        let mut text = format!(
            "| case | {} |\n|---|{}\n",
            names.join(" | "),
            "---|".repeat(names.len())
        );
        for (case, outcomes) in self.cases.iter().zip(self.outcomes) {
            let _ = write!(text, "| `{}` |", case.name);
            for outcome in outcomes {
                let mark = if *outcome == Outcome::Pass { "" } else { "**" };
                let _ = write!(text, " {mark}{}{mark} |", outcome.cell());
            }
            text.push('\n');
        }
        text.push_str("\n| program | source | what it does to a frame |\n|---|---|---|\n");
        for subject in self.subjects {
            let Subject { name, source, .. } = subject;
            let change = expectation(subject.expect);
            let _ = writeln!(text, "| {name} | {source} | {change} |");
        }
        for peer in self.skipped {
            let reason = peer.reason.lines().next().unwrap_or_default();
            let _ = writeln!(text, "| {} | not run: {reason} | |", peer.implementation);
        }
        text
    }

    /// Writes the table into a page, between the two lines that mark its place.
    pub fn write_into(&self, page: &Path) -> Result<()> {
        let text = std::fs::read_to_string(page).with_context(|| page.display().to_string())?;
        let (before, _, after) =
            parts(&text, BEGIN, END).with_context(|| format!("{}: no place", page.display()))?;
        std::fs::write(page, format!("{before}{}{after}", self.markdown()))
            .with_context(|| page.display().to_string())
    }
}

/// A page before, between and after two lines.
pub fn parts<'a>(page: &'a str, begin: &str, end: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let from = page.find(begin)? + begin.len();
    let to = from + page[from..].find(end)?;
    Some((&page[..from], &page[from..to], &page[to..]))
}

/// What the page has for a case in the columns of our drivers, by driver.
pub fn recorded(case: &str) -> BTreeMap<&'static str, &'static str> {
    let (_, table, _) = parts(include_str!("../README.md"), BEGIN, END).unwrap_or_default();
    let cells = |line: &'static str| line.split('|').map(|cell| cell.trim().trim_matches('*'));
    let row = table
        .lines()
        .find(|line| line.starts_with(&format!("| `{case}` |")));
    let names = cells(table.lines().next().unwrap_or_default());
    let columns = names.zip(cells(row.unwrap_or_default()));
    let ours = ["c", "rust", "rust-unsafe"];
    columns.filter(|(name, _)| ours.contains(name)).collect()
}

/// The cases and what they ask for, as Markdown.
pub fn list(cases: &[Case]) -> String {
    let mut text =
        String::from("| case | what the card does, and what the program must do |\n|---|---|\n");
    for case in cases {
        let _ = writeln!(text, "| `{}` | {} |", case.name, case.asks);
    }
    text
}
