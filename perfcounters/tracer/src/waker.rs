//! Wakes a driver that sleeps until frames arrive before it looks for them the first time.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::unistd::Pid;

use crate::card::Card;
use crate::error::TraceError;
use crate::memory::text;

/// Time between two looks.
const TICK: Duration = Duration::from_millis(5);
/// Looks at which the driver must have slept.
const LOOKS: u32 = 20;

/// Lets the card store a frame in each ring when the driver sleeps with its rings set up, and until
/// `ended`.
///
/// The driver sleeps in a state that does not depend on the time, so that two runs stay the same.
pub(crate) fn wake(control: &Path, driver: Pid, ended: &AtomicBool) -> Result<(), TraceError> {
    let mut card = Card::connect(control)?;
    let mut wakes = 0;
    let mut slept = 0;
    let mut before = None;
    while !ended.load(Ordering::Relaxed) {
        std::thread::sleep(TICK);
        let now = switches(driver);
        slept = if now.is_some() && now == before {
            slept + 1
        } else {
            0
        };
        before = now;
        if slept >= LOOKS {
            slept = 0;
            let ports = card.memory()?;
            if ports.iter().all(|port| !port.rx_rings.is_empty()) {
                wakes += 1;
                card.turn_quietly(Some(wakes))?;
            }
        }
    }
    Ok(())
}

/// The times that a process has run and has given up its processor; `None` while it runs.
fn switches(process: Pid) -> Option<String> {
    let status = text(process, "status").ok()?;
    let sleeps = status.lines().any(|line| line.starts_with("State:\tS"));
    let counts = status.lines().filter(|line| line.contains("ctxt_switches"));
    sleeps.then(|| counts.collect())
}
