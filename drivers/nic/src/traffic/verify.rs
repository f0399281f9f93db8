//! Checks that every frame comes back intact, once, and in order.
//!
//! Frames of a stream (one receive queue of one port) carry consecutive numbers. A skipped number is
//! *missing*. If its frame arrives later, that frame is *reordered*, and no longer missing. A frame
//! whose number came before is *duplicated*. A frame is *altered* if any byte differs from the
//! original, apart from the change that the forwarder should make.

use std::collections::VecDeque;
use std::time::Duration;

use crate::config::{Expected, VerifyMode};
use crate::memory::shared::SmallFrame;
use crate::traffic::change::Change;
use crate::traffic::frame::{
    add, opaque_step, run_length, tail_matches, Fixed, Head, Identity, Own, Template, MAX_FRAME,
    MIN_FRAME,
};
use crate::traffic::latency::{nanos, Probe};
use serde::Serialize;

/// Results of checking the frames that one port received and its peer port sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifyCounts {
    /// Frames that came back intact for the first time.
    pub ok: u64,
    /// Sequence numbers that were skipped, and whose frames have not arrived since.
    pub missing: u64,
    /// Further copies of frames that have come back before.
    pub duplicated: u64,
    /// Frames that came back after a later one.
    pub reordered: u64,
    /// Frames with any byte other than expected.
    pub altered: u64,
    /// Frames that no generator of this NIC has made for this pair of ports.
    pub foreign: u64,
    /// Frames that a driver had when it left, or when their receiving port was reset. With a window,
    /// also frames that a driver dropped before it sent its first one. Not an error.
    pub abandoned: u64,
    /// Intact frames that the driver sent from another queue than the one that received them. Not an error
    /// by itself: a forwarder with a queue pair for each flow has none.
    pub other_queue: u64,
}

impl VerifyCounts {
    /// Whether all error counts are 0.
    pub fn clean(&self) -> bool {
        self.missing | self.duplicated | self.reordered | self.altered | self.foreign == 0
    }
}

/// Most gaps that are remembered in one stream's sequence. A frame that fills a forgotten gap counts
/// as duplicated. The oldest gap is forgotten first.
const MAX_GAPS: usize = 1 << 16;

/// A range of skipped numbers.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: u64,
    /// The first number after the gap.
    to: u64,
    /// Whether the frames count as abandoned instead of missing.
    abandoned: bool,
}

/// The place of a frame in its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// Its number is the highest so far. All numbers from `skipped_from` to it were skipped.
    First { skipped_from: u64 },
    /// Its number was skipped before.
    Late { abandoned: bool },
    /// Its number came before.
    Again,
}

/// Measures the latency of checked frames. `now` is the time at which the device fetched them.
pub(crate) struct Meter<'a> {
    pub(crate) probe: &'a mut Probe,
    pub(crate) now: Duration,
}

impl Meter<'_> {
    /// Times consecutive frames of a stream that came back intact.
    #[inline(always)]
    fn returned(&mut self, stream: u8, first: u64, count: u64) {
        self.probe.returned(stream, first, count, nanos(self.now));
    }

    #[cold]
    fn seen(&mut self, stream: u8, sequence: u64, seen: Seen, intact: bool) {
        match seen {
            Seen::First { skipped_from } => self.probe.lost(stream, skipped_from..sequence),
            Seen::Late { abandoned: false } => self.probe.found(stream, sequence),
            Seen::Late { abandoned: true } => {}
            Seen::Again => return,
        }
        if intact {
            self.returned(stream, sequence, 1);
        } else {
            self.probe
                .lost(stream, sequence..sequence.saturating_add(1));
        }
    }
}

/// The frames of one stream that have come back.
#[derive(Debug, Default)]
struct Stream {
    /// The number after the highest seen.
    next: u64,
    /// Skipped numbers below `next`, ascending.
    gaps: VecDeque<Gap>,
    /// The first number that the driver of this session can have received.
    start: u64,
    /// Whether the driver may drop frames before it sends its first one.
    may_flush: bool,
}

impl Stream {
    #[inline(always)]
    fn see(&mut self, sequence: u64, counts: &mut VerifyCounts) -> Seen {
        if sequence == self.next {
            self.next = self.next.saturating_add(1);
            counts.ok += 1;
            Seen::First {
                skipped_from: sequence,
            }
        } else {
            self.see_out_of_order(sequence, counts)
        }
    }

    #[cold]
    fn see_out_of_order(&mut self, sequence: u64, counts: &mut VerifyCounts) -> Seen {
        if sequence > self.next {
            let skipped_from = self.next;
            let flushed = self.may_flush && !self.has_begun();
            self.skip_to(sequence, flushed, counts);
            // Saturating, because a hostile driver may choose any number.
            self.next = sequence.saturating_add(1);
            counts.ok += 1;
            return Seen::First { skipped_from };
        }
        let at = self.gaps.partition_point(|gap| gap.to <= sequence);
        let gap = self.gaps.get(at).filter(|gap| gap.from <= sequence);
        let Some(gap) = gap.copied() else {
            counts.duplicated += 1;
            return Seen::Again;
        };
        counts.ok += 1;
        if gap.abandoned {
            counts.abandoned -= 1;
        } else {
            counts.missing -= 1;
            counts.reordered += 1;
        }
        self.gaps.remove(at);
        for (from, to) in [(sequence + 1, gap.to), (gap.from, sequence)] {
            if from < to {
                self.gaps.insert(at, Gap { from, to, ..gap });
            }
        }
        Seen::Late {
            abandoned: gap.abandoned,
        }
    }

    /// Whether any frame of this session has come back.
    fn has_begun(&self) -> bool {
        self.next > self.start
    }

    /// Counts all numbers up to `next` as skipped.
    fn skip_to(&mut self, next: u64, abandoned: bool, counts: &mut VerifyCounts) {
        if next <= self.next {
            return;
        }
        let skipped = if abandoned {
            &mut counts.abandoned
        } else {
            &mut counts.missing
        };
        *skipped += next - self.next;
        self.gaps.push_back(Gap {
            from: self.next,
            to: next,
            abandoned,
        });
        if self.gaps.len() > MAX_GAPS {
            self.gaps.pop_front();
        }
        self.next = next;
    }
}

/// The stream and the flow of the expected frame. The stream is valid.
#[derive(Clone, Copy, Debug, Default)]
struct Expectation {
    stream: u8,
    flow: u16,
}

/// Checks the frames that one port sends, which its peer port should have received.
#[derive(Debug)]
pub(crate) struct Verifier {
    mode: VerifyMode,
    change: Change,
    /// The port that has received the frames.
    source: usize,
    streams: [Stream; crate::config::QUEUES],
    /// The queue from which the driver sends the frames.
    queue: u8,
    /// The most likely next frame.
    next: Expectation,
    /// Number of flows of the source's frames.
    flows: u16,
    /// The template of the smallest frames.
    small: Template,
    /// Templates of returning frames by length, made when needed.
    templates: Vec<Option<Template>>,
    counts: VerifyCounts,
}

impl Verifier {
    /// Checks the frames that port `sender` sends and port `source` has received, in `flows` flows.
    pub(crate) fn new(
        (source, sender): (usize, usize),
        flows: u16,
        mode: VerifyMode,
        expected: Expected,
    ) -> Self {
        let change = Change::new(expected, sender);
        Self {
            mode,
            change,
            source,
            streams: Default::default(),
            queue: 0,
            next: Expectation::default(),
            flows,
            small: change.applied_to(Template::new(source, MIN_FRAME)),
            templates: vec![None; MAX_FRAME + 1],
            counts: VerifyCounts::default(),
        }
    }

    pub(crate) fn counts(&self) -> VerifyCounts {
        self.counts
    }

    /// Says from which queue the next frames are sent.
    #[inline(always)]
    pub(crate) fn set_queue(&mut self, queue: usize) {
        self.queue = queue as u8;
    }

    /// Counts intact frames by whether they are sent from the queue that received them.
    #[inline(always)]
    fn note_queue(&mut self, stream: u8, frames: u64) {
        if stream != self.queue {
            self.counts.other_queue += frames;
        }
    }

    /// Number of frames after the last one seen, if `next` has each stream's next number.
    pub(crate) fn outstanding(&self, next: &[u64]) -> u64 {
        let streams = self.streams.iter().zip(next);
        streams
            .map(|(stream, next)| next.saturating_sub(stream.next))
            .sum()
    }

    /// No longer expects frames below these numbers, because the driver has lost them. A few may
    /// still come back.
    pub(crate) fn abandon(&mut self, next: &[u64]) {
        for (stream, next) in self.streams.iter_mut().zip(next) {
            stream.skip_to(*next, true, &mut self.counts);
            stream.start = stream.next;
        }
    }

    /// Whether any frame has come back since the driver's start.
    pub(crate) fn has_begun(&self) -> bool {
        self.streams.iter().any(Stream::has_begun)
    }

    /// Sets whether a driver may drop frames before it sends its first one. They count as abandoned
    /// then. DPDK's testpmd, for instance, empties its rings before it begins to forward.
    pub(crate) fn set_may_flush(&mut self, may_flush: bool) {
        for stream in &mut self.streams {
            stream.may_flush = may_flush;
        }
    }

    fn template(&mut self, len: usize) -> Option<Template> {
        let (source, change) = (self.source, self.change);
        let slot = self.templates.get_mut(len).filter(|_| len >= MIN_FRAME)?;
        Some(*slot.get_or_insert_with(|| change.applied_to(Template::new(source, len))))
    }

    /// Checks frames of exactly 60 bytes. Returns the number of frames with a group address.
    #[inline(always)]
    pub(crate) fn check_small(
        &mut self,
        frames: &[Option<SmallFrame<'_>>],
        meter: &mut Option<Meter<'_>>,
    ) -> u64 {
        // A frame that passes this check also passes the weaker check of VerifyMode::Sequence.
        let template = self.small;
        let mut group = 0;
        let mut rest = frames;
        while !rest.is_empty() {
            // Usually the frames are the next of one stream, flow after flow.
            let Expectation { stream, flow } = self.next;
            let sequence = self.streams[usize::from(stream)].next;
            let len = run_length(flow, self.flows, sequence).min(rest.len());
            let next = Identity {
                port: self.source as u8,
                stream,
                flow,
                sequence,
            };
            let (run, others) = rest.split_at(len);
            let (fixed, own) = (template.fixed(), template.own(next));
            let intact = if self.change.is_in_shared_bytes() {
                is_run(fixed, own, run, |head| head)
            } else {
                is_run(fixed, own, run, |head| self.change.undone(head))
            };
            if intact {
                self.streams[usize::from(stream)].next += len as u64;
                self.counts.ok += len as u64;
                self.note_queue(stream, len as u64);
                if let Some(meter) = meter {
                    meter.returned(stream, sequence, len as u64);
                }
                let last = len == usize::from(self.flows - flow);
                self.next.flow = if last { 0 } else { flow + len as u16 };
                let to_group = template.head(next).is_to_group();
                group += if to_group { len as u64 } else { 0 };
            } else {
                group += self.check_one_by_one(run, meter);
            }
            rest = others;
        }
        group
    }

    #[inline(never)]
    fn check_one_by_one(
        &mut self,
        frames: &[Option<SmallFrame<'_>>],
        meter: &mut Option<Meter<'_>>,
    ) -> u64 {
        let mut group = 0;
        for frame in frames.iter().flatten() {
            let head = frame.read();
            group += u64::from(head.is_to_group());
            self.check(&head, &[], meter);
        }
        group
    }

    /// Checks a frame of any length.
    pub(crate) fn check_frame(&mut self, frame: &[u8], meter: &mut Option<Meter<'_>>) {
        match frame.split_first_chunk() {
            Some((head, tail)) => self.check(&Head::from_bytes(head), tail, meter),
            None => self.counts.foreign += 1,
        }
    }

    fn check(&mut self, head: &Head, tail: &[u8], meter: &mut Option<Meter<'_>>) {
        let head = &self.change.undone(*head);
        let identity = head.identity();
        let known = head.check() == identity.check() && usize::from(identity.port) == self.source;
        let intact = known
            && (self.mode == VerifyMode::Sequence
                || tail_matches(tail, head.check())
                    && self
                        .template(MIN_FRAME + tail.len())
                        .is_some_and(|template| template.matches(head)));
        match self.streams.get_mut(usize::from(identity.stream)) {
            Some(stream) if intact => {
                let seen = stream.see(identity.sequence, &mut self.counts);
                if let Some(meter) = meter {
                    meter.seen(identity.stream, identity.sequence, seen, true);
                }
                self.note_queue(identity.stream, 1);
                let flow = identity.flow.saturating_add(1);
                self.next = Expectation {
                    stream: identity.stream,
                    flow: if flow < self.flows { flow } else { 0 },
                };
            }
            _ => self.count_bad(head, tail, known, meter),
        }
    }

    #[cold]
    fn count_bad(&mut self, head: &Head, tail: &[u8], known: bool, meter: &mut Option<Meter<'_>>) {
        if known {
            // Its check words identify the frame. It has arrived, so it is not missing.
            let identity = head.identity();
            let mut counts = self.counts;
            if let Some(stream) = self.streams.get_mut(usize::from(identity.stream)) {
                let seen = stream.see(identity.sequence, &mut counts);
                if let Some(meter) = meter {
                    meter.seen(identity.stream, identity.sequence, seen, false);
                }
            }
            self.counts.missing = counts.missing;
            self.counts.abandoned = counts.abandoned;
            self.counts.altered += 1;
        } else if self.resembles(head, tail.len()) {
            self.counts.altered += 1;
        } else {
            self.counts.foreign += 1;
        }
    }

    /// Whether a frame with wrong check words is probably a damaged frame of this NIC, because most
    /// constant bytes fit.
    fn resembles(&mut self, head: &Head, tail: usize) -> bool {
        self.template(MIN_FRAME + tail).is_some_and(|template| {
            let expected = template.head(head.identity()).to_bytes();
            let bytes = expected.into_iter().zip(head.to_bytes());
            bytes.filter(|(a, b)| a == b).count() > MIN_FRAME - 20
        })
    }
}

/// Whether the frames begin with this one and continue step by step, byte for byte, after `undo` has
/// taken the driver's change back.
#[inline(always)]
fn is_run(
    fixed: Fixed,
    mut own: Own,
    frames: &[Option<SmallFrame<'_>>],
    undo: impl Fn(Head) -> Head,
) -> bool {
    let step = opaque_step();
    let mut differences = [0; 8];
    for frame in frames {
        let Some(frame) = frame else { return false };
        let head = undo(frame.read());
        for (nth, difference) in differences.iter_mut().enumerate() {
            *difference |= (head.fixed[nth] ^ fixed[nth]) | (head.own[nth] ^ own[nth]);
        }
        own = add(own, step);
    }
    differences == [0; 8]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::frame::numbered;
    use proptest::prelude::*;

    /// Frame number `sequence` of port 0, with the expected touch.
    fn frame(sequence: u64, len: usize) -> Vec<u8> {
        let mut frame = numbered(sequence, len);
        frame[1] = frame[1].wrapping_add(1);
        frame
    }

    fn verifier() -> Verifier {
        Verifier::new((0, 1), 7, VerifyMode::Full, Expected::Touch(1))
    }

    fn counts_of(sequences: &[u64]) -> VerifyCounts {
        let mut verifier = verifier();
        for sequence in sequences {
            verifier.check_frame(&frame(*sequence, 60), &mut None);
        }
        verifier.counts()
    }

    #[test]
    fn frames_in_order_are_ok() {
        assert!(counts_of(&[0, 1, 2, 3]).clean() && !counts_of(&[0, 1, 4, 5]).clean());
    }

    #[test]
    fn an_altered_frame_is_altered_and_not_missing() {
        for at in 0..60 {
            let mut verifier = verifier();
            verifier.check_frame(&frame(0, 60), &mut None);
            let mut altered = frame(1, 60);
            altered[at] ^= 0x10;
            verifier.check_frame(&altered, &mut None);
            verifier.check_frame(&frame(2, 60), &mut None);
            let counts = verifier.counts();
            assert_eq!((counts.ok, counts.altered), (2, 1), "byte {at}");
            // Damage to the number hides which frame it was, so the number also counts as missing.
            let hidden = matches!(at, 34 | 35 | 42..60);
            assert_eq!(counts.missing, u64::from(hidden), "byte {at}");
        }
    }

    #[test]
    fn an_untouched_frame_is_altered_if_a_touch_is_expected() {
        let mut verifier = verifier();
        let mut untouched = frame(0, 60);
        untouched[1] = untouched[1].wrapping_sub(1);
        verifier.check_frame(&untouched, &mut None);
        assert_eq!(verifier.counts().altered, 1);
    }

    #[test]
    fn large_frames_are_checked_to_the_last_byte() {
        let mut verifier = verifier();
        verifier.check_frame(&frame(0, 1514), &mut None);
        let mut altered = frame(1, 1514);
        altered[1513] ^= 1;
        verifier.check_frame(&altered, &mut None);
        let mut shortened = frame(2, 1514);
        shortened.truncate(1513);
        verifier.check_frame(&shortened, &mut None);
        let counts = verifier.counts();
        assert_eq!((counts.ok, counts.altered, counts.missing), (1, 2, 0));
    }

    #[test]
    fn other_frames_are_foreign() {
        let mut verifier = verifier();
        verifier.check_frame(&[0; 60], &mut None);
        verifier.check_frame(&[0xff; 1000], &mut None);
        verifier.check_frame(&[1; 20], &mut None);
        assert_eq!(verifier.counts().foreign, 3);
        assert_eq!(verifier.counts().altered, 0);
    }

    #[test]
    fn abandoned_frames_are_not_missing_and_may_still_come_back() {
        let mut verifier = verifier();
        verifier.check_frame(&frame(0, 60), &mut None);
        verifier.abandon(&[100]);
        assert_eq!(verifier.counts().abandoned, 99);
        verifier.check_frame(&frame(1, 60), &mut None);
        verifier.check_frame(&frame(2, 60), &mut None);
        verifier.check_frame(&frame(100, 60), &mut None);
        assert!(verifier.counts().clean());
        assert_eq!((verifier.counts().ok, verifier.counts().abandoned), (4, 97));
        verifier.check_frame(&frame(2, 60), &mut None);
        assert_eq!(verifier.counts().duplicated, 1);
    }

    #[test]
    fn in_sequence_mode_only_numbers_are_checked() {
        let mut verifier = Verifier::new((0, 1), 7, VerifyMode::Sequence, Expected::Touch(1));
        let mut altered = frame(0, 60);
        altered[0] ^= 1;
        verifier.check_frame(&altered, &mut None);
        verifier.check_frame(&frame(2, 60), &mut None);
        let counts = verifier.counts();
        assert_eq!((counts.ok, counts.missing, counts.altered), (2, 1, 0));
    }

    /// A probe after `frames` frames have arrived together.
    fn probe(frames: u64) -> Probe {
        let mut probe = Probe::new(Duration::ZERO);
        for number in 0..frames {
            probe.arrived(0, 0);
            probe.given(0, number, 0);
        }
        probe
    }

    /// Checks frames, and alters those that are marked. The first is fetched at 10 ns, the second at
    /// 20 ns and so on.
    fn measure(verifier: &mut Verifier, probe: &mut Probe, frames: &[(u64, bool)]) {
        for (nth, (sequence, altered)) in (1..).zip(frames) {
            let mut bytes = frame(*sequence, 60);
            bytes[30] ^= u8::from(*altered);
            let now = Duration::from_nanos(10 * nth);
            verifier.check_frame(&bytes, &mut Some(Meter { probe, now }));
        }
    }

    #[test]
    fn late_frames_are_timed_and_repeated_ones_are_not() {
        let (mut verifier, mut probe) = (verifier(), probe(10));
        let good = |number| (number, false);
        measure(
            &mut verifier,
            &mut probe,
            &[good(0), good(2), good(1), good(1), good(4), (3, true)],
        );
        let latency = probe.latency();
        assert_eq!((latency.times.count(), latency.lost), (4, 1));
        // Frame 4 was the fifth to be fetched.
        assert_eq!(latency.times.max(), Some(Duration::from_nanos(50)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Each frame is timed once, when it first comes back intact. Every offered frame is timed,
        /// lost, or has not come back yet.
        #[test]
        fn every_frame_is_timed_once_or_lost(
            frames in prop::collection::vec((0..40_u64, prop::bool::weighted(0.2)), 0..120),
        ) {
            let (mut verifier, mut probe) = (verifier(), probe(40));
            measure(&mut verifier, &mut probe, &frames);
            let mut first = std::collections::BTreeMap::new();
            for (sequence, altered) in &frames {
                first.entry(*sequence).or_insert(*altered);
            }
            let intact = first.values().filter(|altered| !**altered).count() as u64;
            let next = first.last_key_value().map_or(0, |(last, _)| last + 1);
            let latency = probe.latency();
            prop_assert_eq!(latency.offered, 40);
            prop_assert_eq!(latency.times.count(), intact);
            prop_assert_eq!(latency.lost, next - intact);
        }
    }

    proptest! {
        /// For any sequence, the counts agree with the obvious definition.
        #[test]
        fn counts_agree_with_the_definition(sequences in prop::collection::vec(0..40_u64, 0..120)) {
            let counts = counts_of(&sequences);
            let mut seen = std::collections::BTreeSet::new();
            let (mut reordered, mut duplicated) = (0, 0);
            for sequence in &sequences {
                if seen.contains(sequence) {
                    duplicated += 1;
                } else if seen.last().is_some_and(|last| last > sequence) {
                    reordered += 1;
                }
                seen.insert(*sequence);
            }
            let span = seen.last().map_or(0, |last| last + 1);
            prop_assert_eq!(counts.ok, seen.len() as u64);
            prop_assert_eq!(counts.missing, span - seen.len() as u64);
            prop_assert_eq!(counts.reordered, reordered);
            prop_assert_eq!(counts.duplicated, duplicated);
        }
    }
}
