//! The throughput of a peer, by the card's counters.

use std::time::{Duration, Instant};

use record::Placement;

use super::run::{PeerSetup, PATIENCE};
use crate::backend::{Cell, MeasureError};
use crate::device::{NicProgram, Traffic};
use crate::interrupt::Interrupt;
use crate::sys;

/// About how long a program needs to start, for estimates.
pub const START: Duration = Duration::from_secs(1);
/// Frames after which the start of a program is over.
const STARTED: u64 = 10_000;

/// The time in which the packets are counted.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// Time that the peer forwards before that.
    pub warm_up: Duration,
    /// Its duration.
    pub duration: Duration,
}

/// Throughput of a peer, both directions together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Throughput {
    /// Frames that the peer received.
    pub received: u64,
    /// Frames that it sent.
    pub sent: u64,
    /// Time, seconds.
    pub seconds: f64,
    /// The same time in cycles of the time-stamp counter.
    pub tsc_cycles: u64,
}

impl Throughput {
    /// Sent, million packets per second.
    pub fn tx_mpps(&self) -> f64 {
        self.sent as f64 / self.seconds / 1e6
    }

    /// Cycles of the time-stamp counter per received packet.
    pub fn tsc_cycles_per_packet(&self) -> f64 {
        self.tsc_cycles as f64 / self.received.max(1) as f64
    }

    /// Share of the received packets that were not sent, 0 to 1.
    pub fn dropped_ratio(&self) -> f64 {
        self.received.saturating_sub(self.sent) as f64 / self.received.max(1) as f64
    }
}

/// Runs a peer against a card that offers as many frames as the peer takes.
///
/// # Errors
/// If the peer fails, or the card finds wrong frames.
pub fn measure(
    cell: &Cell,
    nic: &NicProgram,
    placement: &Placement,
    window: Window,
    interrupt: &Interrupt,
) -> Result<Throughput, MeasureError> {
    let setup = PeerSetup {
        cell,
        nic,
        traffic: Traffic::Saturate,
        placement,
        patience: PATIENCE,
        interrupt,
    };
    let mut run = setup.start()?;
    run.wait_for_frames(STARTED)?;
    run.wait(window.warm_up)?;
    let (first, start, tsc) = (run.counts()?, Instant::now(), sys::tsc_ordered());
    run.wait(window.duration)?;
    let (last, seconds) = (run.counts()?, start.elapsed().as_secs_f64());
    let tsc_cycles = sys::tsc_ordered().wrapping_sub(tsc);
    run.stop()?;
    let throughput = Throughput {
        received: last.delivered - first.delivered,
        sent: last.transmitted - first.transmitted,
        seconds,
        tsc_cycles,
    };
    match throughput.sent {
        0 => Err(MeasureError::Other(format!(
            "the program sent no frame within {seconds:.1} s"
        ))),
        _ => Ok(throughput),
    }
}
