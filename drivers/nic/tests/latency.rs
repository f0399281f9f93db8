//! Latency, with a clock that the test moves: every time is exact.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use nic::registers as r;
use nic::{FrameSizes, MeasureLatency, Nic, NicConfig, Traffic, VerifyMode};
use support::{Driver, Rings};

const MICRO: Duration = Duration::from_micros(1);
/// The time at which the tests begin.
const START: Duration = Duration::from_secs(7);

struct Bench {
    nic: Nic,
    plane: nic::DataPlane,
    /// The drivers of port 0 and port 1.
    a: Driver,
    b: Driver,
    _directory: tempfile::TempDir,
}

/// A NIC with two ports, at which a frame is due every microsecond from [`START`] on.
fn bench(after: Duration, rings: Rings, change: impl FnMut(&mut nic::PortConfig)) -> Bench {
    let directory = tempfile::tempdir().unwrap();
    let config = NicConfig::new(directory.path(), 2)
        .with_each_port(|port| port.traffic = Traffic::Rate { mpps: 1.0 })
        .with_each_port(change)
        .with_latency(MeasureLatency { after });
    let nic = Nic::new(config).unwrap();
    let mut plane = nic.data_plane().unwrap();
    let [a, b] = [0, 1].map(|port| Driver::start(nic.port(port).unwrap().socket(), rings));
    plane.poll_at(START);
    Bench {
        nic,
        plane,
        a,
        b,
        _directory: directory,
    }
}

impl Bench {
    /// Receives the frames of port 0 that have arrived by `now`.
    fn receive_at(&mut self, now: Duration) -> Vec<Vec<u8>> {
        self.plane.poll_at(now);
        self.a.receive_all()
    }

    /// Lets port 1 fetch these frames at `now`.
    fn send_at(&mut self, now: Duration, frames: &[Vec<u8>]) {
        for frame in frames {
            let mut frame = frame.clone();
            frame[1] = frame[1].wrapping_add(1);
            self.b.transmit(&frame);
        }
        self.plane.poll_at(now);
    }

    fn latency(&self) -> nic::Latency {
        self.nic.port(0).unwrap().latency().unwrap()
    }
}

#[test]
fn latency_runs_from_due_to_fetched() {
    for sizes in [60, 61, 1514] {
        let mut bench = bench(Duration::ZERO, Rings::default(), |port| {
            port.sizes = FrameSizes::fixed(sizes).unwrap();
        });
        let frames = bench.receive_at(START + MICRO);
        assert_eq!(frames.len(), 1);
        bench.send_at(START + 6 * MICRO, &frames);
        let latency = bench.latency();
        assert_eq!(latency.times.count(), 1);
        assert_eq!(latency.times.min(), Some(5 * MICRO));
        assert_eq!(latency.times.max(), Some(5 * MICRO));
        // The first frame arrived when it was due, the next five together in one later round.
        assert_eq!(latency.lag.min(), Some(Duration::ZERO));
        assert_eq!(latency.lag.max(), Some(4 * MICRO));
        assert_eq!((latency.offered, latency.lost), (6, 0));
    }
}

#[test]
fn a_round_brings_only_due_frames() {
    let mut bench = bench(Duration::ZERO, Rings::default(), |_| {});
    for (nanos, due) in [(999, 0), (1000, 1), (1001, 0), (1999, 0), (4500, 3)] {
        let frames = bench.receive_at(START + Duration::from_nanos(nanos));
        assert_eq!(frames.len(), due, "{nanos}");
    }
}

#[test]
fn a_late_round_does_not_change_due_times() {
    let mut bench = bench(Duration::ZERO, Rings::default(), |_| {});
    // The first round comes after 20 us, so the first of 20 frames has waited for 19.
    let frames = bench.receive_at(START + 20 * MICRO);
    assert_eq!(frames.len(), 20);
    bench.send_at(START + 20 * MICRO, &frames);
    let latency = bench.latency();
    assert_eq!(latency.times.max(), Some(19 * MICRO));
    assert_eq!(latency.times.min(), Some(Duration::ZERO));
    assert_eq!(latency.lag.max(), Some(19 * MICRO));
}

#[test]
fn waiting_in_the_packet_buffer_counts() {
    let rings = Rings {
        drop_enable: false,
        rx_filled: 1,
        ..Rings::default()
    };
    let mut bench = bench(Duration::ZERO, rings, |_| {});
    let first = bench.receive_at(START + 3 * MICRO);
    assert_eq!(first.len(), 1, "two frames wait in the packet buffer");
    bench.plane.poll_at(START + 9 * MICRO);
    let rest = bench.a.receive_all();
    assert!(!rest.is_empty());
    bench.send_at(START + 10 * MICRO, &[&first[..], &rest[..1]].concat());
    let latency = bench.latency();
    assert_eq!(latency.times.count(), 2);
    assert_eq!(latency.times.max(), Some(9 * MICRO));
    assert_eq!(latency.times.min(), Some(8 * MICRO));
    assert_eq!(latency.lost, 0);
}

#[test]
fn frames_without_descriptors_are_lost_and_the_others_keep_their_times() {
    for sizes in [60, 61] {
        let rings = Rings {
            rx_filled: 4,
            ..Rings::default()
        };
        let mut bench = bench(Duration::ZERO, rings, |port| {
            port.sizes = FrameSizes::fixed(sizes).unwrap();
        });
        let first = bench.receive_at(START + 10 * MICRO);
        assert_eq!(first.len(), 4);
        let next = bench.receive_at(START + 11 * MICRO);
        assert_eq!(next.len(), 1);
        bench.send_at(START + 11 * MICRO, &next);
        let latency = bench.latency();
        // Six frames found no descriptor. The driver has skipped the four before this one.
        assert_eq!((latency.offered, latency.lost), (11, 6 + 4));
        assert_eq!(latency.times.max(), Some(Duration::ZERO));
        bench.send_at(START + 12 * MICRO, &first);
        let latency = bench.latency();
        assert_eq!((latency.times.count(), latency.lost), (5, 6));
        assert_eq!(latency.times.max(), Some(11 * MICRO));
        let stats = bench.nic.port(1).unwrap().stats();
        assert_eq!(stats.verify.reordered, 4);
        assert_eq!(stats.verify.missing, 0);
    }
}

#[test]
fn repeated_frames_are_timed_once() {
    let mut bench = bench(Duration::ZERO, Rings::default(), |_| {});
    let frames = bench.receive_at(START + 2 * MICRO);
    bench.send_at(START + 3 * MICRO, &frames);
    bench.send_at(START + 90 * MICRO, &frames);
    let latency = bench.latency();
    assert_eq!(latency.times.count(), 2);
    assert_eq!(latency.times.max(), Some(2 * MICRO));
    assert_eq!(bench.nic.port(1).unwrap().stats().verify.duplicated, 2);
}

#[test]
fn warm_up_frames_are_left_out_also_after_a_reset() {
    let mut bench = bench(10 * MICRO, Rings::default(), |_| {});
    // The first frame is due after 1 us, so frames due before 11 us are left out.
    let frames = bench.receive_at(START + 12 * MICRO);
    assert_eq!(frames.len(), 12);
    bench.send_at(START + 12 * MICRO, &frames);
    let latency = bench.latency();
    assert_eq!((latency.offered, latency.times.count()), (2, 2));
    assert_eq!(latency.times.max(), Some(MICRO));
    assert_eq!(latency.lag.count(), 2);
    // The next driver connects.
    let socket = bench.nic.port(0).unwrap().socket().to_owned();
    let gone = std::mem::replace(&mut bench.a.client.stream, {
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        one
    });
    drop(gone);
    let port = bench.nic.port(0).unwrap().clone();
    support::eventually("it is gone", || !port.connected());
    bench.plane.poll_at(START + 99 * MICRO);
    bench.a = Driver::start(&socket, Rings::default());
    bench.plane.poll_at(START + 100 * MICRO);
    bench.a.receive_all();
    let offered = bench.latency().offered;
    bench.plane.poll_at(START + 105 * MICRO);
    assert_eq!(bench.latency().offered, offered, "within 10 us");
    bench.plane.poll_at(START + 130 * MICRO);
    assert!(bench.latency().offered > offered);
}

#[test]
fn flows_in_several_queues_have_their_own_times() {
    let mut bench = bench(Duration::ZERO, Rings::default(), |port| port.flows = 16);
    // RSS sends all flows with an odd hash to queue 1, which is off.
    bench
        .a
        .client
        .set(r::MRQC, r::MRQC_MRQE_RSS | r::MRQC_RSS_UDP_IPV4);
    for n in 0..10 {
        bench
            .a
            .client
            .set(r::RSSRK(n), (n + 1).wrapping_mul(0x9e37_79b9));
    }
    for n in 0..32 {
        bench.a.client.set(r::RETA(n), 0x0100_0100);
    }
    let frames = bench.receive_at(START + 40 * MICRO);
    assert!(frames.len() > 5 && frames.len() < 35, "{}", frames.len());
    bench.send_at(START + 40 * MICRO, &frames);
    let latency = bench.latency();
    assert_eq!(latency.times.count(), frames.len() as u64);
    assert_eq!(latency.lost, 40 - frames.len() as u64);
    assert!(latency.times.max() <= Some(39 * MICRO));
}

#[test]
fn latency_is_measured_only_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let nic = Nic::new(NicConfig::new(directory.path(), 1)).unwrap();
    assert!(nic.port(0).unwrap().latency().is_none());
}

#[test]
fn settings_that_exclude_latency_are_refused() {
    let with = |change: fn(&mut nic::PortConfig)| {
        NicConfig::new("/nowhere", 2)
            .with_latency(MeasureLatency::default())
            .with_each_port(change)
    };
    let refused = |config: NicConfig| config.check().unwrap_err().to_string();
    assert!(refused(with(|port| port.traffic = Traffic::Saturate)).contains("rate=MPPS"));
    assert!(refused(with(|port| port.verify = VerifyMode::Off)).contains("verify"));
    assert!(refused(with(|port| port.capture = true)).contains("capture"));
    assert!(refused(with(|_| {}).with_cable(0, 1)).contains("cable 0:1"));
    assert_eq!(with(|_| {}).check(), Ok(()));
}
