//! One run of a peer: the software card, the launcher and the program.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use record::Placement;

use super::card::{CardCounts, Control};
use super::PeerProgram;
use crate::backend::{Cell, MeasureError};
use crate::device::{Nic, NicProgram, NicSetup, Traffic};
use crate::interrupt::Interrupt;
use crate::process::Process;
use crate::temporary::TemporaryFolder;

/// Time within which a program must send its first frame, send the next one, and end after SIGTERM.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two readings of the counters.
const POLL: Duration = Duration::from_millis(5);

/// What to run.
pub(crate) struct PeerSetup<'a> {
    pub cell: &'a Cell,
    pub nic: &'a NicProgram,
    pub traffic: Traffic,
    pub placement: &'a Placement,
    pub patience: Duration,
    pub interrupt: &'a Interrupt,
}

/// A running peer. Dropping it ends card and program.
pub(crate) struct PeerRun {
    process: Process,
    nic: Nic,
    control: Control,
    patience: Duration,
    interrupt: Interrupt,
    /// The sockets of the card, and the program's standard error.
    _folder: TemporaryFolder,
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
        let command = peer.command(&self.cell.program, nic.sockets(), self.placement.driver);
        let process = Process::start_with(
            &self.cell.implementation.to_string(),
            command,
            (self.placement.driver, None),
            folder.path(),
            (Stdio::piped(), Stdio::null()),
        )?;
        Ok(PeerRun {
            process,
            nic,
            control,
            patience: self.patience,
            interrupt: self.interrupt.clone(),
            _folder: folder,
        })
    }
}

impl PeerRun {
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
            if since.elapsed() > self.patience {
                return Err(MeasureError::Other(format!(
                    "the program has sent {} frames and then none for {:.1} s{}",
                    last.transmitted,
                    self.patience.as_secs_f64(),
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
        self.process.stop(self.patience)?;
        let counts = self.control.counts()?;
        drop(self.control);
        self.nic.stop()?;
        match counts.wrong_frames() {
            None => Ok(counts),
            Some(why) => Err(MeasureError::Other(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use record::Implementation;

    use super::*;
    use crate::common::{cell, fixture};

    const FORWARDS: &str = "touch \"$CARD/forwards\"; echo hello >&2; exec sleep 60";

    /// A peer that is a shell script.
    fn script(folder: &Path, text: &str) -> Cell {
        let mut cell = cell(folder, "peer", Implementation::Ixy);
        fs::write(&cell.program, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&cell.program, fs::Permissions::from_mode(0o755)).unwrap();
        cell.peer = Some(PeerProgram {
            launcher: (fixture("fake_launcher.sh"), vec!["with-card".into()]),
            arguments: vec!["{port0}".into()],
            environment: Default::default(),
            expect: "touch@1".into(),
        });
        cell
    }

    /// Runs a script until it has sent `frames` frames, and ends it.
    fn run(text: &str, frames: u64, interrupt: &Interrupt) -> Result<CardCounts, MeasureError> {
        let folder = tempfile::tempdir().unwrap();
        let cell = script(folder.path(), text);
        let setup = PeerSetup {
            cell: &cell,
            nic: &NicProgram::new(fixture("fake_card.py")),
            traffic: Traffic::Saturate,
            placement: &Placement::default(),
            patience: Duration::from_secs(2),
            interrupt,
        };
        let mut run = setup.start()?;
        run.wait_for_frames(frames)?;
        run.stop()
    }

    fn failure(text: &str) -> String {
        let start = Instant::now();
        let error = run(text, 1000, &Interrupt::new()).unwrap_err().to_string();
        assert!(start.elapsed() < Duration::from_secs(20), "{error}");
        error
    }

    #[test]
    fn a_peer_runs_until_the_card_has_counted_enough_frames() {
        let counts = run(FORWARDS, 50_000, &Interrupt::new()).unwrap();
        assert!(counts.transmitted >= 50_000, "{counts:?}");
    }

    #[test]
    fn a_peer_that_forwards_nothing_dies_or_hangs_is_reported_in_time() {
        let error = failure("echo no link >&2; exec sleep 60");
        assert!(
            error.contains("sent 0 frames") && error.contains("no link"),
            "{error}"
        );
        let error = failure("echo no memory >&2; exit 3");
        assert!(
            error.contains("ixy ended with exit code 3: no memory"),
            "{error}"
        );
        let error = failure("trap '' TERM; touch \"$CARD/forwards\"; while :; do sleep 1; done");
        assert!(
            error.contains("did not end within 2.0 s and was stopped"),
            "{error}"
        );
        let error =
            failure("touch \"$CARD/forwards\"; trap 'exit 5' TERM; while :; do sleep 0.1; done");
        assert!(error.contains("exit code 5"), "{error}");
    }

    #[test]
    fn wrong_frames_are_a_failure() {
        let error = failure(&format!("touch \"$CARD/alters\"; {FORWARDS}"));
        assert!(error.contains("1 altered"), "{error}");
    }

    #[test]
    fn an_interrupt_ends_the_wait() {
        let interrupt = Interrupt::new();
        interrupt.set();
        let error = run("exec sleep 60", 1000, &interrupt).unwrap_err();
        assert!(error.ends_the_run(), "{error}");
    }
}
