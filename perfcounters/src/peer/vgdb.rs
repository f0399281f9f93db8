//! Asks valgrind for its counts while the program runs, through valgrind's own `vgdb`.
//!
//! Valgrind writes its counts down and then keeps the program stopped for a moment. The counters of the
//! card, read in this moment, belong to the same point of the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::card::CardCounts;
use super::run::PeerRun;
use crate::backend::MeasureError;
use crate::callgrind::Totals;
use crate::process::Process;

/// The program that talks to valgrind.
pub(super) const VGDB: &str = "vgdb";
/// Callgrind's file; its dumps have this name and a number.
const OUTPUT: &str = "callgrind.out";
/// Time for which valgrind keeps the program stopped after a dump, at first and at most. A busy machine
/// needs more of it.
const PAUSE: [Duration; 2] = [Duration::from_millis(60), Duration::from_secs(1)];
/// Time within which valgrind must write its counts.
const LIMIT: Duration = Duration::from_secs(20);
/// Pause between two looks at the file or at the counters.
const LOOK: Duration = Duration::from_millis(2);
/// Looks until the counters of the card must stand still, while the program is stopped.
const LOOKS: u32 = 500;

/// The counts of valgrind since the last dump, and the counters of the card at the same moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dump {
    pub totals: Totals,
    pub card: CardCounts,
}

/// Dumps the counts of the program of one run.
pub(super) struct Dumper {
    folder: PathBuf,
    number: u32,
    pause: Duration,
}

/// The arguments with which callgrind runs a program: its files are in `folder`.
pub(super) fn callgrind(folder: &Path, caches: &[&str]) -> Vec<String> {
    let mut tool: Vec<String> = [
        "valgrind",
        "--tool=callgrind",
        "--quiet",
        "--cache-sim=yes",
        "--branch-sim=yes",
        "--vgdb=yes",
        // The program's accesses to registers are faults, which the bridge emulates. It needs all
        // registers of the processor in the signal handler.
        "--px-default=allregs-at-each-insn",
        "--px-file-backed=allregs-at-each-insn",
    ]
    .map(str::to_owned)
    .to_vec();
    tool.push(format!(
        "--callgrind-out-file={}",
        folder.join(OUTPUT).display()
    ));
    tool.push(format!("--vgdb-prefix={}", prefix(folder).display()));
    tool.extend(caches.iter().map(|cache| (*cache).to_owned()));
    tool
}

fn prefix(folder: &Path) -> PathBuf {
    folder.join("vgdb")
}

impl Dumper {
    /// For a program that runs with the arguments of [`callgrind`].
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            number: 0,
            pause: PAUSE[0],
        }
    }

    /// Writes down valgrind's counts, and sets them to 0. `None` if the program ran on before the card's
    /// counters were read; the next dump pauses for longer.
    ///
    /// # Errors
    /// If valgrind does not answer, or the program has ended.
    pub fn dump(&mut self, run: &mut PeerRun) -> Result<Option<Dump>, MeasureError> {
        self.number += 1;
        let file = self.folder.join(format!("{OUTPUT}.{}", self.number));
        let mut command = Command::new(VGDB);
        command
            .arg(format!("--vgdb-prefix={}", prefix(&self.folder).display()))
            .args(["-c", "dump", "-c", "v.wait"])
            .arg(self.pause.as_millis().to_string());
        let mut vgdb = Process::start(VGDB, command, None, &self.folder, Stdio::null())?;
        let start = Instant::now();
        let totals = loop {
            let text = fs::read_to_string(&file).unwrap_or_default();
            if is_complete(&text) {
                break Totals::parse(&text)?;
            }
            run.check()?;
            if start.elapsed() > LIMIT {
                let limit = LIMIT.as_secs();
                let text = format!("valgrind wrote no counts within {limit} s");
                return Err(MeasureError::Other(text));
            }
            thread::sleep(LOOK);
        };
        let card = settled(run)?;
        let stopped = vgdb.check_running().is_ok();
        vgdb.wait(LIMIT, run.interrupt())?;
        // The file of a large program has some megabytes.
        let _ = fs::remove_file(&file);
        if card.is_none() || !stopped {
            self.pause = (2 * self.pause).min(PAUSE[1]);
        }
        Ok(card.filter(|_| stopped).map(|card| Dump { totals, card }))
    }
}

/// Whether callgrind has written the whole file: the totals are its last line.
fn is_complete(text: &str) -> bool {
    let last = text.trim_end().rsplit('\n').next();
    text.ends_with('\n') && last.is_some_and(|line| line.starts_with("totals:"))
}

/// The card's counters, as soon as the card has sent all frames that the stopped program gave it.
/// `None` if they do not stand still.
fn settled(run: &mut PeerRun) -> Result<Option<CardCounts>, MeasureError> {
    let mut last = run.counts()?;
    for _ in 0..LOOKS {
        thread::sleep(LOOK);
        let now = run.counts()?;
        if now == last {
            return Ok(Some(now));
        }
        last = now;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_file_is_not_read() {
        assert!(!is_complete(""));
        assert!(!is_complete("events: Ir\nfn=(1)\n3 4\n"));
        assert!(!is_complete("events: Ir\n\ntotals: 12"));
        assert!(is_complete("events: Ir\n\ntotals: 123\n\n"));
    }
}
