//! The software NIC as a process; the forwarder runs between its two ports.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use record::{LinePlacement, Placement, DEFAULT_FRAME_SIZE};

use crate::interrupt::Interrupt;
use crate::placement::Topology;
use crate::process::{self, Process, ProcessError};

/// Time within which the NIC must create its sockets.
const START: Duration = Duration::from_secs(120);
/// Time within which it must end after SIGTERM.
const STOP: Duration = Duration::from_secs(5);

/// The program of the software NIC.
#[derive(Debug, Clone)]
pub struct NicProgram {
    path: PathBuf,
}

impl NicProgram {
    /// The program at `path`.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// The reason why it cannot be used; `None` if it can.
    pub fn unavailable(&self) -> Option<String> {
        (!process::is_executable(&self.path)).then(|| {
            format!(
                "there is no software NIC, {}: build it with `make`",
                self.path.display()
            )
        })
    }

    /// The reason why it cannot run beside a driver; `None` if it can.
    pub fn unavailable_beside_driver(&self, placement: &Placement) -> Option<String> {
        if placement.driver.is_none() || placement.nic.is_none() {
            return Some(
                "driver and NIC need a CPU each, and this process may use only one".to_owned(),
            );
        }
        self.unavailable()
    }
}

/// The traffic that arrives at the ports of a software NIC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Traffic {
    Off,
    /// A frame for every free receive descriptor.
    Saturate,
    /// A number of million frames per second, both ports together.
    Offered(f64),
}

impl Traffic {
    /// The value of the NIC's option, which sets the traffic of each port.
    fn argument(self) -> String {
        match self {
            Self::Off => "off".to_owned(),
            Self::Saturate => "saturate".to_owned(),
            Self::Offered(mpps) => format!("rate={}", mpps / 2.0),
        }
    }
}

/// The bursts that a card times.
#[derive(Debug, Clone)]
pub(crate) struct BurstSetup {
    pub rounds: u32,
    /// At each placement in a round.
    pub bursts: u32,
    /// Chooses the sizes of the bursts.
    pub seed: u32,
    /// Time for which the driver first gets as many frames as it takes.
    pub saturate: Duration,
    pub placements: Vec<LinePlacement>,
}

impl BurstSetup {
    /// The NIC's options.
    fn arguments(&self) -> [String; 4] {
        let (rounds, bursts, seed) = (self.rounds, self.bursts, self.seed);
        let saturate = self.saturate.as_secs_f64();
        let placements = self.placements.iter().map(ToString::to_string);
        [
            "--burst".to_owned(),
            format!("rounds={rounds},bursts={bursts},seed={seed},saturate={saturate}"),
            "--placement".to_owned(),
            placements.collect::<Vec<_>>().join(","),
        ]
    }
}

/// The settings of a software NIC.
#[derive(Debug, Clone)]
pub(crate) struct NicSetup {
    /// The traffic that arrives at its ports.
    pub traffic: Traffic,
    /// Bytes of each frame without its CRC.
    pub frame_size: u32,
    /// CPU for its data plane.
    pub cpu: Option<usize>,
    /// Measures the latency of each frame, after a warm-up of this duration.
    pub latency_after: Option<Duration>,
    /// What the driver does to a frame, a value of `--expect`; `None` for what the drivers of this
    /// repository do.
    pub expect: Option<String>,
    /// The card works only when a tracer asks for a turn.
    pub turns: bool,
    /// The card times bursts.
    pub bursts: Option<BurstSetup>,
}

impl NicSetup {
    /// The smallest frames, no latency.
    pub fn new(traffic: Traffic, cpu: Option<usize>) -> Self {
        Self {
            traffic,
            frame_size: DEFAULT_FRAME_SIZE,
            cpu,
            latency_after: None,
            expect: None,
            turns: false,
            bursts: None,
        }
    }
}

/// A running software NIC with two ports; dropping it ends the process.
#[derive(Debug)]
pub(crate) struct Nic {
    process: Process,
    /// What it prints.
    printed: PathBuf,
    report: PathBuf,
    sockets: [PathBuf; 2],
    devices: [String; 2],
    control: PathBuf,
}

impl Nic {
    /// Starts a NIC with its sockets in `folder`. The NIC accepts every frame that a driver sends.
    pub fn start(
        program: &NicProgram,
        setup: &NicSetup,
        folder: &Path,
        interrupt: &Interrupt,
    ) -> Result<Self, ProcessError> {
        let sockets = [0, 1].map(|port| folder.join(format!("port{port}.sock")));
        let mut command = Command::new(&program.path);
        command
            // An X520, the card of the published figures.
            .args(["--ports", "2", "--device-id", "10fb", "--mmio", "shared"])
            .args(["--traffic", &setup.traffic.argument()])
            .args(["--size", &setup.frame_size.to_string()])
            // Verifying the sent frames makes the NIC faster: it fetches the buffers' cache lines to
            // the NIC's core before the NIC writes to them again.
            .args(["--verify", "full"])
            .arg("--socket-dir")
            .arg(folder);
        // This pins only the data plane. The threads that serve the sockets would wait behind it.
        if let Some(cpu) = setup.cpu {
            command.args(["--cpu", &cpu.to_string()]);
        }
        let control = folder.join("control.sock");
        if let Some(expect) = &setup.expect {
            command.args(["--expect", expect]);
        }
        if setup.expect.is_some() || setup.turns {
            command.arg("--control").arg(&control);
        }
        if setup.turns {
            command.arg("--turns");
        }
        let report = folder.join("nic.json");
        if let Some(after) = setup.latency_after {
            command
                .args(["--latency", "--latency-after"])
                .arg(after.as_secs_f64().to_string());
        }
        if let Some(bursts) = &setup.bursts {
            command.args(bursts.arguments());
        }
        if setup.latency_after.is_some() || setup.bursts.is_some() {
            command.arg("--json").arg(&report);
        }
        let printed = folder.join("nic.stdout");
        let stdout = File::create(&printed).map_err(|cause| ProcessError::System {
            program: program.path.clone(),
            cause,
        })?;
        let mut process = Process::start("nic", command, None, folder, stdout.into())?;
        process.wait_until(START, interrupt, || {
            fs::read_to_string(&printed).is_ok_and(|text| text.starts_with("ready"))
        })?;
        Ok(Self {
            process,
            printed,
            report,
            devices: sockets
                .each_ref()
                .map(|socket| format!("vfio-user:{}", socket.display())),
            sockets,
            control,
        })
    }

    /// Names under which a forwarder opens its ports.
    pub fn devices(&self) -> &[String; 2] {
        &self.devices
    }

    /// The sockets of its ports.
    pub fn sockets(&self) -> &[PathBuf; 2] {
        &self.sockets
    }

    /// The socket that takes commands, if the setup has [`NicSetup::expect`] or [`NicSetup::turns`].
    pub fn control(&self) -> &Path {
        &self.control
    }

    /// Waits until all bursts are timed; calls `meanwhile` all the while.
    pub fn wait_for_bursts(
        &mut self,
        limit: Duration,
        interrupt: &Interrupt,
        mut meanwhile: impl FnMut() -> Result<(), ProcessError>,
    ) -> Result<(), ProcessError> {
        let (mut failure, printed) = (None, self.printed.clone());
        let done = || {
            let text = fs::read_to_string(&printed).unwrap_or_default();
            failure = meanwhile().err();
            failure.is_some() || text.ends_with("bursts done\n")
        };
        self.process.wait_until(limit, interrupt, done)?;
        failure.map_or(Ok(()), Err)
    }

    /// Ends the NIC. Returns the file of its report, which exists if it measured latency or timed bursts.
    /// After an error, the values measured against it are invalid.
    pub fn stop(self) -> Result<PathBuf, ProcessError> {
        self.process.stop(STOP)?;
        Ok(self.report)
    }
}

/// A CPU for the driver and one for the NIC; `None` for both if there is only one.
pub fn two_cpus() -> (Option<usize>, Option<usize>) {
    let placement = Topology::here().choose(None);
    (placement.driver, placement.nic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_gets_half_of_the_offered_load() {
        assert_eq!(Traffic::Offered(20.0).argument(), "rate=10");
        assert_eq!(Traffic::Saturate.argument(), "saturate");
    }
}
