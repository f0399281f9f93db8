//! The numbers of both sides.

use std::fmt::Write as _;

use super::{Comparison, SideCounts};

/// The sides, their numbers of instructions, and the number of rows that differ.
pub fn summary(comparison: &Comparison) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for (name, side) in [("A", &comparison.a), ("B", &comparison.b)] {
        let functions: Vec<&str> = side
            .code
            .parts
            .iter()
            .map(|part| part.name.as_str())
            .collect();
        let _ = writeln!(text, "{name}: {}: {}", side.label, functions.join(", "));
    }
    let (a, b) = (
        SideCounts::of(&comparison.a.code),
        SideCounts::of(&comparison.b.code),
    );
    let _ = writeln!(text, "\n{:24}{:>8}{:>8}{:>8}", "", "A", "B", "B - A");
    for (place, (name, in_a)) in a.all.named().into_iter().enumerate() {
        let row = |text: &mut String, name: &str, a: usize, b: usize| {
            let more = b as i128 - a as i128;
            let _ = writeln!(text, "{name:24}{a:>8}{b:>8}{more:>+8}");
        };
        row(&mut text, name, in_a, b.all.named()[place].1);
        let (hot_a, hot_b) = (a.in_loops.named()[place].1, b.in_loops.named()[place].1);
        row(&mut text, "  in loops", hot_a, hot_b);
    }
    let rows = comparison.difference.counts();
    let all = comparison.difference.rows.len();
    let _ = match rows.differ + rows.names {
        0 => writeln!(text, "\nno line differs"),
        _ => writeln!(
            text,
            "\n{} of {all} lines differ: {} changed, {} only in A, {} only in B; \
             {} more differ only in registers or stack slots",
            rows.differ, rows.changed, rows.only_a, rows.only_b, rows.names
        ),
    };
    text
}
