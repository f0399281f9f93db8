//! The software NIC as a process of its own, between two ports of which a forwarder runs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::backend::MeasureError;
use crate::interrupt::Interrupt;
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
}

/// What arrives at the ports of a software NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traffic {
    /// Nothing.
    Off,
    /// A frame for every free receive descriptor.
    Saturate,
}

/// A running software NIC with two ports; gone when dropped.
#[derive(Debug)]
pub struct Nic {
    process: Process,
    devices: [String; 2],
}

impl Nic {
    /// Starts a NIC that takes whatever is sent. Its sockets are in `folder`; its data plane runs
    /// on `cpu`, or anywhere.
    ///
    /// # Errors
    /// If it cannot be started, or does not get ready.
    pub fn start(
        program: &NicProgram,
        traffic: Traffic,
        folder: &Path,
        cpu: Option<usize>,
        interrupt: &Interrupt,
    ) -> Result<Self, ProcessError> {
        let sockets = [0, 1].map(|port| folder.join(format!("port{port}.sock")));
        let mut command = Command::new(&program.path);
        command
            // An X520, the card that the published figures were measured with.
            .args(["--ports", "2", "--device-id", "10fb", "--mmio", "shared"])
            .args(match traffic {
                Traffic::Off => ["--traffic", "off"],
                Traffic::Saturate => ["--traffic", "saturate"],
            })
            // Checking what comes back makes the NIC faster, not slower: it brings the buffers'
            // cache lines back to the NIC's side before it writes to them again.
            .args(["--verify", "full"])
            .arg("--socket-dir")
            .arg(folder);
        // Only the data plane: the threads that serve the sockets would wait behind it.
        if let Some(cpu) = cpu {
            command.args(["--cpu", &cpu.to_string()]);
        }
        let said = folder.join("nic.stdout");
        let stdout = File::create(&said).map_err(|source| ProcessError::Start {
            program: program.path.clone(),
            source,
        })?;
        let mut process = Process::start("nic", command, None, folder, stdout.into())?;
        process.wait_until(START, interrupt, || {
            fs::read_to_string(&said).is_ok_and(|text| text.starts_with("ready"))
        })?;
        Ok(Self {
            process,
            devices: sockets.map(|socket| format!("vfio-user:{}", socket.display())),
        })
    }

    /// Names by which a forwarder opens its ports.
    pub fn devices(&self) -> &[String; 2] {
        &self.devices
    }

    /// Ends it.
    ///
    /// # Errors
    /// If it had failed meanwhile: then what was measured against it is worth nothing.
    pub fn stop(self) -> Result<(), ProcessError> {
        self.process.stop(STOP)
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
        .map_err(|source| MeasureError::File {
            path: std::env::temp_dir(),
            source,
        })
}

/// A CPU for the driver and one for the NIC: the last two that this process may use, because the
/// first ones are where the system does its own work. `None` for both if there is only one.
pub fn two_cpus() -> (Option<usize>, Option<usize>) {
    match process::allowed_cpus().as_slice() {
        [.., nic, driver] => (Some(*driver), Some(*nic)),
        _ => (None, None),
    }
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
    fn driver_and_nic_never_share_a_cpu() {
        if let (Some(driver), Some(nic)) = two_cpus() {
            assert_ne!(driver, nic);
        }
    }
}
