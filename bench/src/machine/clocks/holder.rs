//! Fixes the clock for the life of a run. A process of its own holds the clock and restores the earlier
//! settings when its input ends: after the run, and also if the run is killed.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use perfcounters::process::wait_at_most;
use rustix::event::{poll, PollFd, PollFlags, Timespec};

use super::script;
use crate::machine::host::system::program;

/// Longest time to fix the clock or to restore the settings.
const CHANGE: Duration = Duration::from_secs(20);

/// A clock that is fixed until this is dropped.
#[derive(Debug)]
pub struct HeldClock {
    child: Child,
}

impl HeldClock {
    /// Fixes the clock of all CPUs. `root` is `/` except in tests.
    pub fn hold(ghz: f64, root: &Path) -> Result<Self> {
        let child = script("hold", root, &ghz.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C must reach only this process. The holder ends after the measurement has ended.
            .process_group(0)
            .spawn()
            .context("cannot start a shell that holds the clocks")?;
        let mut held = Self { child };
        let answers = held.child.stdout.take().is_some_and(|mut stdout| {
            let limit = Timespec::try_from(CHANGE).ok();
            let ready = poll(&mut [PollFd::new(&stdout, PollFlags::IN)], limit.as_ref());
            ready.is_ok_and(|count| count > 0) && matches!(stdout.read(&mut [0]), Ok(1))
        });
        if answers {
            return Ok(held);
        }
        let why = held.end().err();
        let why = why.map_or_else(|| "no answer".to_owned(), |error| error.to_string());
        let advice = if why.contains("sudo:") {
            "; clocks need root: run `sudo -v` first, run this command as root, or measure with \
                 --keep-clock"
        } else {
            ""
        };
        bail!("cannot fix the clock at {ghz} GHz: {why}{advice}");
    }

    /// Restores the earlier settings.
    pub fn release(mut self) -> Result<()> {
        self.end().with_context(|| {
            let program = program();
            format!("the clocks were not restored; `sudo {program} clocks restore` does it")
        })
    }

    /// Ends the holder's input, so that it restores the settings.
    fn end(&mut self) -> Result<()> {
        if self.child.stdin.take().is_none() {
            return Ok(());
        }
        match wait_at_most(&mut self.child, CHANGE)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => {
                let mut said = String::new();
                if let Some(stderr) = &mut self.child.stderr {
                    let _ = stderr.take(4000).read_to_string(&mut said);
                }
                match said.trim() {
                    "" => bail!("{status}"),
                    text => bail!("{}", text.trim_start_matches("triptych: ")),
                }
            }
            None => {
                let _ = self.child.kill();
                bail!("not finished after {} s", CHANGE.as_secs())
            }
        }
    }
}

impl Drop for HeldClock {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("warning: the clocks were not restored: {error}");
        }
    }
}
