//! Exact counts by simulation: `ixgbe-fwd` runs under valgrind, the software NIC runs natively.
//!
//! Valgrind slows the driver down many times. The receive ring is therefore always full, every batch
//! is full, and the count per packet does not depend on the machine or its load. Valgrind counts the
//! whole process, for N and for 2N packets. The difference is the cost of N packets; starting and
//! stopping cancel. On a busy machine the NIC may still fall behind for a while. A run without
//! traffic measures the cost of a wait, and the waits are subtracted.
//!
//! A peer reports neither its packets nor its waits, so `trace` counts it, and valgrind does not.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use record::{BackendName, Metric, Sample};
use serde_json::json;

use crate::backend::{measure_in_turn, Backend, Cell, MeasureError, Observer};
use crate::device::{Nic, NicProgram};
use crate::files;
use crate::forwarder::ForwarderReport;
use crate::interrupt::Interrupt;
use crate::place::Place;
use crate::placement::Topology;
use crate::process::{self, Process};

/// The simulated caches: those of the Xeon E3-1230 of the published figures, so that the counts do
/// not depend on the machine that simulates.
const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"];
/// With fewer waits than this, per packet, the counts need no correction: a wait costs about 50
/// instructions.
const NO_WAITS: f64 = 0.0001;
/// Most waits per packet of an undisturbed run.
const WAITS: f64 = 0.05;
/// Largest share of packets in partial batches of an undisturbed run: a partial batch costs more than
/// a wait and less than a full batch.
const PARTIAL: f64 = 0.001;
/// Largest share of dropped packets of an undisturbed run: they skip the send path.
const DROPPED: f64 = 0.0005;
/// Duration of the run without traffic that measures the cost of a wait, seconds.
const IDLE_SECONDS: &str = "0.2";
/// Most attempts at an undisturbed run. On a quiet machine the first one succeeds.
const ATTEMPTS: u32 = 4;
/// Lowest speed of a forwarder under valgrind, packets per second; gives the time limit.
const SLOWEST: f64 = 20_000.0;

/// Usual speed of a forwarder under valgrind, packets per second; for estimates.
const USUAL: f64 = 300_000.0;

/// The valgrind backend and its settings.
#[derive(Debug, Clone)]
pub struct Valgrind {
    /// The software NIC.
    pub nic: NicProgram,
    /// Packets of the shorter run; the longer one receives twice as many.
    pub packets: u64,
    /// Number of measurements of each cell, at least 1. The counts hardly vary.
    pub repeats: u32,
    /// Stops the measurement when set.
    pub interrupt: Interrupt,
}

/// The counts of one run, from its first instruction to its last.
#[derive(Debug)]
struct Run {
    events: BTreeMap<Metric, u64>,
    report: ForwarderReport,
    batch: u32,
}

impl Run {
    /// Receive calls that were not full, nearly always empty.
    fn waits(&self) -> f64 {
        (self.report.rx_calls - self.report.full_batches) as f64
    }

    fn waits_per_packet(&self) -> f64 {
        self.waits() / self.report.rx as f64
    }

    /// Whether the NIC was ahead of the driver, except for waits that can be subtracted.
    fn undisturbed(&self) -> bool {
        let full = self.report.full_batches * u64::from(self.batch);
        let partial = self.report.rx.saturating_sub(full) as f64 / self.report.rx as f64;
        self.waits_per_packet() <= WAITS
            && partial <= PARTIAL
            && self.report.dropped_ratio() <= DROPPED
    }

    /// What this run has more than another one: events of a metric, packets, and waits.
    fn beyond(&self, other: &Self, metric: Metric) -> [f64; 3] {
        let events = |run: &Self| run.events.get(&metric).map_or(0.0, |count| *count as f64);
        [
            events(self) - events(other),
            self.report.rx as f64 - other.report.rx as f64,
            self.waits() - other.waits(),
        ]
    }
}

/// The counts in callgrind's output; `None` if it is malformed.
///
/// Callgrind simulates a first and a last level of cache. A load that the first misses and the last
/// answers is an L3 hit; L2 is absent.
pub(crate) fn parse_counts(text: &str) -> Option<BTreeMap<Metric, u64>> {
    let words = |key| {
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        line.map(str::split_whitespace)
    };
    let counts = words("totals:")?.map(str::parse::<u64>);
    let counts = counts.collect::<Result<Vec<_>, _>>().ok()?;
    // The format omits zeros at the end of a line.
    let counts = counts.into_iter().chain(std::iter::repeat(0));
    let counts: BTreeMap<&str, u64> = words("events:")?.zip(counts).collect();
    let count = |event| counts.get(event).copied();
    let (loads, l1_misses, l3_misses) = (count("Dr")?, count("D1mr")?, count("DLmr")?);
    let metrics = BTreeMap::from([
        (Metric::Instructions, count("Ir")?),
        (Metric::Loads, loads),
        (Metric::Stores, count("Dw")?),
        (Metric::L1Hits, loads.checked_sub(l1_misses)?),
        (Metric::L3Hits, l1_misses.checked_sub(l3_misses)?),
        (Metric::L3Misses, l3_misses),
        (Metric::Branches, count("Bc")? + count("Bi")?),
        (Metric::BranchMisses, count("Bcm")? + count("Bim")?),
    ]);
    (metrics[&Metric::Instructions] > 0).then_some(metrics)
}

/// The events per packet: the difference of two runs, one of which forwards more packets, divided by
/// the difference of the packets. Starting and stopping cancel.
///
/// A driver that waits for packets makes receive calls without a packet. The run without traffic,
/// `idle`, shows the cost of such a call. If starting costs *s*, a packet *p* and a wait *w*, each
/// run counts *s* + *p* × packets + *w* × waits; the three runs give *p*. Without `idle` the runs
/// must not have waited.
fn per_packet(
    short: &Run,
    long: &Run,
    idle: Option<&Run>,
) -> Result<BTreeMap<Metric, f64>, MeasureError> {
    let value = |metric: Metric| {
        let [events, packets, waits] = long.beyond(short, metric);
        // Rare events during the start differ slightly from run to run.
        let rare = [Metric::BranchMisses, Metric::L3Hits, Metric::L3Misses].contains(&metric);
        if packets <= 0.0 || (events < 0.0 && !rare) {
            return Err(MeasureError::Other(format!(
                "the longer run received {packets} packets more than the shorter one and counted {events} \
                 more {metric}, so it did not forward more packets the same way"
            )));
        }
        let value = match idle {
            None => events / packets,
            // Cramer's rule. The equations are independent: the first runs differ mostly in their
            // packets, the second ones in their waits.
            Some(idle) => {
                let [idle_events, idle_packets, idle_waits] = short.beyond(idle, metric);
                (events * idle_waits - idle_events * waits)
                    / (packets * idle_waits - idle_packets * waits)
            }
        };
        Ok((metric, value.max(0.0)))
    };
    long.events.keys().copied().map(value).collect()
}

impl Valgrind {
    /// Measures one cell: two runs, and more if the NIC fell behind.
    fn measure_cell(
        &self,
        cell: &Cell,
        repeat: u32,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Sample>, MeasureError> {
        let short = self.best_run(cell, self.packets)?;
        let long = self.best_run(cell, 2 * self.packets)?;
        let idle = match short.waits_per_packet().max(long.waits_per_packet()) > NO_WAITS {
            true => Some(self.run(cell, None)?),
            false => None,
        };
        let mut values = per_packet(&short, &long, idle.as_ref())?;
        let (first, second) = (&short.report, &long.report);
        let calls = (first.rx_calls + second.rx_calls).max(1);
        let full = (first.full_batches + second.full_batches) as f64 / calls as f64;
        values.insert(Metric::FullBatchRatio, full);
        if !(short.undisturbed() && long.undisturbed()) {
            observer.warning(&format!(
                "{cell}, valgrind: only {:.1} % of the receive calls were full, and the driver dropped {:.1} % of \
                 the packets: the software NIC fell behind, and the counts are not exact; is the machine busy?",
                100.0 * full,
                100.0 * first.dropped_ratio().max(second.dropped_ratio())
            ));
        }
        let (name, packets) = (self.name(), second.rx - first.rx);
        let sample = |(metric, value)| cell.sample(name, metric, value, packets, repeat);
        Ok(values.into_iter().map(sample).collect())
    }

    /// Runs a driver once and discards the counts, for a driver that writes its own profile. The NIC is
    /// always ahead, so on every machine the profile is that of full batches.
    pub fn forward(&self, cell: &Cell) -> Result<(), MeasureError> {
        self.run(cell, Some(self.packets)).map(|_| ())
    }

    /// The first undisturbed run, or the run with the fewest waits.
    fn best_run(&self, cell: &Cell, packets: u64) -> Result<Run, MeasureError> {
        let mut best = self.run(cell, Some(packets))?;
        for _ in 1..ATTEMPTS {
            if best.undisturbed() {
                break;
            }
            let again = self.run(cell, Some(packets))?;
            if again.undisturbed() || again.waits_per_packet() < best.waits_per_packet() {
                best = again;
            }
        }
        Ok(best)
    }

    /// One run of a forwarder under valgrind: a number of packets, or a short time without traffic.
    fn run(&self, cell: &Cell, packets: Option<u64>) -> Result<Run, MeasureError> {
        let placement = Topology::here().choose(None);
        let place = Place::new(&placement, &self.interrupt)?;
        let traffic = packets.map_or("off", |_| "saturate");
        let nic = Nic::start(&self.nic, cell, &place, &["--traffic", traffic])?;
        let counts = place.folder().join("callgrind.out");
        let report = place.folder().join("report.json");
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--quiet"])
            .arg(format!("--callgrind-out-file={}", counts.display()))
            .args(["--cache-sim=yes", "--branch-sim=yes"])
            .args(CACHES)
            .arg(&cell.program)
            .args(cell.arguments())
            .arg("--json")
            .arg(&report);
        let mut patience = Duration::from_secs(30);
        if let Some(packets) = packets {
            command.args(["--packets", &packets.to_string()]);
            patience += Duration::from_secs_f64(packets as f64 / SLOWEST);
        } else {
            command.args(["--duration", IDLE_SECONDS]);
        }
        command.args(nic.devices());
        Process::start(
            "ixgbe-fwd",
            command,
            placement.driver,
            place.folder(),
            Stdio::null(),
        )?
        .wait(patience, &self.interrupt)?;
        let mut report = ForwarderReport::read(&report)?;
        if packets.is_some() {
            report = report.with_packets()?;
        }
        nic.stop()?;
        let events = parse_counts(&files::read(&counts)?).ok_or_else(|| {
            "callgrind's output is malformed; was the program killed while it wrote?".to_owned()
        })?;
        Ok(Run {
            events,
            report,
            batch: cell.conditions.batch,
        })
    }
}

impl Backend for Valgrind {
    fn name(&self) -> BackendName {
        BackendName::Valgrind
    }

    fn unavailable(&self) -> Option<String> {
        match process::find_program("valgrind") {
            None => Some("valgrind is not installed: no folder in PATH has it".to_owned()),
            Some(_) => self.nic.unavailable(),
        }
    }

    fn unavailable_for_peers(&self) -> Option<String> {
        Some("trace counts the drivers of other projects".to_owned())
    }

    fn repeats(&self) -> Vec<u32> {
        (0..self.repeats).collect()
    }

    fn estimate(&self, _cell: &Cell) -> Duration {
        // There are two runs, and a driver takes most of a second to start under valgrind.
        Duration::from_secs_f64(2.0 + 3.0 * self.packets as f64 / USUAL)
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        BTreeMap::from([
            ("packets_short".into(), json!(self.packets)),
            ("packets_long".into(), json!(2 * self.packets)),
            ("repeats".into(), json!(self.repeats)),
            ("caches".into(), json!(CACHES.join(" "))),
        ])
    }

    fn measure(&mut self, cells: &[Cell], observer: &mut dyn Observer) -> Result<(), MeasureError> {
        let (this, name, repeats) = (&*self, self.name(), self.repeats);
        measure_in_turn(name, cells, repeats, observer, |cell, repeat, observer| {
            this.measure_cell(cell, repeat, observer)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(totals: &str) -> Option<BTreeMap<Metric, u64>> {
        parse_counts(&format!(
            "version: 1\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim\n\
             summary: 500000 1\n\nfn=(1) main\n16 400000\n\n{totals}"
        ))
    }

    #[test]
    fn counts_are_read_by_event_name_and_malformed_files_are_refused() {
        let counts = parse("totals: 500000 100000 50000 10 2000 5 10 500 5 60000 900 40 9\n");
        let expected = BTreeMap::from([
            (Metric::Instructions, 500_000),
            (Metric::Loads, 100_000),
            (Metric::Stores, 50_000),
            (Metric::L1Hits, 98_000),
            (Metric::L3Hits, 1500),
            (Metric::L3Misses, 500),
            (Metric::Branches, 60_040),
            (Metric::BranchMisses, 909),
        ]);
        assert_eq!(counts, Some(expected));
        assert_eq!(parse("totals: 7 3\n").unwrap()[&Metric::Stores], 0);
        for totals in ["", "totals: -4\n", "totals: 0 1\n", "totals: 9 1 0 0 2\n"] {
            assert_eq!(parse(totals), None, "{totals:?}");
        }
    }

    fn run(instructions: u64, missed: u64, packets: u64, waits: u64) -> Run {
        Run {
            events: BTreeMap::from([
                (Metric::Instructions, instructions),
                (Metric::BranchMisses, missed),
            ]),
            report: ForwarderReport {
                rx: packets,
                rx_calls: waits,
                ..ForwarderReport::default()
            },
            batch: 32,
        }
    }

    #[test]
    fn the_start_cancels_and_waits_are_subtracted() {
        // 1000 instructions to start, 130 for a packet, 50 for a wait. Fewer mispredicts are no error.
        let run = |packets, waits, missed| {
            let instructions = 1000 + 130 * packets + 50 * waits;
            run(instructions, missed, packets, waits)
        };
        let (short, long, idle) = (run(100, 7, 8), run(200, 40, 7), run(0, 500, 8));
        let found = per_packet(&short, &long, Some(&idle)).unwrap();
        assert!((found[&Metric::Instructions] - 130.0).abs() < 1e-9);
        assert_eq!(found[&Metric::BranchMisses], 0.0);
        let found = per_packet(&short, &run(200, 7, 9), None).unwrap();
        assert_eq!(found[&Metric::Instructions], 130.0);
        assert_eq!(found[&Metric::BranchMisses], 0.01);
    }

    #[test]
    fn runs_that_cannot_be_compared_are_refused() {
        let short = run(5000, 8, 100, 0);
        for long in [run(18000, 9, 100, 0), run(4000, 9, 200, 0)] {
            let error = per_packet(&short, &long, None).unwrap_err().to_string();
            assert!(error.contains("did not forward more"), "{error}");
        }
    }
}
