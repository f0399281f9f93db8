//! Finds out where a driver rings the doorbells and where it looks for packets.
//!
//! The driver runs while a thread lets the card take turns. Once packets flow, the tracer steps
//! through the busiest thread. Without random addresses, the instructions that it finds have the same
//! addresses after the next start.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;

use nix::unistd::Pid;

use crate::addresses::{mappings, Addresses};
use crate::card::Card;
use crate::error::TraceError;
use crate::launch::Launch;
use crate::memory::text;
use crate::recorder::Stepper;
use crate::tracee::{Stop, Tracee};

/// Frames after which a driver forwards.
const FORWARDING: u64 = 64;
/// Time between two turns.
const PAUSE: Duration = Duration::from_micros(500);
/// Turns for each more frame until the driver forwards.
const TURNS_A_FRAME: u32 = 20;
/// Turns in which a driver that makes system calls makes one.
const CALL_TURNS: u32 = 40;
/// Time in which the busiest thread shows.
const BUSY: Duration = Duration::from_millis(5);
/// How often the driver must have rung each doorbell.
const TIMES: u32 = 2;
/// Steps after which the doorbells found so far must do.
const STEPS: u32 = 200_000;

/// An instruction: its address, and the word there.
pub(crate) type Place = (u64, u64);

/// What a driver does where.
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    /// Stores to tail registers.
    pub(crate) doorbells: Vec<Place>,
    /// Loads from receive rings.
    pub(crate) looks: Vec<Place>,
}

/// Runs the driver once to find its doorbells.
pub(crate) fn discover(launch: &Launch) -> Result<Findings, TraceError> {
    let mut tracee = Tracee::start(launch)?;
    let driver = tracee.driver();
    tracee.watchdog.step("see the driver forward", launch.limit);
    let ended = AtomicBool::new(false);
    let wanted = tracee.wanted.clone();
    let thread = std::thread::scope(|scope| {
        let turning = scope.spawn(|| {
            let turned = turn_until_forwarding(&launch.control, driver, &wanted, &ended);
            if turned.is_err() {
                // The wait for the driver must end.
                stop(driver, driver);
            }
            turned
        });
        let mut stop = tracee.go_on(driver);
        while let Ok(Stop::Driver | Stop::Breakpoint(_)) = stop {
            stop = tracee.go_on(driver);
        }
        ended.store(true, Ordering::Relaxed);
        let turned = turning.join();
        match stop? {
            Stop::Asked(thread) => match turned {
                Ok(Ok(())) => Ok(thread),
                Ok(Err(error)) => Err(error),
                Err(_panic) => Err(TraceError::Card("the thread of turns ended".to_owned())),
            },
            _ => Ok(driver),
        }
    })?;
    tracee.watchdog.step("find the doorbells", launch.limit);
    look_for_doorbells(&mut tracee, thread, launch)
}

/// Lets the card take turns until the driver forwards. Then stops the driver's busiest thread.
fn turn_until_forwarding(
    control: &Path,
    driver: Pid,
    wanted: &AtomicI32,
    ended: &AtomicBool,
) -> Result<(), TraceError> {
    let (thread, mut card) = forwarding_thread(control, driver, ended)?;
    // A driver that sleeps in system calls must not get a signal there: the call would fail.
    wanted.store(thread.as_raw(), Ordering::Relaxed);
    for _ in 0..CALL_TURNS {
        if ended.load(Ordering::Relaxed) {
            return Ok(());
        }
        card.turn_quietly(None)?;
        std::thread::sleep(PAUSE);
    }
    stop(driver, thread);
    Ok(())
}

fn stop(process: Pid, thread: Pid) {
    let (process, thread) = (process.as_raw(), thread.as_raw());
    // SAFETY: the call takes numbers only. It fails only if the thread has ended.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGSTOP) };
}

fn forwarding_thread(
    control: &Path,
    driver: Pid,
    ended: &AtomicBool,
) -> Result<(Pid, Card), TraceError> {
    let mut card = Card::connect(control)?;
    let mut transmitted = 0;
    // One more frame now and then: a driver that sleeps until a frame arrives may miss the first ones.
    let mut turns = 0;
    while transmitted < FORWARDING && !ended.load(Ordering::Relaxed) {
        let ready = (transmitted == 0).then_some(1 + turns / TURNS_A_FRAME);
        turns += 1;
        transmitted += card.turn_quietly(ready)?.transmitted;
        std::thread::sleep(PAUSE);
    }
    let before = busy_times(driver);
    std::thread::sleep(BUSY);
    let after = busy_times(driver);
    let grown = after.iter().map(|(thread, time)| {
        let growth = time - before.get(thread).copied().unwrap_or(0).min(*time);
        (growth, std::cmp::Reverse(*thread))
    });
    let thread = grown
        .max()
        .map_or(driver, |(_, thread)| Pid::from_raw(thread.0));
    Ok((thread, card))
}

/// Nanoseconds that each thread of a process has run.
fn busy_times(process: Pid) -> BTreeMap<i32, u64> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else {
        return BTreeMap::new();
    };
    let time = |entry: std::fs::DirEntry| {
        let thread = entry.file_name().to_str()?.parse().ok()?;
        let text = std::fs::read_to_string(entry.path().join("schedstat")).ok()?;
        Some((thread, text.split(' ').next()?.parse().ok()?))
    };
    threads.flatten().filter_map(time).collect()
}

fn look_for_doorbells(
    tracee: &mut Tracee<'_>,
    thread: Pid,
    launch: &Launch,
) -> Result<Findings, TraceError> {
    let mut card = Card::connect(&launch.control)?;
    let maps = mappings(&text(tracee.driver(), "maps")?);
    let addresses = Addresses::new(&card.memory()?, &maps);
    let mut stepper = Stepper::new(thread, false);
    let mut rung: BTreeMap<u64, u32> = BTreeMap::new();
    let (mut doorbells, mut looks) = (BTreeSet::new(), BTreeSet::new());
    card.turn_quietly(None)?;
    for _ in 0..STEPS {
        let executed = stepper.step(tracee, &addresses)?;
        if executed.look {
            looks.insert(executed.step.address);
        }
        if let Some(tail) = executed.tail {
            doorbells.insert(executed.step.address);
            *rung.entry(tail).or_default() += 1;
            card.turn_quietly(None)?;
        }
        let often = |tail| rung.get(tail).is_some_and(|times| *times >= TIMES);
        if !addresses.tails.is_empty() && addresses.tails.iter().all(often) {
            break;
        }
    }
    if doorbells.is_empty() || looks.is_empty() {
        return Err(TraceError::NoDriver(format!(
            "the program forwards, but its busiest thread rings no doorbell within {STEPS} steps; \
             the card must share its registers (nic --mmio shared)"
        )));
    }
    let memory = tracee.memory()?;
    let places = |set: BTreeSet<u64>| -> Result<Vec<Place>, TraceError> {
        let place = |address| Ok((address, memory.word(address)?));
        set.into_iter().map(place).collect()
    };
    Ok(Findings {
        doorbells: places(doorbells)?,
        looks: places(looks)?,
    })
}
