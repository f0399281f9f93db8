//! Whole processes side by side: the software NIC on one CPU, the forwarder on another.
//!
//! What comes out is dominated by how fast two cores can hand each other cache lines; it says
//! whether the driver was the bottleneck and what it reaches, not what its code costs.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::backend::{Backend, Cell, MeasureError, Observer};
use crate::device::{self, Nic, NicProgram, Traffic};
use crate::interrupt::Interrupt;
use crate::process::Process;
use crate::record::{BackendName, Metric};
use crate::report::ForwarderReport;

/// A larger share of dropped packets than this is pointed out.
const DROPPED: f64 = 0.01;

/// How to measure whole processes.
#[derive(Debug, Clone)]
pub struct Wall {
    /// The software NIC.
    pub nic: NicProgram,
    /// How long each forwarder runs.
    pub duration: Duration,
    /// How often each cell is measured, at least 1.
    pub repeats: u32,
    /// Stops the measurement when set.
    pub interrupt: Interrupt,
}

impl Wall {
    fn run(&self, cell: &Cell) -> Result<ForwarderReport, MeasureError> {
        let folder = device::temporary_folder()?;
        let (driver_cpu, nic_cpu) = device::two_cpus();
        let nic = Nic::start(
            &self.nic,
            Traffic::Saturate,
            folder.path(),
            nic_cpu,
            &self.interrupt,
        )?;
        let report = folder.path().join("report.json");
        let mut command = Command::new(&cell.program);
        command
            .args(["--batch", &cell.batch.to_string()])
            .args(["--duration", &self.duration.as_secs_f64().to_string()])
            .arg("--json")
            .arg(&report)
            .args(nic.devices());
        let limit = self.duration + Duration::from_secs(20);
        Process::start(
            "ixgbe-fwd",
            command,
            driver_cpu,
            folder.path(),
            Stdio::null(),
        )?
        .wait(limit, &self.interrupt)?;
        let report = ForwarderReport::read(&report)?.with_packets()?;
        nic.stop()?;
        Ok(report)
    }
}

impl Backend for Wall {
    fn name(&self) -> BackendName {
        BackendName::Wall
    }

    fn unavailable(&self) -> Option<String> {
        match device::two_cpus() {
            (Some(_), Some(_)) => self.nic.unavailable(),
            _ => Some("driver and NIC need a CPU each, and only one may be used".to_owned()),
        }
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        let (driver, nic) = device::two_cpus();
        BTreeMap::from([
            ("seconds".into(), json!(self.duration.as_secs_f64())),
            ("repeats".into(), json!(self.repeats)),
            ("driver_cpu".into(), json!(driver)),
            ("nic_cpu".into(), json!(nic)),
        ])
    }

    fn measure(&mut self, cells: &[Cell], observer: &mut dyn Observer) -> Result<(), MeasureError> {
        observer.begin(self.name(), u64::from(self.repeats) * cells.len() as u64);
        let mut failed = vec![false; cells.len()];
        for repeat in 0..self.repeats {
            for (cell, failed) in cells.iter().zip(&mut failed) {
                observer.step(&cell.to_string());
                if *failed {
                    continue;
                }
                let report = match self.run(cell) {
                    Err(error) if error.ends_the_run() => return Err(error),
                    Err(error) => {
                        observer.failure(cell.failure(self.name(), &error));
                        *failed = true;
                        continue;
                    }
                    Ok(report) => report,
                };
                if report.dropped_ratio() > DROPPED {
                    observer.warning(&format!(
                        "{cell}, wall: {:.1} % of the packets were dropped, because the software \
                         NIC did not take them in time; what is dropped costs the driver less",
                        100.0 * report.dropped_ratio()
                    ));
                }
                let samples = [
                    (Metric::Mpps, report.tx as f64 / report.seconds / 1e6),
                    (Metric::Cycles, report.tsc_cycles as f64 / report.rx as f64),
                    (Metric::FullBatchRatio, report.full_batch_ratio()),
                ]
                .map(|(metric, value)| cell.sample(self.name(), metric, value, report.rx, repeat));
                observer.measured(&samples)?;
            }
        }
        Ok(())
    }
}
