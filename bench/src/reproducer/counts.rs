//! The numbers of both sides, for programs.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

use super::file::write as write_file;
use super::measured::Measured;
use super::script::Commands;
use crate::build::sides::show::{Comparison, SideCounts};

/// Writes `counts.json`.
///
/// # Errors
/// If the file cannot be written.
pub fn write(
    output: &Path,
    comparison: &Comparison,
    commands: &[Commands; 2],
    measured: &[Vec<Measured>; 2],
) -> Result<()> {
    let side = |place: usize, counts: SideCounts| {
        let per_packet = measured[place].iter().map(|found| {
            json!({"batch": found.batch, "instructions": found.instructions, "comparison": found.comparison})
        });
        json!({
            "label": commands[place].label,
            "functions": commands[place].functions,
            "counts": counts,
            "instructions_per_packet": per_packet.collect::<Vec<_>>(),
        })
    };
    let counts = json!({
        "a": side(0, SideCounts::of(&comparison.a.code)),
        "b": side(1, SideCounts::of(&comparison.b.code)),
        "lines": comparison.difference.counts(),
    });
    let counts =
        serde_json::to_string_pretty(&counts).context("cannot write the counts as JSON")?;
    write_file(output, "counts.json", &(counts + "\n"))
}
