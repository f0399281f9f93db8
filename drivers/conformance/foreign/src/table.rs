//! The table of outcomes, as Markdown, and its place in a page.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use crate::cases::{expectation, Case};
use crate::outcome::Outcome;
use crate::subject::{Skipped, Subject};

/// The lines around the generated part of a page.
const BEGIN: &str = "<!-- foreign: generated -->";
const END: &str = "<!-- /foreign -->";

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
        let mut text = String::from("| case |");
        for subject in self.subjects {
            let _ = write!(text, " {} |", subject.name);
        }
        text.push_str("\n|---|");
        text.push_str(&"---|".repeat(self.subjects.len()));
        text.push('\n');
        for (case, outcomes) in self.cases.iter().zip(self.outcomes) {
            let _ = write!(text, "| `{}` |", case.name);
            for outcome in outcomes {
                let _ = match outcome {
                    Outcome::Pass => write!(text, " pass |"),
                    other => write!(text, " **{}** |", other.cell()),
                };
            }
            text.push('\n');
        }
        text.push_str("\n| program | source | what it does to a frame |\n|---|---|---|\n");
        for subject in self.subjects {
            let source = match &subject.source[..] {
                "" => "this repository",
                source => source,
            };
            let change = expectation(subject.expect);
            let _ = writeln!(text, "| {} | {source} | {change} |", subject.name);
        }
        for peer in self.skipped {
            let reason = peer.reason.lines().next().unwrap_or_default();
            let _ = writeln!(text, "| {} | not run: {reason} | |", peer.implementation);
        }
        text
    }

    /// Writes the table into a page, between the two lines that mark its place.
    ///
    /// # Errors
    /// If the page cannot be read or written, or lacks the lines.
    pub fn write_into(&self, page: &Path) -> Result<()> {
        let text = std::fs::read_to_string(page).with_context(|| page.display().to_string())?;
        let lacks = |line| format!("{} has no line {line}", page.display());
        let (before, rest) = text.split_once(BEGIN).with_context(|| lacks(BEGIN))?;
        let (_, after) = rest.split_once(END).with_context(|| lacks(END))?;
        let table = self.markdown();
        let new = format!("{before}{BEGIN}\n{table}{END}{after}");
        std::fs::write(page, new).with_context(|| page.display().to_string())
    }
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
