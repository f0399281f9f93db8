//! The traffic that the card makes: its rates, windows and flows, and the verification of what comes back.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use nic::registers as r;
use nic::{FrameSizes, MmioMode, Traffic};
use support::{Bench, Driver, Rings};

/// A card with such traffic, and the drivers of both its ports.
fn bench(traffic: Traffic, rings: Rings) -> (Bench, Driver, Driver) {
    let bench = Bench::traffic(MmioMode::Shared, traffic);
    let [a, b] = [0, 1].map(|port| bench.driver(port, rings));
    (bench, a, b)
}

#[test]
fn saturation_fills_every_descriptor_and_forwarded_frames_are_verified() {
    for sizes in ["60", "61", "60-1514", "60,1514"] {
        let mut bench = Bench::of(|config| {
            config.with_mmio(MmioMode::Shared).with_each_port(|port| {
                port.traffic = Traffic::Saturate;
                port.sizes = sizes.parse::<FrameSizes>().unwrap();
            })
        });
        let [mut a, mut b] = [0, 1].map(|port| bench.driver(port, Rings::default()));
        for _ in 0..50 {
            bench.poll();
            let received = [a.receive_all(), b.receive_all()];
            assert_eq!(received.each_ref().map(Vec::len), [63, 63]);
            b.forward(&received[0]);
            a.forward(&received[1]);
        }
        bench.poll();
        for stats in [0, 1].map(|port| bench.port(port).stats()) {
            assert_eq!(stats.verify.ok, 50 * 63, "{sizes}");
            assert!(stats.verify.clean(), "{sizes}: {:?}", stats.verify);
            assert_eq!((stats.delivered, stats.outstanding), (51 * 63, 63));
            assert_eq!(stats.dma_faults, 0);
        }
    }
}

#[test]
fn the_verifier_finds_lost_repeated_swapped_and_altered_frames() {
    type Spoil = fn(&mut Vec<Vec<u8>>);
    let spoil: [(Spoil, [u64; 4]); 4] = [
        (|frames| drop(frames.remove(10)), [1, 0, 0, 0]),
        (|frames| frames.insert(11, frames[10].clone()), [0, 1, 0, 0]),
        (|frames| frames.swap(10, 11), [0, 0, 1, 0]),
        (|frames| frames[10][33] ^= 1, [0, 0, 0, 1]),
    ];
    for (spoil, expected) in spoil {
        let (mut bench, mut a, mut b) = bench(Traffic::Saturate, Rings::with(|it| it.tx_len = 128));
        bench.poll();
        let mut frames = a.receive_all();
        spoil(&mut frames);
        b.forward(&frames);
        bench.poll();
        let it = bench.port(1).stats().verify;
        let found = [it.missing, it.duplicated, it.reordered, it.altered];
        assert_eq!(found, expected, "{it:?}");
    }
}

#[test]
fn rss_spreads_flows_and_each_queue_keeps_its_order() {
    let (mut bench, mut a, mut b) = bench(Traffic::Saturate, Rings::with(|it| it.queue = 3));
    a.spread(0x0503_0503, r::MRQC_RSS_UDP_IPV4);
    bench.poll();
    let frames = a.receive_all();
    assert_eq!(frames.len(), 63, "half the flows go to queue 3 and fill it");
    let flows = frames.iter().map(|frame| [frame[34], frame[35]]);
    assert!(std::collections::BTreeSet::from_iter(flows).len() > 30);
    b.forward(&frames);
    bench.poll();
    let verify = bench.port(1).stats().verify;
    assert!(verify.ok == 63 && verify.clean(), "{verify:?}");
}

#[test]
fn a_window_holds_frames_back_until_others_have_returned() {
    let (mut bench, mut a, mut b) = bench(Traffic::Window { frames: 10 }, Rings::default());
    bench.settle();
    let frames = a.receive_all();
    assert_eq!(frames.len(), 10, "the ring has room, the window has not");
    b.forward(&frames[..3]);
    bench.settle();
    assert_eq!(a.receive_all().len(), 3, "as many as have returned");
    // The driver drops the fourth to the ninth frame. The tenth shows that they do not return.
    b.forward(&frames[9..]);
    bench.settle();
    assert_eq!(a.receive_all().len(), 7);
    let verify = bench.port(1).stats().verify;
    assert_eq!((verify.ok, verify.missing), (4, 6));
}

#[test]
fn a_driver_may_flush_its_rings_before_it_forwards_in_a_window() {
    let (mut bench, mut a, mut b) = bench(Traffic::Window { frames: 10 }, Rings::default());
    let mut received_at = |bench: &mut Bench, times: &[u64]| {
        for millis in times {
            bench.plane().poll_at(Duration::from_millis(*millis));
        }
        a.receive_all()
    };
    let dropped = received_at(&mut bench, &[1]);
    assert_eq!(dropped.len(), 10);
    let more = received_at(&mut bench, &[2, 50]);
    assert_eq!(more.len(), 1, "they may still come back");
    let frames = received_at(&mut bench, &[200, 201]);
    assert_eq!(frames.len(), 10, "new frames for those that were dropped");
    // It drops six more, and begins. From then on, a frame that it drops is missing.
    for (sent, millis, expected) in [(6..8, 202, (2, 0, 17)), (9..10, 203, (3, 1, 17))] {
        b.forward(&frames[sent]);
        received_at(&mut bench, &[millis]);
        let verify = bench.port(1).stats().verify;
        assert_eq!((verify.ok, verify.missing, verify.abandoned), expected);
    }
}

#[test]
fn a_driver_that_starts_late_gets_one_window_of_frames() {
    let (mut bench, mut a, _b) = bench(Traffic::Window { frames: 40 }, Rings::default());
    for millis in 0..500 {
        bench.plane().poll_at(Duration::from_millis(millis));
    }
    // A second window would overflow a ring for sending when the driver begins. A quarter of one is
    // for drivers that sleep until a frame arrives.
    assert_eq!(a.receive_all().len(), 50);
}

/// A port has had its turn when the round finds that its peer was reset. Both counts belong to one moment.
#[test]
fn frames_that_a_reset_loses_are_outstanding_or_abandoned_after_each_round() {
    let (mut bench, _a, mut b) = bench(Traffic::Saturate, Rings::default());
    bench.poll();
    let counts = |bench: &Bench| {
        let stats = bench.port(0).stats();
        (stats.outstanding, stats.verify.abandoned)
    };
    let generated = bench.port(1).stats().generated;
    assert!(generated > 0);
    assert_eq!(counts(&bench), (generated, 0));
    b.client.reset();
    bench.poll();
    assert_eq!(counts(&bench), (0, generated));
}
