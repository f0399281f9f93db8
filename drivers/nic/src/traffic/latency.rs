//! How long frames take: from the moment a frame was due on the wire of one port until its peer
//! fetched it for sending.
//!
//! At a fixed rate every frame has a moment at which it is due, whether or not anybody is ready for
//! it then. The clock of its latency starts at that moment, so that a driver that does not keep up
//! is charged for every frame it keeps waiting, in the ring, in the packet buffer or on the wire,
//! and not only for those that it gets round to taking.
//!
//! The moments are kept here, by stream and sequence number, and not in the frames: frames of 60
//! bytes have no room that is not verified already, and what a driver does to a frame must not be
//! able to change its time. A frame that comes back is found by its number; numbers are given in
//! order, so a ring of moments for each stream is enough.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::config::QUEUES;

/// Moments kept of one stream: more than there is room for frames in a driver's rings and the
/// packet buffer together. A power of two.
const MOMENTS: usize = 1 << 15;
/// Longest time that is told apart from longer ones.
const LONGEST: Duration = Duration::from_secs(100);
/// Significant decimal digits of percentiles.
const DIGITS: u8 = 3;
/// A percentile is only told if at least so many times lie above it.
const FRAMES_ABOVE: f64 = 10.0;

/// Times that were measured: exact ends and mean, and percentiles to three digits.
#[derive(Clone, Debug)]
pub struct Times {
    histogram: Histogram<u64>,
    min: u64,
    max: u64,
    sum: u128,
}

impl Times {
    fn new() -> Self {
        // The bounds are constants that the library accepts; with others it panics in every test.
        #[allow(clippy::expect_used)]
        let histogram = Histogram::new_with_bounds(1, LONGEST.as_nanos() as u64, DIGITS)
            .expect("bounds that a histogram can have");
        Self {
            histogram,
            min: u64::MAX,
            max: 0,
            sum: 0,
        }
    }

    #[inline(always)]
    fn record(&mut self, nanos: u64) {
        self.histogram.saturating_record(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        self.sum += u128::from(nanos);
    }

    fn add(&mut self, other: &Self) {
        self.histogram += &other.histogram;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The shortest; nothing if there are none.
    pub fn min(&self) -> Option<Duration> {
        (self.count() > 0).then(|| Duration::from_nanos(self.min))
    }

    /// The longest; nothing if there are none.
    pub fn max(&self) -> Option<Duration> {
        (self.count() > 0).then(|| Duration::from_nanos(self.max))
    }

    /// Their mean; nothing if there are none.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum.checked_div(u128::from(self.count()))?;
        Some(Duration::from_nanos(mean as u64))
    }

    /// The shortest time that at least `percentile` percent of the times do not exceed, at most
    /// 0.1 % more. Nothing if there are fewer than 10 / (1 - p) times: then the percentile says
    /// more about chance than about what was measured.
    pub fn percentile(&self, percentile: f64) -> Option<Duration> {
        // Written so that percentiles such as 99.9, which have no exact binary form, need exactly
        // 10 000 times.
        let above = self.count() as f64 * (100.0 - percentile);
        if above * (1.0 + 1e-9) < FRAMES_ABOVE * 100.0 {
            return None;
        }
        let value = self.histogram.value_at_percentile(percentile);
        Some(Duration::from_nanos(value.clamp(self.min, self.max)))
    }

    /// The figures that reports have.
    pub fn summary(&self) -> TimesSummary {
        let micros = |time: Option<Duration>| time.map(|time| time.as_nanos() as f64 / 1000.0);
        let percentile = |p| micros(self.percentile(p));
        TimesSummary {
            count: self.count(),
            min_us: micros(self.min()),
            p50_us: percentile(50.0),
            p90_us: percentile(90.0),
            p99_us: percentile(99.0),
            p99_9_us: percentile(99.9),
            p99_99_us: percentile(99.99),
            p99_999_us: percentile(99.999),
            p99_9999_us: percentile(99.9999),
            max_us: micros(self.max()),
            mean_us: micros(self.mean()),
        }
    }
}

/// The figures of some [`Times`], in microseconds. What there are too few times for is left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub struct TimesSummary {
    pub count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_9_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_99_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_999_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_9999_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_us: Option<f64>,
}

/// What was measured of the frames that arrived at one port, or at several.
///
/// Of the frames offered, some were lost, and some came back and were timed. What remains was in
/// the driver when the measurement ended, or the driver.
#[derive(Clone, Debug)]
pub struct Latency {
    /// Frames that were due while the port received, after the time left out at the start.
    pub offered: u64,
    /// Those of them that found no room, that the driver skipped, or that came back altered.
    pub lost: u64,
    /// Those that came back so late that their moment was forgotten: they are not timed.
    pub untimed: u64,
    /// From the moment a frame was due until it was fetched for sending.
    pub times: Times,
    /// From the moment a frame was due until the NIC put it on its way: the NIC's own share, by
    /// which every latency may be too long.
    pub lag: Times,
}

impl Latency {
    fn new() -> Self {
        Self {
            offered: 0,
            lost: 0,
            untimed: 0,
            times: Times::new(),
            lag: Times::new(),
        }
    }

    /// Several ports' together; nothing of none.
    pub fn merged(latencies: impl IntoIterator<Item = Latency>) -> Option<Latency> {
        latencies.into_iter().reduce(|mut sum, latency| {
            sum.offered += latency.offered;
            sum.lost += latency.lost;
            sum.untimed += latency.untimed;
            sum.times.add(&latency.times);
            sum.lag.add(&latency.lag);
            sum
        })
    }

    /// The figures that reports have.
    pub fn summary(&self) -> LatencySummary {
        LatencySummary {
            times: self.times.summary(),
            offered: self.offered,
            lost: self.lost,
            untimed: self.untimed,
            lag: self.lag.summary(),
        }
    }
}

/// The figures of a [`Latency`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct LatencySummary {
    #[serde(flatten)]
    pub times: TimesSummary,
    pub offered: u64,
    pub lost: u64,
    pub untimed: u64,
    pub lag: TimesSummary,
}

/// When the frames of one stream were due: of the last [`MOMENTS`] numbers given.
#[derive(Debug)]
struct Stream {
    /// By number, modulo its length; empty until the first frame.
    due: Vec<u64>,
    /// The first number known, and the one after the last.
    known: std::ops::Range<u64>,
    /// The first number that is measured.
    measured_from: u64,
}

impl Stream {
    fn new() -> Self {
        Self {
            due: Vec::new(),
            known: 0..0,
            measured_from: u64::MAX,
        }
    }

    #[inline(always)]
    fn given(&mut self, sequence: u64, due: u64) {
        if self.due.is_empty() {
            self.due = vec![0; MOMENTS];
        }
        if sequence != self.known.end {
            // Frames without a moment came in between.
            self.known.start = sequence;
        }
        self.due[sequence as usize % MOMENTS] = due;
        self.known.end = sequence + 1;
        self.known.start = self
            .known
            .start
            .max(self.known.end.saturating_sub(MOMENTS as u64));
    }

    /// When a frame was due, if that is known.
    #[inline(always)]
    fn due(&self, sequence: u64) -> Option<u64> {
        self.known
            .contains(&sequence)
            .then(|| self.due[sequence as usize % MOMENTS])
    }
}

/// Measures the frames that arrive at one port. Times are nanoseconds of the data plane's clock.
#[derive(Debug)]
pub(crate) struct Probe {
    /// How long after the first frame measuring begins.
    after: u64,
    /// When it begins; not known before the first frame since the last reset.
    begins: Option<u64>,
    streams: [Stream; QUEUES],
    latency: Latency,
}

impl Probe {
    /// Leaves out the frames that are due in the first `after` of receiving.
    pub(crate) fn new(after: Duration) -> Self {
        Self {
            after: nanos(after),
            begins: None,
            streams: std::array::from_fn(|_| Stream::new()),
            latency: Latency::new(),
        }
    }

    pub(crate) fn latency(&self) -> &Latency {
        &self.latency
    }

    /// The port was reset: the next driver begins anew.
    pub(crate) fn restart(&mut self) {
        self.begins = None;
        for stream in &mut self.streams {
            stream.measured_from = u64::MAX;
        }
    }

    /// A frame that was due at `due` arrives at `now`, while the port receives.
    #[inline(always)]
    pub(crate) fn arrived(&mut self, due: u64, now: u64) {
        let begins = *self
            .begins
            .get_or_insert_with(|| due.saturating_add(self.after));
        if due >= begins {
            self.latency.offered += 1;
            self.latency.lag.record(now.saturating_sub(due));
        }
    }

    /// The frame found a place, and got a number.
    #[inline(always)]
    pub(crate) fn given(&mut self, stream: usize, sequence: u64, due: u64) {
        let measured = self.measures(due);
        let Some(stream) = self.streams.get_mut(stream) else {
            return;
        };
        stream.given(sequence, due);
        if measured && stream.measured_from == u64::MAX {
            stream.measured_from = sequence;
        }
    }

    /// The frame found no place.
    pub(crate) fn dropped(&mut self, due: u64) {
        self.latency.lost += u64::from(self.measures(due));
    }

    fn measures(&self, due: u64) -> bool {
        self.begins.is_some_and(|begins| due >= begins)
    }

    /// Whether a frame with that number is one of those that are measured.
    fn counts(&self, stream: u8, sequence: u64) -> bool {
        self.streams
            .get(usize::from(stream))
            .is_some_and(|stream| (stream.measured_from..stream.known.end).contains(&sequence))
    }

    /// Frames with consecutive numbers were fetched for sending at `now`, for the first time.
    #[inline(always)]
    pub(crate) fn returned(&mut self, stream: u8, first: u64, count: u64, now: u64) {
        let Some(stream) = self.streams.get(usize::from(stream)) else {
            return;
        };
        let from = first.max(stream.measured_from);
        let to = first.saturating_add(count).min(stream.known.end);
        for sequence in from..to {
            match stream.due(sequence) {
                Some(due) => self.latency.times.record(now.saturating_sub(due)),
                None => self.latency.untimed += 1,
            }
        }
    }

    /// These numbers were skipped.
    pub(crate) fn skipped(&mut self, stream: u8, numbers: std::ops::Range<u64>) {
        if let Some(stream) = self.streams.get(usize::from(stream)) {
            let from = numbers.start.max(stream.measured_from);
            let to = numbers.end.min(stream.known.end);
            self.latency.lost += to.saturating_sub(from);
        }
    }

    /// A frame whose number was skipped has turned up.
    pub(crate) fn found(&mut self, stream: u8, sequence: u64) {
        if self.counts(stream, sequence) {
            self.latency.lost = self.latency.lost.saturating_sub(1);
        }
    }

    /// A frame has come back altered.
    pub(crate) fn spoilt(&mut self, stream: u8, sequence: u64) {
        self.latency.lost += u64::from(self.counts(stream, sequence));
    }
}

/// Nanoseconds: enough for 584 years.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(nanos: &[u64]) -> Times {
        let mut times = Times::new();
        nanos.iter().for_each(|nanos| times.record(*nanos));
        times
    }

    #[test]
    fn of_nothing_there_are_no_figures() {
        let none = times(&[]);
        assert_eq!((none.min(), none.max(), none.mean()), (None, None, None));
        assert_eq!(none.percentile(50.0), None);
        let json = serde_json::to_string(&none.summary()).unwrap();
        assert_eq!(json, r#"{"count":0}"#);
    }

    #[test]
    fn a_percentile_needs_ten_times_above_it() {
        for (percentile, needed) in [(50.0, 20), (99.0, 1000), (99.9, 10_000), (99.99, 100_000)] {
            let mut some = times(&vec![1000; needed - 1]);
            assert_eq!(some.percentile(percentile), None, "{percentile}");
            some.record(1000);
            let known = Some(Duration::from_nanos(1000));
            assert_eq!(some.percentile(percentile), known, "{percentile}");
        }
    }

    #[test]
    fn a_time_too_long_to_tell_counts_as_the_longest() {
        let endless = times(&[1, u64::MAX]);
        assert_eq!(endless.count(), 2);
        assert_eq!(endless.max(), Some(Duration::from_nanos(u64::MAX)));
    }

    #[test]
    fn figures_are_in_microseconds() {
        let some = times(&[1500; 20]);
        let json = serde_json::to_value(some.summary()).unwrap();
        let expected = serde_json::json!({
            "count": 20, "min_us": 1.5, "p50_us": 1.5, "max_us": 1.5, "mean_us": 1.5,
        });
        assert_eq!(json, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Percentiles are those of the sorted times, to three digits; ends and mean are exact; and
        /// times measured at two ports are together what they would be at one.
        #[test]
        fn figures_agree_with_sorted_times(
            mut all in prop::collection::vec(0..10_000_000_000_u64, 20..2000),
            split: prop::sample::Index,
            shift in 0..30_u32,
        ) {
            all.iter_mut().for_each(|time| *time >>= shift);
            let (one, other) = all.split_at(split.index(all.len()));
            let mut measured = times(one);
            measured.add(&times(other));
            all.sort_unstable();
            prop_assert_eq!(measured.count(), all.len() as u64);
            prop_assert_eq!(measured.min(), Some(Duration::from_nanos(all[0])));
            prop_assert_eq!(measured.max(), Some(Duration::from_nanos(all[all.len() - 1])));
            let mean = all.iter().map(|time| u128::from(*time)).sum::<u128>() / all.len() as u128;
            prop_assert_eq!(measured.mean(), Some(Duration::from_nanos(mean as u64)));
            for percentile in [50.0, 90.0, 99.0] {
                let Some(found) = measured.percentile(percentile) else {
                    prop_assert!((all.len() as f64) * (100.0 - percentile) < 1000.0);
                    continue;
                };
                // Nearest rank.
                let rank = (all.len() as f64 * percentile / 100.0).ceil() as usize;
                let exact = all[rank - 1];
                let found = found.as_nanos() as u64;
                prop_assert!(found >= exact, "{percentile}: {found} {exact}");
                prop_assert!(found as f64 <= exact as f64 * 1.001, "{percentile}: {found} {exact}");
            }
        }
    }

    /// A probe at which frames 0, 1, 2, ... of stream 0 arrive, one every microsecond, all with
    /// room.
    fn probe(after: Duration, frames: u64) -> Probe {
        let mut probe = Probe::new(after);
        for number in 0..frames {
            probe.arrived(1000 * number, 1000 * number + 30);
            probe.given(0, number, 1000 * number);
        }
        probe
    }

    #[test]
    fn what_is_due_in_the_first_moments_is_left_out() {
        let mut probe = probe(Duration::from_micros(10), 30);
        // Frames of the beginning come back late: they are still of the beginning.
        probe.returned(0, 0, 30, 100_000);
        let latency = probe.latency();
        assert_eq!((latency.offered, latency.times.count()), (20, 20));
        assert_eq!(latency.times.max(), Some(Duration::from_nanos(90_000)));
        assert_eq!(latency.lag.max(), Some(Duration::from_nanos(30)));
        assert_eq!(latency.lag.count(), 20);
        // The next driver's first moments, too.
        probe.restart();
        for number in 30..50 {
            probe.arrived(1_000_000 + 1000 * number, 1_000_000 + 1000 * number);
            probe.given(0, number, 1_000_000 + 1000 * number);
        }
        probe.returned(0, 30, 20, 2_000_000);
        assert_eq!(probe.latency().times.count(), 30);
    }

    #[test]
    fn a_moment_is_forgotten_when_it_is_too_old_and_never_another_frames() {
        let frames = MOMENTS as u64 + 10;
        let mut probe = probe(Duration::ZERO, frames);
        probe.returned(0, 0, frames, 1000 * frames);
        let latency = probe.latency();
        assert_eq!(latency.untimed, 10);
        assert_eq!(latency.times.count(), MOMENTS as u64);
        assert_eq!(
            latency.times.max(),
            Some(Duration::from_nanos(1000 * (frames - 10)))
        );
    }

    #[test]
    fn frames_without_a_moment_are_not_timed() {
        let mut probe = probe(Duration::ZERO, 5);
        // Numbers 5 to 9 were given to other traffic; 10 is due again.
        probe.given(0, 10, 10_000);
        probe.returned(0, 5, 6, 12_000);
        let latency = probe.latency();
        assert_eq!((latency.times.count(), latency.untimed), (1, 5));
        assert_eq!(latency.times.max(), Some(Duration::from_nanos(2000)));
        // Numbers that nobody was given, or of no stream there is.
        probe.returned(0, 11, u64::MAX, 12_000);
        probe.returned(200, 0, 5, 12_000);
        probe.skipped(0, 11..u64::MAX);
        assert_eq!(probe.latency().lost, 0);
    }
}
