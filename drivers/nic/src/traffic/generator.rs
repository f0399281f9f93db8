//! The traffic generator of one port: what comes in from its wire.
//!
//! Frames belong to flows, which RSS may spread over queues. Each queue has its own stream of
//! consecutive sequence numbers, so that order can be checked however the driver serves its queues.
//! A number is given to a frame when the frame gets a place in the driver's memory: a frame that
//! finds none is counted here, and not missed by the verifier later.

use std::time::Duration;

use crate::config::QUEUES;
use crate::config::{FrameSizes, Traffic};
use crate::device::rss::{Hash, Rss};
use crate::device::rx::SmallFrameSource;
use crate::traffic::frame::{
    fill_tail, run_length, Fixed, Identity, Own, Template, MAX_FRAME, MIN_FRAME,
};
use crate::traffic::latency::nanos;

/// Most frames that arrive in one round at a fixed rate.
const MAX_ARRIVALS: u64 = 1 << 14;
/// Most frames that arrive together at a fixed rate when the data plane has to catch up.
const BURST: f64 = 256.0;
/// Nanoseconds that a byte takes on a wire of 10 Gbit/s.
const WIRE_BYTE: f64 = 0.8;
/// Bytes on the wire for each frame that are not the frame's: preamble, CRC, gap.
const WIRE_OVERHEAD: f64 = 24.0;

/// How many of the frames that are due at a fixed rate come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arriving {
    /// All, because nobody receives them.
    Unheeded,
    /// All, however many have come together.
    AtOnce,
    /// As many as come over a wire. If the data plane has lost its processor for a while, what it
    /// has missed comes afterwards, at line rate, and not as one burst that fills the ring: drops
    /// would then tell about the NIC, and not about the driver.
    AtLineRate,
}

/// One queue's frames.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// Number of the next frame.
    pub(crate) sequence: u64,
    /// The flows that go to this queue.
    flows: Vec<u16>,
    /// Their hashes; none without RSS.
    hashes: Vec<Hash>,
    /// Which of them is next.
    next_flow: usize,
}

impl Stream {
    /// The next frame's flow; the same until [`Stream::advance`].
    fn flow(&self) -> (u16, Hash) {
        let flow = self.flows.get(self.next_flow).copied().unwrap_or_default();
        (
            flow,
            self.hashes.get(self.next_flow).copied().unwrap_or_default(),
        )
    }

    /// On to the next frame.
    fn advance(&mut self) {
        self.sequence += 1;
        self.next_flow += 1;
        if self.next_flow >= self.flows.len() {
            self.next_flow = 0;
        }
    }
}

/// A queue's small frames, for writing them in one go.
pub(crate) struct SmallFrames<'a> {
    template: Template,
    who: Identity,
    flows: &'a [u16],
    hashes: &'a [Hash],
    sequence: &'a mut u64,
    next_flow: &'a mut usize,
}

impl SmallFrameSource for SmallFrames<'_> {
    /// The part that is the same in all of them.
    #[inline(always)]
    fn fixed(&self) -> Fixed {
        self.template.fixed()
    }

    /// The next frames: the first one's own part, a number of frames of which each is one step
    /// further than the one before, at most `max`, and their hash.
    #[inline(always)]
    fn run(&self, max: usize) -> (Own, usize, Hash) {
        let flow = self.flows.get(*self.next_flow).copied().unwrap_or_default();
        let own = self.template.own(Identity {
            flow,
            sequence: *self.sequence,
            ..self.who
        });
        if self.hashes.is_empty() {
            // Without RSS, all flows go to this queue, in order.
            let len = run_length(flow, self.flows.len() as u16, *self.sequence);
            (own, len.min(max), Hash::default())
        } else {
            (
                own,
                max.min(1),
                self.hashes
                    .get(*self.next_flow)
                    .copied()
                    .unwrap_or_default(),
            )
        }
    }

    /// So many frames of a run are used.
    #[inline(always)]
    fn advance(&mut self, count: usize) {
        *self.sequence += count as u64;
        *self.next_flow += count;
        if *self.next_flow >= self.flows.len() {
            *self.next_flow = 0;
        }
    }
}

/// Frames that arrive at a fixed rate.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrivals {
    /// How many.
    pub(crate) count: u64,
    /// How many had come before.
    before: u64,
    /// When the rate began to count, in nanoseconds.
    since: u64,
    /// Nanoseconds from frame to frame.
    interval: f64,
}

impl Arrivals {
    /// When the `nth` of them was due, in nanoseconds.
    #[inline(always)]
    pub(crate) fn due(&self, nth: u64) -> u64 {
        self.since + ((self.before + nth + 1) as f64 * self.interval) as u64
    }
}

/// What a port's wire brings.
#[derive(Debug)]
pub(crate) struct Generator {
    port: u8,
    traffic: Traffic,
    flows: u16,
    lengths: Vec<u16>,
    /// Templates of the lengths.
    templates: Vec<Template>,
    next_length: usize,
    mean_length: f64,
    streams: Vec<Stream>,
    /// Frames due so far, at a fixed rate.
    arrived: u64,
    /// When the rate began to count.
    since: Option<Duration>,
    /// When frames last came.
    last: Duration,
    /// How many frames may come at line rate since then.
    credit: f64,
}

impl Generator {
    pub(crate) fn new(port: usize, traffic: Traffic, sizes: &FrameSizes, flows: u16) -> Self {
        let lengths = sizes.lengths().to_vec();
        let templates = lengths
            .iter()
            .map(|len| Template::new(port, usize::from(*len)))
            .collect();
        let bytes: f64 = lengths.iter().map(|len| f64::from(*len)).sum();
        let mut generator = Self {
            port: port as u8,
            traffic,
            flows,
            mean_length: bytes / lengths.len().max(1) as f64,
            lengths,
            templates,
            next_length: 0,
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

    /// Sorts the flows by the queue they go to.
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

    /// Whether frames for this queue can come.
    #[inline(always)]
    pub(crate) fn feeds(&self, queue: usize) -> bool {
        self.streams
            .get(queue)
            .is_some_and(|stream| !stream.flows.is_empty())
    }

    /// The one length of all frames, if it is the smallest: those are written in one go.
    #[inline(always)]
    pub(crate) fn small_only(&self) -> Option<&Template> {
        match self.lengths[..] {
            [len] if usize::from(len) == MIN_FRAME => self.templates.first(),
            _ => None,
        }
    }

    /// The next small frames of a queue, one after the other. None if frames are not all small.
    #[inline(always)]
    pub(crate) fn small_frames(&mut self, queue: usize) -> Option<SmallFrames<'_>> {
        let template = *self.small_only()?;
        let stream = self.streams.get_mut(queue)?;
        Some(SmallFrames {
            template,
            who: Identity {
                port: self.port,
                stream: queue as u8,
                flow: 0,
                sequence: 0,
            },
            flows: &stream.flows,
            hashes: &stream.hashes,
            sequence: &mut stream.sequence,
            next_flow: &mut stream.next_flow,
        })
    }

    /// The frames that have come by `now` and were not there the last time. None at other than a
    /// fixed rate.
    pub(crate) fn newly_arrived(&mut self, now: Duration, how: Arriving) -> Arrivals {
        let Traffic::Rate { mpps } = self.traffic else {
            return Arrivals::default();
        };
        let since = *self.since.get_or_insert_with(|| {
            self.arrived = 0;
            self.last = now;
            now
        });
        let due = (now.saturating_sub(since).as_nanos() as f64 * mpps / 1000.0) as u64;
        // After a pause the rest comes in the next rounds: no round may take for ever. A frame's due
        // moment does not change by it.
        let most = match how {
            Arriving::Unheeded => u64::MAX,
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

    /// Nanoseconds from frame to frame at line rate; less if the rate is higher, so that there is
    /// something to catch up with.
    fn shortest_interval(&self, mpps: f64) -> f64 {
        ((self.mean_length + WIRE_OVERHEAD) * WIRE_BYTE).min(1000.0 / mpps / 1.25)
    }

    /// The queue of the next frame that comes at a fixed rate: the streams in turn, each as often
    /// as it has flows.
    pub(crate) fn next_queue(&self, nth: u64) -> usize {
        let mut at = (nth % u64::from(self.flows)) as usize;
        for (queue, stream) in self.streams.iter().enumerate() {
            if at < stream.flows.len() {
                return queue;
            }
            at -= stream.flows.len();
        }
        0
    }

    /// The length of the next frame.
    pub(crate) fn next_length(&self) -> usize {
        self.lengths
            .get(self.next_length)
            .copied()
            .map_or(MIN_FRAME, usize::from)
    }

    /// Writes the next frame of a queue into `into`; returns its length and hash. The same again
    /// until [`Generator::accept`].
    pub(crate) fn build(&self, queue: usize, into: &mut [u8; MAX_FRAME]) -> (usize, Hash) {
        let len = self.next_length();
        let (Some(stream), Some(template)) = (
            self.streams.get(queue),
            self.templates.get(self.next_length),
        ) else {
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
        fill_tail(&mut into[MIN_FRAME..len], identity.check());
        (len, hash)
    }

    /// The frame that [`Generator::build`] made has a place in the driver's memory: on to the next.
    pub(crate) fn accept(&mut self, queue: usize) {
        if let Some(stream) = self.streams.get_mut(queue) {
            stream.advance();
        }
        self.next_length = (self.next_length + 1) % self.lengths.len().max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Expected, VerifyMode};
    use crate::traffic::verify::Verifier;
    use proptest::prelude::*;

    #[test]
    fn what_it_makes_is_what_the_verifier_expects() {
        let sizes = FrameSizes::range(60, 1514).unwrap();
        let mut generator = Generator::new(1, Traffic::Saturate, &sizes, 5);
        let mut verifier = Verifier::new(1, 5, VerifyMode::Full, Expected::Unchanged);
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
            // Each when it is due, and not before: at 2 Mpps, two a microsecond.
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
        // 5000 are late, and 5 more come every microsecond. 60 bytes and 24 of overhead take 67.2
        // ns: 14.88 come in a microsecond.
        assert_eq!(counts[0], 256);
        let (late, even) = counts[1..].split_at(470);
        assert!(
            late.iter().all(|count| (14..=15).contains(count)),
            "{late:?}"
        );
        assert!(even[30..].iter().all(|count| *count == 5), "{even:?}");
        // Nobody is there for a second: none of it is left for who comes then.
        now += Duration::from_secs(1);
        let unheeded = generator.newly_arrived(now, Arriving::Unheeded).count;
        assert!(unheeded >= 5_000_000);
        now += Duration::from_micros(1);
        assert_eq!(generator.newly_arrived(now, Arriving::AtLineRate).count, 5);
    }

    proptest! {
        /// Whenever one looks, nothing has come before it was due, and nothing that was due is
        /// still to come.
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
                // Rounding may tell the next one a nanosecond early.
                prop_assert!(arrivals.due(arrivals.count) + 1 >= now);
            }
        }
    }
}
