//! The software NIC as a process of its own, between two ports of which a forwarder runs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use record::Placement;
use record::DEFAULT_FRAME_SIZE;

use crate::backend::MeasureError;
use crate::interrupt::Interrupt;
use crate::placement::Topology;
use crate::process::{self, Process, ProcessError};

/// How long the NIC may take until its sockets are there.
const START: Duration = Duration::from_secs(10);
/// How long it may take to end when asked to.
const STOP: Duration = Duration::from_secs(5);

/// Where the software NIC is.
#[derive(Debug, Clone)]
pub struct NicProgram {
    path: PathBuf,
}

impl NicProgram {
    /// The program at `path`.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Why it cannot be used; `None` if it can.
    pub fn unavailable(&self) -> Option<String> {
        (!process::is_executable(&self.path)).then(|| {
            format!(
                "there is no software NIC, {}: build it with `make`",
                self.path.display()
            )
        })
    }

    /// Why it cannot run beside a driver; `None` if it can.
    pub fn unavailable_beside_driver(&self, placement: &Placement) -> Option<String> {
        if placement.driver.is_none() || placement.nic.is_none() {
            return Some("driver and NIC need a CPU each, and only one may be used".to_owned());
        }
        self.unavailable()
    }
}

/// What arrives at the ports of a software NIC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Traffic {
    /// Nothing.
    Off,
    /// A frame for every free receive descriptor.
    Saturate,
    /// So many million frames per second, both ports together.
    Offered(f64),
}

impl Traffic {
    /// The value of the NIC's option, which is about one port.
    fn argument(self) -> String {
        match self {
            Self::Off => "off".to_owned(),
            Self::Saturate => "saturate".to_owned(),
            Self::Offered(mpps) => format!("rate={}", mpps / 2.0),
        }
    }
}

/// What a software NIC is to do.
#[derive(Debug, Clone)]
pub struct NicSetup {
    /// What arrives at its ports.
    pub traffic: Traffic,
    /// Bytes of each frame without its CRC.
    pub frame_size: u32,
    /// CPU for its data plane.
    pub cpu: Option<usize>,
    /// Measure each frame's latency, but leave out the first so many seconds.
    pub latency_after: Option<Duration>,
}

impl NicSetup {
    /// The smallest frames, no latency.
    pub fn new(traffic: Traffic, cpu: Option<usize>) -> Self {
        Self {
            traffic,
            frame_size: DEFAULT_FRAME_SIZE,
            cpu,
            latency_after: None,
        }
    }
}

/// A running software NIC with two ports; gone when dropped.
#[derive(Debug)]
pub struct Nic {
    process: Process,
    report: PathBuf,
    devices: [String; 2],
}

impl Nic {
    /// Starts a NIC that takes whatever is sent. Its sockets are in `folder`.
    ///
    /// # Errors
    /// If it cannot be started, or does not get ready.
    pub fn start(
        program: &NicProgram,
        setup: &NicSetup,
        folder: &Path,
        interrupt: &Interrupt,
    ) -> Result<Self, ProcessError> {
        let sockets = [0, 1].map(|port| folder.join(format!("port{port}.sock")));
        let mut command = Command::new(&program.path);
        command
            // An X520, the card that the published figures were measured with.
            .args(["--ports", "2", "--device-id", "10fb", "--mmio", "shared"])
            .args(["--traffic", &setup.traffic.argument()])
            .args(["--size", &setup.frame_size.to_string()])
            // Checking what comes back makes the NIC faster, not slower: it brings the buffers'
            // cache lines back to the NIC's side before it writes to them again.
            .args(["--verify", "full"])
            .arg("--socket-dir")
            .arg(folder);
        // Only the data plane: the threads that serve the sockets would wait behind it.
        if let Some(cpu) = setup.cpu {
            command.args(["--cpu", &cpu.to_string()]);
        }
        let report = folder.join("nic.json");
        if let Some(after) = setup.latency_after {
            command
                .args(["--latency", "--latency-after"])
                .arg(after.as_secs_f64().to_string())
                .arg("--json")
                .arg(&report);
        }
        let said = folder.join("nic.stdout");
        let stdout = File::create(&said).map_err(|cause| ProcessError::Start {
            program: program.path.clone(),
            cause,
        })?;
        let mut process = Process::start("nic", command, None, folder, stdout.into())?;
        process.wait_until(START, interrupt, || {
            fs::read_to_string(&said).is_ok_and(|text| text.starts_with("ready"))
        })?;
        Ok(Self {
            process,
            report,
            devices: sockets.map(|socket| format!("vfio-user:{}", socket.display())),
        })
    }

    /// Names by which a forwarder opens its ports.
    pub fn devices(&self) -> &[String; 2] {
        &self.devices
    }

    /// Ends it. Where it measured latency, its report is in the file that is returned.
    ///
    /// # Errors
    /// If it had failed meanwhile: then what was measured against it is worth nothing.
    pub fn stop(self) -> Result<PathBuf, ProcessError> {
        self.process.stop(STOP)?;
        Ok(self.report)
    }
}

/// A folder for sockets and reports of one run, removed when dropped.
///
/// # Errors
/// If it cannot be created.
pub fn temporary_folder() -> Result<tempfile::TempDir, MeasureError> {
    // Short: the path of a socket may have 107 bytes at most.
    tempfile::Builder::new()
        .prefix("triptych.")
        .tempdir()
        .map_err(|cause| MeasureError::File {
            path: std::env::temp_dir(),
            cause,
        })
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
    fn a_nic_that_is_not_there_is_named() {
        let why = NicProgram::new("/nonexistent/nic".into())
            .unavailable()
            .unwrap();
        assert!(why.contains("/nonexistent/nic"), "{why}");
    }

    #[test]
    fn an_offered_load_is_shared_by_both_ports() {
        assert_eq!(Traffic::Offered(20.0).argument(), "rate=10");
        assert_eq!(Traffic::Saturate.argument(), "saturate");
    }

    #[test]
    fn driver_and_nic_never_share_a_cpu() {
        if let (Some(driver), Some(nic)) = two_cpus() {
            assert_ne!(driver, nic);
        }
    }
}
