//! The bursts that a data plane is to time, and the report of those that it has timed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::config::{Bursts, Placement};

/// A timed burst: packets at each port, packets of the burst before, and ticks of the time-stamp counter.
pub type TimedBurst = (u32, u32, u64);

/// The bursts of one round at one placement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BurstBlock {
    /// The number of the round, from 0.
    pub round: u32,
    /// Where the card left the lines.
    pub placement: Placement,
    /// Bursts that were interrupted, or that ended before the card looked.
    pub dropped: u32,
    /// The others, in order.
    pub bursts: Vec<TimedBurst>,
}

/// The timed bursts so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BurstReport {
    /// Whether all rounds are over.
    pub done: bool,
    /// The blocks, in order.
    pub blocks: Vec<BurstBlock>,
}

/// What the data plane is to time, and its report.
#[derive(Clone, Debug)]
pub(crate) struct BurstTask {
    pub(super) bursts: Bursts,
    pub(super) report: Arc<Mutex<BurstReport>>,
}

impl BurstTask {
    pub(crate) fn new(bursts: Bursts) -> Self {
        Self {
            bursts,
            report: Arc::default(),
        }
    }

    pub(crate) fn report(&self) -> MutexGuard<'_, BurstReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
