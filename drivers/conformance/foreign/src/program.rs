//! Runs a program on the card, and ends it.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{kill_process, kill_process_group, Pid, Signal};

use crate::subject::Subject;

/// Time that the launcher gets to end before it is killed.
const PATIENCE: Duration = Duration::from_secs(12);
/// How often an end is looked for.
const INTERVAL: Duration = Duration::from_millis(5);

/// A program that `triptych with-card` runs. Dropping it ends it.
#[derive(Debug)]
pub struct Program {
    child: Child,
    output: PathBuf,
    status: Option<ExitStatus>,
}

impl Program {
    /// Starts a program on the card whose ports have these sockets. Its output goes to a file in
    /// `folder`.
    ///
    /// # Errors
    /// If `triptych` cannot be started.
    pub fn start(
        triptych: &Path,
        sockets: [&Path; 2],
        subject: &Subject,
        folder: &Path,
    ) -> Result<Self> {
        let output = folder.join("output");
        let file = File::create(&output)?;
        let mut command = Command::new(triptych);
        command.arg("with-card");
        for socket in sockets {
            command.arg("--socket").arg(socket);
        }
        let child = command
            .arg("--")
            .arg(&subject.program)
            .args(&subject.args)
            .envs(&subject.env)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .process_group(0)
            .spawn()
            .with_context(|| format!("{}: run make triptych first", triptych.display()))?;
        Ok(Self {
            child,
            output,
            status: None,
        })
    }

    /// The exit status, if the program has ended: 128 and its number for a signal.
    ///
    /// # Errors
    /// If the state of the process cannot be read.
    pub fn ended(&mut self) -> Result<Option<i32>> {
        if self.status.is_none() {
            self.status = self.child.try_wait()?;
        }
        let code = |status: ExitStatus| {
            let signal = status.signal().map(|signal| 128 + signal);
            status.code().or(signal).unwrap_or(1)
        };
        Ok(self.status.map(code))
    }

    /// Asks the program to end, as Ctrl-C does. Returns the exit status, or `None` if it goes on.
    ///
    /// # Errors
    /// If the state of the process cannot be read.
    pub fn interrupt(&mut self, limit: Duration) -> Result<Option<i32>> {
        self.signal(Signal::INT);
        self.wait(limit)
    }

    /// The last line of the output that is not empty and not the launcher's.
    pub fn last_line(&self) -> String {
        let bytes = std::fs::read(&self.output).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines().rev().map(str::trim);
        lines
            .find(|line| !line.is_empty() && !line.starts_with("triptych:"))
            .unwrap_or_default()
            .chars()
            .take(160)
            .collect()
    }

    fn wait(&mut self, limit: Duration) -> Result<Option<i32>> {
        let start = Instant::now();
        loop {
            let ended = self.ended()?;
            if ended.is_some() || start.elapsed() > limit {
                return Ok(ended);
            }
            std::thread::sleep(INTERVAL);
        }
    }

    /// Sends a signal to the launcher, which passes it on.
    fn signal(&self, signal: Signal) {
        // An error means that the launcher has ended already.
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !matches!(self.ended(), Ok(None)) {
            return;
        }
        self.signal(Signal::TERM);
        if !matches!(self.wait(PATIENCE), Ok(Some(_))) {
            // Errors mean that the processes have ended already.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}
