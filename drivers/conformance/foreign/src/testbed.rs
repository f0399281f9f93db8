//! A card with two ports, and a program that forwards between them.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use nic::{Faults, Nic, NicConfig, Port, RunningDataPlane, SessionReport, Traffic};
use tempfile::TempDir;

use crate::outcome::Outcome;
use crate::program::Program;
use crate::subject::Subject;

/// Time for a program to start and to forward its first frames. DPDK needs seconds.
pub const START: Duration = Duration::from_secs(30);
/// Time for a program to forward again after a fault.
pub const RECOVERY: Duration = Duration::from_secs(8);
/// How often the counters are read.
const INTERVAL: Duration = Duration::from_millis(2);

/// A step of a case: `Err` is the outcome that ends the case early.
pub type Step<T = ()> = Result<T, Stop>;

/// Why a case ends early.
#[derive(Debug)]
pub enum Stop {
    /// The program did something else than the case asks for.
    Outcome(Outcome),
    /// The case could not be run.
    Failure(anyhow::Error),
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Self::Failure(error)
    }
}

impl From<Outcome> for Stop {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(outcome)
    }
}

/// A card whose data plane runs, and a program on it.
#[derive(Debug)]
pub struct Testbed {
    // Dropped in this order: the program first, so that it ends before its card.
    program: Program,
    _data_plane: RunningDataPlane,
    nic: Nic,
    _folder: TempDir,
}

/// The counters at one moment, summed over both ports.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Frames sent by the port that sent fewer.
    pub sent: u64,
    /// Frames that were skipped.
    pub missing: u64,
    /// Frames altered, repeated, out of order, or of another source.
    pub wrong: u64,
    /// Frames that the program has, after the last that it sent.
    pub outstanding: u64,
}

impl Testbed {
    /// Starts the card, and the program on it.
    ///
    /// # Errors
    /// If either cannot be started.
    pub fn start(
        triptych: &Path,
        subject: &Subject,
        change: impl FnOnce(NicConfig) -> NicConfig,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let sockets = folder.path().join("sockets");
        let config =
            NicConfig::new(&sockets, 2).with_each_port(|port| port.expected = subject.expect);
        let nic = Nic::new(change(config))?;
        let data_plane = nic.run_data_plane()?;
        let [a, b] = nic.ports() else {
            anyhow::bail!("the card has {} ports, not 2", nic.ports().len())
        };
        let program = Program::start(triptych, [a.socket(), b.socket()], subject, folder.path())?;
        Ok(Self {
            program,
            _data_plane: data_plane,
            nic,
            _folder: folder,
        })
    }

    /// The program.
    pub fn program(&mut self) -> &mut Program {
        &mut self.program
    }

    /// Both ports.
    pub fn ports(&self) -> &[Port] {
        self.nic.ports()
    }

    /// The counters now.
    pub fn counts(&self) -> Counts {
        let stats: Vec<_> = self.ports().iter().map(Port::stats).collect();
        let wrong = stats.iter().map(|port| {
            let verify = port.verify;
            verify.duplicated + verify.reordered + verify.altered + verify.foreign
        });
        Counts {
            sent: stats.iter().map(|port| port.transmitted).min().unwrap_or(0),
            missing: stats.iter().map(|port| port.verify.missing).sum(),
            wrong: wrong.sum(),
            outstanding: stats.iter().map(|port| port.outstanding).sum(),
        }
    }

    /// Waits until both ports have sent `frames` more.
    ///
    /// # Errors
    /// The outcome, if the program ends or `limit` passes.
    pub fn forwards(&mut self, frames: u64, limit: Duration) -> Step {
        let target = self.counts().sent + frames;
        let start = Instant::now();
        while self.counts().sent < target {
            self.still_runs()?;
            if start.elapsed() > limit {
                return Err(Outcome::Hangs.into());
            }
            std::thread::sleep(INTERVAL);
        }
        Ok(())
    }

    /// Lets time pass.
    ///
    /// # Errors
    /// The outcome, if the program ends.
    pub fn pass(&mut self, time: Duration) -> Step {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.still_runs()?;
            std::thread::sleep(INTERVAL);
        }
        Ok(())
    }

    fn still_runs(&mut self) -> Step {
        match self.program.ended()? {
            Some(status) => Err(Outcome::of_end(status, self.program.last_line()).into()),
            None => Ok(()),
        }
    }

    /// Compares the counters with those at an earlier moment.
    ///
    /// # Errors
    /// The outcome, if a frame was wrong.
    pub fn nothing_wrong_since(&self, before: Counts) -> Step {
        match self.counts().wrong - before.wrong {
            0 => Ok(()),
            wrong => Err(Outcome::WrongFrames(wrong).into()),
        }
    }

    /// The same, and no frame may be lost.
    ///
    /// # Errors
    /// The outcome, if a frame was wrong or lost.
    pub fn nothing_lost_since(&self, before: Counts) -> Step {
        self.nothing_wrong_since(before)?;
        match self.counts().missing.saturating_sub(before.missing) {
            0 => Ok(()),
            lost => Err(Outcome::Lost(lost).into()),
        }
    }

    /// Changes the traffic of both ports.
    pub fn set_traffic(&self, traffic: Traffic) {
        for port in self.ports() {
            port.set_traffic(traffic);
        }
    }

    /// Gives both ports this fault, and takes all others back. No name takes all back.
    ///
    /// # Errors
    /// If there is no such fault.
    pub fn set_fault(&self, name: Option<&str>) -> Result<()> {
        let mut faults = Faults::default();
        if let Some(name) = name {
            faults.add(name)?;
        }
        for port in self.ports() {
            port.set_faults(faults);
        }
        Ok(())
    }

    /// Waits for the end of both sessions, and returns their reports.
    ///
    /// # Errors
    /// If a session does not end, or there was none.
    pub fn sessions(&self) -> Result<Vec<SessionReport>> {
        let end = Instant::now() + RECOVERY;
        while self.ports().iter().any(Port::connected) && Instant::now() < end {
            std::thread::sleep(INTERVAL);
        }
        let report = |port: &Port| port.last_session().context("a port had no driver");
        self.ports().iter().map(report).collect()
    }
}
