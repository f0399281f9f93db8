//! Forwarding with several queues: threads, each with one or more queue pairs of its own.
#![forbid(unsafe_code)]

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use ixgbe::driver::device::MAX_QUEUES;
use ixgbe::rooms::forwarder::Path;
use ixgbe::rooms::lane::Lane;

use crate::program::TURNS_PER_LOOK;
use crate::threads::{CpuList, Crew, CHECK};

/// Packets of the limit that a queue takes for itself until the next look.
const CLAIM: u64 = 16384;

/// Time to wait while other threads have all that is left of the limit.
const RETRY: Duration = Duration::from_micros(100);

/// The packets that the threads may receive together. They look at it between rounds, not for each packet.
struct Limit {
    /// Those that no queue has taken; `None`: no limit.
    left: Option<u64>,
    /// Those that queues have taken and not received yet.
    claimed: u64,
}

/// The state that a [`Mutex`] guards stays whole if a thread panics in between.
fn lock(limit: &Mutex<Limit>) -> MutexGuard<'_, Limit> {
    limit.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes packets of the limit for a queue. Returns their number, `u64::MAX` without a limit.
fn claim(limit: &Mutex<Limit>) -> u64 {
    let mut limit = lock(limit);
    let Some(left) = limit.left else {
        return u64::MAX;
    };
    let taken = left.min(CLAIM);
    limit.left = Some(left - taken);
    limit.claimed += taken;
    taken
}

/// Gives back what a queue did not receive.
fn settle(limit: &Mutex<Limit>, taken: u64, received: u64) {
    let mut limit = lock(limit);
    if let Some(left) = &mut limit.left {
        *left += taken - received;
        limit.claimed -= taken;
    }
}

fn is_used_up(limit: &Mutex<Limit>) -> bool {
    let limit = lock(limit);
    limit.left == Some(0) && limit.claimed == 0
}

/// Forwards with all queues of a thread until the next look, by `turn`. Returns the number of received
/// packets.
#[inline(always)]
fn forward_round<'f, 'p>(
    lanes: &mut [Lane<'f, 'p>],
    limit: &Mutex<Limit>,
    turn: impl Fn(&mut Lane<'f, 'p>) -> ixgbe::error::Result<usize>,
) -> Result<u64> {
    let mut taken = [0; MAX_QUEUES as usize];
    let mut received = [0; MAX_QUEUES as usize];
    let mut left: u64 = 0;
    let mut total = 0;

    for (lane, taken) in lanes.iter_mut().zip(&mut taken) {
        *taken = claim(limit);
        left = left.saturating_add(*taken);
        lane.limit(*taken);
    }
    let mut turns = TURNS_PER_LOOK;
    while turns > 0 && total < left {
        for (lane, received) in lanes.iter_mut().zip(&mut received) {
            let count = turn(lane)? as u64;
            *received += count;
            total += count;
        }
        turns -= 1;
    }
    for (taken, received) in taken.iter().zip(received).take(lanes.len()) {
        settle(limit, *taken, received);
    }
    if left == 0 {
        thread::sleep(RETRY);
    }
    Ok(total)
}

fn forward_until_end(
    lanes: &mut [Lane<'_, '_>],
    path: Path,
    limit: &Mutex<Limit>,
    crew: &Crew,
) -> Result<()> {
    let mut checked = Instant::now();
    while !crew.ends() && !is_used_up(limit) {
        let received = match path {
            Path::Tuned => forward_round(lanes, limit, Lane::tuned_turn)?,
            Path::Agent => forward_round(lanes, limit, Lane::agent_turn)?,
            _ => forward_round(lanes, limit, Lane::turn)?,
        };
        if received == 0 {
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

/// Forwards in threads: one for each CPU of the list, or one for each queue without a list. The lanes are
/// divided among them in turn. `path` is that of the forwarder. They forward until they have received
/// `packets` packets together, or until `goes_on` says no or fails; it runs in the calling thread again and
/// again, and may sleep.
///
/// # Errors
/// Those of `goes_on`, or else of the first thread that failed.
pub fn forward_in_threads(
    lanes: Vec<Lane<'_, '_>>,
    path: Path,
    cpus: &CpuList,
    packets: Option<u64>,
    goes_on: impl FnMut() -> Result<bool>,
) -> Result<()> {
    let count = match cpus.0.len() {
        0 => lanes.len(),
        count => count,
    };
    let mut groups: Vec<Vec<_>> = (0..count).map(|_| Vec::new()).collect();
    for (nth, lane) in lanes.into_iter().enumerate() {
        groups[nth % count].push(lane);
    }
    let limit = &Mutex::new(Limit {
        left: packets,
        claimed: 0,
    });
    let crew = Crew::default();
    let watched = thread::scope(|scope| {
        for (nth, mut lanes) in groups.into_iter().enumerate() {
            let crew = &crew;
            crew.start(scope, format!("queue {nth}"), cpus.get(nth), move || {
                forward_until_end(&mut lanes, path, limit, crew)
            })?;
        }
        crew.watch(|| is_used_up(limit), goes_on)
    });
    crew.result(watched)
}
