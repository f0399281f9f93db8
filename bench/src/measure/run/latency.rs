//! Latency measurements: the offered loads and their cells.

use std::time::Duration;

use perfcounters::{Backend, Cell, Observer};
use record::{Capacity, Conditions};

use super::backends::BackendFactory;
use super::matrix::Load;
use super::recorder::Recorder;
use super::setup::RunSetup;
use crate::build::builds::variants::Driver;

/// The backend that measures latency; `None` if the matrix has no loads or this machine cannot.
pub(super) fn latency(
    backends: &BackendFactory<'_>,
    setup: &RunSetup,
    recorder: &mut Recorder,
) -> Option<Box<dyn Backend>> {
    if setup.matrix.loaded.is_empty() {
        return None;
    }
    let latency = match backends.latency() {
        Ok(latency) => latency,
        Err(why) => {
            recorder.warning(&why);
            return None;
        }
    };
    recorder.note_settings(&latency);
    match latency.unavailable() {
        None => Some(Box::new(latency)),
        Some(why) => {
            recorder.not_measurable(latency.name(), &why);
            None
        }
    }
}

/// The number of remaining latency measurements, and an estimate of their time. Loads that are
/// shares of a capacity that is still unknown are not measured yet.
pub(super) fn remaining_latency(
    setup: &RunSetup,
    latency: &dyn Backend,
    recorder: &Recorder,
) -> (usize, Duration) {
    let mut all = (0, Duration::ZERO);
    for (conditions, load, drivers) in &setup.matrix.loaded {
        let offered = match load {
            Load::Mpps(mpps) => Some(*mpps),
            Load::Fraction(share) => {
                known_capacity(recorder, *conditions).map(|capacity| offered(capacity, *share))
            }
        };
        for cell in setup.builds.cells(with_load(*conditions, offered), drivers) {
            let wanted = latency
                .repeats()
                .iter()
                .filter(|repeat| {
                    offered.is_none() || recorder.wanted(&cell, latency.name(), **repeat)
                })
                .count();
            all.0 += wanted;
            all.1 += latency.estimate(&cell) * u32::try_from(wanted).unwrap_or(u32::MAX);
        }
    }
    all
}

/// The cells under given loads. Shares of the capacity become loads here; a resumed run keeps them.
pub(super) fn loaded_cells(setup: &RunSetup, recorder: &mut Recorder) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (conditions, load, drivers) in &setup.matrix.loaded {
        let offered = match load {
            Load::Mpps(mpps) => *mpps,
            Load::Fraction(share) => match capacity(setup, recorder, *conditions, drivers) {
                Some(capacity) => offered(capacity, *share),
                None => continue,
            },
        };
        for cell in setup
            .builds
            .cells(with_load(*conditions, Some(offered)), drivers)
        {
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
    }
    cells
}

/// The same conditions with another load.
fn with_load(conditions: Conditions, offered_mpps: Option<f64>) -> Conditions {
    Conditions {
        offered_mpps,
        ..conditions
    }
}

/// The share of a capacity as a load, to three significant digits.
fn offered(capacity: f64, share: f64) -> f64 {
    format!("{:.2e}", capacity * share)
        .parse()
        .unwrap_or(capacity * share)
}

fn known_capacity(recorder: &Recorder, conditions: Conditions) -> Option<f64> {
    let mut capacities = recorder.folder.record.capacities.iter();
    let known = capacities.find(|capacity| capacity.conditions == conditions);
    known.map(|capacity| capacity.mpps)
}

/// The throughput of the slowest driver, Mpps. `None`, with a warning, if none was measured.
fn capacity(
    setup: &RunSetup,
    recorder: &mut Recorder,
    conditions: Conditions,
    drivers: &[Driver],
) -> Option<f64> {
    if let Some(known) = known_capacity(recorder, conditions) {
        return Some(known);
    }
    let slowest = setup
        .builds
        .cells(conditions, drivers)
        .iter()
        .filter_map(|cell| recorder.median_throughput(cell))
        .min_by(f64::total_cmp);
    match slowest {
        Some(mpps) => {
            let capacity = Capacity { conditions, mpps };
            recorder.folder.record.capacities.push(capacity);
        }
        None => recorder.warning(
            "latency was not measured at shares of the capacity, because no throughput was measured",
        ),
    }
    slowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_have_three_significant_digits() {
        assert_eq!(offered(123.456, 0.5), 61.7);
        assert_eq!(offered(20.0, 0.1), 2.0);
        assert_eq!(offered(0.123_456, 1.0), 0.123);
    }
}
