//! Shows the difference of two sides: as a summary, side by side, unified, or as JSON.

use console::Style;
use serde::Serialize;

use crate::code::machine_code::code::Code;
use crate::code::machine_code::counts::Counts;
use crate::code::machine_code::difference::Difference;

pub mod entries;
pub mod json;
pub mod side_by_side;
pub mod summary;
pub mod unified;

/// One side: its code, and what it was built from.
#[derive(Debug)]
pub struct Shown {
    /// The driver, the compiler, the flags and the commit in a line.
    pub label: String,
    /// The code.
    pub code: Code,
}

/// Both sides and their difference.
#[derive(Debug)]
pub struct Comparison {
    /// Side A.
    pub a: Shown,
    /// Side B.
    pub b: Shown,
    /// The rows.
    pub difference: Difference,
}

impl Comparison {
    /// Compares two sides. With `exact_names`, each other register or stack slot is a change.
    pub fn new(a: Shown, b: Shown, exact_names: bool) -> Self {
        let difference = Difference::new(&a.code, &b.code, exact_names);
        Self { a, b, difference }
    }
}

/// The numbers of instructions of a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SideCounts {
    /// In all functions that are shown.
    pub all: Counts,
    /// In their loops.
    pub in_loops: Counts,
}

impl SideCounts {
    /// The numbers of some code.
    pub fn of(code: &Code) -> Self {
        Self {
            all: code.counts(),
            in_loops: code.counts_in_loops(),
        }
    }
}

/// The mnemonic in a column of its own, then the operands.
fn columns(text: &str, label: Option<usize>) -> String {
    let (mnemonic, operands) = match text.split_once(' ') {
        // A prefix belongs to the mnemonic.
        Some((prefix @ ("lock" | "rep" | "repz" | "repnz" | "bnd" | "notrack"), rest)) => {
            let (name, operands) = rest.split_once(' ').unwrap_or((rest, ""));
            (format!("{prefix} {name}"), operands)
        }
        Some((name, operands)) => (name.to_owned(), operands),
        None => (text.to_owned(), ""),
    };
    let target = label
        .map(|number| format!(".L{number}"))
        .unwrap_or_default();
    format!("{mnemonic:7} {operands}{target}")
        .trim_end()
        .to_owned()
}

/// A text in a style, or plain without colours.
fn painted(style: &Style, text: &str, colours: bool) -> String {
    style
        .clone()
        .force_styling(colours)
        .apply_to(text)
        .to_string()
}

impl Comparison {
    fn text_a(&self, line: usize) -> String {
        let there = &self.a.code.lines[line];
        let label = there
            .target
            .and_then(|line| self.difference.labels_a.get(&line));
        columns(&there.text, label.copied())
    }

    fn text_b(&self, line: usize) -> String {
        let there = &self.b.code.lines[line];
        let label = there
            .target
            .and_then(|line| self.difference.labels_b.get(&line));
        columns(&there.text, label.copied())
    }
}
