//! The process that drivers and NICs share.
//!
//! ```text
//! for each placement
//!     for each round
//!         for each driver          (in another order each round)
//!             NIC fills the rings
//!             driver takes its turns    <- timed, except the first of a round
//!             …
//! ```

use std::path::{Path, PathBuf};

use forwarder_library::Counts;
use record::{BackendName, Failure, HugePages, LinePlacement, Metric, Sample};
use serde::{Deserialize, Serialize};

use super::station::{timing_overhead, Station};
use crate::backend::{Cell, MeasureError};
use crate::files;
use crate::interrupt::Interrupt;
use crate::rounds::{by_driver, order};
use crate::sys;
use crate::temporary::TemporaryFolder;

/// A larger share of dropped packets than one in this many leads to a warning.
const PACKETS_PER_DROP: u64 = 100;

/// The worker's task.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Specification {
    pub cells: Vec<Cell>,
    /// Number of values to take of each cell.
    pub rounds: u32,
    /// Index of this process.
    pub process: u32,
    /// CPU to run on.
    pub cpu: Option<usize>,
    /// The file for [`Found`].
    pub output: PathBuf,
}

/// What the worker found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Found {
    pub samples: Vec<Sample>,
    pub failures: Vec<Failure>,
    /// What may have disturbed the values.
    pub warnings: Vec<String>,
    /// Times of a load from a packet that DMA has just left at a placement, in TSC cycles.
    pub placed_loads: Vec<(LinePlacement, f64)>,
}

impl Found {
    fn fail(&mut self, cell: &Cell, why: &str) {
        self.failures
            .push(cell.failure(BackendName::Lockstep, &why));
    }

    fn sample(&mut self, cell: &Cell, metric: Metric, value: f64, packets: u64, repeat: u32) {
        let name = BackendName::Lockstep;
        self.samples
            .push(cell.sample(name, metric, value, packets, repeat));
    }
}

/// Measures the cells of the specification, and writes down the values.
/// A driver that fails is in [`Found::failures`].
pub fn run(specification: &Path, interrupt: &Interrupt) -> Result<(), MeasureError> {
    let mut specification: Specification = files::read_json(specification)?;
    // The kernel gives the pages of one process to the next. Each process opens the drivers in another order, so
    // that no driver gets the same pages in all of them.
    specification.cells = order(specification.cells.len(), specification.process as usize)
        .map(|index| specification.cells[index].clone())
        .collect();
    let found = measure(&specification, interrupt)?;
    files::write_json(&specification.output, &found)
}

/// An open driver, and the cells to measure with it, which differ only in their placement.
struct Driver<'a> {
    cells: Vec<&'a Cell>,
    station: Station,
}

/// Opens all drivers, measures them in rounds at one placement after the other, closes them.
fn measure(specification: &Specification, interrupt: &Interrupt) -> Result<Found, MeasureError> {
    let mut found = Found::default();
    let folder = TemporaryFolder::create()?;
    let mut drivers = open(&specification.cells, folder.path(), &mut found);
    // From here on this thread only measures. The ports' own threads already run, and stay where
    // they are.
    if let Some(cpu) = specification.cpu {
        sys::pin_this_thread(cpu).map_err(|error| format!("cannot run on CPU {cpu}: {error}"))?;
    }
    let mut placements = Vec::new();
    for cell in &specification.cells {
        if !placements.contains(&cell.conditions.placement) {
            placements.push(cell.conditions.placement);
        }
    }
    let overhead = timing_overhead();
    for placement in placements {
        let at = |driver| station_at(driver, placement);
        let stations: Vec<_> = drivers.iter_mut().filter_map(at).collect();
        measure_in_rounds(specification, overhead, stations, interrupt, &mut found)?;
    }
    for Driver { cells, station } in drivers {
        if let Err(why) = station.close() {
            for cell in cells {
                found.fail(cell, &format!("it did not close: {why}"));
            }
        }
    }
    for sample in &mut found.samples {
        sample.process = specification.process;
    }
    Ok(found)
}

/// Opens the driver of each cell, once for all placements.
fn open<'a>(cells: &'a [Cell], folder: &Path, found: &mut Found) -> Vec<Driver<'a>> {
    let (mut drivers, mut huge_pages): (Vec<Driver<'_>>, Vec<u64>) = Default::default();
    for (index, cells) in by_driver(cells).into_iter().enumerate() {
        let free = HugePages::now().free;
        let sockets = folder.join(index.to_string());
        let Cell {
            library,
            conditions,
            ..
        } = cells[0];
        match Station::open(library, cells[0].path(), conditions, &sockets) {
            Ok(station) => {
                huge_pages.push(free.saturating_sub(HugePages::now().free));
                drivers.push(Driver { cells, station });
            }
            Err(why) => cells.iter().for_each(|cell| found.fail(cell, &why)),
        }
    }
    if huge_pages.windows(2).any(|pair| pair[0] != pair[1]) {
        found.warnings.push(
            "lockstep: too few huge pages are free for all drivers, so some used huge pages and some did \
             not: do not compare them; `make hugepages` reserves more"
                .to_owned(),
        );
    }
    drivers
}

/// The driver's cell at a placement, if it has one.
fn station_at<'d, 'a>(
    driver: &'d mut Driver<'a>,
    placement: Option<LinePlacement>,
) -> Option<(&'a Cell, &'d mut Station)> {
    let mut cells = driver.cells.iter();
    let cell = cells.find(|cell| cell.conditions.placement == placement)?;
    Some((cell, &mut driver.station))
}

/// Measures cells at one placement. A driver that stops receiving is measured no further there.
fn measure_in_rounds(
    specification: &Specification,
    overhead: u64,
    stations: Vec<(&Cell, &mut Station)>,
    interrupt: &Interrupt,
    found: &mut Found,
) -> Result<(), MeasureError> {
    let mut ready = Vec::new();
    for (cell, station) in stations {
        let placement = cell.conditions.placement;
        let placed = station.place(placement);
        match placed.and_then(|()| station.warm_up(interrupt)) {
            Ok(()) => {
                let load = placement.zip(station.placed_load());
                found.placed_loads.extend(load);
                let start = station.counts();
                ready.push((cell, station, start, true));
            }
            Err(why) => found.fail(cell, &why),
        }
    }
    for round in 0..specification.rounds {
        if interrupt.is_set() {
            return Err(MeasureError::Interrupted);
        }
        for index in order(ready.len(), round as usize) {
            let (cell, station, _, receives) = &mut ready[index];
            if !*receives {
                continue;
            }
            match station.round(overhead) {
                (_, 0) => {
                    *receives = false;
                    found.fail(cell, "it stopped receiving packets");
                }
                (cycles, packets) => {
                    let value = cycles as f64 / packets as f64;
                    found.sample(cell, Metric::TscCycles, value, packets, round);
                }
            }
        }
    }
    for (cell, station, start, receives) in ready {
        if receives {
            count_calls(cell, start, station.counts(), found);
        }
    }
    Ok(())
}

/// Adds the share of full batches from `start` to `end`.
fn count_calls(cell: &Cell, start: Counts, end: Counts, found: &mut Found) {
    let calls = end.rx_calls.saturating_sub(start.rx_calls).max(1);
    let full = end.full_batches.saturating_sub(start.full_batches);
    let packets = end.rx.saturating_sub(start.rx).max(1);
    let dropped = end.dropped.saturating_sub(start.dropped);
    if dropped * PACKETS_PER_DROP > packets {
        found.warnings.push(format!(
            "{cell}, lockstep: the driver dropped {dropped} of {packets} packets, and a drop costs \
             less than a send"
        ));
    }
    let value = full as f64 / calls as f64;
    found.sample(cell, Metric::FullBatchRatio, value, packets, 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::cell_with_library;
    use crate::lockstep::station::{PACKETS_PER_TURN, TURNS_PER_ROUND};
    use record::Implementation::{self, Rust, RustUnsafe, C};

    fn found(cells: Vec<Cell>, rounds: u32) -> Found {
        let specification = Specification {
            cells,
            rounds,
            process: 2,
            cpu: None,
            output: PathBuf::new(),
        };
        measure(&specification, &Interrupt::new()).unwrap()
    }

    fn cycles(found: &Found, implementation: Implementation) -> Vec<&Sample> {
        let samples = found.samples.iter();
        let of =
            |it: &&Sample| it.implementation == implementation && it.metric == Metric::TscCycles;
        samples.filter(of).collect()
    }

    #[test]
    fn every_round_gives_every_cell_a_value() {
        let folder = tempfile::tempdir().unwrap();
        let cells = vec![
            cell_with_library(folder.path(), C, "WORK=20"),
            cell_with_library(folder.path(), Rust, "WORK=60"),
        ];
        let found = found(cells, 21);
        let (c, rust) = (cycles(&found, C), cycles(&found, Rust));
        assert_eq!((c.len(), rust.len()), (21, 21));
        let repeats: Vec<_> = c.iter().map(|sample| sample.repeat).collect();
        assert_eq!(repeats, (0..21).collect::<Vec<_>>());
        // Two directions, all turns but the first.
        let packets = u64::from(2 * PACKETS_PER_TURN * (TURNS_PER_ROUND - 1));
        assert!(c.iter().all(|sample| sample.packets == packets));
        assert_eq!((c[0].unit.as_str(), c[0].process), ("tsc cycles/packet", 2));
        // Other processes disturb some rounds.
        let least = |samples: &[&Sample]| {
            let values = samples.iter().map(|sample| sample.value);
            values.fold(f64::INFINITY, f64::min)
        };
        let ratio = least(&rust) / least(&c);
        assert!(
            (2.0..4.5).contains(&ratio),
            "three times the work, {ratio} times the cycles"
        );
        let full =
            |sample: &&Sample| sample.metric == Metric::FullBatchRatio && sample.value == 1.0;
        assert_eq!(found.samples.iter().filter(full).count(), 2);
    }

    #[test]
    fn drivers_that_fail_are_named_and_the_others_are_measured() {
        let folder = tempfile::tempdir().unwrap();
        let mut gone = cell_with_library(folder.path(), C, "WORK=1");
        gone.library = folder.path().join("gone.so");
        let cells = vec![
            cell_with_library(folder.path(), C, "REFUSE"),
            gone,
            cell_with_library(folder.path(), C, "NOTHING"),
            cell_with_library(folder.path(), RustUnsafe, "CLOSE"),
            cell_with_library(folder.path(), Rust, "WORK=2"),
        ];
        let found = found(cells, 3);
        let causes: Vec<_> = found.failures.iter().map(ToString::to_string).collect();
        for (cause, part) in causes.iter().zip([
            "c/default batch 32, lockstep: no link",
            "gone.so",
            "no packet",
            "rust-unsafe/default batch 32, lockstep: it did not close: it would not drain",
        ]) {
            assert!(cause.contains(part), "{causes:?}");
        }
        assert_eq!(causes.len(), 4, "{causes:?}");
        assert_eq!(cycles(&found, Rust).len(), 3);
    }
}
