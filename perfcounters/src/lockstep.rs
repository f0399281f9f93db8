//! Cycles of the driver alone: NIC and driver take turns in one thread, and a clock times only the
//! driver's turns.
//!
//! One process measures all cells in short rounds. A slow machine then slows all cells alike, and
//! the values of one round can be compared in pairs. The addresses that a process happens to get
//! favour one driver or another. Therefore several processes measure one after another.
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
use crate::rounds::{self, by_driver, median};
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
}

/// Time limit for opening and closing one forwarder.
const SETUP: Duration = Duration::from_secs(60);
/// Time limit for one round of one cell, many times the usual duration.
const ROUND: Duration = Duration::from_millis(200);
/// Usual duration of one round of one cell, for estimates.
const USUAL_ROUND: Duration = Duration::from_micros(900);

/// Most drivers in one process; each has its own NIC, rings and packet buffers.
const GROUP: usize = 12;

/// Divides cells into groups that one process measures. Cells that differ only in their driver or placement
/// stay in one group.
fn groups(cells: &[Cell]) -> Vec<Vec<Cell>> {
    let mut sets: Vec<Vec<Cell>> = Vec::new();
    for cell in cells {
        let conditions = cell.without_placement().conditions;
        let alike = |set: &&mut Vec<Cell>| set[0].without_placement().conditions == conditions;
        match sets.iter_mut().find(alike) {
            Some(set) => set.push(cell.clone()),
            None => sets.push(vec![cell.clone()]),
        }
    }
    let mut groups: Vec<Vec<Cell>> = Vec::new();
    for set in sets {
        match groups.last_mut() {
            Some(group) if by_driver(group).len() + by_driver(&set).len() <= GROUP => {
                group.extend(set);
            }
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
    fn process(
        &self,
        process: u32,
        cells: &[Cell],
        observer: &mut dyn Observer,
    ) -> Result<Found, MeasureError> {
        let crash = match self.work(process, cells, self.rounds) {
            Err(MeasureError::Process(
                error @ (ProcessError::Failed { .. } | ProcessError::Timeout { .. }),
            )) => error,
            found => return found,
        };
        // A crashed process does not say which driver crashed, so each runs alone.
        let (mut good, mut failures) = (Vec::new(), Vec::new());
        for cell in cells {
            match self.work(process, std::slice::from_ref(cell), 1) {
                Ok(_) => good.push(cell.clone()),
                Err(error) if error.ends_the_run() => return Err(error),
                Err(error) => failures.push(cell.failure(self.name(), &error)),
            }
        }
        if failures.is_empty() {
            observer.warning(&format!(
                "{crash}; each driver works alone, so the process is repeated"
            ));
        }
        let mut found = match good.is_empty() {
            true => Found::default(),
            false => self.work(process, &good, self.rounds)?,
        };
        found.failures.append(&mut failures);
        Ok(found)
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
        let placements = u32::try_from(self.placements.len()).unwrap_or(1).max(1);
        // Opening a driver and its NIC once for all placements, and the rounds.
        Duration::from_millis(150) / placements + USUAL_ROUND * self.rounds
    }

    fn measure(&mut self, cells: &[Cell], observer: &mut dyn Observer) -> Result<(), MeasureError> {
        let (name, groups) = (self.name(), groups(cells));
        let wanted = |process: u32, group: &[Cell]| {
            let mut cells = group.to_vec();
            cells.retain(|cell| observer.wanted(cell, name, process));
            (!cells.is_empty()).then_some((process, cells))
        };
        let processes = (0..self.processes)
            .flat_map(|process| groups.iter().map(move |group| (process, group)))
            .filter_map(|(process, group)| wanted(process, group))
            .collect::<Vec<_>>();
        observer.begin(name, processes.len() as u64);
        let mut placed_loads: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        let mut failed: Vec<Cell> = Vec::new();
        for (process, mut cells) in processes {
            cells.retain(|cell| !failed.contains(cell));
            if cells.is_empty() {
                continue;
            }
            observer.step(&format!("{} drivers in turn", cells.len()));
            let found = match self.process(process, &cells, observer) {
                Err(error) if error.ends_the_run() => return Err(error),
                Err(error) => Found {
                    failures: cells
                        .iter()
                        .map(|cell| cell.failure(name, &error))
                        .collect(),
                    ..Found::default()
                },
                Ok(found) => found,
            };
            for (placement, load) in found.placed_loads {
                placed_loads
                    .entry(placement.to_string())
                    .or_default()
                    .push(load);
            }
            for failure in found.failures {
                let cell = cells
                    .iter()
                    .find(|cell| cell.series(name) == failure.series);
                failed.extend(cell.cloned());
                observer.failure(failure);
            }
            // A warning that recurs in every process is reported once.
            for text in found.warnings.iter().filter(|_| process == 0) {
                observer.warning(text);
            }
            observer.measured(&found.samples)?;
        }
        let loads = placed_loads.into_iter();
        let loads = loads.map(|(placement, loads)| (placement, json!(median(loads))));
        // The evidence that the placements take effect.
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
        let with = |batch: u32, variant: u32, placement: LinePlacement| {
            let mut cell = cell(Path::new(""), "fwd", Implementation::C);
            cell.variant = variant.to_string();
            cell.conditions = Conditions::with_batch(batch);
            cell.conditions.placement = Some(placement);
            cell
        };
        // Five drivers under each condition, whose order does not matter.
        let mut cells = Vec::new();
        for (variant, batch) in (0..5).flat_map(|variant| batches.map(|batch| (variant, batch))) {
            let at = |placement| with(batch, variant, placement);
            cells.extend([LinePlacement::Memory, LinePlacement::Warm].map(at));
        }
        let groups = groups(&cells);
        let sizes: Vec<_> = groups.iter().map(Vec::len).collect();
        assert_eq!(sizes, [20, 10]);
        assert!(by_driver(&groups[0]).iter().all(|cells| cells.len() == 2));
        for batch in batches {
            let has = |group: &&Vec<Cell>| group.iter().any(|it| it.conditions.batch == batch);
            assert_eq!(groups.iter().filter(has).count(), 1);
        }
    }
}
