//! Writes a comparison as Markdown.

use std::fmt::Write as _;

use record::Metric;

use super::analysis::SHOWN;
use super::comparisons::{Basis, Comparison, Comparisons, Verdict, JUDGED};
use super::result::ComparisonResult;
use super::rows::ResultRow;
use crate::measure::run::config::COUNTING;

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
    let labels = SHOWN.map(Metric::label);
    let (numbers, labels) = ("---:|".repeat(labels.len()), labels.join(" | "));
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
        for metric in SHOWN {
            let digits = metric.digits();
            let cell = match row.metrics.get(&metric).map(|measured| measured.interval) {
                None => "–".to_owned(),
                Some(found) if metric == Metric::TscCycles => format!(
                    "{:.digits$} ({:.digits$} to {:.digits$})",
                    found.median, found.low, found.high
                ),
                Some(found) => format!("{:.digits$}", found.median),
            };
            let _ = write!(text, " {cell} |");
        }
        text.push('\n');
    }
    let counted = rows
        .iter()
        .find_map(|row| row.metrics.get(&Metric::Instructions));
    let counted = counted.map_or(COUNTING, |measured| measured.backend);
    let _ = writeln!(
        text,
        "\n{counted} counts instructions, loads, stores and branches. lockstep counts TSC cycles, \
         shown with their 95 % interval.\n",
    );
}

fn write_pairs(text: &mut String, result: &ComparisonResult<'_>, batch: u32) {
    let pairs = || result.same_llvm.iter().filter(|pair| pair.batch == batch);
    if pairs().next().is_none() {
        text.push_str("Not compared: no measured clang has the LLVM of a measured rustc.\n");
    } else {
        text.push_str(
            "| LLVM | C by | Rust by | driver | instructions, times C | TSC cycles, times C |\n\
             |---:|---|---|---|---:|---:|\n",
        );
    }
    for pair in pairs() {
        let _ = write!(
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
        text.push('\n');
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
    let labels = JUDGED.map(Metric::label);
    let numbers = "---:|".repeat(labels.len());
    let _ = writeln!(
        text,
        "| driver | from | to | {} |\n|---|---|---|{numbers}",
        labels.join(" | ")
    );
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
            let cell = comparison.metrics.get(&metric).map(|found| {
                let (before, after) = (found.before.median, found.after.median);
                change(before, after, found.percent, found.verdict)
            });
            let _ = write!(text, " {} |", cell.unwrap_or("–".to_owned()));
        }
        text.push('\n');
    }
    let worse = made.iter().filter(|made| made.is_worse()).count();
    let _ = writeln!(
        text,
        "\nWorse with {newer}: {worse} of {}. Limits: {} % and {} instructions; {} % of the TSC \
         cycles, with intervals that do not touch.\n",
        made.len(),
        result.judge.instructions_percent,
        result.judge.instructions,
        result.judge.cycles_percent,
    );
    write_deciding(text, made, basis);
}

/// Names the metrics that made a build worse, because other metrics of its row may be within noise.
fn write_deciding(text: &mut String, made: &[&Comparison], basis: Basis) {
    let status = match basis {
        Basis::Baseline => "; this gives the exit status 3",
        _ => "",
    };
    let worse: Vec<_> = made.iter().filter(|made| made.is_worse()).collect();
    for made in &worse {
        let (driver, to, metrics) = (made.implementation, &made.to, made.worse_by().join(", "));
        let _ = writeln!(
            text,
            "- {driver}, {} {}: worse by {metrics}{status}",
            to.compiler, to.flags
        );
    }
    if !worse.is_empty() {
        text.push('\n');
    }
}

fn change(before: f64, after: f64, percent: f64, verdict: Verdict) -> String {
    let verdict = match verdict {
        Verdict::Worse => "**worse**".to_owned(),
        other => other.to_string(),
    };
    format!("{before:.1} → {after:.1} ({percent:+.1} %, {verdict})")
}
