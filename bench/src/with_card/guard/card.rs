//! The process of the software card.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, Context, Result};
use nix::sys::signal::{kill, Signal};
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;

use super::process;
use crate::with_card::arguments::CardOptions;

/// Time for the card to end and report.
const STOP: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(2);
/// The status with which the card refuses its options.
const USAGE: i32 = 2;

/// A card that this process started; dropping it kills the card.
#[derive(Debug)]
pub struct Card {
    process: Pid,
    ports: usize,
    folder: PathBuf,
    /// How it ended.
    ended: Option<WaitStatus>,
}

impl Card {
    /// Starts the card with its sockets in `folder`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(nic: &Path, options: &CardOptions, folder: &Path) -> Result<Self> {
        let mut command = process::start_command(nic);
        let output = |name: &str| {
            let path = folder.join(name);
            File::create(&path).with_context(|| format!("cannot make {}", path.display()))
        };
        command
            .arg("--")
            .arg("nic")
            .args(options.arguments())
            .arg({
                let mut word = OsString::from("--socket-dir=");
                word.push(folder);
                word
            })
            .stdout(output("card.stdout")?)
            .stderr(output("card.stderr")?);
        let process = process::spawn(command, Stdio::null()).context("cannot start the card")?;
        Ok(Self {
            process,
            ports: options.ports,
            folder: folder.to_owned(),
            ended: None,
        })
    }

    /// Its process.
    pub fn process(&self) -> Pid {
        self.process
    }

    /// The sockets of its ports.
    pub fn sockets(&self) -> Vec<PathBuf> {
        let socket = |port| self.folder.join(format!("port{port}.sock"));
        (0..self.ports).map(socket).collect()
    }

    /// Notes that it ended.
    pub fn note_end(&mut self, status: WaitStatus) {
        self.ended = Some(status);
    }

    /// How it ended; `None` while it runs.
    pub fn end(&self) -> Option<String> {
        match self.ended? {
            WaitStatus::Exited(_, code) => Some(format!("with status {code}")),
            WaitStatus::Signaled(_, signal, _) => Some(format!("by signal {}", signal.as_str())),
            _ => Some("for an unknown reason".to_owned()),
        }
    }

    /// Whether it has ended before it was ready because it refused its options.
    pub fn refused_options(&self) -> bool {
        matches!(self.ended, Some(WaitStatus::Exited(_, USAGE)))
    }

    /// Whether drivers may connect.
    pub fn is_ready(&self) -> bool {
        self.output().starts_with("ready")
    }

    /// What it wrote to standard error.
    pub fn errors(&self) -> String {
        let bytes = fs::read(self.folder.join("card.stderr")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn output(&self) -> String {
        fs::read_to_string(self.folder.join("card.stdout")).unwrap_or_default()
    }

    /// Ends the card. Returns its report.
    ///
    /// # Errors
    /// It has failed, or did not end in time and was killed.
    pub fn stop(mut self) -> Result<String> {
        if self.ended.is_some() {
            bail!("{}", self.tail());
        }
        let _ = kill(self.process, Signal::SIGTERM);
        let start = Instant::now();
        while start.elapsed() < STOP {
            match waitpid(self.process, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::StillAlive) => std::thread::sleep(POLL),
                Ok(WaitStatus::Exited(_, 0)) => {
                    self.ended = Some(WaitStatus::Exited(self.process, 0));
                    return Ok(self.report());
                }
                Ok(status) => {
                    self.ended = Some(status);
                    let how = self.end().unwrap_or_default();
                    return Err(anyhow!("the card ended {how}: {}", self.tail()));
                }
                Err(error) => return Err(error).context("cannot wait for the card"),
            }
        }
        bail!(
            "the card did not end within {} s and was killed",
            STOP.as_secs()
        )
    }

    /// Warnings, and the counters of each port.
    fn report(&self) -> String {
        let warnings = self.errors();
        let warnings = warnings.lines().filter(|line| !line.starts_with("port "));
        let counters = self.output();
        let counters = counters.lines().filter(|line| *line != "ready");
        warnings
            .chain(counters)
            .map(|line| format!("{line}\n"))
            .collect()
    }

    /// The last line of its errors.
    fn tail(&self) -> String {
        let errors = self.errors();
        let last = errors.lines().rev().find(|line| !line.trim().is_empty());
        last.unwrap_or("it gave no reason").trim().to_owned()
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        if self.ended.is_none() {
            let _ = kill(self.process, Signal::SIGKILL);
            let _ = waitpid(self.process, None);
        }
    }
}
