//! Forwarding with several queues: threads, each with one or more queue pairs of its own.
#![forbid(unsafe_code)]

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{bail, Result};
use ixgbe::driver::device::MAX_QUEUES;
use ixgbe::rooms::lane::Lane;

use crate::threads::{pin, CpuList};

/// A thread looks at what it shares with the others once every so many turns.
const TURNS_PER_LOOK: u32 = 1024;

/// Packets of the limit that a queue takes for itself until the next look.
const CLAIM: u64 = 16384;

/// Time between two checks for a stalled queue.
const CHECK: Duration = Duration::from_secs(1);

/// Time to wait while other threads have all that is left of the limit.
const RETRY: Duration = Duration::from_micros(100);

/// What the threads share. They look at it between rounds, not for each packet.
struct Shared {
    end: bool,
    /// Packets of the limit that no queue has taken; `None`: no limit.
    left: Option<u64>,
    /// Packets that queues have taken and not received yet.
    claimed: u64,
    /// The error of the first thread that failed.
    failed: Option<anyhow::Error>,
}

/// The state that a [`Mutex`] guards stays whole if a thread panics in between.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes packets of the limit for a queue. Returns their number, `u64::MAX` without a limit.
fn claim(shared: &Mutex<Shared>) -> u64 {
    let mut shared = lock(shared);
    let Some(left) = shared.left else {
        return u64::MAX;
    };
    let taken = left.min(CLAIM);
    shared.left = Some(left - taken);
    shared.claimed += taken;
    taken
}

/// Gives back what a queue did not receive.
fn settle(shared: &Mutex<Shared>, taken: u64, received: u64) {
    let mut shared = lock(shared);
    if let Some(left) = &mut shared.left {
        *left += taken - received;
        shared.claimed -= taken;
    }
}

fn fail(shared: &Mutex<Shared>, error: anyhow::Error) {
    lock(shared).failed.get_or_insert(error);
}

/// Whether a thread ends: somebody said so, one has failed, or nothing of the limit is left.
fn ends(shared: &Mutex<Shared>) -> bool {
    let shared = lock(shared);
    shared.end || shared.failed.is_some() || (shared.left == Some(0) && shared.claimed == 0)
}

/// Forwards with all queues of a thread until the next look. Returns the number of received packets.
fn forward_round(lanes: &mut [Lane<'_, '_>], shared: &Mutex<Shared>) -> Result<u64> {
    let mut taken = [0; MAX_QUEUES as usize];
    let mut received = [0; MAX_QUEUES as usize];
    let mut left: u64 = 0;
    let mut total = 0;

    for (lane, taken) in lanes.iter_mut().zip(&mut taken) {
        *taken = claim(shared);
        left = left.saturating_add(*taken);
        lane.limit(*taken);
    }
    let mut turns = TURNS_PER_LOOK;
    while turns > 0 && total < left {
        for (lane, received) in lanes.iter_mut().zip(&mut received) {
            let count = lane.turn()? as u64;
            *received += count;
            total += count;
        }
        turns -= 1;
    }
    for (taken, received) in taken.iter().zip(received).take(lanes.len()) {
        settle(shared, *taken, received);
    }
    if left == 0 {
        thread::sleep(RETRY);
    }
    Ok(total)
}

fn forward_until_end(
    lanes: &mut [Lane<'_, '_>],
    cpu: Option<usize>,
    shared: &Mutex<Shared>,
) -> Result<()> {
    pin(cpu)?;
    let mut checked = Instant::now();
    while !ends(shared) {
        if forward_round(lanes, shared)? == 0 {
            // More threads than CPUs: another one may have packets.
            thread::yield_now();
        }
        if checked.elapsed() >= CHECK {
            for lane in &mut *lanes {
                lane.check()?;
            }
            checked = Instant::now();
        }
    }
    Ok(())
}

fn work(mut lanes: Vec<Lane<'_, '_>>, cpu: Option<usize>, shared: &Mutex<Shared>) {
    if let Err(error) = forward_until_end(&mut lanes, cpu, shared) {
        fail(shared, error);
    }
}

/// Forwards in threads: one for each CPU of the list, or one for each queue without a list. The lanes are
/// divided among them in turn. They forward until they have received `packets` packets together, or
/// until `goes_on` says no or fails; it runs in the calling thread again and again, and may sleep.
///
/// # Errors
/// Those of `goes_on`, or else of the first thread that failed.
pub fn forward_in_threads(
    lanes: Vec<Lane<'_, '_>>,
    cpus: &CpuList,
    packets: Option<u64>,
    mut goes_on: impl FnMut() -> Result<bool>,
) -> Result<()> {
    let count = match cpus.0.len() {
        0 => lanes.len(),
        count => count,
    };
    let mut groups: Vec<Vec<_>> = (0..count).map(|_| Vec::new()).collect();
    for (nth, lane) in lanes.into_iter().enumerate() {
        groups[nth % count].push(lane);
    }
    let shared = Mutex::new(Shared {
        end: false,
        left: packets,
        claimed: 0,
        failed: None,
    });
    let watched = thread::scope(|scope| {
        for (nth, lanes) in groups.into_iter().enumerate() {
            let (cpu, shared) = (cpus.get(nth), &shared);
            let thread = thread::Builder::new().name(format!("queue {nth}"));
            if let Err(error) = thread.spawn_scoped(scope, move || work(lanes, cpu, shared)) {
                lock(shared).end = true;
                bail!("cannot start thread {nth}: {error}");
            }
        }
        let mut watched = Ok(true);
        while matches!(watched, Ok(true)) && !ends(&shared) {
            watched = goes_on();
        }
        lock(&shared).end = true;
        watched.map(|_| ())
    });
    let failed = lock(&shared).failed.take();
    watched.and(failed.map_or(Ok(()), Err))
}
