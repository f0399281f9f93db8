//! Latency: the loads that are offered, and the cells that they make.

use std::time::Duration;

use perfcounters::{Backend, Cell, Observer};
use record::{Capacity, Conditions};

use super::backends::Surroundings;
use super::matrix::Load;
use super::recorder::Recorder;
use super::stage::Stage;
use crate::builds::variants::Driver;

/// What measures latency, if that is wanted and possible.
pub(super) fn latency(
    surroundings: &Surroundings<'_>,
    stage: &Stage,
    recorder: &mut Recorder,
) -> Option<Box<dyn Backend>> {
    if stage.matrix.loaded.is_empty() {
        return None;
    }
    let latency = match surroundings.latency() {
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

/// As [`Work::remaining`]; a load that is not known yet was not measured yet.
pub(super) fn remaining_latency(
    stage: &Stage,
    latency: &dyn Backend,
    recorder: &Recorder,
) -> (usize, Duration) {
    let mut all = (0, Duration::ZERO);
    for (conditions, load, drivers) in &stage.matrix.loaded {
        let offered = match load {
            Load::Mpps(mpps) => Some(*mpps),
            Load::Fraction(share) => {
                known_capacity(recorder, *conditions).map(|capacity| offered(capacity, *share))
            }
        };
        for cell in stage.builds.cells(with_load(*conditions, offered), drivers) {
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

/// The cells under given loads. Shares of the capacity become loads, which stay what they are when
/// the run is resumed.
pub(super) fn loaded_cells(stage: &Stage, recorder: &mut Recorder) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (conditions, load, drivers) in &stage.matrix.loaded {
        let offered = match load {
            Load::Mpps(mpps) => *mpps,
            Load::Fraction(share) => match capacity(stage, recorder, *conditions, drivers) {
                Some(capacity) => offered(capacity, *share),
                None => continue,
            },
        };
        for cell in stage
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

/// The conditions under another load.
fn with_load(conditions: Conditions, offered_mpps: Option<f64>) -> Conditions {
    Conditions {
        offered_mpps,
        ..conditions
    }
}

/// Share of a capacity, to three significant digits.
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

/// What the slowest of the drivers carries, Mpps; `None`, with a warning, if none was measured.
fn capacity(
    stage: &Stage,
    recorder: &mut Recorder,
    conditions: Conditions,
    drivers: &[Driver],
) -> Option<f64> {
    if let Some(known) = known_capacity(recorder, conditions) {
        return Some(known);
    }
    let slowest = stage
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
            "no throughput was measured, so no share of it can be offered: there is no latency at \
             such loads",
        ),
    }
    slowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_round() {
        assert_eq!(offered(123.456, 0.5), 61.7);
        assert_eq!(offered(20.0, 0.1), 2.0);
        assert_eq!(offered(0.123_456, 1.0), 0.123);
    }
}
