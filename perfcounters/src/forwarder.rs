//! A forwarder as a process: `ixgbe-fwd` between two devices.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use record::{Waiting, DEFAULT_QUEUES};

use crate::backend::{Cell, MeasureError};
use crate::files;
use crate::interrupt::Interrupt;
use crate::load::{ForwarderProcess, Place};
use crate::process::Process;
use crate::report::{ForwarderReport, Rates};

/// Time that a forwarder may take beyond its duration: it sets devices up and waits for the link.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running forwarder.
pub(crate) struct Running {
    process: Process,
    report: PathBuf,
    printed: PathBuf,
    interrupt: Interrupt,
}

impl Running {
    /// Starts it between two devices, for a duration or until it is stopped. `link_timeout` is the
    /// longest time for the link of each port; `None` for the forwarder's default.
    pub fn start(
        cell: &Cell,
        place: &Place<'_>,
        devices: &[String; 2],
        link_timeout: Option<Duration>,
        duration: Option<Duration>,
    ) -> Result<Self, MeasureError> {
        let report = place.folder.join("report.json");
        let printed = place.folder.join("ixgbe-fwd.stdout");
        let conditions = &cell.conditions;
        let mut command = Command::new(&cell.program);
        command.args(cell.arguments()).arg("--json").arg(&report);
        if conditions.waiting == Waiting::Interrupts {
            command.arg("--interrupts");
        }
        let queues = conditions.queues;
        if queues > DEFAULT_QUEUES {
            command.args(["--queues", &queues.to_string()]);
        }
        for (option, time) in [("--duration", duration), ("--link-timeout", link_timeout)] {
            if let Some(time) = time {
                command.args([option, &time.as_secs_f64().to_string()]);
            }
        }
        command.args(devices);
        // Several threads need a processor each, so the scheduler places them.
        let cpu = place.placement.driver.filter(|_| queues == DEFAULT_QUEUES);
        let stdout = File::create(&printed).map_err(files::unusable(&printed))?;
        let process = Process::start("ixgbe-fwd", command, cpu, place.folder, stdout.into())?;
        Ok(Self {
            process,
            report,
            printed,
            interrupt: place.interrupt.clone(),
        })
    }

    /// The text that it has printed so far.
    pub fn printed(&self) -> Result<String, MeasureError> {
        files::read(&self.printed)
    }

    /// Waits until it has printed rates for `seconds` seconds more than `before`.
    pub fn wait_for_seconds(&mut self, before: usize, seconds: usize) -> Result<(), MeasureError> {
        let limit = Duration::from_secs(seconds as u64) + PATIENCE;
        let printed = self.printed.clone();
        Ok(self.process.wait_until(limit, &self.interrupt, || {
            let text = fs::read_to_string(&printed).unwrap_or_default();
            Rates::seconds(&text) >= before + seconds
        })?)
    }

    /// Waits until it ends after its duration, and returns its totals.
    pub fn finish(&mut self, duration: Duration) -> Result<ForwarderReport, MeasureError> {
        let limit = duration + PATIENCE;
        self.process.wait(limit, &self.interrupt)?;
        ForwarderReport::read(&self.report)?.with_packets()
    }

    /// Ends it, and returns its totals.
    pub fn stop(self) -> Result<ForwarderReport, MeasureError> {
        self.process.stop(PATIENCE)?;
        ForwarderReport::read(&self.report)?.with_packets()
    }
}

impl ForwarderProcess for Running {
    fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// It prints rates only while its ports have a link.
    fn has_link(&self) -> bool {
        Rates::seconds(&fs::read_to_string(&self.printed).unwrap_or_default()) > 0
    }
}
