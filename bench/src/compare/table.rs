//! Writes a comparison as Markdown.

use record::Metric;

use super::comparisons::{Basis, Compared, Judgement, MetricChange, JUDGED};
use super::result::ComparisonResult;
use super::rows::SHOWN;
use crate::interval::Interval;
use crate::measure::run::config::COUNTING;

/// The tables of each batch size, then what was not compared and not measured.
pub fn markdown(result: &ComparisonResult<'_>) -> String {
    let mut batches: Vec<u32> = result.rows.iter().map(|row| row.batch).collect();
    batches.sort_unstable_by(|a, b| b.cmp(a));
    batches.dedup();
    let mut text = String::new();
    for batch in batches {
        text += &format!("#### The drivers by compiler, per packet, batch {batch}\n\n");
        write_rows(&mut text, result, batch);
        text += &format!("#### Rust beside C of the same LLVM, batch {batch}\n\n");
        write_pairs(&mut text, result, batch);
        for basis in [Basis::Version, Basis::Flags, Basis::Baseline] {
            if basis != Basis::Baseline || result.baseline.is_some() {
                write_comparisons(&mut text, result, basis, batch);
            }
        }
    }
    write_list(&mut text, "Not compared", &result.not_compared);
    write_list(&mut text, "Not measured", result.skipped);
    text
}

fn write_list(text: &mut String, title: &str, items: &[impl std::fmt::Display]) {
    let lines: String = items.iter().map(|item| format!("- {item}\n")).collect();
    if !lines.is_empty() {
        *text += &format!("#### {title}\n\n{lines}\n");
    }
}

fn write_cells(text: &mut String, cells: impl IntoIterator<Item = String>) {
    let cells: Vec<_> = cells.into_iter().collect();
    *text += &format!("| {} |\n", cells.join(" | "));
}

/// The header of a table that ends with some metrics.
fn write_header(text: &mut String, columns: &str, metrics: &[Metric]) {
    let first = columns.split(", ").map(str::to_owned);
    let metrics = metrics.iter().map(|metric| metric.label().to_owned());
    let rule = [
        vec!["---|"; first.clone().count()],
        vec!["---:|"; metrics.len()],
    ];
    write_cells(text, first.chain(metrics));
    *text += &format!("|{}\n", rule.concat().concat());
}

/// A cell, or a dash without a value.
fn or_dash(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "–".to_owned())
}

fn interval(found: Interval, digits: usize) -> String {
    let Interval { low, median, high } = found;
    format!("{median:.digits$} ({low:.digits$} to {high:.digits$})")
}

fn write_rows(text: &mut String, result: &ComparisonResult<'_>, batch: u32) {
    write_header(text, "driver, compiler, version, flags", &SHOWN);
    for row in result.rows.iter().filter(|row| row.batch == batch) {
        let (driver, compiler, flags) = (row.implementation, &row.compiler, &row.flags);
        let (driver, compiler) = (driver.to_string(), compiler.clone());
        let first = [driver, compiler, row.name(), flags.clone()];
        let metrics = SHOWN.map(|metric| {
            let digits = metric.digits();
            let found = row.metrics.get(&metric).map(|measured| measured.interval);
            or_dash(found.map(|found| match metric {
                Metric::TscCycles => interval(found, digits),
                _ => format!("{:.digits$}", found.median),
            }))
        });
        write_cells(text, first.into_iter().chain(metrics));
    }
    let mut rows = result.rows.iter();
    let counted = rows.find_map(|row| row.metrics.get(&Metric::Instructions));
    let counted = counted.map_or(COUNTING, |measured| measured.backend);
    *text += &format!(
        "\n{counted} counts instructions, loads, stores and branches. lockstep counts TSC cycles, \
         shown with their 95 % interval.\n\n",
    );
}

fn write_pairs(text: &mut String, result: &ComparisonResult<'_>, batch: u32) {
    let pairs = result.same_llvm.iter().filter(|pair| pair.batch == batch);
    let mut pairs = pairs.peekable();
    *text += match pairs.peek() {
        None => "Not compared: no measured clang has the LLVM of a measured rustc.\n",
        Some(_) => {
            "| LLVM | C by | Rust by | driver | instructions, times C | TSC cycles, times C |\n\
             |---:|---|---|---|---:|---:|\n"
        }
    };
    for pair in pairs {
        let instructions = pair.instructions.map(|ratio| format!("{ratio:.2}"));
        let cycles = pair.cycles.map(|ratio| interval(ratio, 2));
        let (llvm, driver) = (pair.llvm.to_string(), pair.implementation.to_string());
        let names = [llvm, pair.c.clone(), pair.rust.clone(), driver];
        let ratios = [instructions, cycles].map(or_dash);
        write_cells(text, names.into_iter().chain(ratios));
    }
    text.push('\n');
}

/// A table of comparisons, a sentence that counts those that are worse, and the metrics that made them worse, because
/// other metrics of the row may be within noise.
fn write_comparisons(text: &mut String, result: &ComparisonResult<'_>, basis: Basis, batch: u32) {
    let baseline = result.baseline.as_ref();
    let baseline = baseline.map_or("", |baseline| baseline.name);
    let with = format!("With the baseline {baseline}");
    let (title, newer, status) = match basis {
        Basis::Version => ("By version", "a newer version", ""),
        Basis::Flags => ("By flags", "other flags", ""),
        Basis::Baseline => (&*with, "the new build", "; this gives the exit status 3"),
    };
    *text += &format!("#### {title}, batch {batch}\n\n");
    let fits = |made: &&Compared| made.basis == basis && made.batch == batch;
    let made: Vec<&Compared> = result.comparisons.iter().filter(fits).collect();
    if made.is_empty() {
        *text += "Not compared: the list below says why.\n\n";
        return;
    }
    write_header(text, "driver, from, to", &JUDGED);
    for made in &made {
        let to = match basis {
            Basis::Flags => made.to.flags.clone(),
            _ => made.to.to_string(),
        };
        let changes = JUDGED.map(|metric| or_dash(made.metrics.get(&metric).map(change)));
        let first = [made.implementation.to_string(), made.from.to_string(), to];
        write_cells(text, first.into_iter().chain(changes));
    }
    let is_worse = |made: &&&Compared| !made.worse_by().is_empty();
    let worse: Vec<_> = made.iter().filter(is_worse).collect();
    *text += &format!(
        "\nWorse with {newer}: {} of {}. Limits: {} % and {} instructions; {} % of the TSC \
         cycles, with intervals that do not touch.\n\n",
        worse.len(),
        made.len(),
        result.judge.instructions_percent,
        result.judge.instructions,
        result.judge.cycles_percent,
    );
    for made in &worse {
        let (driver, to, metrics) = (made.implementation, &made.to, made.worse_by().join(", "));
        *text += &format!("- {driver}, {to}: worse by {metrics}{status}\n");
    }
    if !worse.is_empty() {
        text.push('\n');
    }
}

fn change(found: &MetricChange) -> String {
    let verdict = match found.verdict {
        Judgement::Worse => "**worse**".to_owned(),
        other => other.to_string(),
    };
    let (before, after, percent) = (found.before.median, found.after.median, found.percent);
    format!("{before:.1} → {after:.1} ({percent:+.1} %, {verdict})")
}
