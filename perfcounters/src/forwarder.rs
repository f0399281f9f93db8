//! A forwarder as a process: `ixgbe-fwd` between two devices.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use record::{Placement, Waiting, DEFAULT_QUEUES};

use crate::backend::{Cell, MeasureError};
use crate::files;
use crate::interrupt::Interrupt;
use crate::load::ForwarderProcess;
use crate::process::Process;
use crate::report::{ForwarderReport, Rates};

/// Time that a forwarder may take beyond its duration: it sets devices up and waits for the link.
const PATIENCE: Duration = Duration::from_secs(20);

/// A forwarder to start.
pub(crate) struct ForwarderRun<'a> {
    pub cell: &'a Cell,
    pub placement: &'a Placement,
    /// The folder for its files.
    pub folder: &'a Path,
    pub interrupt: &'a Interrupt,
}

impl ForwarderRun<'_> {
    /// Starts it between two devices, for a duration or until it is stopped. `link_timeout` is the
    /// longest time for the link of each port; `None` for the forwarder's default.
    pub fn start(
        &self,
        devices: &[String; 2],
        link_timeout: Option<Duration>,
        duration: Option<Duration>,
    ) -> Result<Running, MeasureError> {
        let report = self.folder.join("report.json");
        let printed = self.folder.join("ixgbe-fwd.stdout");
        let conditions = &self.cell.conditions;
        let mut command = Command::new(&self.cell.program);
        command
            .args(self.cell.arguments())
            .arg("--json")
            .arg(&report);
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
        let cpu = self.placement.driver.filter(|_| queues == DEFAULT_QUEUES);
        let place = (cpu, self.placement.node);
        let stdout = File::create(&printed).map_err(files::unusable(&printed))?;
        let streams = (Stdio::null(), stdout.into());
        let process = Process::start_with("ixgbe-fwd", command, place, self.folder, streams)?;
        Ok(Running {
            process,
            report,
            printed,
            interrupt: self.interrupt.clone(),
        })
    }
}

/// A running forwarder.
pub(crate) struct Running {
    process: Process,
    report: PathBuf,
    printed: PathBuf,
    interrupt: Interrupt,
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

impl Running {
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
