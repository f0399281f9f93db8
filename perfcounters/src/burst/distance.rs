//! The distance of two processors: how long a cache line takes from one to the other and back. The host of a
//! virtual machine may move its processors at any time, and what a driver costs beside a card on the other
//! processor changes with it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::backend::MeasureError;
use crate::rounds::median;
use crate::sys;

/// Round trips that are timed together, and number of such times.
const TRIPS: u32 = 200;
const TIMES: u32 = 31;
/// Time within which all must be over, also where other programs use both processors.
const LIMIT: Duration = Duration::from_secs(20);
/// Readings of the line between two looks at the clock.
const READINGS: u32 = 10_000;
/// Distances that differ by less than this ratio are the same.
const SAME: f64 = 1.5;

/// Whether two distances are the same.
pub(super) fn is_same(one: f64, other: f64) -> bool {
    one.max(other) < SAME * one.min(other)
}

/// A line that two processors write in turns.
#[repr(align(128))]
struct Line(AtomicU32);

impl Line {
    /// Waits until the line holds `value`, and stores the next one. Returns false after `end`.
    fn answer(&self, value: u32, end: Instant) -> bool {
        loop {
            for _ in 0..READINGS {
                if self.0.load(Ordering::Acquire) == value {
                    self.0.store(value + 1, Ordering::Release);
                    return true;
                }
            }
            if Instant::now() > end {
                return false;
            }
            // Another program may have the other processor.
            thread::yield_now();
        }
    }
}

/// The median time of a round trip, in ticks of the time-stamp counter.
pub(super) fn round_trip(processors: (usize, usize)) -> Result<f64, MeasureError> {
    let other = |why: String| MeasureError::Other(format!("the distance of the processors: {why}"));
    let line = Line(AtomicU32::new(0));
    let end = Instant::now() + LIMIT;
    let pin = |cpu| sys::pin_this_thread(cpu).map_err(|cause| other(format!("CPU {cpu}: {cause}")));
    thread::scope(|scope| {
        let answering = scope.spawn(|| {
            pin(processors.0)
                .map(|()| (0..TRIPS * TIMES).all(|trip| line.answer(2 * trip + 1, end)))
        });
        let asking = scope.spawn(|| {
            pin(processors.1)?;
            let mut times = Vec::new();
            for time in 0..TIMES {
                let start = sys::tsc_ordered();
                let trips = time * TRIPS..(time + 1) * TRIPS;
                if !trips.into_iter().all(|trip| line.answer(2 * trip, end)) {
                    let limit = LIMIT.as_secs();
                    return Err(other(format!("no round trips within {limit} s")));
                }
                times.push(sys::tsc_ordered().wrapping_sub(start) as f64);
            }
            Ok(median(times) / f64::from(TRIPS))
        });
        let ended = |_| other("a thread panicked".to_owned());
        answering.join().map_err(ended)??;
        asking.join().map_err(ended)?
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::two_cpus;

    #[test]
    fn a_line_takes_its_time_between_two_processors_that_exist() {
        let error = round_trip((1000, 1001)).unwrap_err().to_string();
        assert!(error.contains("CPU 100"), "{error}");
        let (Some(driver), Some(card)) = two_cpus() else {
            return;
        };
        let ticks = round_trip((driver, card)).unwrap();
        assert!(ticks > 1.0, "{ticks}");
        assert!(is_same(ticks, 1.4 * ticks) && !is_same(1.6 * ticks, ticks));
    }
}
