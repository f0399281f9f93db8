//! Compares the cycles of two drivers in one run with the recorded ratio.

use std::path::Path;

use anyhow::{bail, Result};
use perfcounters::lockstep::Lockstep;
use perfcounters::{Backend, Cell, Interrupt};
use record::{Conditions, Implementation, LinePlacement, Metric, Sample};

use super::count::Collector;
use super::figures::{in_brackets, CycleRatio, WIDTH};
use super::verdict::Verdict;
use crate::build::builds::cells::{cell, describe_build};
use crate::interval::Interval;
use crate::usage::WorkerKind;

/// Processes, and rounds of each: some seconds, which is enough to see what a driver gains or loses.
const PROCESSES: u32 = 6;
const ROUNDS: u32 = 20;

/// Measures the drivers of all ratios in turn, and adds a line for each, and a warning for each that is
/// not as recorded.
///
/// # Errors
/// If the drivers cannot be measured, or the user asks to stop.
pub(super) fn judge(
    ratios: &[CycleRatio],
    build: &Path,
    interrupt: &Interrupt,
    verdict: &mut Verdict,
) -> Result<()> {
    if ratios.is_empty() {
        return Ok(());
    }
    let mut lockstep = Lockstep {
        worker: WorkerKind::Lockstep.command()?,
        processes: PROCESSES,
        rounds: ROUNDS,
        placements: vec![LinePlacement::Memory],
        interrupt: interrupt.clone(),
    };
    let cells = cells(ratios, build);
    let cells: Vec<Cell> = cells
        .iter()
        .flat_map(|cell| lockstep.cells_of(cell))
        .collect();
    if let Some(why) = lockstep.unavailable() {
        bail!(why);
    }
    if cells.is_empty() {
        bail!("this processor cannot place lines in memory");
    }
    let mut collector = Collector::default();
    lockstep.measure(&cells, &mut collector)?;
    if let Some(why) = collector.failure {
        bail!(why);
    }
    for ratio in ratios {
        if let Some(found) = measured(ratio, &collector.samples) {
            let (line, warning) = compared(ratio, found);
            verdict.lines.push(line);
            verdict.warnings.extend(warning);
        }
    }
    Ok(())
}

/// The drivers of all ratios, each once at each batch size.
fn cells(ratios: &[CycleRatio], build: &Path) -> Vec<Cell> {
    let mut cells: Vec<Cell> = Vec::new();
    for ratio in ratios {
        for implementation in [ratio.to, ratio.implementation] {
            let described = describe_build(build, implementation, &ratio.variant);
            let cell = cell(build, &described, Conditions::with_batch(ratio.batch));
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
    }
    cells
}

/// The ratios of the rounds, in which both drivers were measured, by process.
fn measured(ratio: &CycleRatio, samples: &[Sample]) -> Option<Interval> {
    let rounds = |of: Implementation| {
        let fits = move |sample: &&Sample| {
            (sample.implementation, sample.metric) == (of, Metric::TscCycles)
                && (&sample.variant, sample.conditions.batch) == (&ratio.variant, ratio.batch)
        };
        let of = samples.iter().filter(fits);
        of.map(|sample| ((sample.process, sample.repeat), sample.value))
    };
    Interval::of_ratios(
        &rounds(ratio.implementation).collect(),
        &rounds(ratio.to).collect(),
    )
}

/// The line of a ratio, and a warning if the interval excludes the recorded figure.
fn compared(ratio: &CycleRatio, found: Interval) -> (String, Option<String>) {
    let CycleRatio {
        implementation,
        to,
        variant,
        batch,
        expected,
    } = ratio;
    let paths = in_brackets(variant);
    let name = format!("{implementation} / {to}{paths} batch {batch}, TSC cycles");
    let Interval { low, median, high } = found;
    let line =
        format!("{name:WIDTH$} {median:10.3} {expected:10.2}  95 % interval {low:.3} to {high:.3}");
    let warning = (!found.contains(*expected)).then(|| {
        format!(
            "{name}: {median:.3} times as many ({low:.3} to {high:.3}), and {expected:.2} is recorded"
        )
    });
    (line, warning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::builds::variants::{DEFAULT, TUNED};
    use Implementation::{Rust, C};

    fn ratio() -> CycleRatio {
        CycleRatio {
            implementation: Rust,
            to: C,
            variant: DEFAULT.to_owned(),
            batch: 32,
            expected: 1.05,
        }
    }

    /// The samples of rounds in which Rust needs `times` as many cycles as C.
    fn samples(times: f64) -> Vec<Sample> {
        let of = |implementation, factor: f64| {
            let build = describe_build(Path::new("/none"), implementation, DEFAULT);
            let cell = cell(Path::new("/none"), &build, Conditions::with_batch(32));
            (0..12).map(move |round| {
                let value = f64::from(50 + round) * factor;
                let (process, repeat) = (round / 4, round % 4);
                let backend = record::BackendName::Lockstep;
                let sample = cell.sample(backend, Metric::TscCycles, value, 1, repeat);
                Sample { process, ..sample }
            })
        };
        of(C, 1.0).chain(of(Rust, times)).collect()
    }

    #[test]
    fn rounds_are_paired_and_an_interval_that_excludes_the_figure_warns() {
        let same = measured(&ratio(), &samples(1.05)).unwrap();
        assert!((same.median - 1.05).abs() < 1e-9, "{same:?}");
        let of = |low, high| Interval {
            low,
            median: (low + high) / 2.0,
            high,
        };
        assert_eq!(compared(&ratio(), of(1.04, 1.06)).1, None);
        let (line, warning) = compared(&ratio(), of(1.10, 1.20));
        assert!(
            line.contains("1.150") && line.contains("1.100 to 1.200"),
            "{line}"
        );
        assert!(warning.unwrap().contains("and 1.05 is recorded"));
    }

    #[test]
    fn each_driver_is_measured_once_at_a_batch_size() {
        let ratios = [
            ratio(),
            CycleRatio {
                batch: 8,
                ..ratio()
            },
            CycleRatio {
                implementation: Implementation::RustUnsafe,
                ..ratio()
            },
            CycleRatio {
                variant: TUNED.to_owned(),
                ..ratio()
            },
        ];
        assert_eq!(cells(&ratios, Path::new("/none")).len(), 7);
        let (line, _) = compared(&ratios[3], measured(&ratios[0], &samples(1.0)).unwrap());
        assert!(line.starts_with("rust / c (tuned) batch 32"), "{line}");
        assert_eq!(measured(&ratios[3], &samples(1.0)), None);
        assert_eq!(measured(&ratio(), &[]), None);
    }
}
