//! Counts the instructions per packet of one driver.

use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use perfcounters::callgrind::PerPacket;
use perfcounters::device::NicProgram;
use perfcounters::valgrind::Valgrind;
use perfcounters::{Backend, Cell, Interrupt};
use record::Metric;

use super::verdict::CountPair;
use crate::builds::cells::missing;
use crate::progress::Progress;

/// Packets of the shorter of two runs, as in `triptych run`.
const PACKETS: u64 = 409_600;

/// Most measurements of one driver in the search for two that agree.
const MOST_MEASUREMENTS: usize = 4;

/// The backend that counts instructions.
///
/// # Errors
/// If this machine cannot count them.
pub(crate) fn counter(build: &Path, interrupt: &Interrupt) -> Result<Valgrind> {
    let valgrind = Valgrind {
        nic: NicProgram::new(build.join("bin/nic")),
        packets: PACKETS,
        repeats: 1,
        interrupt: interrupt.clone(),
    };
    match valgrind.unavailable() {
        Some(why) => bail!("instructions are not measurable here: {why}"),
        None => Ok(valgrind),
    }
}

/// Measures until two measurements agree, at most [`MOST_MEASUREMENTS`] times.
///
/// The NIC runs beside the driver. Each poll that finds no sent packet yet costs a few
/// instructions, so counts vary. A disturbed measurement is discarded and repeated.
///
/// # Errors
/// If the driver cannot be measured, or every measurement is disturbed.
pub(crate) fn measure_twice(
    valgrind: &Valgrind,
    cell: &Cell,
    repeatability: f64,
    progress: &mut Progress,
) -> Result<CountPair> {
    if let Some(why) = missing(cell, false) {
        bail!(why);
    }
    let mut values = Vec::new();
    loop {
        if values.len() < 2 {
            progress.step(&cell.to_string());
        }
        let value = undisturbed(valgrind, cell)?.get(Metric::Instructions);
        values.push(value.context("valgrind counted no instructions")?);
        if let Some(pair) = closest(&mut values) {
            if pair[1] - pair[0] <= repeatability || values.len() == MOST_MEASUREMENTS {
                return Ok(pair);
            }
        }
    }
}

/// Measures until nothing disturbs the driver, at most [`MOST_MEASUREMENTS`] times.
fn undisturbed(valgrind: &Valgrind, cell: &Cell) -> Result<PerPacket> {
    let mut measurement = valgrind.measure_cell(cell)?;
    for _ in 1..MOST_MEASUREMENTS {
        if measurement.undisturbed {
            break;
        }
        measurement = valgrind.measure_cell(cell)?;
    }
    ensure!(measurement.undisturbed, measurement.disturbance());
    Ok(measurement.per_packet)
}

/// Sorts the values and returns the two that are closest to each other. `None` for fewer than two.
fn closest(values: &mut [f64]) -> Option<CountPair> {
    values.sort_by(f64::total_cmp);
    let pairs = values.windows(2).map(|pair| [pair[0], pair[1]]);
    pairs.min_by(|a, b| f64::total_cmp(&(a[1] - a[0]), &(b[1] - b[0])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_closest_values_are_taken() {
        assert_eq!(closest(&mut []), None);
        assert_eq!(closest(&mut [1.0]), None);
        assert_eq!(closest(&mut [3.0, 1.0]), Some([1.0, 3.0]));
        assert_eq!(closest(&mut [5.0, 1.0, 4.5, 3.0]), Some([4.5, 5.0]));
    }
}
