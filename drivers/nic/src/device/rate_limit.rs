//! The rate limits of the transmit queues (8.2.3.10.16): RTTDQSEL selects a queue, and RTTBCNRC
//! holds the queue's limit as the speed of the link divided by a factor.
//!
//! The limits lie in a memory behind the two registers. A reset does not clear it, as the drivers of
//! Linux and DPDK show: they clear all queues after each reset.

use std::time::{Duration, Instant};

use crate::config::{LeftBehind, QUEUES};
use crate::device::register_file::RegisterFile;
use crate::device::registers as r;

/// Queues that can have a limit.
const LIMITED_QUEUES: usize = 128;
/// Bits of the fraction in the factor.
const FRACTION_BITS: u32 = 14;
/// The bits of RTTBCNRC that hold the factor.
const FACTOR: u32 = r::RTTBCNRC_RF_INT | r::RTTBCNRC_RF_DEC;
/// Bytes of preamble and gap that a frame takes on the wire besides itself and its CRC.
const GAP: u64 = 20;
/// A queue that sent nothing for a while may send at most the frames of this time at once.
const MOST_CREDIT: Duration = Duration::from_millis(10);

/// The limits of all queues.
#[derive(Clone, Debug)]
pub(crate) struct RateLimits {
    /// RTTBCNRC of each queue.
    values: [u32; LIMITED_QUEUES],
    /// When the next frame of a queue may leave.
    next: [Option<Instant>; QUEUES],
    /// Whether any modelled queue has a limit.
    any: bool,
}

impl RateLimits {
    /// The limits that an earlier driver left behind on a link of this speed.
    pub(crate) fn left_by(earlier: LeftBehind) -> Self {
        let mut limits = Self {
            values: [0; LIMITED_QUEUES],
            next: [None; QUEUES],
            any: false,
        };
        if let Some(mbit) = earlier.rate_limit {
            let factor = (10_000 << FRACTION_BITS) / mbit.max(1);
            limits.values[0] = r::RTTBCNRC_RS_ENA | factor & FACTOR;
            limits.any = true;
        }
        limits
    }

    /// Shows the limit of the selected queue in RTTBCNRC.
    pub(crate) fn show(&self, registers: &RegisterFile) {
        registers.set(r::RTTBCNRC, self.values[selected(registers)]);
    }

    /// RTTBCNRC was written.
    pub(crate) fn written(&mut self, registers: &RegisterFile) {
        self.values[selected(registers)] = registers.get(r::RTTBCNRC);
        self.any = (0..QUEUES).any(|queue| self.factor(queue).is_some());
    }

    /// Whether a queue has a limit.
    #[inline(always)]
    pub(crate) fn limits(&self, queue: usize) -> bool {
        self.any && self.factor(queue).is_some()
    }

    /// The speed of the link divided by a queue's limit; `None` without a limit.
    fn factor(&self, queue: usize) -> Option<f64> {
        let value = self.values[queue];
        let factor = f64::from(value & FACTOR) / f64::from(1 << FRACTION_BITS);
        (value & r::RTTBCNRC_RS_ENA != 0 && factor > 0.0).then_some(factor)
    }

    /// Whether a queue may send a frame now.
    pub(crate) fn is_due(&self, queue: usize, now: Instant) -> bool {
        self.next[queue].is_none_or(|next| now >= next)
    }

    /// A queue has sent a frame of so many bytes with CRC, on a link of this speed.
    pub(crate) fn sent(&mut self, queue: usize, bytes: u64, mbit: u32, now: Instant) {
        let Some(factor) = self.factor(queue) else {
            return;
        };
        let seconds = (bytes + GAP) as f64 * 8.0 * factor / (f64::from(mbit) * 1e6);
        let earliest = now.checked_sub(MOST_CREDIT).unwrap_or(now);
        let start = self.next[queue].map_or(now, |next| next.max(earliest));
        self.next[queue] = Some(start + Duration::from_secs_f64(seconds));
    }
}

/// The queue that RTTDQSEL selects.
fn selected(registers: &RegisterFile) -> usize {
    r::field_get(r::RTTDQSEL_TXDQ_IDX, registers.get(r::RTTDQSEL)) as usize % LIMITED_QUEUES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_spaces_frames_by_the_speed_and_the_factor() {
        let earlier = "rate-limited=100".parse().unwrap();
        let mut limits = RateLimits::left_by(earlier);
        assert!(limits.limits(0) && !limits.limits(1));
        let now = Instant::now();
        assert!(limits.is_due(0, now));
        // 1250 bytes take 100 us at 100 Mbit/s.
        limits.sent(0, 1250 - GAP, 10_000, now);
        assert!(!limits.is_due(0, now + Duration::from_micros(99)));
        assert!(limits.is_due(0, now + Duration::from_micros(101)));
        // The next frame is due 200 us after the first, even if the second is late.
        limits.sent(0, 1250 - GAP, 10_000, now + Duration::from_micros(150));
        assert!(limits.is_due(0, now + Duration::from_micros(201)));
        assert!(!limits.is_due(0, now + Duration::from_micros(199)));
    }
}
