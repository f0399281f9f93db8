//! The process that drivers and NICs share.
//!
//! ```text
//! for each round
//!     for each cell            (in another order each round)
//!         NIC fills the rings
//!         driver takes its turns    <- timed, the first of a round excepted
//!         …
//! ```

use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{Event, Specification};
use nic::{DataPlane, FrameSizes, Nic, NicConfig, Traffic, VerifyMode};
use record::HugePages;
use record::{BackendName, Metric};
use rustix::fs::{FallocateFlags, MemfdFlags};

use crate::backend::{Cell, MeasureError};
use crate::interrupt::Interrupt;
use crate::sys::{self, Forwarder, ForwarderLibrary};

/// Packets that a driver receives from each of its two devices in one timed turn, unless its rings
/// are too small for that. The same for all batch sizes (a larger batch is a turn of its own), so
/// that all find the caches alike.
pub const PACKETS_PER_TURN: u32 = 128;
/// Turns of one cell in one round. The first is not counted: it finds the caches full of the
/// other drivers' code and data.
pub const TURNS_PER_ROUND: u32 = 64;
/// How long the first packet may take to arrive.
pub(super) const FIRST_PACKET: Duration = Duration::from_secs(5);
/// How often the two clock readings around nothing are taken, to know what they cost.
const OVERHEAD_READINGS: usize = 10_001;

/// Two ports and what is connected to them, stepped by hand.
pub(super) trait Ports: Send {
    /// Names by which a driver opens the ports.
    fn devices(&self) -> [String; 2];
    /// Takes what the driver sent, and gives it as many packets as its rings have room for.
    fn step(&mut self);
}

/// Measures what the specification asks for, and writes down what it finds.
///
/// # Errors
/// If the specification cannot be read or the output not be written; a driver that fails is
/// an [`Event::Failure`].
pub fn run(specification: &Path, interrupt: &Interrupt) -> Result<(), MeasureError> {
    let file_error = |path: &Path| {
        let path = path.to_owned();
        move |cause| MeasureError::File { path, cause }
    };
    let text = fs::read_to_string(specification).map_err(file_error(specification))?;
    let specification: Specification = serde_json::from_str(&text).map_err(|error| {
        MeasureError::Other(format!("{} is malformed: {error}", specification.display()))
    })?;
    let file = fs::OpenOptions::new()
        .append(true)
        .open(&specification.output)
        .map_err(file_error(&specification.output))?;
    let mut output = Output {
        file,
        path: specification.output.clone(),
    };
    let folder = crate::device::temporary_folder()?;
    let open = |index: usize, cell: &Cell| {
        SoftwarePorts::start(
            &folder.path().join(index.to_string()),
            cell.conditions.frame_size,
        )
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
    // From here on this thread only measures. The ports' own threads were started before and may
    // run elsewhere.
    if let Some(cpu) = specification.cpu {
        sys::pin_this_thread(cpu)
            .map_err(|error| MeasureError::Other(format!("cannot run on CPU {cpu}: {error}")))?;
    }
    let overhead = timing_overhead();
    let mut survivors = Vec::new();
    for mut station in stations {
        match station.warm_up(interrupt) {
            Ok(()) => survivors.push(station),
            Err(why) => output.failure(&station.cell, &why)?,
        }
    }
    let starts: Vec<_> = survivors
        .iter()
        .map(|station| station.forwarder.counts())
        .collect();
    for round in 0..specification.rounds {
        if interrupt.is_set() {
            return Err(MeasureError::Interrupted);
        }
        for index in order(survivors.len(), round as usize) {
            let station = &mut survivors[index];
            if station.failed {
                continue;
            }
            let (cycles, packets) = station.round(overhead);
            match packets {
                0 => {
                    station.failed = true;
                    output.failure(&station.cell, "it stopped receiving packets")?;
                }
                _ => {
                    let value = cycles as f64 / packets as f64;
                    output.sample(&station.cell, Metric::TscCycles, value, packets, round)?;
                }
            }
        }
    }
    for (station, start) in survivors.into_iter().zip(starts) {
        let end = station.forwarder.counts();
        if !station.failed {
            let calls = end.rx_calls.saturating_sub(start.rx_calls).max(1);
            let full = end.full_batches.saturating_sub(start.full_batches);
            let value = full as f64 / calls as f64;
            let packets = end.rx.saturating_sub(start.rx).max(1);
            let dropped = end.dropped.saturating_sub(start.dropped);
            if dropped * 100 > packets {
                output.write(&Event::Warning(format!(
                    "{}, lockstep: {dropped} of {packets} packets were dropped, which costs the \
                     driver less than sending them",
                    station.cell
                )))?;
            }
            output.sample(&station.cell, Metric::FullBatchRatio, value, packets, 0)?;
        }
        let cell = station.cell.clone();
        if let Err(why) = station.close() {
            output.failure(&cell, &format!("it did not close: {why}"))?;
        }
    }
    Ok(())
}

/// A cell, and its open driver or why it could not be opened.
type Opened<'a, P> = (&'a Cell, Result<Station<P>, String>);

/// Opens all cells with the same kind of pages. Drivers take huge pages as long as there are some,
/// so with too few the first ones would be measured with and the others without.
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
        // It did nothing yet; should it not close well, it says so when it is closed in the end.
        let _ = station.close();
    }
    // While these pages are held, nobody gets any.
    let held = hold_huge_pages();
    let (opened, alike) = open_all(cells.len());
    drop(held);
    output.write(&Event::Warning(format!(
        "lockstep: too few huge pages are free for all drivers ({}), so {}; `make hugepages` \
         reserves more",
        free.free,
        match alike {
            true => "all were measured with ordinary pages",
            false => "some were measured with, some without",
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

/// Order of a round: every cell once, beginning with another one each round and, from one round to
/// the next, each after another one. Whoever follows a large driver finds colder caches; so nobody
/// always does.
fn order(cells: usize, round: usize) -> impl Iterator<Item = usize> {
    let divides = |a: usize, b: usize| (2..=a).any(|n| a % n == 0 && b % n == 0);
    let strides: Vec<usize> = (1..=cells.max(1))
        .filter(|stride| *stride == 1 || !divides(*stride, cells))
        .collect();
    let stride = strides[round % strides.len()];
    (0..cells).map(move |turn| (round + turn * stride) % cells)
}

/// A driver and its NIC.
struct Station<P> {
    cell: Cell,
    ports: P,
    forwarder: Forwarder,
    /// Forwarder turns in one timed turn.
    batches: u32,
    failed: bool,
}

impl<P: Ports> Station<P> {
    fn open(cell: &Cell, mut ports: P) -> Result<Self, String> {
        let library = ForwarderLibrary::load(&cell.library)?;
        let [a, b] = ports.devices();
        let forwarder = while_stepping(&mut ports, || {
            library.open(&a, &b, cell.conditions.batch, cell.conditions.ring_size)
        })?;
        Ok(Self {
            cell: cell.clone(),
            ports,
            forwarder,
            // Half a ring at most: the NIC fills it anew before each turn.
            batches: (PACKETS_PER_TURN.min(cell.conditions.ring_size / 2) / cell.conditions.batch)
                .max(1),
            failed: false,
        })
    }

    /// Takes turns until packets arrive: the link needs a moment to come up.
    fn warm_up(&mut self, interrupt: &Interrupt) -> Result<(), String> {
        let start = Instant::now();
        while start.elapsed() < FIRST_PACKET && !interrupt.is_set() {
            self.ports.step();
            if self.forwarder.turn() > 0 {
                // Through the whole rings once, so that no descriptor is new.
                for _ in 0..TURNS_PER_ROUND {
                    self.turn();
                }
                return Ok(());
            }
        }
        Err(format!(
            "no packet arrived within {} s",
            FIRST_PACKET.as_secs()
        ))
    }

    /// One timed turn: cycles, not yet free of what reading the clock costs, and packets.
    fn turn(&mut self) -> (u64, u64) {
        self.ports.step();
        let mut packets = 0;
        let start = sys::tsc_ordered();
        for _ in 0..self.batches {
            packets += u64::from(self.forwarder.turn());
        }
        let end = sys::tsc_ordered();
        (end.wrapping_sub(start), packets)
    }

    /// One round: cycles and packets of all turns but the first.
    fn round(&mut self, overhead: u64) -> (u64, u64) {
        self.turn();
        let (mut cycles, mut packets) = (0, 0);
        for _ in 1..TURNS_PER_ROUND {
            let turn = self.turn();
            cycles += turn.0.saturating_sub(overhead);
            packets += turn.1;
        }
        (cycles, packets)
    }

    fn close(mut self) -> Result<(), String> {
        let forwarder = self.forwarder;
        while_stepping(&mut self.ports, || forwarder.close())
    }
}

/// Does what needs a NIC that goes on by itself: opening and closing a driver wait for it.
pub(super) fn while_stepping<P: Ports, R>(ports: &mut P, work: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                ports.step();
                thread::yield_now();
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

/// What two readings of the clock with nothing between them are apart, cycles: the median.
pub(super) fn timing_overhead() -> u64 {
    let mut readings: Vec<u64> = (0..OVERHEAD_READINGS)
        .map(|_| {
            let start = sys::tsc_ordered();
            sys::tsc_ordered().wrapping_sub(start)
        })
        .collect();
    readings.sort_unstable();
    readings[OVERHEAD_READINGS / 2]
}

/// Where the events go.
struct Output {
    file: fs::File,
    path: std::path::PathBuf,
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
        self.write(&Event::Sample(cell.sample(
            BackendName::Lockstep,
            metric,
            value,
            packets,
            repeat,
        )))
    }

    fn failure(&mut self, cell: &Cell, why: &str) -> Result<(), MeasureError> {
        self.write(&Event::Failure(cell.failure(BackendName::Lockstep, &why)))
    }
}

/// The software NIC, in this process and without a data-plane thread of its own.
pub(super) struct SoftwarePorts {
    devices: [String; 2],
    data_plane: DataPlane,
    /// Serves the sockets; kept until the driver has closed.
    _nic: Nic,
}

impl SoftwarePorts {
    /// A NIC with two ports that fills every free receive descriptor; its sockets are in `folder`.
    pub(super) fn start(folder: &Path, frame_size: u32) -> Result<Self, String> {
        let sizes: FrameSizes = frame_size
            .to_string()
            .parse()
            .map_err(|error| format!("frames of {frame_size} bytes: {error}"))?;
        let config = NicConfig::new(folder, 2).with_each_port(|port| {
            port.traffic = Traffic::Saturate;
            port.sizes = sizes.clone();
            // Checking what comes back is for the conformance tests; here it would take time from
            // the measurement and push the driver's data out of the caches.
            port.verify = VerifyMode::Off;
        });
        let nic = Nic::new(config).map_err(|error| error.to_string())?;
        let data_plane = nic.data_plane().map_err(|error| error.to_string())?;
        match nic.ports() {
            [a, b] => Ok(Self {
                devices: [a.device_name(), b.device_name()],
                data_plane,
                _nic: nic,
            }),
            ports => Err(format!("the software NIC has {} ports, not 2", ports.len())),
        }
    }
}

impl Ports for SoftwarePorts {
    fn devices(&self) -> [String; 2] {
        self.devices.clone()
    }

    fn step(&mut self) {
        self.data_plane.poll();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::cell_with_library;
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
            cpu: None,
            output: output.clone(),
        };
        let mut out = Output {
            file: fs::File::create(&output).unwrap(),
            path: output.clone(),
        };
        measure(
            &specification,
            |_, _| Ok(NoPorts),
            &Interrupt::new(),
            &mut out,
        )
        .unwrap();
        super::super::read_events(&output).unwrap()
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

    fn median(samples: &[&Sample]) -> f64 {
        let mut values: Vec<_> = samples.iter().map(|sample| sample.value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
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
        assert_eq!(c[0].unit, "tsc cycles/packet");
        let ratio = median(&rust) / median(&c);
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
