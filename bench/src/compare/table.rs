//! Writes a comparison as Markdown.

use std::fmt::Write as _;

use record::Metric;

use super::analysis::{pairs, regressions, Row, SHOWN};
use crate::toolchain::compiler::SkippedCompiler;

/// The tables of each batch size, then the skipped compilers.
pub fn markdown(batches: &[(u32, Vec<Row>)], skipped: &[SkippedCompiler]) -> String {
    let mut text = String::new();
    for (batch, rows) in batches {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "#### The drivers by compiler, per packet, batch {batch}\n"
        );
        write_rows(&mut text, rows);
        let _ = writeln!(text, "#### Rust beside C of the same LLVM, batch {batch}\n");
        write_pairs(&mut text, rows);
        let _ = writeln!(text, "#### Regressions of newer versions, batch {batch}\n");
        write_regressions(&mut text, rows);
    }
    if !skipped.is_empty() {
        text.push_str("#### Not measured\n\n");
        for skip in skipped {
            let _ = writeln!(text, "- {skip}");
        }
    }
    text
}

fn write_rows(text: &mut String, rows: &[Row]) {
    let labels = SHOWN.map(|(metric, _)| metric.label()).join(" | ");
    let numbers = "---:|".repeat(SHOWN.len());
    let _ = writeln!(
        text,
        "| driver | compiler | LLVM | flags | {labels} |\n|---|---|---:|---|{numbers}"
    );
    for row in rows {
        let llvm = row
            .recipe
            .toolchain
            .llvm
            .map_or("–".to_owned(), |major| major.to_string());
        let _ = write!(
            text,
            "| {} | {} | {llvm} | {} |",
            row.implementation,
            row.recipe.toolchain.name(),
            row.recipe.flags()
        );
        for (metric, _) in SHOWN {
            let digits = metric.digits();
            let cell = match (metric, row.spread(metric)) {
                (_, None) => "–".to_owned(),
                (Metric::TscCycles, Some(spread)) => format!(
                    "{:.digits$} ({:.digits$} to {:.digits$})",
                    spread.median, spread.low, spread.high
                ),
                (_, Some(spread)) => format!("{:.digits$}", spread.median),
            };
            let _ = write!(text, " {cell} |");
        }
        text.push('\n');
    }
    text.push_str(
        "\nvalgrind counts instructions, loads, stores and branches. lockstep counts TSC cycles, \
         shown with the 10th and 90th percentile.\n\n",
    );
}

fn write_pairs(text: &mut String, rows: &[Row]) {
    let pairs = pairs(rows);
    if pairs.is_empty() {
        text.push_str("No installed clang has the LLVM of a measured rustc.\n");
    } else {
        text.push_str(
            "| LLVM | C by | Rust by | driver | instructions, times C | cycles, times C |\n\
             |---:|---|---|---|---:|---:|\n",
        );
    }
    for pair in pairs {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            pair.llvm,
            pair.c,
            pair.rust,
            pair.implementation,
            pair.instructions
                .map_or("–".to_owned(), |ratio| format!("{ratio:.2}")),
            pair.cycles.map_or("–".to_owned(), |ratio| format!(
                "{:.2} ({:.2} to {:.2})",
                ratio.median, ratio.low, ratio.high
            )),
        );
    }
    text.push('\n');
}

fn write_regressions(text: &mut String, rows: &[Row]) {
    let regressions = regressions(rows);
    if regressions.is_empty() {
        text.push_str("None beyond noise.\n");
    }
    for found in regressions {
        let [before, after] = found.values;
        let _ = writeln!(
            text,
            "- {}, {}: {} needs {after:.1} {} per packet, {} needs {before:.1} ({:+.1} %)",
            found.implementation,
            found.flags,
            found.to,
            found.metric,
            found.from,
            100.0 * (after / before - 1.0)
        );
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_compilers_are_listed() {
        let skipped = [SkippedCompiler {
            name: "gcc-11".to_owned(),
            why: "not installed".to_owned(),
            fix: Some("sudo apt-get install gcc-11".to_owned()),
        }];
        let text = markdown(&[(32, Vec::new())], &skipped);
        assert!(text.contains("- gcc-11: not installed; `sudo apt-get install gcc-11`"));
        assert!(text.contains("No installed clang"));
    }
}
