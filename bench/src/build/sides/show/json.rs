//! The difference for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Comparison, Shown, SideCounts};
use crate::code::machine_code::difference::{Kind, RowCounts};
use crate::code::machine_code::source::SourceLine;

#[derive(Debug, Serialize)]
struct Document<'c> {
    a: Side<'c>,
    b: Side<'c>,
    lines: RowCounts,
    rows: Vec<Row<'c>>,
}

#[derive(Debug, Serialize)]
struct Side<'c> {
    label: &'c str,
    functions: Vec<&'c str>,
    counts: SideCounts,
}

#[derive(Debug, Serialize)]
struct Row<'c> {
    kind: Kind,
    a: Option<Line<'c>>,
    b: Option<Line<'c>>,
}

#[derive(Debug, Serialize)]
struct Line<'c> {
    /// The address in the program.
    address: u64,
    /// The number of the label in front of the line; lines that correspond have equal labels.
    label: Option<usize>,
    text: String,
    in_loop: bool,
    source: Option<&'c SourceLine>,
}

/// Both sides, their numbers and all rows.
///
/// # Errors
/// None that is known: all values can be written as JSON.
pub fn json(comparison: &Comparison) -> serde_json::Result<String> {
    let difference = &comparison.difference;
    let rows = difference.rows.iter().map(|row| Row {
        kind: row.kind,
        a: row.a.map(|place| {
            line(
                &comparison.a,
                place,
                &difference.labels_a,
                comparison.text_a(place),
            )
        }),
        b: row.b.map(|place| {
            line(
                &comparison.b,
                place,
                &difference.labels_b,
                comparison.text_b(place),
            )
        }),
    });
    serde_json::to_string_pretty(&Document {
        a: side(&comparison.a),
        b: side(&comparison.b),
        lines: difference.counts(),
        rows: rows.collect(),
    })
}

fn side(side: &Shown) -> Side<'_> {
    Side {
        label: &side.label,
        functions: side
            .code
            .parts
            .iter()
            .map(|part| part.name.as_str())
            .collect(),
        counts: SideCounts::of(&side.code),
    }
}

fn line<'c>(
    side: &'c Shown,
    place: usize,
    labels: &BTreeMap<usize, usize>,
    text: String,
) -> Line<'c> {
    let line = &side.code.lines[place];
    Line {
        address: line.instruction.address,
        label: labels.get(&place).copied(),
        text,
        in_loop: line.in_loop,
        source: line.source.as_ref(),
    }
}
