//! Latency: the time from the moment a frame is due on the wire of one port until the peer port
//! fetches it for sending.
//!
//! At a fixed rate, every frame has a due time, whether or not the driver is ready. Latency starts
//! at the due time. So it includes all waiting of all frames: in the ring, in the packet buffer and
//! on the wire.
//!
//! The due times are kept here by stream and sequence number. They are not in the frames, because
//! the verifier already checks every byte of a 60-byte frame, and because a driver must not be able
//! to change them. The sequence number of a returning frame finds its due time. Numbers are
//! consecutive, so a ring of due times for each stream is enough.

use std::ops::Range;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::ser::{SerializeMap, Serializer};
use serde::Serialize;

use crate::config::QUEUES;

/// Due times kept of one stream, a power of two. A driver's rings and the packet buffer together
/// hold fewer frames.
const DUE_TIMES: usize = 1 << 15;
/// Longest time that the histogram distinguishes from longer ones.
const LONGEST: Duration = Duration::from_secs(100);
/// Significant decimal digits of percentiles.
const DIGITS: u8 = 3;
/// A percentile is only reported if at least this many times lie above it.
const MIN_ABOVE: f64 = 10.0;

/// Measured times: exact minimum, maximum and mean, and percentiles to three digits.
#[derive(Clone, Debug)]
pub struct Times {
    histogram: Histogram<u64>,
    min: u64,
    max: u64,
    sum: u128,
}

impl Default for Times {
    fn default() -> Self {
        // The library accepts these constant bounds; every test would panic otherwise.
        #[allow(clippy::expect_used)]
        let histogram = Histogram::new_with_bounds(1, LONGEST.as_nanos() as u64, DIGITS)
            .expect("valid bounds of a histogram");
        Self {
            histogram,
            min: u64::MAX,
            max: 0,
            sum: 0,
        }
    }
}

impl Times {
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

    /// Number of times.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The shortest time; `None` without any.
    pub fn min(&self) -> Option<Duration> {
        (self.count() > 0).then(|| Duration::from_nanos(self.min))
    }

    /// The longest time; `None` without any.
    pub fn max(&self) -> Option<Duration> {
        (self.count() > 0).then(|| Duration::from_nanos(self.max))
    }

    /// The mean time; `None` without any.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum.checked_div(u128::from(self.count()))?;
        Some(Duration::from_nanos(mean as u64))
    }

    /// The shortest time that at least `percentile` percent of the times do not exceed, or at most
    /// 0.1 % more. `None` if there are fewer than 10 / (1 - p) times, because chance would decide
    /// the value.
    pub fn percentile(&self, percentile: f64) -> Option<Duration> {
        // The small factor allows for percentiles such as 99.9, which have no exact binary form:
        // 99.9 needs exactly 10 000 times.
        let above = self.count() as f64 * (100.0 - percentile);
        if above * (1.0 + 1e-9) < MIN_ABOVE * 100.0 {
            return None;
        }
        let value = self.histogram.value_at_percentile(percentile);
        Some(Duration::from_nanos(value.clamp(self.min, self.max)))
    }

    /// The figures of reports: name in JSON, name in text, and microseconds. Figures that need more
    /// times are left out.
    pub fn figures(&self) -> impl Iterator<Item = (&'static str, &'static str, f64)> + '_ {
        let percentiles = [
            ("p50_us", "50 %", 50.0),
            ("p90_us", "90 %", 90.0),
            ("p99_us", "99 %", 99.0),
            ("p99_9_us", "99.9 %", 99.9),
            ("p99_99_us", "99.99 %", 99.99),
            ("p99_999_us", "99.999 %", 99.999),
            ("p99_9999_us", "99.9999 %", 99.9999),
        ];
        let percentiles = percentiles.map(|(key, name, p)| (key, name, self.percentile(p)));
        let first = std::iter::once(("min_us", "min", self.min()));
        let last = [
            ("max_us", "max", self.max()),
            ("mean_us", "mean", self.mean()),
        ];
        let figures = first.chain(percentiles).chain(last);
        figures.filter_map(|(key, name, time)| Some((key, name, time?.as_nanos() as f64 / 1000.0)))
    }
}

/// The count and the known figures.
impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("count", &self.count())?;
        for (key, _, micros) in self.figures() {
            map.serialize_entry(key, &micros)?;
        }
        map.end()
    }
}

/// Latency of the frames that arrived at one port, or at several.
///
/// An offered frame is either lost, or timed when it comes back, or untimed. The remaining frames
/// were in the driver at the end of the measurement or of the driver.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Latency {
    /// Times from the due time of a frame until the NIC fetched it for sending.
    #[serde(flatten)]
    pub times: Times,
    /// Frames that were due while the port received, after the warm-up time.
    pub offered: u64,
    /// Offered frames that found no room, that the driver skipped, or that came back altered.
    pub lost: u64,
    /// Offered frames that came back so late that their due time was forgotten.
    pub untimed: u64,
    /// Times from the due time of a frame until the NIC delivered it: the NIC's own share. Each
    /// latency may be too long by its share.
    pub lag: Times,
}

impl Latency {
    /// The latency of several ports together; `None` without any.
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
}

/// Due times of one stream's last [`DUE_TIMES`] frames.
#[derive(Debug)]
struct Stream {
    /// Due times by number, modulo the length. Empty until the first frame.
    due: Vec<u64>,
    /// The numbers with known due times.
    known: Range<u64>,
    /// The first measured number.
    measured_from: u64,
}

impl Stream {
    #[inline(always)]
    fn given(&mut self, sequence: u64, due: u64) {
        if self.due.is_empty() {
            self.due = vec![0; DUE_TIMES];
        }
        if sequence != self.known.end {
            // Frames without due times came in between.
            self.known.start = sequence;
        }
        self.due[sequence as usize % DUE_TIMES] = due;
        self.known.end = sequence + 1;
        let oldest = self.known.end.saturating_sub(DUE_TIMES as u64);
        self.known.start = self.known.start.max(oldest);
    }

    /// Those of the numbers that are measured.
    #[inline(always)]
    fn measured(&self, numbers: Range<u64>) -> Range<u64> {
        numbers.start.max(self.measured_from)..numbers.end.min(self.known.end)
    }

    /// The due time of a frame, if known.
    #[inline(always)]
    fn due(&self, sequence: u64) -> Option<u64> {
        self.known
            .contains(&sequence)
            .then(|| self.due[sequence as usize % DUE_TIMES])
    }
}

/// Measures the latency of the frames that arrive at one port. Times are nanoseconds of the data
/// plane's clock.
#[derive(Debug)]
pub(crate) struct Probe {
    /// Warm-up time after the first frame.
    after: u64,
    /// The end of the warm-up; unknown before the first frame since the last reset.
    begins: Option<u64>,
    streams: [Stream; QUEUES],
    latency: Latency,
}

impl Probe {
    /// Leaves frames out that are due within `after` of the first frame.
    pub(crate) fn new(after: Duration) -> Self {
        Self {
            after: nanos(after),
            begins: None,
            streams: std::array::from_fn(|_| Stream {
                due: Vec::new(),
                known: 0..0,
                measured_from: u64::MAX,
            }),
            latency: Latency::default(),
        }
    }

    pub(crate) fn latency(&self) -> &Latency {
        &self.latency
    }

    /// The port was reset: the warm-up starts again.
    pub(crate) fn restart(&mut self) {
        self.begins = None;
        for stream in &mut self.streams {
            stream.measured_from = u64::MAX;
        }
    }

    /// A frame with due time `due` arrives at `now`, while the port receives.
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

    /// The frame is stored, and has a number.
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

    /// The frame is dropped.
    pub(crate) fn dropped(&mut self, due: u64) {
        self.latency.lost += u64::from(self.measures(due));
    }

    fn measures(&self, due: u64) -> bool {
        self.begins.is_some_and(|begins| due >= begins)
    }

    /// Frames with consecutive numbers were fetched for sending at `now`, for the first time.
    #[inline(always)]
    pub(crate) fn returned(&mut self, stream: u8, first: u64, count: u64, now: u64) {
        let Some(stream) = self.streams.get(usize::from(stream)) else {
            return;
        };
        for sequence in stream.measured(first..first.saturating_add(count)) {
            match stream.due(sequence) {
                Some(due) => self.latency.times.record(now.saturating_sub(due)),
                None => self.latency.untimed += 1,
            }
        }
    }

    /// The driver skipped these numbers, or their frames have come back altered.
    pub(crate) fn lost(&mut self, stream: u8, numbers: Range<u64>) {
        self.latency.lost += self.measured(stream, numbers);
    }

    /// A frame with a skipped number has come back.
    pub(crate) fn found(&mut self, stream: u8, sequence: u64) {
        let found = self.measured(stream, sequence..sequence.saturating_add(1));
        self.latency.lost = self.latency.lost.saturating_sub(found);
    }

    /// How many of these numbers are measured.
    fn measured(&self, stream: u8, numbers: Range<u64>) -> u64 {
        let stream = self.streams.get(usize::from(stream));
        let measured = stream.map_or(0..0, |stream| stream.measured(numbers));
        measured.end.saturating_sub(measured.start)
    }
}

/// The time in nanoseconds; enough for 584 years.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(nanos: &[u64]) -> Times {
        let mut times = Times::default();
        nanos.iter().for_each(|nanos| times.record(*nanos));
        times
    }

    #[test]
    fn no_times_give_no_figures() {
        let none = times(&[]);
        assert_eq!((none.min(), none.max(), none.mean()), (None, None, None));
        assert_eq!(none.percentile(50.0), None);
        let json = serde_json::to_string(&none).unwrap();
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
    fn a_time_beyond_the_histogram_is_still_the_maximum() {
        let endless = times(&[1, u64::MAX]);
        assert_eq!(endless.count(), 2);
        assert_eq!(endless.max(), Some(Duration::from_nanos(u64::MAX)));
    }

    #[test]
    fn figures_are_in_microseconds() {
        let some = times(&[1500; 20]);
        let json = serde_json::to_value(&some).unwrap();
        let expected = serde_json::json!({
            "count": 20, "min_us": 1.5, "p50_us": 1.5, "max_us": 1.5, "mean_us": 1.5,
        });
        assert_eq!(json, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Percentiles agree with the sorted times to three digits. Minimum, maximum and mean are
        /// exact. Merging the times of two ports equals measuring them at one.
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
    fn frames_due_in_the_warm_up_are_left_out() {
        let mut probe = probe(Duration::from_micros(10), 30);
        // Frames due in the warm-up are left out even if they come back late.
        probe.returned(0, 0, 30, 100_000);
        let latency = probe.latency();
        assert_eq!((latency.offered, latency.times.count()), (20, 20));
        assert_eq!(latency.times.max(), Some(Duration::from_nanos(90_000)));
        assert_eq!(latency.lag.max(), Some(Duration::from_nanos(30)));
        assert_eq!(latency.lag.count(), 20);
        // The next driver has a warm-up too.
        probe.restart();
        for number in 30..50 {
            probe.arrived(1_000_000 + 1000 * number, 1_000_000 + 1000 * number);
            probe.given(0, number, 1_000_000 + 1000 * number);
        }
        probe.returned(0, 30, 20, 2_000_000);
        assert_eq!(probe.latency().times.count(), 30);
    }

    #[test]
    fn old_due_times_are_forgotten_and_never_mixed_up() {
        let frames = DUE_TIMES as u64 + 10;
        let mut probe = probe(Duration::ZERO, frames);
        probe.returned(0, 0, frames, 1000 * frames);
        let latency = probe.latency();
        assert_eq!(latency.untimed, 10);
        assert_eq!(latency.times.count(), DUE_TIMES as u64);
        assert_eq!(
            latency.times.max(),
            Some(Duration::from_nanos(1000 * (frames - 10)))
        );
    }

    #[test]
    fn frames_without_a_due_time_are_not_timed() {
        let mut probe = probe(Duration::ZERO, 5);
        // Numbers 5 to 9 went to other traffic; number 10 has a due time.
        probe.given(0, 10, 10_000);
        probe.returned(0, 5, 6, 12_000);
        let latency = probe.latency();
        assert_eq!((latency.times.count(), latency.untimed), (1, 5));
        assert_eq!(latency.times.max(), Some(Duration::from_nanos(2000)));
        // Numbers that no frame has, and a stream that does not exist.
        probe.returned(0, 11, u64::MAX, 12_000);
        probe.returned(200, 0, 5, 12_000);
        probe.lost(0, 11..u64::MAX);
        assert_eq!(probe.latency().lost, 0);
    }
}
