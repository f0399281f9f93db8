//! A card with two ports, and a program that forwards between them.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Result;
use conformance::{Program, Running, TestNic};
use nic::{Faults, NicConfig, Port};

use crate::outcome::Outcome;
use crate::subject::Subject;

/// Time for a program to start and to forward its first frames. DPDK needs seconds.
pub const START: Duration = Duration::from_secs(30);
/// Time for a program to forward again after a fault.
pub const RECOVERY: Duration = Duration::from_secs(8);
/// How often the counters are read.
const INTERVAL: Duration = Duration::from_millis(2);

/// A step of a case: `Err` is the outcome that ends the case early, or the failure to run it.
pub type Step<T = ()> = Result<T, Stop>;

/// Why a case ends early.
#[derive(Debug)]
pub enum Stop {
    /// The program did something else than the case asks for.
    Outcome(Outcome),
    /// The case could not be run.
    Failure(anyhow::Error),
}

impl From<Outcome> for Stop {
    fn from(outcome: Outcome) -> Self {
        Self::Outcome(outcome)
    }
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Self::Failure(error)
    }
}

/// A card whose data plane runs, and a program on it.
#[derive(Debug)]
pub struct Testbed {
    // Dropped in this order: the program first, so that it ends before its card.
    /// The program.
    pub program: Running,
    /// The card.
    pub nic: TestNic,
    /// Receives the card's counters in the end.
    pub counted: Rc<Cell<Counted>>,
}

/// Frames that the cards of a case counted: given to the program, sent by it, lost, and wrong.
pub type Counted = [u64; 4];

impl Drop for Testbed {
    fn drop(&mut self) {
        let mut sum = self.counted.get();
        for stats in self.nic.ports().iter().map(Port::stats) {
            sum[0] += stats.delivered_generated;
            sum[1] += stats.transmitted;
            sum[2] += stats.verify.missing;
        }
        sum[3] += self.counts().wrong;
        self.counted.set(sum);
    }
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
    pub fn start(
        triptych: &Path,
        subject: &Subject,
        counted: Rc<Cell<Counted>>,
        change: impl FnOnce(NicConfig) -> NicConfig,
    ) -> Result<Self> {
        let nic = TestNic::running(|config| {
            change(config.with_each_port(|port| port.expected = subject.expect))
        })?;
        let sockets = nic.ports().iter().map(Port::socket);
        let program = if subject.direct {
            let mut args = subject.args.clone();
            for (nth, socket) in sockets.enumerate() {
                let (place, socket) = (format!("{{socket{nth}}}"), socket.to_string_lossy());
                args.iter_mut()
                    .for_each(|arg| *arg = arg.replace(&place, &socket));
            }
            // It ends with this process, even by SIGKILL. The launcher takes care of that itself.
            let program = Program::at("setpriv").args(["--pdeathsig", "KILL"]);
            program.arg(&subject.program).args(args)
        } else {
            let program = sockets
                .fold(Program::at(triptych).arg("with-card"), |program, socket| {
                    program.arg("--socket").arg(socket)
                });
            program.arg("--").arg(&subject.program).args(&subject.args)
        };
        let program = program.grouped(&nic.path(".")).envs(&subject.env).start()?;
        Ok(Self {
            program,
            nic,
            counted,
        })
    }

    /// The counters now.
    pub fn counts(&self) -> Counts {
        let stats: Vec<_> = self.nic.ports().iter().map(Port::stats).collect();
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
    pub fn forwards(&mut self, frames: u64, limit: Duration) -> Step {
        let target = self.counts().sent + frames;
        let start = Instant::now();
        while self.counts().sent < target {
            self.pass(INTERVAL)?;
            if start.elapsed() > limit {
                return Err(Outcome::Hangs.into());
            }
        }
        Ok(())
    }

    /// Lets time pass. The program must not end.
    pub fn pass(&mut self, time: Duration) -> Step {
        if !self.program.ends_within(time)? {
            return Ok(());
        }
        let last_line = last_line(&self.program.so_far()?.concat());
        let status = self.program.ended()?;
        let outcome = |status| Outcome::of_end(status, last_line);
        Err(status.map_or(Outcome::Hangs, outcome).into())
    }

    /// Compares the counters with those at an earlier moment: no frame may be wrong.
    pub fn nothing_wrong_since(&self, before: Counts) -> Step {
        match self.counts().wrong - before.wrong {
            0 => Ok(()),
            wrong => Err(Outcome::WrongFrames(wrong).into()),
        }
    }

    /// The same, and no frame may be lost.
    pub fn nothing_lost_since(&self, before: Counts) -> Step {
        self.nothing_wrong_since(before)?;
        match self.counts().missing.saturating_sub(before.missing) {
            0 => Ok(()),
            lost => Err(Outcome::Lost(lost).into()),
        }
    }

    /// Gives both ports this fault, and takes all others back. An empty name takes all back.
    pub fn set_fault(&self, name: &str) -> Result<()> {
        let mut faults = Faults::default();
        if !name.is_empty() {
            faults.add(name)?;
        }
        self.nic
            .ports()
            .iter()
            .for_each(|port| port.set_faults(faults));
        Ok(())
    }

    /// Plugs the cables of both ports in, or pulls them out.
    pub fn set_plugged(&self, plugged: bool) {
        self.nic
            .ports()
            .iter()
            .for_each(|port| port.set_plugged(plugged));
    }
}

/// The last line of an output that is not empty and not the launcher's.
fn last_line(output: &str) -> String {
    let mut lines = output.lines().rev().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with("triptych:"));
    line.unwrap_or_default().chars().take(160).collect()
}
