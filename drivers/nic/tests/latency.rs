//! Latency, with a clock that the test moves: every time is exact.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use nic::registers as r;
use nic::{FrameSizes, MeasureLatency, MmioMode, Traffic};
use support::{Bench, Driver, Rings};

const MICRO: Duration = Duration::from_micros(1);
/// The time at which the tests begin.
const START: Duration = Duration::from_secs(7);

/// A card at which a frame is due every microsecond from [`START`] on.
struct Timed {
    bench: Bench,
    /// The drivers of port 0 and port 1.
    a: Driver,
    b: Driver,
}

fn timed(after: Duration, rings: Rings, change: impl FnMut(&mut nic::PortConfig)) -> Timed {
    let mut bench = Bench::of(|config| {
        let config = config.with_latency(MeasureLatency { after });
        let config = config.with_mmio(MmioMode::Shared);
        let rate = |port: &mut nic::PortConfig| port.traffic = Traffic::Rate { mpps: 1.0 };
        config.with_each_port(rate).with_each_port(change)
    });
    let [a, b] = [0, 1].map(|port| bench.driver(port, rings));
    bench.plane().poll_at(START);
    Timed { bench, a, b }
}

impl Timed {
    fn usual() -> Self {
        timed(Duration::ZERO, Rings::default(), |_| {})
    }

    /// Receives the frames of port 0 that have arrived so many microseconds after the start.
    fn receive_at(&mut self, micros: u32) -> Vec<Vec<u8>> {
        self.bench.plane().poll_at(START + micros * MICRO);
        self.a.receive_all()
    }

    /// Lets port 1 fetch these frames.
    fn send_at(&mut self, micros: u32, frames: &[Vec<u8>]) {
        self.b.forward(frames);
        self.bench.plane().poll_at(START + micros * MICRO);
    }

    fn latency(&self) -> nic::Latency {
        self.bench.port(0).latency().unwrap()
    }
}

/// The number of times, the least and the greatest, in microseconds.
fn figures(times: &nic::Times) -> (u64, Option<u128>, Option<u128>) {
    let micros = |time: Option<Duration>| time.map(|time| time.as_micros());
    (times.count(), micros(times.min()), micros(times.max()))
}

#[test]
fn latency_runs_from_due_to_fetched() {
    for sizes in [60, 61, 1514] {
        let sizes = FrameSizes::fixed(sizes).unwrap();
        let change = |port: &mut nic::PortConfig| port.sizes = sizes.clone();
        let mut card = timed(Duration::ZERO, Rings::default(), change);
        let frames = card.receive_at(1);
        assert_eq!(frames.len(), 1);
        card.send_at(6, &frames);
        let latency = card.latency();
        assert_eq!(figures(&latency.times), (1, Some(5), Some(5)));
        // The first frame arrived when it was due, the next five together in one later round.
        assert_eq!(figures(&latency.lag), (6, Some(0), Some(4)));
        assert_eq!((latency.offered, latency.lost), (6, 0));
    }
}

#[test]
fn a_round_brings_only_due_frames() {
    let mut card = Timed::usual();
    for (nanos, due) in [(999, 0), (1000, 1), (1001, 0), (1999, 0), (4500, 3)] {
        let now = START + Duration::from_nanos(nanos);
        card.bench.plane().poll_at(now);
        assert_eq!(card.a.receive_all().len(), due, "{nanos}");
    }
}

#[test]
fn a_late_round_does_not_change_due_times() {
    let mut card = Timed::usual();
    // The first round comes after 20 us, so the first of 20 frames has waited for 19.
    let frames = card.receive_at(20);
    card.send_at(20, &frames);
    let latency = card.latency();
    assert_eq!(figures(&latency.times), (20, Some(0), Some(19)));
    assert_eq!(latency.lag.max(), Some(19 * MICRO));
}

#[test]
fn waiting_in_the_packet_buffer_counts() {
    let rings = Rings::with(|it| (it.rx_filled, it.drop_enable) = (1, false));
    let mut card = timed(Duration::ZERO, rings, |_| {});
    let first = card.receive_at(3);
    assert_eq!(first.len(), 1, "two frames wait in the packet buffer");
    let rest = card.receive_at(9);
    assert!(!rest.is_empty());
    card.send_at(10, &[&first[..], &rest[..1]].concat());
    let latency = card.latency();
    assert_eq!(figures(&latency.times), (2, Some(8), Some(9)));
    assert_eq!(latency.lost, 0);
}

#[test]
fn frames_without_descriptors_are_lost_and_the_others_keep_their_times() {
    for sizes in [60, 61] {
        let sizes = FrameSizes::fixed(sizes).unwrap();
        let change = |port: &mut nic::PortConfig| port.sizes = sizes.clone();
        let mut card = timed(Duration::ZERO, Rings::with(|it| it.rx_filled = 4), change);
        let first = card.receive_at(10);
        let next = card.receive_at(11);
        assert_eq!((first.len(), next.len()), (4, 1));
        card.send_at(11, &next);
        let latency = card.latency();
        // Six frames found no descriptor. The driver has skipped the four before this one.
        assert_eq!((latency.offered, latency.lost), (11, 6 + 4));
        assert_eq!(figures(&latency.times), (1, Some(0), Some(0)));
        card.send_at(12, &first);
        let latency = card.latency();
        assert_eq!(figures(&latency.times), (5, Some(0), Some(11)));
        assert_eq!(latency.lost, 6);
        let verify = card.bench.port(1).stats().verify;
        assert_eq!((verify.reordered, verify.missing), (4, 0));
    }
}

#[test]
fn repeated_frames_are_timed_once() {
    let mut card = Timed::usual();
    let frames = card.receive_at(2);
    card.send_at(3, &frames);
    card.send_at(90, &frames);
    assert_eq!(figures(&card.latency().times), (2, Some(1), Some(2)));
    let verify = card.bench.port(1).stats().verify;
    assert_eq!(verify.duplicated, 2);
}

#[test]
fn warm_up_frames_are_left_out_also_after_a_reset() {
    let mut card = timed(10 * MICRO, Rings::default(), |_| {});
    // The first frame is due after 1 us, so frames due before 11 us are left out.
    let frames = card.receive_at(12);
    assert_eq!(frames.len(), 12);
    card.send_at(12, &frames);
    let latency = card.latency();
    assert_eq!(figures(&latency.times), (2, Some(0), Some(1)));
    assert_eq!((latency.offered, latency.lag.count()), (2, 2));
    // The next driver connects.
    let Timed { mut bench, a, b } = card;
    let port = bench.port(0);
    drop(a);
    support::eventually("it is gone", || !port.connected());
    bench.plane().poll_at(START + 99 * MICRO);
    let a = bench.driver(0, Rings::default());
    let mut card = Timed { bench, a, b };
    card.receive_at(100);
    let offered = card.latency().offered;
    card.receive_at(105);
    assert_eq!(card.latency().offered, offered, "within 10 us");
    card.receive_at(130);
    assert!(card.latency().offered > offered);
}

#[test]
fn flows_in_several_queues_have_their_own_times() {
    let mut card = timed(Duration::ZERO, Rings::default(), |port| port.flows = 16);
    // RSS sends all flows with an odd hash to queue 1, which is off.
    card.a.spread(0x0100_0100, r::MRQC_RSS_UDP_IPV4);
    let frames = card.receive_at(40);
    let count = frames.len() as u64;
    assert!(count > 5 && count < 35, "{count}");
    card.send_at(40, &frames);
    let latency = card.latency();
    assert_eq!((latency.times.count(), latency.lost), (count, 40 - count));
    assert!(latency.times.max() <= Some(39 * MICRO));
}

#[test]
fn latency_is_measured_only_on_request() {
    let bench = Bench::new(MmioMode::Trap);
    assert!(bench.port(0).latency().is_none());
}
