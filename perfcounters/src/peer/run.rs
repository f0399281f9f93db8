//! One run of a peer: the software card, the launcher and the program.

use std::time::{Duration, Instant};

use super::card::{CardCounts, Control};
use crate::backend::{Cell, MeasureError};
use crate::device::{Nic, NicProgram};
use crate::forwarder::ForwarderReport;
use crate::interrupt::Interrupt;
use crate::place::Place;
use crate::process::{Process, ProcessError};
use crate::sys;

/// About how long a program needs to start, for estimates.
pub(crate) const START: Duration = Duration::from_secs(1);
/// Time within which a program must send its first frame, send the next one, and end after SIGTERM.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two readings of the counters.
const POLL: Duration = Duration::from_millis(5);
/// Frames after which the start of a program is over.
const STARTED: u64 = 10_000;

/// A running peer. Dropping it ends card and program.
pub(crate) struct PeerRun<'a> {
    process: Process,
    nic: Nic,
    control: Control,
    patience: Duration,
    interrupt: &'a Interrupt,
}

impl<'a> PeerRun<'a> {
    /// Starts card and program. The card offers as many packets as the peer takes.
    pub fn start(
        cell: &Cell,
        nic: &NicProgram,
        place: &Place<'a>,
        patience: Duration,
    ) -> Result<Self, MeasureError> {
        let nic = Nic::start(nic, cell, place, &["--traffic", "saturate"])?;
        Ok(Self {
            control: Control::connect(&nic.control())?,
            process: super::start(cell, &nic, place)?,
            nic,
            patience,
            interrupt: place.interrupt,
        })
    }

    /// Counts packets for `duration`, after a warm-up.
    pub fn measure(
        mut self,
        warm_up: Duration,
        duration: Duration,
    ) -> Result<ForwarderReport, MeasureError> {
        self.wait_for_frames(STARTED)?;
        self.wait(warm_up)?;
        let (first, start, tsc) = (self.control.counts()?, Instant::now(), sys::tsc_ordered());
        self.wait(duration)?;
        let (last, seconds) = (self.control.counts()?, start.elapsed().as_secs_f64());
        let tsc_cycles = sys::tsc_ordered().wrapping_sub(tsc);
        self.stop()?;
        let rx = last.delivered() - first.delivered();
        let tx = last.transmitted() - first.transmitted();
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

    /// Waits until the program has sent this many frames since its start.
    fn wait_for_frames(&mut self, frames: u64) -> Result<(), MeasureError> {
        let mut sent = self.control.counts()?.transmitted();
        let mut since = Instant::now();
        while sent < frames {
            self.wait(POLL)?;
            if since.elapsed() > self.patience {
                return Err(MeasureError::Other(format!(
                    "the program has sent {sent} frames and then none for {:.1} s{}",
                    self.patience.as_secs_f64(),
                    self.process.last_words()
                )));
            }
            let now = self.control.counts()?.transmitted();
            if now > sent {
                since = Instant::now();
            }
            sent = now;
        }
        Ok(())
    }

    /// Waits while the program forwards.
    fn wait(&mut self, duration: Duration) -> Result<(), ProcessError> {
        let (start, limit) = (Instant::now(), duration + self.patience);
        let over = || start.elapsed() >= duration;
        self.process.wait_until(limit, self.interrupt, over)
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

    use record::{Implementation, Placement};

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
        let placement = Placement::default();
        let place = Place::new(&placement, interrupt)?;
        let nic = NicProgram::new(fixture("fake_nic.py"));
        let mut run = PeerRun::start(&cell, &nic, &place, Duration::from_secs(2))?;
        run.wait_for_frames(frames)?;
        run.stop()
    }

    #[test]
    fn a_peer_runs_until_the_card_has_counted_enough_frames_or_an_interrupt() {
        let interrupt = Interrupt::new();
        let counts = run(FORWARDS, 50_000, &interrupt).unwrap();
        assert!(counts.transmitted() >= 50_000, "{counts:?}");
        interrupt.set();
        let error = run("exec sleep 60", 1000, &interrupt).unwrap_err();
        assert!(error.ends_the_run(), "{error}");
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
                ["ixy ended with", "exit status: 3: no memory"],
            ),
            (hangs, ["did not end within 2.0 s", "was stopped"]),
            (ends, ["ixy ended with", "exit status: 5"]),
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
}
