//! Checks that the shipped safe driver costs the same when it is built as a rung.

use std::path::Path;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use perfcounters::Interrupt;
use record::{Conditions, Implementation};

use super::manifest::Ladder;
use crate::build::builds::cells::{self, describe_build};
use crate::build::builds::variants::DEFAULT;
use crate::measure::run::budget::Counter;
use crate::progress::Progress;

/// The largest difference between the two drivers, instructions per packet. They differ only in their
/// symbols. Valgrind, which counts where the tracer cannot, varies by 0.1. The cheapest rung costs 0.3.
const APART: f64 = 0.2;

/// The batch sizes of the ladder.
const BATCHES: [u32; 2] = [32, 8];
const ESTIMATE: Duration = Duration::from_secs(24);

/// Counts the instructions of the shipped rung, which must be built, and of the shipped driver.
/// Returns both counts as text. The bottom rung needs no check: it is the transpiled driver itself.
///
/// # Errors
/// If the counts differ, or the drivers cannot be measured.
pub fn check(ladder: &Ladder, build: &Path, interrupt: &Interrupt) -> Result<String> {
    let shipped = ladder.shipped().context("the ladder has no shipped rung")?;
    let mut counter = Counter::new(build, interrupt)?;
    let mut progress = Progress::new(ESTIMATE);
    progress.begin("count", 2 * BATCHES.len() as u64, ESTIMATE);
    let mut lines = Vec::new();
    for batch in BATCHES {
        let conditions = Conditions::with_batch(batch);
        let mut count = |variant: &str| {
            let described = describe_build(build, Implementation::Rust, variant);
            let cell = cells::cell(build, &described, conditions);
            progress.step(&cell.to_string());
            counter.measure(&cell).with_context(|| cell.to_string())
        };
        let (rung, itself) = (count(&shipped.variant())?, count(DEFAULT)?);
        lines.push(judge(&shipped.name, batch, rung, itself)?);
    }
    progress.finish();
    Ok(lines.join("\n"))
}

fn judge(name: &str, batch: u32, rung: f64, itself: f64) -> Result<String> {
    let line = format!(
        "batch {batch}: rung {name} needs {rung:.2} instructions per packet, the shipped driver \
         {itself:.2}"
    );
    ensure!(
        (rung - itself).abs() <= APART,
        "{line}; these are the same sources and flags: build/bin/rust may be out of date, run \
         `make build`"
    );
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_counts_are_refused() {
        let line = judge("09-x", 32, 77.0, 77.15).unwrap();
        assert!(line.contains("09-x needs 77.00") && line.contains("driver 77.15"));
        for rung in [76.7, 77.3, f64::NAN] {
            let error = judge("09-x", 32, rung, 77.0).unwrap_err().to_string();
            assert!(error.contains("the same sources"), "{error}");
        }
    }
}
