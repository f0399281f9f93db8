//! The process of the software card.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{bail, Context, Result};
use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;

use super::arguments::CardOptions;
use super::signals::Signals;
use crate::usage::UsageError;

/// Time for the card to become ready.
const START: Duration = Duration::from_secs(120);
/// Time for the card to end and report.
const STOP: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(1);
/// The status with which the card refuses its options.
const USAGE: i32 = 2;

/// A card that this process started. It ends with the PID namespace.
pub(super) struct Card {
    process: Child,
    ports: usize,
    folder: PathBuf,
}

impl Card {
    /// Starts the card with its sockets in `folder`.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn start(nic: &Path, options: &CardOptions, folder: &Path) -> Result<Self> {
        let output = |name| File::create(folder.join(name)).context("cannot make a file");
        let process = Command::new(nic)
            .arg0("nic")
            .args(options.arguments())
            .arg("--socket-dir")
            .arg(folder)
            .stdin(Stdio::null())
            .stdout(output("card.stdout")?)
            .stderr(output("card.stderr")?)
            .process_group(0)
            .spawn()
            .context("cannot start the card")?;
        let (ports, folder) = (options.ports, folder.to_owned());
        Ok(Self {
            process,
            ports,
            folder,
        })
    }

    /// The sockets of its ports.
    pub(super) fn sockets(&self) -> Vec<PathBuf> {
        let socket = |port| self.folder.join(format!("port{port}.sock"));
        (0..self.ports).map(socket).collect()
    }

    /// How it ended; `None` while it runs.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().ok().flatten()
    }

    /// Waits until drivers may connect.
    ///
    /// # Errors
    /// The card refused its options, failed, or was not ready in time; or a signal arrived.
    pub(super) fn wait_until_ready(&mut self, signals: &mut Signals) -> Result<()> {
        let start = Instant::now();
        while !self.read("card.stdout").starts_with("ready") {
            if let Some(status) = self.ended() {
                let errors = self.read("card.stderr");
                let text = errors.split("\n\nFor more").next().unwrap_or_default();
                let text = text.trim().trim_start_matches("error: ");
                if status.code() == Some(USAGE) {
                    return Err(UsageError(format!("the card refuses its options: {text}")).into());
                }
                bail!("the card ended with {status} while it was starting: {text}");
            }
            if let Some(signal) = signals.arrived().first() {
                bail!("{signal} arrived before the program started");
            }
            if start.elapsed() > START {
                bail!("the card was not ready within {} s", START.as_secs());
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    /// Ends the card. Returns its report: warnings, and the counters of each port.
    ///
    /// # Errors
    /// It has failed, or did not end in time.
    pub(super) fn stop(mut self) -> Result<String> {
        let _ = kill(Pid::from_raw(self.process.id() as i32), Signal::SIGTERM);
        let start = Instant::now();
        let status = loop {
            match self.ended() {
                Some(status) => break status,
                None if start.elapsed() > STOP => {
                    bail!(
                        "the card did not end within {} s and was killed",
                        STOP.as_secs()
                    )
                }
                None => std::thread::sleep(POLL),
            }
        };
        let errors = self.read("card.stderr");
        if !status.success() {
            let last = errors.lines().rev().find(|line| !line.trim().is_empty());
            let reason = last.unwrap_or("it gave no reason").trim();
            bail!("the card ended with {status}: {reason}");
        }
        let warnings = errors.lines().filter(|line| !line.starts_with("port "));
        let counters = self.read("card.stdout");
        let counters = counters.lines().filter(|line| *line != "ready");
        Ok(warnings
            .chain(counters)
            .map(|line| format!("{line}\n"))
            .collect())
    }

    fn read(&self, name: &str) -> String {
        let bytes = fs::read(self.folder.join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
