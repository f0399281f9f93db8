//! Cycles of a packet in any driver program: the card, on another processor, makes bursts of packets visible
//! at once, and times until the driver has handed each over. The slope over the size of the burst is the cost
//! of a packet. What the two processors need to see each other's writes cancels out.
//!
//! Several processes measure each program, one after the other and in turn with all other programs: what a
//! process happens to get, such as its pages, favours one program or another.

mod distance;
mod fit;

use std::collections::BTreeMap;
use std::time::Duration;

use nic::TimedBurst;
use record::{BackendName, Implementation, LinePlacement, Metric, Placement, Sample};
use serde::Deserialize;
use serde_json::json;

use crate::backend::{Backend, Cell, MeasureError, Observer};
use crate::device::{Nic, NicProgram};
use crate::files;
use crate::interrupt::Interrupt;
use crate::peer::{self, card::CardCounts};
use crate::place::Place;
use crate::rounds::{self, by_driver, median, order};

/// ixy and ixy.rs sleep until an interrupt, unless they have had many frames for a second.
const SATURATE_SLEEPERS: Duration = Duration::from_millis(1200);
const SATURATE: Duration = Duration::from_millis(100);
/// Usual time of a burst, and of start and end of card and program, for estimates.
const BURST: Duration = Duration::from_micros(120);
const AROUND: Duration = Duration::from_millis(500);
/// Time within which all bursts must be timed. It is many times the usual duration: a machine with other
/// work on both processors is slow.
const LIMIT: Duration = Duration::from_secs(180);
/// Time within which the driver must end after SIGTERM.
const STOP: Duration = Duration::from_secs(30);
/// Bursts at the start of a block that the card does not time.
const SETTLING: u32 = 32;
/// Least descriptors of a ring: the largest burst must fit in.
const LEAST_RING: u32 = 256;
/// A program gets at most so many times the wanted number of processes. Those are measured again in which the
/// distance of the processors changed, or was not that of most processes.
const MOST_PROCESSES: u32 = 2;
/// Why a cell has no values.
const NOTHING: &str =
    "in each process the distance of the two CPUs changed, or the card dropped nearly all bursts: \
                       end what else runs, and measure again when the host of this machine is calm";

/// The burst backend and its settings.
#[derive(Debug, Clone)]
pub struct Burst {
    /// The software card.
    pub nic: NicProgram,
    /// CPUs of driver and card.
    pub placement: Placement,
    /// Where the card leaves the lines.
    pub placements: Vec<LinePlacement>,
    /// Number of processes that measure, one after another; at least 1.
    pub processes: u32,
    /// Number of values that each process takes at each placement; at least 1.
    pub rounds: u32,
    /// Number of bursts from which a value comes.
    pub bursts: u32,
    /// Stops the measurement when set.
    pub interrupt: Interrupt,
}

/// The bursts of one round at one placement.
#[derive(Debug, Clone, Deserialize)]
struct Block {
    round: u32,
    placement: LinePlacement,
    bursts: Vec<TimedBurst>,
}

/// The part of the card's report that is used.
#[derive(Debug, Deserialize)]
struct Report {
    #[serde(flatten)]
    counts: CardCounts,
    bursts: Bursts,
}

#[derive(Debug, Deserialize)]
struct Bursts {
    blocks: Vec<Block>,
}

/// One process of a program: the costs of a packet, and the distance of the processors meanwhile.
#[derive(Debug, Clone)]
struct Measured {
    distance: f64,
    blocks: Vec<Block>,
}

/// A program, and the placements to measure it at.
#[derive(Debug)]
struct Program {
    /// The cell without a placement.
    cell: Cell,
    placements: Vec<LinePlacement>,
    measured: Vec<Measured>,
    failed: bool,
}

impl Program {
    /// The cells, which differ only in their placement.
    fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        self.placements.iter().map(|placement| {
            let mut cell = self.cell.clone();
            cell.conditions.placement = Some(*placement);
            cell
        })
    }

    /// The processes that were measured while the processors were at this distance.
    fn at(&self, distance: f64) -> impl Iterator<Item = &Measured> {
        let same = move |one: &&Measured| distance::is_same(one.distance, distance);
        self.measured.iter().filter(same)
    }
}

/// The distance of the processors in most processes.
fn usual_distance(programs: &[Program]) -> f64 {
    let measured = programs.iter().flat_map(|program| &program.measured);
    median(measured.map(|one| one.distance))
}

/// Groups cells by program.
fn programs(cells: &[Cell]) -> Vec<Program> {
    let program = |cells: Vec<&Cell>| Program {
        cell: cells[0].without_placement(),
        placements: cells
            .iter()
            .filter_map(|cell| cell.conditions.placement)
            .collect(),
        measured: Vec::new(),
        failed: false,
    };
    by_driver(cells).into_iter().map(program).collect()
}

/// Time for which a driver first gets as many frames as it takes.
fn saturation(implementation: Implementation) -> Duration {
    match implementation {
        Implementation::Ixy | Implementation::IxyRs | Implementation::IxyC2rust => {
            SATURATE_SLEEPERS
        }
        _ => SATURATE,
    }
}

/// Why no bursts can be timed under the conditions of a cell; `None` if they can.
fn impossible(cell: &Cell) -> Option<String> {
    let conditions = &cell.conditions;
    if conditions.ring_size < LEAST_RING {
        let ring = conditions.ring_size;
        return Some(format!(
            "bursts need rings of at least {LEAST_RING} descriptors, not {ring}"
        ));
    }
    (conditions.queues > 1).then(|| "bursts go to one queue".to_owned())
}

impl Burst {
    /// Measures one process of a program; `None` if the processors moved meanwhile.
    fn process(&self, program: &Program, process: u32) -> Result<Option<Measured>, MeasureError> {
        let Some(cpus) = self.placement.driver.zip(self.placement.nic) else {
            return Err(MeasureError::Other(self.unavailable().unwrap_or_default()));
        };
        let before = distance::round_trip(cpus)?;
        let blocks = self.run(program, process + 1)?;
        let after = distance::round_trip(cpus)?;
        Ok(distance::is_same(before, after).then_some(Measured {
            distance: before.min(after),
            blocks,
        }))
    }

    /// Runs the driver beside a card until the card has timed all bursts. All programs get the same bursts in
    /// the processes with the same `seed`.
    /// Fails if the card finds wrong frames.
    fn run(&self, program: &Program, seed: u32) -> Result<Vec<Block>, MeasureError> {
        let place = Place::new(&self.placement, &self.interrupt)?;
        let (cell, rounds, bursts) = (&program.cell, self.rounds, self.bursts);
        let saturate = saturation(cell.implementation).as_secs_f64();
        let bursts = format!("rounds={rounds},bursts={bursts},seed={seed},saturate={saturate}");
        let placements = program.placements.iter().map(ToString::to_string);
        let placements: Vec<_> = placements.collect();
        let placements = placements.join(",");
        let options = [
            "--traffic",
            "off",
            "--burst",
            &bursts,
            "--placement",
            &placements,
        ];
        let mut nic = Nic::start(&self.nic, cell, &place, &options)?;
        let mut driver = peer::start(cell, &nic, &place)?;
        let running = || driver.check_running();
        nic.wait_for("bursts done\n", LIMIT, &self.interrupt, running)?;
        driver.stop(STOP)?;
        let report: Report = files::read_json(&nic.stop()?)?;
        report.counts.check()?;
        Ok(report.bursts.blocks)
    }

    /// The samples of a cell. The kept processes have the numbers from 0 without gaps, because a comparison pairs the
    /// processes of two programs by number.
    fn samples(&self, cell: &Cell, measured: &[&Measured]) -> Vec<Sample> {
        let here = |block: &&Block| Some(block.placement) == cell.conditions.placement;
        let blocks = measured
            .iter()
            .flat_map(|one| one.blocks.iter().filter(here));
        let usual = fit::usual_signals(blocks.filter_map(|block| fit::fit(&block.bursts)));
        let sample = |process: u32, block: &Block| {
            let fit = fit::fit(&block.bursts).filter(|fit| fit.has_signals(usual))?;
            let packets = block.bursts.iter().map(|(packets, ..)| u64::from(*packets));
            let packets = packets.sum::<u64>() * fit::PORTS as u64;
            let (backend, cycles) = (self.name(), Metric::TscCycles);
            Some(Sample {
                process,
                ..cell.sample(backend, cycles, fit.packet, packets, block.round)
            })
        };
        let mut samples = Vec::new();
        for (process, one) in (0..).zip(measured) {
            let blocks = one.blocks.iter().filter(here);
            samples.extend(blocks.filter_map(|block| sample(process, block)));
        }
        samples
    }

    fn report(
        &self,
        programs: &[Program],
        observer: &mut dyn Observer,
    ) -> Result<(), MeasureError> {
        let mut distances = BTreeMap::new();
        let usual = usual_distance(programs);
        for program in programs {
            let trips = program.measured.iter().map(|one| one.distance.round());
            distances.insert(program.cell.to_string(), trips.collect::<Vec<_>>());
            let mut measured: Vec<_> = program.at(usual).collect();
            if measured.is_empty() && !program.measured.is_empty() {
                observer.warning(&format!(
                    "{}: the two CPUs were never as far apart as for most other programs: do not compare the \
                     cycles of {} with theirs",
                    program.cell,
                    self.name()
                ));
                measured.extend(&program.measured);
            }
            for cell in program.cells() {
                let samples = self.samples(&cell, &measured);
                if samples.is_empty() {
                    observer.failure(cell.failure(self.name(), &NOTHING));
                    continue;
                }
                observer.measured(&samples)?;
            }
        }
        observer.setting(self.name(), "round_trip_between_cpus", json!(distances));
        Ok(())
    }
}

impl Backend for Burst {
    fn name(&self) -> BackendName {
        BackendName::Burst
    }

    fn unavailable(&self) -> Option<String> {
        self.nic.unavailable_beside_driver(&self.placement)
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        BTreeMap::from([
            ("not_placeable".into(), rounds::missing(&self.placements)),
            ("placements".into(), json!(self.placements)),
            ("processes".into(), json!(self.processes)),
            ("rounds_per_process".into(), json!(self.rounds)),
            ("bursts_per_round".into(), json!(self.bursts)),
            ("cpu".into(), json!(self.placement.driver)),
            ("nic_cpu".into(), json!(self.placement.nic)),
        ])
    }

    fn cells_of(&self, cell: &Cell) -> Vec<Cell> {
        rounds::cells_at(&self.placements, cell)
    }

    fn estimate(&self, cell: &Cell) -> Duration {
        let placements = u32::try_from(self.placements.len()).unwrap_or(1).max(1);
        let start = (AROUND + saturation(cell.implementation)) / placements;
        (start + BURST * (self.bursts + SETTLING) * self.rounds) * self.processes
    }

    fn measure(&mut self, cells: &[Cell], observer: &mut dyn Observer) -> Result<(), MeasureError> {
        let mut wanted = cells.to_vec();
        wanted.retain(|cell| observer.wanted(cell, self.name(), 0));
        wanted.retain(|cell| {
            let why = impossible(cell);
            if let Some(why) = &why {
                observer.failure(cell.failure(self.name(), why));
            }
            why.is_none()
        });
        let mut programs = programs(&wanted);
        let steps = programs.len() as u64 * u64::from(self.processes);
        observer.begin(self.name(), steps);
        for process in 0..MOST_PROCESSES * self.processes {
            let usual = usual_distance(&programs);
            for index in order(programs.len(), process as usize) {
                let program = &mut programs[index];
                if program.failed || program.at(usual).count() >= self.processes as usize {
                    continue;
                }
                observer.step(&program.cell.to_string());
                match self.process(program, process) {
                    Ok(measured) => program.measured.extend(measured),
                    Err(error) if error.ends_the_run() => return Err(error),
                    Err(error) => {
                        for cell in program.cells() {
                            observer.failure(cell.failure(self.name(), &error));
                        }
                        program.failed = true;
                    }
                }
            }
        }
        programs.retain(|program| !program.failed);
        self.report(&programs, observer)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::common::{cell, Remember};

    fn burst() -> Burst {
        Burst {
            nic: NicProgram::new("/nonexistent/nic".into()),
            placement: Placement::default(),
            placements: vec![LinePlacement::Memory, LinePlacement::Warm],
            processes: 2,
            rounds: 2,
            bursts: 100,
            interrupt: Interrupt::new(),
        }
    }

    /// Bursts of a program with these costs.
    fn block(round: u32, signals: u64, packet: u64) -> Block {
        let numbers = [32, 64, 128, 192].iter().cycle();
        let pairs = numbers.clone().zip(numbers.skip(3).step_by(3));
        let burst = |(n, before): (&u32, &u32)| (*n, *before, signals + 2 * packet * u64::from(*n));
        Block {
            round,
            placement: LinePlacement::Memory,
            bursts: pairs.take(64).map(burst).collect(),
        }
    }

    fn program(measured: Vec<Measured>) -> Program {
        Program {
            cell: cell(Path::new(""), "fwd", Implementation::C),
            placements: burst().placements,
            measured,
            failed: false,
        }
    }

    fn measured(distance: f64, blocks: &[Block]) -> Measured {
        Measured {
            distance,
            blocks: blocks.to_vec(),
        }
    }

    #[test]
    fn one_program_gives_the_cells_that_differ_in_their_placement() {
        let cells = [8, 32].map(|batch| {
            let mut cell = cell(Path::new(""), "fwd", Implementation::C);
            cell.conditions.batch = batch;
            [LinePlacement::Memory, LinePlacement::Warm].map(|placement| {
                cell.conditions.placement = Some(placement);
                cell.clone()
            })
        });
        let programs = programs(cells.as_flattened());
        assert_eq!(programs[0].cell.to_string(), "c/default batch 8");
        let again: Vec<_> = programs.iter().flat_map(Program::cells).collect();
        assert_eq!(again, cells.as_flattened());
    }

    #[test]
    fn processes_and_rounds_over_another_distance_do_not_count() {
        let near = [block(0, 1000, 50), block(1, 1000, 51)];
        // In the second round, the processors were apart.
        let partly = [block(0, 1000, 52), block(1, 9000, 90)];
        let programs = [
            program(vec![
                measured(210.0, &near),
                measured(850.0, &[block(0, 5000, 95), block(1, 5000, 96)]),
                measured(200.0, &partly),
            ]),
            program(vec![measured(860.0, &[block(0, 5000, 97)])]),
            program(vec![measured(190.0, &near)]),
        ];
        let mut seen = Remember::default();
        burst().report(&programs, &mut seen).unwrap();
        let rounded = |sample: &Sample| (sample.process, sample.repeat, sample.value.round());
        let values: Vec<_> = seen.samples.iter().map(rounded).collect();
        let first = [(0, 0, 50.0), (0, 1, 51.0), (1, 0, 52.0)];
        let others = [(0, 0, 97.0), (0, 0, 50.0), (0, 1, 51.0)];
        assert_eq!(values, [&first[..], &others[..]].concat());
        // The second program was never measured at the distance of the others.
        assert_eq!(seen.warnings.len(), 1, "{:?}", seen.warnings);
        assert!(
            seen.warnings[0].contains("do not compare"),
            "{:?}",
            seen.warnings
        );
        // No program had bursts with lines that are warm.
        assert_eq!(seen.failures.len(), 3);
        assert_eq!(
            seen.settings["round_trip_between_cpus"]["c/default batch 32"],
            json!([190.0])
        );
    }

    #[test]
    fn bursts_need_two_cpus_large_rings_and_one_queue() {
        let why = burst().unavailable().unwrap();
        assert!(why.contains("need a CPU each"), "{why}");
        let with = |ring_size, queues| {
            let mut cell = cell(Path::new(""), "fwd", Implementation::C);
            cell.conditions.ring_size = ring_size;
            cell.conditions.queues = queues;
            impossible(&cell)
        };
        assert_eq!(with(512, 1), None);
        assert!(with(128, 1).unwrap().contains("at least 256"));
        assert!(with(512, 2).unwrap().contains("one queue"));
    }
}
