//! Writes a comparison as Markdown.

use std::fmt::Write as _;

use record::Metric;

use super::analysis::SHOWN;
use super::comparisons::{Basis, Comparison, Comparisons, ModelledChange, Verdict, JUDGED};
use super::modelled::{Modelled, ModelledRatio};
use super::result::ComparisonResult;
use super::rows::ResultRow;
use crate::run::config::COUNTING;

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
    let mut labels = SHOWN.map(|metric| metric.label().to_owned()).to_vec();
    labels.extend(modelled_on(rows).iter().map(|modelled| modelled.heading()));
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
        for processor in modelled_on(rows) {
            let mut cells = row.modelled.iter();
            let cell = cells.find(|cell| cell.is_comparable(processor));
            let cell = cell.map_or("–".to_owned(), |cell| format!("{:.1}", cell.cycles));
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
         shown with the 10th and 90th percentile.{}\n",
        match modelled_on(rows).first() {
            None => String::new(),
            Some(modelled) => format!(
                " Modelled cycles are those of the named processor by version {} of the model; \
                 they are the same in every run.",
                modelled.model
            ),
        }
    );
}

/// The processors that rows have modelled cycles of, each once.
fn modelled_on(rows: &[ResultRow]) -> Vec<&Modelled> {
    let mut found: Vec<&Modelled> = Vec::new();
    for modelled in rows.iter().flat_map(|row| &row.modelled) {
        if !found.iter().any(|known| known.is_comparable(modelled)) {
            found.push(modelled);
        }
    }
    found
}

fn write_pairs(text: &mut String, result: &ComparisonResult<'_>, batch: u32) {
    let pairs = || result.same_llvm.iter().filter(|pair| pair.batch == batch);
    if pairs().next().is_none() {
        text.push_str("Not compared: no measured clang has the LLVM of a measured rustc.\n");
    } else {
        let mut labels = vec!["instructions".to_owned(), "TSC cycles".to_owned()];
        labels.extend(modelled_on(result.rows).iter().map(|on| on.heading()));
        let numbers = "---:|".repeat(labels.len());
        let labels: Vec<_> = labels
            .iter()
            .map(|label| format!("{label}, times C"))
            .collect();
        let _ = writeln!(
            text,
            "| LLVM | C by | Rust by | driver | {} |\n|---:|---|---|---|{numbers}",
            labels.join(" | ")
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
        for on in modelled_on(result.rows) {
            let same =
                |ratio: &&ModelledRatio| ratio.cpu == on.cpu && ratio.clock_ghz == on.clock_ghz;
            let ratio = pair.modelled.iter().find(same);
            let cell = ratio.map_or("–".to_owned(), |found| format!("{:.2}", found.ratio));
            let _ = write!(text, " {cell} |");
        }
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
    let mut labels = JUDGED.map(|metric| metric.label().to_owned()).to_vec();
    labels.extend(modelled_on(result.rows).iter().map(|on| on.heading()));
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
        for on in modelled_on(result.rows) {
            let same =
                |change: &&ModelledChange| change.cpu == on.cpu && change.clock_ghz == on.clock_ghz;
            let cell = comparison.modelled.iter().find(same).map(|found| {
                let (before, after) = (found.before, found.after);
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
         cycles, with spreads that do not touch; {} % of the modelled cycles{}.\n",
        made.len(),
        result.judge.instructions_percent,
        result.judge.instructions,
        result.judge.cycles_percent,
        result.judge.modelled_percent,
        match result.judge.modelled_cycles {
            Some(cycles) => format!(" or {cycles} of them"),
            None => String::new(),
        }
    );
}

fn change(before: f64, after: f64, percent: f64, verdict: Verdict) -> String {
    let verdict = match verdict {
        Verdict::Worse => "**worse**".to_owned(),
        other => other.to_string(),
    };
    format!("{before:.1} → {after:.1} ({percent:+.1} %, {verdict})")
}
