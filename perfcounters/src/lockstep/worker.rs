//! The process that drivers and NICs share.
//!
//! ```text
//! for each round
//!     for each cell            (in another order each round)
//!         NIC fills the rings
//!         driver takes its turns    <- timed, except the first of a round
//!         …
//! ```

use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use record::{BackendName, HugePages, Metric};
use rustix::fs::{FallocateFlags, MemfdFlags};

use super::messages::{Event, Specification};
use super::ports::{Ports, SoftwarePorts};
use super::station::{timing_overhead, Station};
use crate::backend::{Cell, MeasureError};
use crate::interrupt::Interrupt;
use crate::sys::{self, ForwarderCounts};

/// A larger share of dropped packets than one in this many leads to a warning.
const PACKETS_PER_DROP: u64 = 100;

/// Measures the cells of the specification, and writes down the values.
///
/// # Errors
/// If the specification cannot be read or the output cannot be written. A driver that fails is
/// an [`Event::Failure`].
pub fn run(specification: &Path, interrupt: &Interrupt) -> Result<(), MeasureError> {
    let file_error = |path: &Path| {
        let path = path.to_owned();
        move |cause| MeasureError::File { path, cause }
    };
    let text = fs::read_to_string(specification).map_err(file_error(specification))?;
    let mut specification: Specification = serde_json::from_str(&text).map_err(|error| {
        MeasureError::Other(format!("{} is malformed: {error}", specification.display()))
    })?;
    // The kernel gives the pages of one process to the next. Each process opens the drivers in another order, so
    // that no driver gets the same pages in all of them.
    specification.cells = order(specification.cells.len(), specification.process as usize)
        .map(|index| specification.cells[index].clone())
        .collect();
    let file = fs::OpenOptions::new()
        .append(true)
        .open(&specification.output)
        .map_err(file_error(&specification.output))?;
    let mut output = Output {
        file,
        path: specification.output.clone(),
        process: specification.process,
    };
    let folder = crate::temporary::TemporaryFolder::create()?;
    let open = |index: usize, cell: &Cell| {
        let folder = folder.path().join(index.to_string());
        let conditions = cell.conditions;
        SoftwarePorts::start(&folder, conditions.frame_size, conditions.placement)
    };
    measure(&specification, open, interrupt, &mut output)
}

/// Opens all cells, measures them in rounds, closes them.
fn measure<P: Ports>(
    specification: &Specification,
    open_ports: impl Fn(usize, &Cell) -> Result<P, String>,
    interrupt: &Interrupt,
    output: &mut Output,
) -> Result<(), MeasureError> {
    let mut stations = Vec::new();
    for (cell, station) in open_alike(&specification.cells, open_ports, output)? {
        match station {
            Ok(station) => stations.push(station),
            Err(why) => output.failure(cell, &why)?,
        }
    }
    // From here on this thread only measures. The ports' own threads already run, and stay where
    // they are.
    if let Some(cpu) = specification.cpu {
        sys::pin_this_thread(cpu)
            .map_err(|error| MeasureError::Other(format!("cannot run on CPU {cpu}: {error}")))?;
    }
    let overhead = timing_overhead();
    let mut survivors = Vec::new();
    for mut station in stations {
        match station.warm_up(interrupt) {
            Ok(()) => {
                if let Some((load, placement)) =
                    station.placed_load().zip(station.cell.conditions.placement)
                {
                    output.write(&Event::PlacedLoad(placement, load))?;
                }
                survivors.push(station);
            }
            Err(why) => output.failure(&station.cell, &why)?,
        }
    }
    let starts: Vec<_> = survivors.iter().map(Station::counts).collect();
    for round in 0..specification.rounds {
        if interrupt.is_set() {
            return Err(MeasureError::Interrupted);
        }
        for index in order(survivors.len(), round as usize) {
            measure_round(&mut survivors[index], round, overhead, output)?;
        }
    }
    for (station, start) in survivors.into_iter().zip(starts) {
        finish(station, start, output)?;
    }
    Ok(())
}

/// Measures one cell in one round.
fn measure_round<P: Ports>(
    station: &mut Station<P>,
    round: u32,
    overhead: u64,
    output: &mut Output,
) -> Result<(), MeasureError> {
    if station.failed {
        return Ok(());
    }
    match station.round(overhead) {
        (_, 0) => {
            station.failed = true;
            output.failure(&station.cell, "it stopped receiving packets")
        }
        (cycles, packets) => {
            let value = cycles as f64 / packets as f64;
            output.sample(&station.cell, Metric::TscCycles, value, packets, round)
        }
    }
}

/// Writes down the share of full batches since `start`, and closes the driver.
fn finish<P: Ports>(
    station: Station<P>,
    start: ForwarderCounts,
    output: &mut Output,
) -> Result<(), MeasureError> {
    let end = station.counts();
    if !station.failed {
        let calls = end.rx_calls.saturating_sub(start.rx_calls).max(1);
        let full = end.full_batches.saturating_sub(start.full_batches);
        let value = full as f64 / calls as f64;
        let packets = end.rx.saturating_sub(start.rx).max(1);
        let dropped = end.dropped.saturating_sub(start.dropped);
        if dropped * PACKETS_PER_DROP > packets {
            output.write(&Event::Warning(format!(
                "{}, lockstep: the driver dropped {dropped} of {packets} packets, and a drop costs \
                 less than a send",
                station.cell
            )))?;
        }
        output.sample(&station.cell, Metric::FullBatchRatio, value, packets, 0)?;
    }
    let cell = station.cell.clone();
    match station.close() {
        Ok(()) => Ok(()),
        Err(why) => output.failure(&cell, &format!("it did not close: {why}")),
    }
}

/// A cell, with its open driver or the reason why that could not be opened.
type Opened<'a, P> = (&'a Cell, Result<Station<P>, String>);

/// Opens all cells with the same kind of pages. Drivers take huge pages as long as some are free. If
/// there are too few, only the first drivers would get them, and the comparison would be unfair.
fn open_alike<'a, P: Ports>(
    cells: &'a [Cell],
    open_ports: impl Fn(usize, &Cell) -> Result<P, String>,
    output: &mut Output,
) -> Result<Vec<Opened<'a, P>>, MeasureError> {
    let open_all = |first_port: usize| {
        let mut huge_pages = Vec::new();
        let open = |(index, cell): (usize, &'a Cell)| {
            let before = HugePages::now().free;
            let station =
                open_ports(first_port + index, cell).and_then(|ports| Station::open(cell, ports));
            if station.is_ok() {
                huge_pages.push(before.saturating_sub(HugePages::now().free));
            }
            (cell, station)
        };
        let opened: Vec<_> = cells.iter().enumerate().map(open).collect();
        let alike = huge_pages.windows(2).all(|pair| pair[0] == pair[1]);
        (opened, alike)
    };
    let free = HugePages::now();
    let (opened, alike) = open_all(0);
    if alike {
        return Ok(opened);
    }
    for station in opened.into_iter().filter_map(|(_, station)| station.ok()) {
        // The cell is opened again below; an error in closing would show up there, too.
        let _ = station.close();
    }
    // While this process holds the free pages, no driver gets any.
    let held = hold_huge_pages();
    let (opened, alike) = open_all(cells.len());
    drop(held);
    output.write(&Event::Warning(format!(
        "lockstep: too few huge pages are free for all drivers ({}), so {}; `make hugepages` \
         reserves more",
        free.free,
        match alike {
            true => "all used ordinary pages",
            false => "some used huge pages and some did not",
        }
    )))?;
    Ok(opened)
}

/// Takes all free huge pages, until the result is dropped; `None` if that is not possible.
fn hold_huge_pages() -> Option<OwnedFd> {
    let pages = HugePages::now();
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::HUGETLB;
    let file = rustix::fs::memfd_create(c"held", flags).ok()?;
    let size = pages.free.checked_mul(pages.size_kib)?.checked_mul(1024)?;
    rustix::fs::ftruncate(&file, size).ok()?;
    rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, size).ok()?;
    Some(file)
}

/// Order of a round: every cell once. Each round begins with another cell, and each cell follows
/// another one from round to round. A cell that follows a large driver finds colder caches, so the
/// predecessor must change.
fn order(cells: usize, round: usize) -> impl Iterator<Item = usize> {
    let divides = |a: usize, b: usize| (2..=a).any(|n| a % n == 0 && b % n == 0);
    let strides: Vec<usize> = (1..=cells.max(1))
        .filter(|stride| *stride == 1 || !divides(*stride, cells))
        .collect();
    let stride = strides[round % strides.len()];
    (0..cells).map(move |turn| (round + turn * stride) % cells)
}

/// The file that receives the events.
struct Output {
    file: fs::File,
    path: PathBuf,
    /// Index of this process.
    process: u32,
}

impl Output {
    fn write(&mut self, event: &Event) -> Result<(), MeasureError> {
        let fail = |cause| MeasureError::File {
            path: self.path.clone(),
            cause,
        };
        let mut line = serde_json::to_vec(event).map_err(|error| fail(error.into()))?;
        line.push(b'\n');
        self.file.write_all(&line).map_err(fail)
    }

    fn sample(
        &mut self,
        cell: &Cell,
        metric: Metric,
        value: f64,
        packets: u64,
        repeat: u32,
    ) -> Result<(), MeasureError> {
        let mut sample = cell.sample(BackendName::Lockstep, metric, value, packets, repeat);
        sample.process = self.process;
        self.write(&Event::Sample(sample))
    }

    fn failure(&mut self, cell: &Cell, why: &str) -> Result<(), MeasureError> {
        self.write(&Event::Failure(cell.failure(BackendName::Lockstep, &why)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::cell_with_library;
    use crate::lockstep::messages::read_events;
    use crate::lockstep::station::{PACKETS_PER_TURN, TURNS_PER_ROUND};
    use record::{Implementation, Sample};

    /// The stand-in for a driver needs no NIC.
    struct NoPorts;

    impl Ports for NoPorts {
        fn devices(&self) -> [String; 2] {
            ["a".into(), "b".into()]
        }
        fn step(&mut self) {}
    }

    fn events(folder: &Path, cells: Vec<Cell>, rounds: u32) -> Vec<Event> {
        let output = folder.join("events.jsonl");
        let specification = Specification {
            cells,
            rounds,
            process: 2,
            cpu: None,
            output: output.clone(),
        };
        let mut out = Output {
            file: fs::File::create(&output).unwrap(),
            path: output.clone(),
            process: specification.process,
        };
        measure(
            &specification,
            |_, _| Ok(NoPorts),
            &Interrupt::new(),
            &mut out,
        )
        .unwrap();
        read_events(&output).unwrap()
    }

    fn cycles(events: &[Event], implementation: Implementation) -> Vec<&Sample> {
        events
            .iter()
            .filter_map(|event| match event {
                Event::Sample(sample) => Some(sample),
                _ => None,
            })
            .filter(|sample| {
                sample.implementation == implementation && sample.metric == Metric::TscCycles
            })
            .collect()
    }

    /// The value of the round that other processes disturbed least.
    fn least(samples: &[&Sample]) -> f64 {
        samples
            .iter()
            .map(|sample| sample.value)
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn every_round_visits_every_cell_in_another_order() {
        for cells in 1..=9 {
            for round in 0..20 {
                let mut visited: Vec<_> = order(cells, round).collect();
                visited.sort_unstable();
                assert_eq!(visited, (0..cells).collect::<Vec<_>>());
            }
        }
        let follower = |round| {
            let order: Vec<_> = order(8, round).collect();
            order[(order.iter().position(|cell| *cell == 3).unwrap() + 1) % 8]
        };
        assert_ne!(follower(0), follower(1));
    }

    #[test]
    fn every_round_gives_every_cell_a_value() {
        let folder = tempfile::tempdir().unwrap();
        let cells = vec![
            cell_with_library(folder.path(), Implementation::C, "WORK=20"),
            cell_with_library(folder.path(), Implementation::Rust, "WORK=60"),
        ];
        let events = events(folder.path(), cells, 21);
        let (c, rust) = (
            cycles(&events, Implementation::C),
            cycles(&events, Implementation::Rust),
        );
        assert_eq!((c.len(), rust.len()), (21, 21));
        let repeats: Vec<_> = c.iter().map(|sample| sample.repeat).collect();
        assert_eq!(repeats, (0..21).collect::<Vec<_>>());
        // Two directions, all turns but the first.
        let packets = u64::from(2 * PACKETS_PER_TURN * (TURNS_PER_ROUND - 1));
        assert!(c.iter().all(|sample| sample.packets == packets));
        assert_eq!((c[0].unit.as_str(), c[0].process), ("tsc cycles/packet", 2));
        let ratio = least(&rust) / least(&c);
        assert!(
            (2.0..4.5).contains(&ratio),
            "three times the work, {ratio} times the cycles"
        );
        let full = events.iter().filter(|event| {
            matches!(event, Event::Sample(sample)
                if sample.metric == Metric::FullBatchRatio && sample.value == 1.0)
        });
        assert_eq!(full.count(), 2);
    }

    #[test]
    fn drivers_that_fail_are_named_and_the_others_are_measured() {
        let folder = tempfile::tempdir().unwrap();
        let mut gone = cell_with_library(folder.path(), Implementation::C, "WORK=1");
        gone.library = folder.path().join("gone.so");
        let cells = vec![
            cell_with_library(folder.path(), Implementation::C, "REFUSE"),
            gone,
            cell_with_library(folder.path(), Implementation::RustUnsafe, "CLOSE"),
            cell_with_library(folder.path(), Implementation::Rust, "WORK=2"),
        ];
        let events = events(folder.path(), cells, 3);
        let causes: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                Event::Failure(failure) => Some(failure.to_string()),
                _ => None,
            })
            .collect();
        assert_eq!(causes.len(), 3, "{causes:?}");
        assert_eq!(causes[0], "c/default batch 32, lockstep: no link");
        assert!(causes[1].contains("gone.so"), "{causes:?}");
        assert!(
            causes[2].contains("rust-unsafe") && causes[2].contains("would not drain"),
            "{causes:?}"
        );
        assert_eq!(cycles(&events, Implementation::Rust).len(), 3);
    }

    #[test]
    fn a_driver_that_receives_nothing_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let cells = vec![cell_with_library(
            folder.path(),
            Implementation::C,
            "NOTHING",
        )];
        let events = events(folder.path(), cells, 3);
        assert!(
            matches!(&events[0], Event::Failure(failure) if failure.cause.contains("no packet")),
            "{events:?}"
        );
    }
}
