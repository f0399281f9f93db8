//! How a link comes up: after resets, after its training, and after an earlier driver.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use nic::registers as r;
use nic::{LinkSpeed, MmioMode, Module, PortConfig, Traffic, DEFAULT_DEVICE_ID};
use support::{eventually, frame, link_is_up, links, Bench, Client, Driver, Rings, X540, X550};

fn connected(change: impl FnMut(&mut PortConfig)) -> (Bench, Client) {
    let bench = Bench::with(change);
    let client = bench.client(0);
    (bench, client)
}

#[test]
fn only_resets_of_the_whole_card_are_attempts() {
    let bench = Bench::with(|port| port.link.attempts = 3);
    for _ in 0..2 {
        let mut client = bench.client(0);
        for attempt in 1..=3 {
            client.change(r::AUTOC, r::AUTOC_AN_RESTART, 0);
            assert!(!link_is_up(&mut client), "attempt {attempt}");
            client.reset();
            assert!(!link_is_up(&mut client), "attempt {attempt}");
            client.reset_card();
        }
        assert!(link_is_up(&mut client));
        // The next driver begins again.
        drop(client);
        bench.until_free();
    }
}

#[test]
fn nothing_arrives_or_leaves_before_the_link() {
    let mut bench = Bench::with(|port| {
        port.link.attempts = 1;
        port.capture = true;
    });
    let mut driver = bench.driver(0, Rings::default());
    driver.transmit(&frame(60, 1));
    bench.arrive(&[frame(60, 2)]);
    assert!(bench.sent().is_empty() && driver.receive().is_none());
    assert_eq!(bench.port(0).stats().dropped_not_running, 1);
}

/// A driver with interrupts hands descriptors over first, and sets its vectors up later. Frames that
/// fill the ring in between would raise no interrupt, and no later frame would.
#[test]
fn generated_frames_wait_until_the_driver_has_seen_the_link() {
    for traffic in [Traffic::Saturate, Traffic::Rate { mpps: 0.1 }] {
        let bench = Bench::traffic(MmioMode::Trap, traffic);
        let port = bench.port(0);
        let _running = bench.nic.run_data_plane().unwrap();
        let start = Instant::now();
        let mut driver = Driver::start_without_a_look(port.socket(), Rings::default());
        std::thread::sleep(Duration::from_millis(50));
        // Before a driver reads the first link state, LINKS.UP is clear.
        assert_eq!(driver.client.get(r::LINKS) & r::LINKS_UP, 0);
        let early = port.stats().delivered;
        if start.elapsed() < Duration::from_millis(900) {
            assert_eq!(early, 0, "{traffic:?}");
        }
        assert_ne!(driver.client.get(r::LINKS) & r::LINKS_UP, 0);
        eventually("a frame", || driver.receive().is_some());
    }
}

#[test]
fn a_driver_that_never_looks_at_the_link_gets_frames_too() {
    let bench = Bench::saturated(MmioMode::Trap);
    let _running = bench.nic.run_data_plane().unwrap();
    let port = bench.port(0);
    let mut driver = Driver::start_without_a_look(port.socket(), Rings::default());
    eventually("a frame", || driver.receive().is_some());
}

#[test]
fn the_link_takes_its_time() {
    let delay = Duration::from_millis(80);
    for device_id in [DEFAULT_DEVICE_ID, X540] {
        let (mut bench, mut client) = connected(|port| {
            port.device_id = device_id;
            port.link.delay = delay;
        });
        for _ in 0..2 {
            let start = Instant::now();
            client.reset_card();
            assert!(!link_is_up(&mut client));
            eventually("the link comes up", || link_is_up(&mut client));
            assert!(start.elapsed() >= delay);
        }
        // The data plane notices the end of the training too.
        let port = bench.port(0);
        port.set_plugged(false);
        port.set_plugged(true);
        client.get(r::EICR);
        eventually("an interrupt cause", || {
            bench.poll();
            client.get(r::EICR) & r::EICR_LSC != 0
        });
        assert!(port.snapshot().link_up);
    }
}

#[test]
fn autoc2_disables_the_link_until_the_driver_clears_it() {
    let (_bench, mut client) = connected(|port| port.left_behind.link_disabled = true);
    assert!(!link_is_up(&mut client));
    client.change(r::AUTOC2, 0, r::AUTOC2_LINK_DISABLE);
    assert!(link_is_up(&mut client));
    client.reset_card();
    assert!(!link_is_up(&mut client), "the EEPROM disables it again");
    client.change(r::AUTOC, r::AUTOC_AN_RESTART, 0);
    assert!(!link_is_up(&mut client));
}

#[test]
fn a_laser_that_is_off_stays_off_and_darkens_the_far_end() {
    let mut bench = Bench::with(|port| {
        port.module = Module::Sr;
        port.left_behind.laser_off = true;
    });
    let mut driver = bench.driver(0, Rings::default());
    assert!(link_is_up(&mut driver.client), "light comes in");
    bench.arrive(&[frame(60, 1)]);
    assert_eq!(driver.receive(), None, "the far end has no link to send on");
    let pins = r::ESDP_SDP3 | r::ESDP_SDP3_DIR;
    assert_eq!(driver.client.get(r::ESDP) & pins, pins);
    driver.client.change(r::ESDP, 0, r::ESDP_SDP3);
    bench.arrive(&[frame(60, 2)]);
    assert_eq!(driver.receive(), Some(frame(60, 2)));
    // A reset keeps the pin, whatever its state.
    for off in [0, r::ESDP_SDP3] {
        driver.client.change(r::ESDP, off, r::ESDP_SDP3);
        driver.client.reset_card();
        assert_eq!(driver.client.get(r::ESDP) & r::ESDP_SDP3, off);
    }
}

#[test]
fn two_optical_ports_need_both_lasers() {
    let mut bench = Bench::of(|config| {
        config.with_cable(0, 1).with_each_port(|port| {
            port.module = Module::Sr;
            port.left_behind.laser_off = true;
        })
    });
    let [mut a, mut b] = [0, 1].map(|port| bench.client(port));
    bench.settle();
    a.change(r::ESDP, 0, r::ESDP_SDP3);
    bench.settle();
    assert!(!link_is_up(&mut a), "the other laser is off");
    assert!(link_is_up(&mut b));
    b.change(r::ESDP, 0, r::ESDP_SDP3);
    bench.settle();
    assert!(link_is_up(&mut a) && link_is_up(&mut b));
}

#[test]
fn a_phy_that_is_off_has_no_link_and_survives_a_reset() {
    const LOW_POWER: u32 = r::PHY_VENDOR_CONTROL_LOW_POWER;
    const VENDOR: u32 = 30;
    for device_id in [X540, X550] {
        let (_bench, mut client) = connected(|port| {
            port.device_id = device_id;
            port.left_behind.phy_off = true;
        });
        client.reset_card();
        assert!(!link_is_up(&mut client));
        let control = u32::from(client.read_phy(VENDOR, 0));
        assert_eq!(control, LOW_POWER);
        for (value, up) in [(control & !LOW_POWER, true), (LOW_POWER, false)] {
            client.set(r::MSRWD, value);
            client.mdio(r::MSCA_OP_CODE_WRITE, VENDOR, 0);
            assert_eq!(link_is_up(&mut client), up);
        }
    }
}

#[test]
fn links_reports_the_speed_of_the_family() {
    const NON_STANDARD: u32 = r::LINKS_SPEED_NON_STD;
    for (device_id, speed, expected) in [
        (DEFAULT_DEVICE_ID, LinkSpeed::Gbit10, r::LINKS_SPEED_10G),
        (DEFAULT_DEVICE_ID, LinkSpeed::Gbit1, r::LINKS_SPEED_1G),
        (X540, LinkSpeed::Mbit100, r::LINKS_SPEED_100M),
        (X550, LinkSpeed::Gbit2_5, r::LINKS_SPEED_10G | NON_STANDARD),
        (X550, LinkSpeed::Gbit5, r::LINKS_SPEED_100M | NON_STANDARD),
    ] {
        let (_bench, mut client) = connected(|port| {
            port.device_id = device_id;
            port.link.speed = speed;
        });
        let shown = links(&mut client) & (r::LINKS_SPEED | NON_STANDARD);
        assert_eq!(shown, expected);
    }
}

#[test]
fn a_rate_limit_survives_resets_and_slows_its_queue() {
    let (mut bench, mut client) = connected(|port| {
        port.left_behind.rate_limit = Some(10);
        port.capture = true;
    });
    client.reset_card();
    assert_ne!(client.get(r::RTTBCNRC) & r::RTTBCNRC_RS_ENA, 0);
    client.set(r::RTTDQSEL, 1);
    assert_eq!(client.get(r::RTTBCNRC), 0, "each queue has its own limit");
    drop(client);
    bench.until_free();
    let mut driver = bench.driver(0, Rings::default());
    let mut send = |driver: &mut Driver, count: u8| {
        for n in 0..count {
            driver.post_frame(&frame(1514, n), r::TXD_RS);
        }
        driver.ring_doorbell();
        let (start, mut sent) = (Instant::now(), 0);
        eventually("all frames leave", || {
            bench.poll();
            sent += bench.sent().len();
            sent == usize::from(count)
        });
        start.elapsed()
    };
    // A frame takes 1.23 ms at 10 Mbit/s; the first one waits for none.
    let time = send(&mut driver, 20);
    assert!(time > Duration::from_millis(20), "{time:?}");
    driver.client.set(r::RTTDQSEL, 0);
    driver.client.set(r::RTTBCNRC, 0);
    assert!(send(&mut driver, 20) < time);
    assert_eq!(bench.port(0).unmodelled(), [""; 0]);
}
