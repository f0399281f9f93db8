//! One run of a peer: the software card, the launcher and the program.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use record::Placement;

use super::card::{CardCounts, Control};
use crate::backend::{Cell, MeasureError};
use crate::device::{Nic, NicProgram, NicSetup, Traffic};
use crate::interrupt::Interrupt;
use crate::process::Process;
use crate::report::ForwarderReport;
use crate::sys;
use crate::temporary::TemporaryFolder;

/// About how long a program needs to start, for estimates.
pub(crate) const START: Duration = Duration::from_secs(1);
/// Time within which a program must send its first frame, send the next one, and end after SIGTERM.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two readings of the counters.
const POLL: Duration = Duration::from_millis(5);
/// Frames after which the start of a program is over.
const STARTED: u64 = 10_000;

/// What to run.
pub(crate) struct PeerSetup<'a> {
    pub cell: &'a Cell,
    pub nic: &'a NicProgram,
    pub placement: &'a Placement,
    pub patience: Duration,
    pub interrupt: &'a Interrupt,
}

/// A running peer. Dropping it ends card and program.
struct PeerRun {
    process: Process,
    nic: Nic,
    control: Control,
    patience: Duration,
    interrupt: Interrupt,
    /// The sockets of the card, and the program's standard error.
    _folder: TemporaryFolder,
}

impl PeerSetup<'_> {
    /// Counts packets for `duration`, after a warm-up. The card offers as many as the peer takes.
    pub fn measure(
        &self,
        warm_up: Duration,
        duration: Duration,
    ) -> Result<ForwarderReport, MeasureError> {
        let mut run = self.start()?;
        run.wait_for_frames(STARTED)?;
        run.wait(warm_up)?;
        let (first, start, tsc) = (run.control.counts()?, Instant::now(), sys::tsc_ordered());
        run.wait(duration)?;
        let (last, seconds) = (run.control.counts()?, start.elapsed().as_secs_f64());
        let tsc_cycles = sys::tsc_ordered().wrapping_sub(tsc);
        run.stop()?;
        let rx = last.delivered - first.delivered;
        let tx = last.transmitted - first.transmitted;
        if tx == 0 {
            return Err(format!("the program sent no frame within {seconds:.1} s").into());
        }
        Ok(ForwarderReport {
            rx,
            tx,
            dropped: rx.saturating_sub(tx),
            seconds,
            tsc_cycles,
            ..ForwarderReport::default()
        })
    }

    /// Starts card and program.
    fn start(&self) -> Result<PeerRun, MeasureError> {
        let folder = TemporaryFolder::create()?;
        let setup = NicSetup {
            frame_size: self.cell.conditions.frame_size,
            expect: self.cell.peer.as_ref().map(|peer| peer.expect.clone()),
            ..NicSetup::new(Traffic::Saturate, self.placement.nic)
        };
        let nic = Nic::start(self.nic, &setup, folder.path(), self.interrupt)?;
        let control = Control::connect(nic.control())?;
        let process = Process::start_with(
            &self.cell.implementation.to_string(),
            super::command(self.cell, &nic, self.placement.driver),
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
    /// Waits until the program has sent this many frames since its start.
    fn wait_for_frames(&mut self, frames: u64) -> Result<(), MeasureError> {
        let mut sent = self.control.counts()?.transmitted;
        let mut since = Instant::now();
        while sent < frames {
            self.check()?;
            if since.elapsed() > self.patience {
                return Err(MeasureError::Other(format!(
                    "the program has sent {sent} frames and then none for {:.1} s{}",
                    self.patience.as_secs_f64(),
                    self.process.last_words()
                )));
            }
            thread::sleep(POLL);
            let now = self.control.counts()?.transmitted;
            if now > sent {
                since = Instant::now();
            }
            sent = now;
        }
        Ok(())
    }

    /// Waits while the program forwards.
    fn wait(&mut self, duration: Duration) -> Result<(), MeasureError> {
        let start = Instant::now();
        while start.elapsed() < duration {
            self.check()?;
            thread::sleep(POLL.min(duration.saturating_sub(start.elapsed())));
        }
        Ok(())
    }

    /// Checks that the program runs and that the user has not asked to stop.
    fn check(&mut self) -> Result<(), MeasureError> {
        if self.interrupt.is_set() {
            return Err(MeasureError::Interrupted);
        }
        Ok(self.process.check_running()?)
    }

    /// Ends the program with SIGTERM, and then the card. Returns the counters of the whole run.
    /// Fails if the card found wrong frames.
    fn stop(mut self) -> Result<CardCounts, MeasureError> {
        self.process.stop(self.patience)?;
        let counts = self.control.counts()?;
        drop(self.control);
        self.nic.stop()?;
        counts.check()?;
        Ok(counts)
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
    use crate::peer::PeerProgram;

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
            placement: &Placement::default(),
            patience: Duration::from_secs(2),
            interrupt,
        };
        let mut run = setup.start()?;
        run.wait_for_frames(frames)?;
        run.stop()
    }

    #[test]
    fn a_peer_runs_until_the_card_has_counted_enough_frames() {
        let counts = run(FORWARDS, 50_000, &Interrupt::new()).unwrap();
        assert!(counts.transmitted >= 50_000, "{counts:?}");
    }

    #[test]
    fn a_peer_that_forwards_nothing_dies_hangs_or_errs_is_reported_in_time() {
        let hangs = "trap '' TERM; touch \"$CARD/forwards\"; while :; do sleep 1; done";
        let ends = "touch \"$CARD/forwards\"; trap 'exit 5' TERM; while :; do sleep 0.1; done";
        let alters = format!("touch \"$CARD/alters\"; {FORWARDS}");
        for (script, parts) in [
            (
                "echo no link >&2; exec sleep 60",
                ["sent 0 frames", "no link"],
            ),
            (
                "echo no memory >&2; exit 3",
                ["ixy ended with", "exit code 3: no memory"],
            ),
            (hangs, ["did not end within 2.0 s", "was stopped"]),
            (ends, ["ixy ended with", "exit code 5"]),
            (&alters, ["the card found", "1 altered"]),
        ] {
            let start = Instant::now();
            let error = run(script, 1000, &Interrupt::new())
                .unwrap_err()
                .to_string();
            assert!(start.elapsed() < Duration::from_secs(20), "{error}");
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
    }

    #[test]
    fn an_interrupt_ends_the_wait() {
        let interrupt = Interrupt::new();
        interrupt.set();
        let error = run("exec sleep 60", 1000, &interrupt).unwrap_err();
        assert!(error.ends_the_run(), "{error}");
    }
}
