//! The software NIC as a process; the forwarder runs between its two ports.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use record::Placement;

use crate::backend::Cell;
use crate::interrupt::Interrupt;
use crate::place::Place;
use crate::placement::Topology;
use crate::process::{self, Process, ProcessError};

/// Time within which the NIC must create its sockets.
const START: Duration = Duration::from_secs(120);
/// Time within which it must end after SIGTERM.
const STOP: Duration = Duration::from_secs(5);

/// Its files: what it prints, the socket that takes commands, and its report.
const PRINTED: &str = "nic.stdout";
const CONTROL: &str = "control.sock";
const REPORT: &str = "nic.json";

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

/// A running software NIC with two ports; dropping it ends the process.
#[derive(Debug)]
pub(crate) struct Nic {
    process: Process,
    folder: PathBuf,
}

impl Nic {
    /// Starts a NIC for a cell, with its sockets in the folder of `place`. It accepts every frame that a
    /// driver sends. `options` say which frames it sends itself, and what it measures.
    pub fn start(
        program: &NicProgram,
        cell: &Cell,
        place: &Place<'_>,
        options: &[&str],
    ) -> Result<Self, ProcessError> {
        let folder = place.folder().to_owned();
        let mut command = Command::new(&program.path);
        command
            // An X520, the card of the published figures.
            .args(["--ports", "2", "--device-id", "10fb", "--mmio", "shared"])
            .args(options)
            .args(["--size", &cell.conditions.frame_size.to_string()])
            // Verifying the sent frames makes the NIC faster: it fetches the buffers' cache lines to
            // the NIC's core before the NIC writes to them again.
            .args(["--verify", "full"])
            .arg("--socket-dir")
            .arg(&folder)
            .arg("--control")
            .arg(folder.join(CONTROL))
            .arg("--json")
            .arg(folder.join(REPORT));
        if let Some(peer) = &cell.peer {
            command.args(["--expect", &peer.expect]);
        }
        // This pins only the data plane. The threads that serve the sockets would wait behind it.
        if let Some(cpu) = place.placement.nic {
            command.args(["--cpu", &cpu.to_string()]);
        }
        let printed = File::create(folder.join(PRINTED)).map_err(|cause| ProcessError::System {
            program: program.path.clone(),
            cause,
        })?;
        let process = Process::start("nic", command, None, &folder, printed.into())?;
        let mut nic = Self { process, folder };
        nic.wait_for("ready\n", START, place.interrupt, || Ok(()))?;
        Ok(nic)
    }

    /// Names under which a forwarder opens its ports.
    pub fn devices(&self) -> [String; 2] {
        let name = |socket: PathBuf| format!("vfio-user:{}", socket.display());
        self.sockets().map(name)
    }

    /// The sockets of its ports.
    pub fn sockets(&self) -> [PathBuf; 2] {
        ["port0.sock", "port1.sock"].map(|name| self.folder.join(name))
    }

    /// The socket that takes commands.
    pub fn control(&self) -> PathBuf {
        self.folder.join(CONTROL)
    }

    /// Waits until it has printed a line; calls `meanwhile` all the while.
    pub fn wait_for(
        &mut self,
        line: &str,
        limit: Duration,
        interrupt: &Interrupt,
        mut meanwhile: impl FnMut() -> Result<(), ProcessError>,
    ) -> Result<(), ProcessError> {
        let (mut failure, printed) = (None, self.folder.join(PRINTED));
        let done = || {
            let text = fs::read_to_string(&printed).unwrap_or_default();
            failure = meanwhile().err();
            failure.is_some() || text.contains(line)
        };
        self.process.wait_until(limit, interrupt, done)?;
        failure.map_or(Ok(()), Err)
    }

    /// Ends the NIC. Returns the file of its report.
    /// After an error, the values measured against it are invalid.
    pub fn stop(self) -> Result<PathBuf, ProcessError> {
        self.process.stop(STOP)?;
        Ok(self.folder.join(REPORT))
    }
}

/// A CPU for the driver and one for the NIC; `None` for both if there is only one.
pub fn two_cpus() -> (Option<usize>, Option<usize>) {
    let placement = Topology::here().choose(None);
    (placement.driver, placement.nic)
}
