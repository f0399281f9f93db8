//! Writes a comparison as Markdown.

use std::fmt::Write as _;

use record::Metric;

use super::analysis::SHOWN;
use super::comparisons::{Basis, Change, Comparison, Comparisons, Verdict, JUDGED};
use super::result::ComparisonResult;
use super::rows::ResultRow;

/// The tables of each batch size, then what was not compared and not measured.
pub fn markdown(result: &ComparisonResult<'_>, comparisons: &Comparisons) -> String {
    let mut batches: Vec<u32> = result.rows.iter().map(|row| row.batch).collect();
    batches.sort_unstable_by(|a, b| b.cmp(a));
    batches.dedup();
    let mut text = String::new();
    for batch in batches {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "#### The drivers by compiler, per packet, batch {batch}\n"
        );
        write_rows(&mut text, result.rows, batch);
        let _ = writeln!(text, "#### Rust beside C of the same LLVM, batch {batch}\n");
        write_pairs(&mut text, result, batch);
        for basis in [Basis::Version, Basis::Flags, Basis::Baseline] {
            if basis == Basis::Baseline && result.baseline.is_none() {
                continue;
            }
            write_comparisons(
                &mut text,
                result,
                &comparisons.made_by(basis, batch),
                basis,
                batch,
            );
        }
    }
    write_list(&mut text, "Not compared", result.not_compared);
    write_list(&mut text, "Not measured", result.skipped);
    text
}

fn write_list(text: &mut String, title: &str, items: &[impl std::fmt::Display]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(text, "#### {title}\n");
    for item in items {
        let _ = writeln!(text, "- {item}");
    }
    text.push('\n');
}

fn write_rows(text: &mut String, rows: &[ResultRow], batch: u32) {
    let labels = SHOWN.map(|(metric, _)| metric.label()).join(" | ");
    let numbers = "---:|".repeat(SHOWN.len());
    let _ = writeln!(
        text,
        "| driver | compiler | version | flags | {labels} |\n|---|---|---|---|{numbers}"
    );
    for row in rows.iter().filter(|row| row.batch == batch) {
        let _ = write!(
            text,
            "| {} | {} | {} | {} |",
            row.implementation,
            row.compiler,
            row.name(),
            row.flags
        );
        for (metric, _) in SHOWN {
            let digits = metric.digits();
            let cell = match row.metrics.get(&metric).map(|measured| measured.spread) {
                None => "–".to_owned(),
                Some(spread) if metric == Metric::TscCycles => format!(
                    "{:.digits$} ({:.digits$} to {:.digits$})",
                    spread.median, spread.low, spread.high
                ),
                Some(spread) => format!("{:.digits$}", spread.median),
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

fn write_pairs(text: &mut String, result: &ComparisonResult<'_>, batch: u32) {
    let pairs = || result.same_llvm.iter().filter(|pair| pair.batch == batch);
    if pairs().next().is_none() {
        text.push_str("Not compared: no measured clang has the LLVM of a measured rustc.\n");
    } else {
        text.push_str(
            "| LLVM | C by | Rust by | driver | instructions, times C | cycles, times C |\n\
             |---:|---|---|---|---:|---:|\n",
        );
    }
    for pair in pairs() {
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

/// A table of comparisons, and a sentence that counts those that are worse.
fn write_comparisons(
    text: &mut String,
    result: &ComparisonResult<'_>,
    made: &[&Comparison],
    basis: Basis,
    batch: u32,
) {
    let baseline = result
        .baseline
        .as_ref()
        .map_or("", |baseline| &baseline.name);
    let (title, newer) = match basis {
        Basis::Version => ("By version".to_owned(), "a newer version"),
        Basis::Flags => ("By flags".to_owned(), "other flags"),
        Basis::Baseline => (format!("With the baseline {baseline}"), "the new build"),
    };
    let _ = writeln!(text, "#### {title}, batch {batch}\n");
    if made.is_empty() {
        text.push_str("Not compared: the list below says why.\n\n");
        return;
    }
    text.push_str("| driver | from | to | instructions | TSC cycles |\n|---|---|---|---:|---:|\n");
    for comparison in made {
        let (from, to) = (&comparison.from, &comparison.to);
        let side = |compiler: &str, flags: &str| match basis {
            Basis::Flags => flags.to_owned(),
            _ => format!("{compiler} {flags}"),
        };
        let _ = write!(
            text,
            "| {} | {} {} | {} |",
            comparison.implementation,
            from.compiler,
            from.flags,
            side(&to.compiler, &to.flags)
        );
        for metric in JUDGED {
            let cell = comparison.metrics.get(&metric).map(change);
            let _ = write!(text, " {} |", cell.unwrap_or("–".to_owned()));
        }
        text.push('\n');
    }
    let worse = made.iter().filter(|made| made.is_worse()).count();
    let _ = writeln!(
        text,
        "\nWorse with {newer}: {worse} of {}. Limits: {} % and {} instructions; {} % of the cycles, \
         with spreads that do not touch.\n",
        made.len(),
        result.judge.instructions_percent,
        result.judge.instructions,
        result.judge.cycles_percent
    );
}

fn change(change: &Change) -> String {
    let verdict = match change.verdict {
        Verdict::Worse => "**worse**".to_owned(),
        other => other.to_string(),
    };
    format!(
        "{:.1} → {:.1} ({:+.1} %, {verdict})",
        change.before.median, change.after.median, change.percent
    )
}
