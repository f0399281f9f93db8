//! The pace of rounds: their work, their clock, and which work may wait.

use std::time::{Duration, Instant};

use crate::data_plane::tuning::{GATHER_DESCRIPTORS, GATHER_ROUNDS, ROUND_DESCRIPTORS, ROUND_WORK};
use crate::device::dma_port::UNLIMITED;

/// The work of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Frames stored in drivers' memory.
    pub received: u64,
    /// Frames that drivers sent.
    pub transmitted: u64,
    /// Whether any port can receive or send, even if it had no work.
    pub active: bool,
    /// Whether the round left a port out because another thread wanted its lock.
    pub(crate) skipped: bool,
    /// When the first delayed interrupt is due.
    pub(crate) next_due: Option<Instant>,
}

impl Progress {
    /// Whether the round moved no frame.
    pub fn is_idle(&self) -> bool {
        self.received + self.transmitted == 0
    }
}

/// How a round treats work that could wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// Do all work now: for a data plane that is stepped by hand.
    Exact,
    /// Gather work for throughput.
    Running,
    /// Gather nothing, because the NIC generates no traffic to keep up with.
    Calm,
}

impl Pace {
    /// The work of one port in a round, in one direction.
    pub(super) fn work(self) -> usize {
        match self {
            Pace::Exact => UNLIMITED,
            Pace::Running | Pace::Calm => ROUND_WORK,
        }
    }
}

/// The time that traffic and latency use.
#[derive(Clone, Copy, Debug)]
pub(super) enum Clock {
    /// A fixed time.
    At(Duration),
    /// The time since that instant, by CLOCK_MONOTONIC. Where the kernel trusts the time-stamp
    /// counter, that is the counter, scaled.
    Since(Instant),
}

impl Clock {
    #[inline(always)]
    pub(super) fn now(self) -> Duration {
        match self {
            Clock::At(now) => now,
            Clock::Since(start) => start.elapsed(),
        }
    }
}

/// Number of descriptors of a ring of `len` to gather before handling them.
#[inline(always)]
pub(super) fn gather(len: u32) -> u32 {
    GATHER_DESCRIPTORS.min(len / 8)
}

/// Number of available descriptors to handle now, or `None` to wait. `waits` counts the rounds that
/// waited.
#[inline(always)]
pub(super) fn due(available: u32, gather: u32, pace: Pace, waits: &mut u8) -> Option<u32> {
    if available == 0 {
        return None;
    }
    match pace {
        Pace::Exact => return Some(available),
        Pace::Calm => return Some(available.min(ROUND_DESCRIPTORS)),
        Pace::Running => {}
    }
    if available < gather && *waits < GATHER_ROUNDS {
        *waits += 1;
        return None;
    }
    *waits = 0;
    Some(available.min(ROUND_DESCRIPTORS))
}
