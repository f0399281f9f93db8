//! Cycles of the driver alone: NIC and driver take turns in one thread, and a clock times only the
//! driver's turns.
//!
//! One process measures all cells in short rounds. A slow machine then slows all cells alike, and
//! the values of one round can be compared in pairs. The addresses that a process happens to get
//! favour one driver or another. Therefore several processes measure one after another.
//!
//! In a turn of the card, its DMA writes packets and descriptors. A *placement* says where these lines are
//! when the driver's turn begins: in the caches, in the last cache, or in memory.
//!
//! If there are too many cells for one process, they are divided into groups; cells that are compared
//! stay in one group.
//!
//! This module starts the processes, and [`worker`] is the code that they run. A driver that crashes
//! or hangs ends only its own process.

pub mod parts;
mod station;
pub mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use record::{BackendName, LinePlacement};
use serde_json::json;

use self::worker::{Found, Specification};
use crate::backend::{Backend, Cell, MeasureError, Observer};
use crate::device;
use crate::files;
use crate::interrupt::Interrupt;
use crate::process::{Process, ProcessError};
use crate::rounds::{self, median};
use crate::temporary::TemporaryFolder;

/// The lockstep backend and its settings.
#[derive(Debug, Clone)]
pub struct Lockstep {
    /// Program and first arguments of the worker; the path of its specification is added.
    pub worker: (PathBuf, Vec<String>),
    /// Number of processes that measure, one after another; at least 1.
    pub processes: u32,
    /// Number of values that each process takes of each cell; at least 1.
    pub rounds: u32,
    /// Where the card's DMA leaves lines. Each cell is measured at each placement that this processor has.
    pub placements: Vec<LinePlacement>,
    /// Stops the measurement when set.
    pub interrupt: Interrupt,
    /// Times of loads from placed packets, TSC cycles: the evidence that the placement takes effect.
    pub placed_loads: BTreeMap<LinePlacement, Vec<f64>>,
}

/// Time limit for opening and closing one forwarder.
const SETUP: Duration = Duration::from_secs(60);
/// Time limit for one round of one cell, many times the usual duration.
const ROUND: Duration = Duration::from_millis(200);
/// Usual duration of one round of one cell, for estimates.
const USUAL_ROUND: Duration = Duration::from_micros(900);

/// Most cells in one process; each cell has its own NIC, rings and packet buffers.
const GROUP: usize = 12;

/// Divides cells into groups that one process measures. Cells that differ only in their driver stay
/// in one group.
fn groups(cells: &[Cell]) -> Vec<Vec<Cell>> {
    let mut sets: Vec<Vec<Cell>> = Vec::new();
    for cell in cells {
        let alike = |set: &&mut Vec<Cell>| {
            set.first()
                .is_some_and(|first| first.conditions == cell.conditions)
        };
        match sets.iter_mut().find(alike) {
            Some(set) => set.push(cell.clone()),
            None => sets.push(vec![cell.clone()]),
        }
    }
    let mut groups: Vec<Vec<Cell>> = Vec::new();
    for set in sets {
        match groups.last_mut() {
            Some(group) if group.len() + set.len() <= GROUP => group.extend(set),
            _ => groups.push(set),
        }
    }
    groups
}

/// The slowest counter that times turns, Hz: a short turn takes 2 µs, and a tick is at most 1 % of it.
const LEAST_HZ: u64 = 50_000_000;

/// Why a counter of this frequency cannot time a turn; `None` if it can.
fn too_coarse(hz: u64) -> Option<String> {
    (hz < LEAST_HZ).then(|| {
        format!(
            "the counter CNTVCT_EL0 of this processor ticks at {} MHz; to time a turn, it needs {} MHz",
            hz / 1_000_000,
            LEAST_HZ / 1_000_000
        )
    })
}

impl Lockstep {
    /// Runs a worker over `cells`. Its values are used only if the worker ends without an error.
    fn work(&self, process: u32, cells: &[Cell], rounds: u32) -> Result<Found, MeasureError> {
        let folder = TemporaryFolder::create()?;
        let specification = Specification {
            cells: cells.to_vec(),
            rounds,
            process,
            cpu: device::two_cpus().0,
            output: folder.path().join("found.json"),
        };
        let command = files::worker(&self.worker, &specification, folder.path())?;
        let count = u32::try_from(cells.len()).unwrap_or(u32::MAX);
        let limit = SETUP * (count + 1) + ROUND * count.saturating_mul(rounds);
        let (name, out) = ("lockstep worker", Stdio::null());
        Process::start(name, command, None, folder.path(), out)?.wait(limit, &self.interrupt)?;
        files::read_json(&specification.output)
    }

    /// Measures in one process. If it crashes or hangs, runs each cell alone to find the cause.
    /// Returns what it found, and the cells for the next process.
    fn process(
        &self,
        process: u32,
        cells: &[Cell],
        observer: &mut dyn Observer,
    ) -> Result<(Found, Vec<Cell>), MeasureError> {
        let crash = match self.work(process, cells, self.rounds) {
            Err(MeasureError::Process(
                error @ (ProcessError::Failed { .. } | ProcessError::Timeout { .. }),
            )) => error,
            other => return Ok((other?, cells.to_vec())),
        };
        // A crashed process does not say which driver crashed, so each runs alone.
        let mut good = Vec::new();
        for cell in cells {
            match self.work(process, std::slice::from_ref(cell), 1) {
                Ok(_) => good.push(cell.clone()),
                Err(error) if error.ends_the_run() => return Err(error),
                Err(error) => observer.failure(cell.failure(self.name(), &error)),
            }
        }
        if good.is_empty() {
            return Ok((Found::default(), good));
        }
        if good.len() == cells.len() {
            observer.warning(&format!(
                "{crash}; each driver works alone, so the process is repeated"
            ));
        }
        Ok((self.work(process, &good, self.rounds)?, good))
    }

    /// Passes what a process found to the observer. Removes failed cells from `cells`.
    fn report(
        &mut self,
        process: u32,
        found: Found,
        cells: &mut Vec<Cell>,
        observer: &mut dyn Observer,
    ) -> Result<(), MeasureError> {
        for (placement, load) in found.placed_loads {
            self.placed_loads.entry(placement).or_default().push(load);
        }
        for failure in found.failures {
            cells.retain(|cell| cell.failure(self.name(), &failure.cause) != failure);
            observer.failure(failure);
        }
        // A warning that recurs in every process is reported once.
        for text in found.warnings.iter().filter(|_| process == 0) {
            observer.warning(text);
        }
        Ok(observer.measured(&found.samples)?)
    }
}

impl Backend for Lockstep {
    fn name(&self) -> BackendName {
        BackendName::Lockstep
    }

    fn unavailable(&self) -> Option<String> {
        too_coarse(crate::sys::counter_hz()?)
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        BTreeMap::from([
            ("not_placeable".into(), rounds::missing(&self.placements)),
            ("processes".into(), json!(self.processes)),
            ("rounds_per_process".into(), json!(self.rounds)),
            ("placements".into(), json!(self.placements)),
            (
                "packets_per_direction_and_turn".into(),
                json!(station::PACKETS_PER_TURN),
            ),
            ("turns_per_round".into(), json!(station::TURNS_PER_ROUND)),
            ("cpu".into(), json!(device::two_cpus().0)),
        ])
    }

    fn cells_of(&self, cell: &Cell) -> Vec<Cell> {
        rounds::cells_at(&self.placements, cell)
    }

    fn unavailable_for_peers(&self) -> Option<String> {
        Some(
            "lockstep calls a driver turn by turn from its own thread, and a peer is a whole program"
                .to_owned(),
        )
    }

    fn repeats(&self) -> Vec<u32> {
        (0..self.processes).collect()
    }

    fn estimate(&self, _: &Cell) -> Duration {
        // Opening a driver and its NIC, and the rounds.
        Duration::from_millis(150) + USUAL_ROUND * self.rounds
    }

    fn measure(&mut self, cells: &[Cell], observer: &mut dyn Observer) -> Result<(), MeasureError> {
        let mut groups = groups(cells);
        let name = self.name();
        let wanted = |process: u32, cells: &[Cell], observer: &dyn Observer| -> Vec<Cell> {
            cells
                .iter()
                .filter(|cell| observer.wanted(cell, name, process))
                .cloned()
                .collect()
        };
        let steps = (0..self.processes)
            .flat_map(|process| groups.iter().map(move |group| (process, group)))
            .filter(|(process, group)| !wanted(*process, group, observer).is_empty())
            .count();
        observer.begin(name, steps as u64);
        for process in 0..self.processes {
            for group in &mut groups {
                let cells = wanted(process, group, observer);
                if cells.is_empty() {
                    continue;
                }
                observer.step(&format!("{} drivers in turn", cells.len()));
                match self.process(process, &cells, observer) {
                    Ok((found, mut good)) => {
                        self.report(process, found, &mut good, observer)?;
                        group.retain(|cell| good.contains(cell) || !cells.contains(cell));
                    }
                    Err(error) if error.ends_the_run() => return Err(error),
                    Err(error) => {
                        for cell in group.drain(..) {
                            observer.failure(cell.failure(name, &error));
                        }
                    }
                }
            }
        }
        let loads = self.placed_loads.iter().map(|(placement, loads)| {
            (placement.to_string(), json!(median(loads.iter().copied())))
        });
        observer.setting(name, "placed_load_tsc_cycles", loads.collect());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use record::{Conditions, Implementation};

    use crate::common::cell;

    #[test]
    fn a_coarse_counter_times_no_turns() {
        // An Apple M1, a Raspberry Pi 5, a Graviton 3.
        assert!(too_coarse(24_000_000).unwrap().contains("ticks at 24 MHz"));
        assert_eq!(too_coarse(54_000_000), None);
        assert_eq!(too_coarse(1_050_000_000), None);
    }

    #[test]
    fn cells_that_are_compared_stay_in_one_group() {
        let batches = [32, 8, 1];
        let with = |batch: u32| Cell {
            conditions: Conditions::with_batch(batch),
            ..cell(Path::new(""), "fwd", Implementation::C)
        };
        // Five drivers under each condition, whose order does not matter.
        let cells: Vec<_> = batches.repeat(5).into_iter().map(with).collect();
        let groups = groups(&cells);
        let sizes: Vec<_> = groups.iter().map(Vec::len).collect();
        assert_eq!(sizes, [10, 5]);
        for batch in batches {
            let has = |group: &&Vec<Cell>| group.iter().any(|it| it.conditions.batch == batch);
            assert_eq!(groups.iter().filter(has).count(), 1);
        }
    }
}
