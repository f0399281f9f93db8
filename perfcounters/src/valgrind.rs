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

use record::{BackendName, Metric};
use serde_json::json;

use crate::backend::{measure_in_turn, Backend, Cell, MeasureError, Observer};
use crate::callgrind::{PerPacket, Run, Totals};
use crate::device::{self, Nic, NicProgram, NicSetup, Traffic};
use crate::files;
use crate::interrupt::Interrupt;
use crate::process::{self, Process};
use crate::report::ForwarderReport;

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

/// One pair of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Events per packet.
    pub per_packet: PerPacket,
    /// Share of full receive calls of both runs, 0 to 1.
    pub full_batch_ratio: f64,
    /// Larger share of dropped packets of the two runs, 0 to 1.
    pub dropped_ratio: f64,
    /// Whether the NIC was always ahead of the driver, so that the counts are exact.
    pub undisturbed: bool,
}

/// One run of a cell.
#[derive(Debug)]
struct Counted {
    run: Run,
    report: ForwarderReport,
    batch: u32,
}

impl Counted {
    /// Receive calls that were not full, per packet.
    fn waits(&self) -> f64 {
        self.run.waits as f64 / self.report.rx as f64
    }

    /// Share of packets that did not come in full batches.
    fn partial(&self) -> f64 {
        let full = self.report.full_batches * u64::from(self.batch);
        self.report.rx.saturating_sub(full) as f64 / self.report.rx as f64
    }

    /// Whether the NIC was ahead of the driver, except for waits that can be subtracted.
    fn undisturbed(&self) -> bool {
        self.waits() <= WAITS && self.partial() <= PARTIAL && self.report.dropped_ratio() <= DROPPED
    }
}

impl Measurement {
    /// The disturbance of a measurement that is not [undisturbed](field@Self::undisturbed).
    pub fn disturbance(&self) -> String {
        format!(
            "only {:.1} % of the receive calls were full, and the driver dropped {:.1} % of the \
             packets: the software NIC fell behind, and the counts are not exact; is the machine busy?",
            100.0 * self.full_batch_ratio,
            100.0 * self.dropped_ratio
        )
    }
}

impl Valgrind {
    /// Measures one cell: two runs, and more if the NIC fell behind.
    pub fn measure_cell(&self, cell: &Cell) -> Result<Measurement, MeasureError> {
        let short = self.best_run(cell, self.packets)?;
        let long = self.best_run(cell, 2 * self.packets)?;
        let idle = match short.waits().max(long.waits()) > NO_WAITS {
            true => Some(self.run(cell, None)?.run),
            false => None,
        };
        let calls = (short.report.rx_calls + long.report.rx_calls).max(1);
        let full = short.report.full_batches + long.report.full_batches;
        Ok(Measurement {
            per_packet: PerPacket::from_runs(&short.run, &long.run, idle.as_ref())?,
            full_batch_ratio: full as f64 / calls as f64,
            dropped_ratio: short
                .report
                .dropped_ratio()
                .max(long.report.dropped_ratio()),
            undisturbed: short.undisturbed() && long.undisturbed(),
        })
    }

    /// Runs a driver once and discards the counts, for a driver that writes its own profile. The NIC is
    /// always ahead, so on every machine the profile is that of full batches.
    pub fn forward(&self, cell: &Cell) -> Result<(), MeasureError> {
        self.run(cell, Some(self.packets)).map(|_| ())
    }

    /// The first undisturbed run, or the run with the fewest waits.
    fn best_run(&self, cell: &Cell, packets: u64) -> Result<Counted, MeasureError> {
        let mut best = self.run(cell, Some(packets))?;
        for _ in 1..ATTEMPTS {
            if best.undisturbed() {
                break;
            }
            let again = self.run(cell, Some(packets))?;
            if again.undisturbed() || again.waits() < best.waits() {
                best = again;
            }
        }
        Ok(best)
    }

    /// One run of a forwarder under valgrind: a number of packets, or a short time without traffic.
    fn run(&self, cell: &Cell, packets: Option<u64>) -> Result<Counted, MeasureError> {
        let folder = crate::temporary::TemporaryFolder::create()?;
        let (driver_cpu, nic_cpu) = device::two_cpus();
        let traffic = packets.map_or(Traffic::Off, |_| Traffic::Saturate);
        let setup = NicSetup {
            frame_size: cell.conditions.frame_size,
            ..NicSetup::new(traffic, nic_cpu)
        };
        let nic = Nic::start(&self.nic, &setup, folder.path(), &self.interrupt)?;
        let counts = folder.path().join("callgrind.out");
        let report = folder.path().join("report.json");
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
            driver_cpu,
            folder.path(),
            Stdio::null(),
        )?
        .wait(patience, &self.interrupt)?;
        let mut report = ForwarderReport::read(&report)?;
        if packets.is_some() {
            report = report.with_packets()?;
        }
        nic.stop()?;
        Ok(Counted {
            run: Run {
                totals: Totals::parse(&files::read(&counts)?)?,
                packets: report.rx,
                waits: report.rx_calls - report.full_batches,
            },
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
        let this = &*self;
        measure_in_turn(
            this.name(),
            cells,
            this.repeats,
            observer,
            |cell, repeat, observer| {
                let measurement = this.measure_cell(cell)?;
                if !measurement.undisturbed {
                    observer.warning(&format!("{cell}, valgrind: {}", measurement.disturbance()));
                }
                let packets = measurement.per_packet.packets;
                let full = (Metric::FullBatchRatio, measurement.full_batch_ratio);
                Ok(measurement
                    .per_packet
                    .values
                    .iter()
                    .map(|(metric, value)| (*metric, *value))
                    .chain([full])
                    .map(|(metric, value)| cell.sample(this.name(), metric, value, packets, repeat))
                    .collect())
            },
        )
    }
}
