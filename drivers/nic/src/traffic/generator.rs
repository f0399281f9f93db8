//! The traffic generator of one port: makes the frames that arrive from its wire.
//!
//! Frames belong to flows, which RSS may spread over queues. Each queue has its own stream of
//! consecutive sequence numbers. So the verifier can check the order, however a driver serves its
//! queues. A frame gets its number when it is stored in the driver's memory: a dropped frame has no
//! number, and the verifier does not miss it.

use std::time::Duration;

use crate::config::{FrameSizes, Traffic, QUEUES};
use crate::device::rss::{Hash, Rss};
use crate::device::rx::SmallFrameSource;
use crate::traffic::frame::{
    fill_tail, run_length, Fixed, Identity, Own, Template, MAX_FRAME, MIN_FRAME,
};
use crate::traffic::latency::nanos;

/// Most frames that arrive in one round at a fixed rate.
const MAX_ARRIVALS: u64 = 1 << 14;
/// Most frames that arrive together at a fixed rate when the data plane catches up.
const BURST: f64 = 256.0;
/// Nanoseconds that a byte takes on a wire of 10 Gbit/s.
const WIRE_BYTE: f64 = 0.8;
/// Bytes on the wire beside each frame: preamble, CRC and gap.
const WIRE_OVERHEAD: f64 = 24.0;

/// How due frames arrive at a fixed rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arriving {
    /// All at once, and all are lost: the port does not receive.
    Discarded,
    /// All at once, up to a limit per round.
    AtOnce,
    /// At most at line rate. After the data plane has lost its processor for a while, overdue frames
    /// do not come as one burst. A burst would overflow the ring, and the drops would be the NIC's
    /// fault instead of the driver's.
    AtLineRate,
}

/// The frames of one queue.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// Sequence number of the next frame.
    pub(crate) sequence: u64,
    /// The flows that go to this queue.
    flows: Vec<u16>,
    /// The hashes of these flows; empty without RSS.
    hashes: Vec<Hash>,
    /// Index of the next flow.
    next_flow: usize,
}

impl Stream {
    /// The flow of the next frame, and its hash.
    #[inline(always)]
    fn flow(&self) -> (u16, Hash) {
        let flow = self.flows.get(self.next_flow).copied();
        let hash = self.hashes.get(self.next_flow).copied();
        (flow.unwrap_or_default(), hash.unwrap_or_default())
    }

    /// Goes on by `count` frames, at most to the first flow.
    #[inline(always)]
    fn advance(&mut self, count: usize) {
        self.sequence += count as u64;
        self.next_flow += count;
        if self.next_flow >= self.flows.len() {
            self.next_flow = 0;
        }
    }
}

/// The next small frames of a queue, to be written in one go.
pub(crate) struct SmallFrames<'a> {
    template: Template,
    port: u8,
    queue: u8,
    stream: &'a mut Stream,
}

impl SmallFrameSource for SmallFrames<'_> {
    #[inline(always)]
    fn fixed(&self) -> Fixed {
        self.template.fixed()
    }

    #[inline(always)]
    fn run(&self, max: usize) -> (Own, usize, Hash) {
        let (flow, hash) = self.stream.flow();
        let sequence = self.stream.sequence;
        let own = self.template.own(Identity {
            port: self.port,
            stream: self.queue,
            flow,
            sequence,
        });
        let len = if self.stream.hashes.is_empty() {
            // Without RSS, all flows go to this queue, in order.
            run_length(flow, self.stream.flows.len() as u16, sequence)
        } else {
            1
        };
        (own, len.min(max), hash)
    }

    #[inline(always)]
    fn advance(&mut self, count: usize) {
        self.stream.advance(count);
    }
}

/// Frames that arrive at a fixed rate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrivals {
    /// Number of frames.
    pub(crate) count: u64,
    /// Number of frames that arrived before.
    pub(crate) before: u64,
    /// Time from which the rate counts, in nanoseconds.
    since: u64,
    /// Nanoseconds from frame to frame.
    interval: f64,
}

impl Arrivals {
    /// Time at which frame `nth` was due, in nanoseconds.
    #[inline(always)]
    pub(crate) fn due(&self, nth: u64) -> u64 {
        self.since + ((self.before + nth + 1) as f64 * self.interval) as u64
    }
}

/// The traffic generator of one port.
#[derive(Debug)]
pub(crate) struct Generator {
    port: u8,
    traffic: Traffic,
    flows: u16,
    /// A template for each length, in turn.
    templates: Vec<Template>,
    next_template: usize,
    mean_length: f64,
    streams: Vec<Stream>,
    /// Number of frames that have arrived at a fixed rate.
    arrived: u64,
    /// Time from which the rate counts.
    since: Option<Duration>,
    /// Time of the last arrivals.
    last: Duration,
    /// Number of frames that line rate allows since then.
    credit: f64,
}

impl Generator {
    pub(crate) fn new(port: usize, traffic: Traffic, sizes: &FrameSizes, flows: u16) -> Self {
        let lengths = sizes.lengths();
        let template = |len: &u16| Template::new(port, usize::from(*len));
        let bytes: f64 = lengths.iter().map(|len| f64::from(*len)).sum();
        let mut generator = Self {
            port: port as u8,
            traffic,
            flows,
            mean_length: bytes / lengths.len().max(1) as f64,
            templates: lengths.iter().map(template).collect(),
            next_template: 0,
            streams: (0..QUEUES).map(|_| Stream::default()).collect(),
            arrived: 0,
            since: None,
            last: Duration::ZERO,
            credit: 0.0,
        };
        generator.assign_flows(None);
        generator
    }

    pub(crate) fn traffic(&self) -> Traffic {
        self.traffic
    }

    pub(crate) fn set_traffic(&mut self, traffic: Traffic) {
        self.traffic = traffic;
        self.since = None;
    }

    /// The next sequence number of one stream.
    pub(crate) fn next_sequence(&self, queue: usize) -> u64 {
        self.streams.get(queue).map_or(0, |stream| stream.sequence)
    }

    /// The next sequence number of every stream.
    pub(crate) fn next_sequences(&self) -> [u64; QUEUES] {
        std::array::from_fn(|queue| self.streams[queue].sequence)
    }

    /// Assigns the flows to the queues that RSS chooses.
    pub(crate) fn assign_flows(&mut self, rss: Option<&Rss>) {
        for stream in &mut self.streams {
            stream.flows.clear();
            stream.hashes.clear();
            stream.next_flow = 0;
        }
        let Some(template) = self.templates.first() else {
            return;
        };
        for flow in 0..self.flows {
            let identity = Identity {
                port: self.port,
                stream: 0,
                flow,
                sequence: 0,
            };
            match rss {
                Some(rss) => {
                    let (queue, hash) = rss.queue(&template.head(identity).to_bytes());
                    self.streams[queue].flows.push(flow);
                    self.streams[queue].hashes.push(hash);
                }
                None => self.streams[0].flows.push(flow),
            }
        }
    }

    /// Whether any flow goes to this queue.
    #[inline(always)]
    pub(crate) fn feeds(&self, queue: usize) -> bool {
        let stream = self.streams.get(queue);
        stream.is_some_and(|stream| !stream.flows.is_empty())
    }

    /// The template, if all frames have the smallest length: they are written in one go.
    #[inline(always)]
    pub(crate) fn small_only(&self) -> Option<&Template> {
        match &self.templates[..] {
            [template] if template.len == MIN_FRAME => Some(template),
            _ => None,
        }
    }

    /// The next small frames of a queue. `None` if frames are not all small.
    #[inline(always)]
    pub(crate) fn small_frames(&mut self, queue: usize) -> Option<SmallFrames<'_>> {
        let template = *self.small_only()?;
        let stream = self.streams.get_mut(queue)?;
        Some(SmallFrames {
            template,
            port: self.port,
            queue: queue as u8,
            stream,
        })
    }

    /// The frames that have arrived by `now`, since the last call. None without a fixed rate.
    pub(crate) fn newly_arrived(&mut self, now: Duration, arriving: Arriving) -> Arrivals {
        let Traffic::Rate { mpps } = self.traffic else {
            return Arrivals::default();
        };
        let since = *self.since.get_or_insert_with(|| {
            self.arrived = 0;
            self.last = now;
            now
        });
        let due = (now.saturating_sub(since).as_nanos() as f64 * mpps / 1000.0) as u64;
        // After a pause, the rest arrives in the next rounds, because no round may take too long.
        // The due times stay the same.
        let most = match arriving {
            Arriving::Discarded => u64::MAX,
            Arriving::AtOnce => MAX_ARRIVALS,
            Arriving::AtLineRate => {
                let passed = now.saturating_sub(self.last).as_nanos() as f64;
                self.credit = (self.credit + passed / self.shortest_interval(mpps)).min(BURST);
                self.credit as u64
            }
        };
        let count = due.saturating_sub(self.arrived).min(most);
        self.last = now;
        self.credit = (self.credit - count as f64).max(0.0);
        let arrivals = Arrivals {
            count,
            before: self.arrived,
            since: nanos(since),
            interval: 1000.0 / mpps,
        };
        self.arrived += count;
        arrivals
    }

    /// Nanoseconds from frame to frame at line rate. If the configured rate is higher, 25 % more
    /// frames than configured, so that the generator can catch up.
    fn shortest_interval(&self, mpps: f64) -> f64 {
        ((self.mean_length + WIRE_OVERHEAD) * WIRE_BYTE).min(1000.0 / mpps / 1.25)
    }

    /// The queue of frame `nth` at a fixed rate: the queues in turn, each as often as it has flows.
    pub(crate) fn queue_of(&self, nth: u64) -> usize {
        let mut at = (nth % u64::from(self.flows)) as usize;
        for (queue, stream) in self.streams.iter().enumerate() {
            if at < stream.flows.len() {
                return queue;
            }
            at -= stream.flows.len();
        }
        0
    }

    /// Writes the next frame of a queue into `into`, and returns its length and hash. Makes the same
    /// frame again until [`Generator::accept`].
    pub(crate) fn build(&self, queue: usize, into: &mut [u8; MAX_FRAME]) -> (usize, Hash) {
        let template = self.templates.get(self.next_template);
        let (Some(stream), Some(template)) = (self.streams.get(queue), template) else {
            return (0, Hash::default());
        };
        let (flow, hash) = stream.flow();
        let identity = Identity {
            port: self.port,
            stream: queue as u8,
            flow,
            sequence: stream.sequence,
        };
        into[..MIN_FRAME].copy_from_slice(&template.head(identity).to_bytes());
        fill_tail(&mut into[MIN_FRAME..template.len], identity.check());
        (template.len, hash)
    }

    /// Moves on to the next frame, because the frame of [`Generator::build`] is stored.
    pub(crate) fn accept(&mut self, queue: usize) {
        if let Some(stream) = self.streams.get_mut(queue) {
            stream.advance(1);
        }
        self.next_template = (self.next_template + 1) % self.templates.len().max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Expected, VerifyMode};
    use crate::traffic::verify::Verifier;
    use proptest::prelude::*;

    #[test]
    fn the_verifier_accepts_generated_frames() {
        let sizes = FrameSizes::range(60, 1514).unwrap();
        let mut generator = Generator::new(1, Traffic::Saturate, &sizes, 5);
        let mut verifier = Verifier::new((1, 0), 5, VerifyMode::Full, Expected::Unchanged);
        let mut frame = [0; MAX_FRAME];
        for _ in 0..2000 {
            let (len, _) = generator.build(0, &mut frame);
            generator.accept(0);
            verifier.check_frame(&frame[..len], &mut None);
        }
        assert_eq!(verifier.counts().ok, 2000);
        assert!(verifier.counts().clean());
    }

    #[test]
    fn a_rate_is_kept() {
        let mut generator =
            Generator::new(0, Traffic::Rate { mpps: 2.0 }, &FrameSizes::default(), 1);
        let mut arrived = 0;
        for micros in 0..=1000 {
            let now = Duration::from_secs(5) + Duration::from_micros(micros);
            let arrivals = generator.newly_arrived(now, Arriving::AtOnce);
            // Two frames are due every microsecond, and none arrives early.
            assert_eq!(arrivals.count, if micros == 0 { 0 } else { 2 });
            for nth in 0..arrivals.count {
                let due = 5_000_000_000 + (micros - 1) * 1000 + (nth + 1) * 500;
                assert_eq!(arrivals.due(nth), due);
            }
            arrived += arrivals.count;
        }
        assert_eq!(arrived, 2000);
    }

    #[test]
    fn after_a_pause_frames_come_at_line_rate_until_none_is_late() {
        let mut generator =
            Generator::new(0, Traffic::Rate { mpps: 5.0 }, &FrameSizes::default(), 1);
        generator.newly_arrived(Duration::ZERO, Arriving::AtLineRate);
        let mut now = Duration::from_millis(1);
        let mut counts = Vec::new();
        for _ in 0..1000 {
            counts.push(generator.newly_arrived(now, Arriving::AtLineRate).count);
            now += Duration::from_micros(1);
        }
        // 5000 frames are late, and 5 more are due every microsecond. A frame of 60 bytes takes 67.2
        // ns with its overhead, so 14.88 arrive in a microsecond.
        assert_eq!(counts[0], 256);
        let (late, even) = counts[1..].split_at(470);
        assert!(
            late.iter().all(|count| (14..=15).contains(count)),
            "{late:?}"
        );
        assert!(even[30..].iter().all(|count| *count == 5), "{even:?}");
        // A second without a receiver leaves no late frames for the next receiver.
        now += Duration::from_secs(1);
        let discarded = generator.newly_arrived(now, Arriving::Discarded).count;
        assert!(discarded >= 5_000_000);
        now += Duration::from_micros(1);
        assert_eq!(generator.newly_arrived(now, Arriving::AtLineRate).count, 5);
    }

    proptest! {
        /// No frame arrives before it is due, and no due frame is left out.
        #[test]
        fn frames_come_when_they_are_due(
            mpps in 0.001..100.0_f64,
            steps in prop::collection::vec(0..200_000_u64, 1..50),
        ) {
            let mut generator =
                Generator::new(0, Traffic::Rate { mpps }, &FrameSizes::default(), 1);
            let mut now = 7_000;
            generator.newly_arrived(Duration::from_nanos(now), Arriving::AtOnce);
            let mut last = 0;
            for step in steps {
                now += step.min((MAX_ARRIVALS as f64 * 1000.0 / mpps) as u64);
                let arrivals =
                    generator.newly_arrived(Duration::from_nanos(now), Arriving::AtOnce);
                for nth in 0..arrivals.count {
                    let due = arrivals.due(nth);
                    prop_assert!(due >= last && due <= now, "{last} {due} {now}");
                    last = due;
                }
                // Rounding may make the next due time a nanosecond early.
                prop_assert!(arrivals.due(arrivals.count) + 1 >= now);
            }
        }
    }
}
