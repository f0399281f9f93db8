//! One run of a peer: the software card, the launcher and the program.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use record::Placement;

use super::card::{CardCounts, Control};
use super::PeerProgram;
use crate::backend::{Cell, MeasureError};
use crate::device::{Nic, NicProgram, NicSetup, Traffic};
use crate::interrupt::Interrupt;
use crate::process::{Process, ProcessError};
use crate::temporary::TemporaryFolder;

/// Time within which a program must send its first frame. DPDK needs most of it under valgrind.
const FIRST_FRAME: Duration = Duration::from_secs(60);
/// Longest pause between sent frames after that.
const NO_FRAME: Duration = Duration::from_secs(10);
/// Time within which a program must end after SIGTERM.
const STOP: Duration = Duration::from_secs(10);
/// Pause between two readings of the counters.
const POLL: Duration = Duration::from_millis(5);

/// What to run.
pub(crate) struct PeerSetup<'a> {
    pub cell: &'a Cell,
    pub nic: &'a NicProgram,
    pub traffic: Traffic,
    pub placement: &'a Placement,
    /// The command of a tool that runs the program.
    pub tool: &'a dyn Fn(&Path) -> Vec<String>,
    pub interrupt: &'a Interrupt,
}

/// A running peer. Dropping it ends card and program.
pub(crate) struct PeerRun {
    process: Process,
    nic: Nic,
    control: Control,
    interrupt: Interrupt,
    folder: TemporaryFolder,
}

/// The program's description in a cell.
pub(crate) fn peer_of(cell: &Cell) -> Result<&PeerProgram, MeasureError> {
    let peer = cell.peer.as_ref();
    peer.ok_or_else(|| MeasureError::Other(format!("{cell} is no peer")))
}

impl PeerSetup<'_> {
    /// Starts card and program.
    ///
    /// # Errors
    /// If one of them does not start.
    pub fn start(&self) -> Result<PeerRun, MeasureError> {
        let peer = peer_of(self.cell)?;
        let folder = TemporaryFolder::create()?;
        let setup = NicSetup {
            frame_size: self.cell.conditions.frame_size,
            expect: Some(peer.expect.clone()),
            ..NicSetup::new(self.traffic, self.placement.nic)
        };
        let nic = Nic::start(self.nic, &setup, folder.path(), self.interrupt)?;
        let control = Control::connect(nic.control())?;
        let tool = (self.tool)(folder.path());
        let command = peer.command(
            &self.cell.program,
            nic.sockets(),
            &tool,
            self.placement.driver,
        );
        let process = Process::start_with_open_input(
            &self.cell.implementation.to_string(),
            command,
            self.placement.driver,
            folder.path(),
            Stdio::null(),
        )?;
        Ok(PeerRun {
            process,
            nic,
            control,
            interrupt: self.interrupt.clone(),
            folder,
        })
    }
}

impl PeerRun {
    /// The folder of this run.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Stops the measurement when set.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// The card's counters at this moment.
    ///
    /// # Errors
    /// If the card has failed.
    pub fn counts(&mut self) -> Result<CardCounts, MeasureError> {
        self.control.counts()
    }

    /// Waits until the program has sent this many frames since its start.
    ///
    /// # Errors
    /// If the program ends, or stops sending; [`MeasureError::Interrupted`].
    pub fn wait_for_frames(&mut self, frames: u64) -> Result<CardCounts, MeasureError> {
        let mut last = self.counts()?;
        let mut since = Instant::now();
        while last.transmitted < frames {
            self.check()?;
            let limit = match last.transmitted {
                0 => FIRST_FRAME,
                _ => NO_FRAME,
            };
            if since.elapsed() > limit {
                return Err(MeasureError::Other(format!(
                    "the program has sent {} frames and then none for {} s{}",
                    last.transmitted,
                    limit.as_secs(),
                    self.process.last_words()
                )));
            }
            thread::sleep(POLL);
            let now = self.counts()?;
            if now.transmitted > last.transmitted {
                since = Instant::now();
            }
            last = now;
        }
        Ok(last)
    }

    /// Waits while the program forwards.
    ///
    /// # Errors
    /// As [`Self::wait_for_frames`].
    pub fn wait(&mut self, duration: Duration) -> Result<(), MeasureError> {
        let start = Instant::now();
        while start.elapsed() < duration {
            self.check()?;
            thread::sleep(POLL.min(duration.saturating_sub(start.elapsed())));
        }
        Ok(())
    }

    /// Checks that the program runs and that the user has not asked to stop.
    ///
    /// # Errors
    /// As [`Self::wait_for_frames`].
    pub fn check(&mut self) -> Result<(), MeasureError> {
        if self.interrupt.is_set() {
            return Err(MeasureError::Interrupted);
        }
        Ok(self.process.check_running()?)
    }

    /// Ends the program with SIGTERM, and then the card. Returns the counters of the whole run.
    ///
    /// # Errors
    /// If the program had ended, or does not end in time; if the card found wrong frames.
    pub fn stop(mut self) -> Result<CardCounts, MeasureError> {
        match self.process.stop(STOP) {
            Ok(()) => {}
            // The launcher reports the signal in its exit code, as a shell does.
            Err(ProcessError::Failed { status, .. }) if status.code() == Some(128 + 15) => {}
            Err(error) => return Err(error.into()),
        }
        let counts = self.control.counts()?;
        drop(self.control);
        self.nic.stop()?;
        match counts.wrong_frames() {
            None => Ok(counts),
            Some(why) => Err(MeasureError::Other(why)),
        }
    }
}
