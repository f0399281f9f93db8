//! Throughput of whole processes: the forwarder on one CPU, and the software NIC on another, or a
//! real card whose load comes from outside.
//!
//! Against the software NIC, what comes out is dominated by how fast two cores can hand each other
//! cache lines; it says whether the driver was the bottleneck and what it reaches, not what its
//! code costs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::backend::{measure_in_turn, Backend, Cell, MeasureError, Observer};
use crate::device::{self, Nic, NicProgram, NicSetup, Traffic};
use crate::interrupt::Interrupt;
use crate::load::{Load, LoadGenerator};
use crate::placement::{Pinning, Placement};
use crate::process::Process;
use crate::record::{BackendName, Metric, Sample};
use crate::report::{ForwarderReport, Rates};

/// A larger share of dropped packets than this is pointed out.
const DROPPED: f64 = 0.01;
/// What starting and stopping takes besides, for estimates.
const AROUND: Duration = Duration::from_millis(500);
/// How much longer than it should a forwarder may run: it sets devices up, and waits for the link.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the forwarder runs between.
#[derive(Debug)]
pub enum Link {
    /// Two ports of the software NIC.
    Software(NicProgram),
    /// Two ports of a real card.
    Real {
        /// Their PCI addresses.
        devices: [String; 2],
        /// What sends to them; `None` if somebody else sees to that.
        generator: Option<Box<dyn LoadGenerator>>,
    },
}

/// How to measure whole processes.
#[derive(Debug)]
pub struct Wall {
    /// What the forwarder runs between.
    pub link: Link,
    /// Where it runs.
    pub placement: Placement,
    /// For how long each forwarder is measured.
    pub duration: Duration,
    /// How long it runs before that. With a warm-up, throughput is taken from the line that the
    /// forwarder prints every second; without, from its totals.
    pub warm_up: Duration,
    /// How often each cell is measured, at least 1.
    pub repeats: u32,
    /// Stops the measurement when set.
    pub interrupt: Interrupt,
}

/// A forwarder that is to be run.
pub(crate) struct ForwarderRun<'a> {
    pub cell: &'a Cell,
    pub devices: &'a [String; 2],
    pub duration: Duration,
    pub placement: &'a Placement,
    pub pinning: Pinning,
    pub interrupt: &'a Interrupt,
}

impl ForwarderRun<'_> {
    /// Runs it to its end. Gives its totals, and what it printed every second.
    pub(crate) fn run(&self, folder: &Path) -> Result<(ForwarderReport, String), MeasureError> {
        let file = |path: &Path| {
            let path = path.to_owned();
            move |source| MeasureError::File { path, source }
        };
        let (report, printed) = (folder.join("report.json"), folder.join("ixgbe-fwd.stdout"));
        let mut command = self.pinning.command(&self.cell.program, self.placement);
        command
            .args(["--batch", &self.cell.batch.to_string()])
            .args(["--ring-size", &self.cell.ring_size.to_string()])
            .args(["--duration", &self.duration.as_secs_f64().to_string()])
            .arg("--json")
            .arg(&report)
            .args(self.devices);
        let (cpu, node) = match self.pinning {
            Pinning::SystemCalls => (self.placement.driver, self.placement.node),
            Pinning::Numactl => (None, None),
        };
        let stdout = File::create(&printed).map_err(file(&printed))?;
        Process::start_on_node("ixgbe-fwd", command, cpu, node, folder, stdout.into())?
            .wait(self.duration + PATIENCE, self.interrupt)?;
        let report = ForwarderReport::read(&report)?.with_packets()?;
        let printed = fs::read_to_string(&printed).map_err(file(&printed))?;
        Ok((report, printed))
    }
}

impl Wall {
    fn run(&mut self, cell: &Cell) -> Result<(ForwarderReport, Rates), MeasureError> {
        let folder = device::temporary_folder()?;
        // The line of the last second may come too late to be printed.
        let tail = match self.warm_up.is_zero() {
            true => Duration::ZERO,
            false => Duration::from_millis(500),
        };
        let mut run = ForwarderRun {
            cell,
            devices: &[String::new(), String::new()],
            duration: self.warm_up + self.duration + tail,
            placement: &self.placement,
            pinning: Pinning::SystemCalls,
            interrupt: &self.interrupt,
        };
        let (report, printed) = match &mut self.link {
            Link::Software(program) => {
                let setup = NicSetup {
                    frame_size: cell.frame_size,
                    ..NicSetup::new(Traffic::Saturate, self.placement.nic)
                };
                let nic = Nic::start(program, &setup, folder.path(), &self.interrupt)?;
                run.devices = nic.devices();
                let result = run.run(folder.path())?;
                nic.stop()?;
                result
            }
            Link::Real { devices, generator } => {
                run.devices = devices;
                run.pinning = Pinning::available(&self.placement);
                if let Some(generator) = generator {
                    generator.start(Load {
                        mpps: cell.offered_mpps,
                        frame_size: cell.frame_size,
                    })?;
                }
                let result = run.run(folder.path());
                // It is stopped whatever has happened; but a driver that failed is the cause.
                let stopped = generator.as_mut().map_or(Ok(()), |it| it.stop());
                let result = result?;
                stopped?;
                result
            }
        };
        let rates = match self.warm_up.is_zero() {
            true => report.rates(),
            false => Rates::from_lines(&printed, self.warm_up, self.duration)?,
        };
        Ok((report, rates))
    }

    fn measure_cell(
        &mut self,
        cell: &Cell,
        repeat: u32,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Sample>, MeasureError> {
        let (report, rates) = self.run(cell)?;
        if report.dropped_ratio() > DROPPED {
            observer.warning(&format!(
                "{cell}, wall: {:.1} % of the packets were dropped, because the NIC did not take \
                 them in time; what is dropped costs the driver less",
                100.0 * report.dropped_ratio()
            ));
        }
        let tsc_mhz = report.tsc_cycles as f64 / report.seconds / 1e6;
        let packets = (rates.rx_mpps * rates.seconds * 1e6).round().max(1.0) as u64;
        Ok([
            (Metric::Mpps, rates.tx_mpps),
            (Metric::Cycles, tsc_mhz / rates.rx_mpps),
            (Metric::FullBatchRatio, report.full_batch_ratio()),
        ]
        .map(|(metric, value)| cell.sample(BackendName::Wall, metric, value, packets, repeat))
        .to_vec())
    }
}

impl Backend for Wall {
    fn name(&self) -> BackendName {
        BackendName::Wall
    }

    fn unavailable(&self) -> Option<String> {
        match (&self.link, self.placement.driver, self.placement.nic) {
            (Link::Real { .. }, ..) => None,
            (Link::Software(nic), Some(_), Some(_)) => nic.unavailable(),
            _ => Some("driver and NIC need a CPU each, and only one may be used".to_owned()),
        }
    }

    fn repeats(&self) -> Vec<u32> {
        (0..self.repeats).collect()
    }

    fn estimate(&self, _: &Cell) -> Duration {
        self.warm_up + self.duration + AROUND
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        let mut settings = BTreeMap::from([
            ("seconds".into(), json!(self.duration.as_secs_f64())),
            ("warm_up".into(), json!(self.warm_up.as_secs_f64())),
            ("repeats".into(), json!(self.repeats)),
            ("driver_cpu".into(), json!(self.placement.driver)),
        ]);
        match &self.link {
            Link::Software(_) => {
                settings.insert("nic_cpu".into(), json!(self.placement.nic));
            }
            Link::Real { devices, generator } => {
                let generator = generator.as_ref().map(|generator| generator.describe());
                settings.insert("devices".into(), json!(devices));
                settings.insert("generator".into(), json!(generator));
                settings.insert("node".into(), json!(self.placement.node));
                let pinning = Pinning::available(&self.placement);
                settings.insert("pinning".into(), json!(pinning));
            }
        }
        settings
    }

    fn measure(&mut self, cells: &[Cell], observer: &mut dyn Observer) -> Result<(), MeasureError> {
        let repeats = self.repeats;
        measure_in_turn(
            self.name(),
            cells,
            repeats,
            observer,
            |cell, repeat, observer| self.measure_cell(cell, repeat, observer),
        )
    }
}
