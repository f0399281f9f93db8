//! How a link comes up: after resets, after its training, and after an earlier driver.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use nic::registers as r;
use nic::{LinkSpeed, MmioMode, Module, Nic, NicConfig, PortConfig, Traffic};
use support::{frame, Client, Driver, Rings};

const X540: u16 = 0x1528;
const X550: u16 = 0x1563;

/// A NIC with two ports that are not cabled.
fn nic(change: impl FnMut(&mut PortConfig)) -> (tempfile::TempDir, Nic) {
    let directory = tempfile::tempdir().unwrap();
    let config = NicConfig::new(directory.path(), 2)
        .with_mmio(MmioMode::Trap)
        .with_each_port(change);
    let nic = Nic::new(config).unwrap();
    (directory, nic)
}

fn connect(nic: &Nic) -> Client {
    Client::connect(nic.ports()[0].socket())
}

/// Looks at the link like a driver: LINKS.UP stays clear until the first read.
fn links(client: &mut Client) -> u32 {
    client.get(r::LINKS);
    client.get(r::LINKS)
}

fn link_is_up(client: &mut Client) -> bool {
    links(client) & r::LINKS_UP != 0
}

fn reset(client: &mut Client) {
    client.set(r::CTRL, r::CTRL_RST);
    while client.get(r::CTRL) & r::CTRL_RST != 0 {}
}

#[test]
fn only_resets_of_the_whole_card_are_attempts() {
    let (_directory, nic) = nic(|port| port.link.attempts = 3);
    for _ in 0..2 {
        let mut client = connect(&nic);
        for attempt in 1..=3 {
            client.change(r::AUTOC, r::AUTOC_AN_RESTART, 0);
            assert!(!link_is_up(&mut client), "attempt {attempt}");
            client.command(support::COMMAND_RESET, &[], &[]).unwrap();
            assert!(!link_is_up(&mut client), "attempt {attempt}");
            reset(&mut client);
        }
        assert!(link_is_up(&mut client));
        // The next driver begins again.
        drop(client);
        support::eventually("the session ends", || !nic.ports()[0].connected());
    }
}

#[test]
fn nothing_arrives_or_leaves_before_the_link() {
    let (_directory, nic) = nic(|port| {
        port.link.attempts = 1;
        port.capture = true;
    });
    let mut plane = nic.data_plane().unwrap();
    let port = &nic.ports()[0];
    let mut driver = Driver::start(port.socket(), Rings::default());
    driver.transmit(&frame(60, 1));
    port.inject(&frame(60, 2)).unwrap();
    plane.poll();
    assert!(port.take_transmitted().is_empty() && driver.receive().is_none());
    assert_eq!(port.stats().dropped_not_running, 1);
}

/// A driver with interrupts hands descriptors over first, and sets its vectors up later. Frames that
/// fill the ring in between would raise no interrupt, and no later frame would.
#[test]
fn generated_frames_wait_until_the_driver_has_seen_the_link() {
    for traffic in [Traffic::Saturate, Traffic::Rate { mpps: 0.1 }] {
        let (_directory, nic) = nic(|port| port.traffic = traffic);
        let _running = nic.run_data_plane().unwrap();
        let port = &nic.ports()[0];
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
        support::eventually("a frame", || driver.receive().is_some());
    }
}

#[test]
fn a_driver_that_never_looks_at_the_link_gets_frames_too() {
    let (_directory, nic) = nic(|port| port.traffic = Traffic::Saturate);
    let _running = nic.run_data_plane().unwrap();
    let socket = nic.ports()[0].socket();
    let mut driver = Driver::start_without_a_look(socket, Rings::default());
    support::eventually("a frame", || driver.receive().is_some());
}

#[test]
fn the_link_takes_its_time() {
    let delay = Duration::from_millis(80);
    for device_id in [nic::DEFAULT_DEVICE_ID, X540] {
        let (_directory, nic) = nic(|port| {
            port.device_id = device_id;
            port.link.delay = delay;
        });
        let mut client = connect(&nic);
        for _ in 0..2 {
            let start = Instant::now();
            reset(&mut client);
            assert!(!link_is_up(&mut client));
            support::eventually("the link comes up", || link_is_up(&mut client));
            assert!(start.elapsed() >= delay);
        }
        // The data plane notices the end of the training too.
        nic.ports()[0].set_plugged(false);
        nic.ports()[0].set_plugged(true);
        let mut plane = nic.data_plane().unwrap();
        client.get(r::EICR);
        support::eventually("an interrupt cause", || {
            plane.poll();
            client.get(r::EICR) & r::EICR_LSC != 0
        });
        assert!(nic.ports()[0].snapshot().link_up);
    }
}

#[test]
fn autoc2_disables_the_link_until_the_driver_clears_it() {
    let (_directory, nic) = nic(|port| port.left_behind.link_disabled = true);
    let mut client = connect(&nic);
    assert!(!link_is_up(&mut client));
    client.change(r::AUTOC2, 0, r::AUTOC2_LINK_DISABLE);
    assert!(link_is_up(&mut client));
    reset(&mut client);
    assert!(!link_is_up(&mut client), "the EEPROM disables it again");
    client.change(r::AUTOC, r::AUTOC_AN_RESTART, 0);
    assert!(!link_is_up(&mut client));
}

#[test]
fn a_laser_that_is_off_stays_off_and_darkens_the_far_end() {
    let (_directory, nic) = nic(|port| {
        port.module = Module::Sr;
        port.left_behind.laser_off = true;
        port.capture = true;
    });
    let mut plane = nic.data_plane().unwrap();
    let port = &nic.ports()[0];
    let mut driver = Driver::start(port.socket(), Rings::default());
    assert!(link_is_up(&mut driver.client), "light comes in");
    port.inject(&frame(60, 1)).unwrap();
    plane.poll();
    assert_eq!(driver.receive(), None, "the far end has no link to send on");
    let pins = r::ESDP_SDP3 | r::ESDP_SDP3_DIR;
    assert_eq!(driver.client.get(r::ESDP) & pins, pins);
    driver.client.change(r::ESDP, 0, r::ESDP_SDP3);
    port.inject(&frame(60, 2)).unwrap();
    plane.poll();
    assert_eq!(driver.receive(), Some(frame(60, 2)));
    // A reset keeps the pin, whatever its state.
    for laser in [true, false] {
        let off = if laser { 0 } else { r::ESDP_SDP3 };
        driver.client.change(r::ESDP, off, r::ESDP_SDP3);
        reset(&mut driver.client);
        assert_eq!(driver.client.get(r::ESDP) & r::ESDP_SDP3, off);
    }
}

#[test]
fn two_optical_ports_need_both_lasers() {
    let directory = tempfile::tempdir().unwrap();
    let config = NicConfig::new(directory.path(), 2)
        .with_mmio(MmioMode::Trap)
        .with_cable(0, 1)
        .with_each_port(|port| {
            port.module = Module::Sr;
            port.left_behind.laser_off = true;
        });
    let nic = Nic::new(config).unwrap();
    let mut plane = nic.data_plane().unwrap();
    let mut settle = || {
        for _ in 0..3 {
            plane.poll();
        }
    };
    let [mut a, mut b] = [0, 1].map(|n| Client::connect(nic.ports()[n].socket()));
    settle();
    a.change(r::ESDP, 0, r::ESDP_SDP3);
    settle();
    assert!(!link_is_up(&mut a), "the other laser is off");
    assert!(link_is_up(&mut b));
    b.change(r::ESDP, 0, r::ESDP_SDP3);
    settle();
    assert!(link_is_up(&mut a) && link_is_up(&mut b));
}

/// Runs a cycle on the MDIO bus to a register of the PHY's vendor device.
fn mdio(client: &mut Client, operation: u32, register: u32) {
    const VENDOR: u32 = 30;
    let place = r::field(r::MSCA_DEV_TYPE, VENDOR) | register;
    client.set(
        r::MSCA,
        place | r::MSCA_OP_CODE_ADDRESS | r::MSCA_MDI_COMMAND,
    );
    client.set(r::MSCA, place | operation | r::MSCA_MDI_COMMAND);
}

#[test]
fn a_phy_that_is_off_has_no_link_and_survives_a_reset() {
    const LOW_POWER: u32 = r::PHY_VENDOR_CONTROL_LOW_POWER;
    for device_id in [X540, X550] {
        let (_directory, nic) = nic(|port| {
            port.device_id = device_id;
            port.left_behind.phy_off = true;
        });
        let mut client = connect(&nic);
        reset(&mut client);
        assert!(!link_is_up(&mut client));
        mdio(&mut client, r::MSCA_OP_CODE_READ, 0);
        let control = r::field_get(r::MSRWD_READ_DATA, client.get(r::MSRWD));
        assert_eq!(control, LOW_POWER);
        client.set(r::MSRWD, control & !LOW_POWER);
        mdio(&mut client, r::MSCA_OP_CODE_WRITE, 0);
        assert!(link_is_up(&mut client));
        client.set(r::MSRWD, LOW_POWER);
        mdio(&mut client, r::MSCA_OP_CODE_WRITE, 0);
        assert!(!link_is_up(&mut client));
    }
}

#[test]
fn links_reports_the_speed_of_the_family() {
    const NON_STANDARD: u32 = r::LINKS_SPEED_NON_STD;
    for (device_id, speed, expected) in [
        (
            nic::DEFAULT_DEVICE_ID,
            LinkSpeed::Gbit10,
            r::LINKS_SPEED_10G,
        ),
        (nic::DEFAULT_DEVICE_ID, LinkSpeed::Gbit1, r::LINKS_SPEED_1G),
        (X540, LinkSpeed::Mbit100, r::LINKS_SPEED_100M),
        (X550, LinkSpeed::Gbit2_5, r::LINKS_SPEED_10G | NON_STANDARD),
        (X550, LinkSpeed::Gbit5, r::LINKS_SPEED_100M | NON_STANDARD),
    ] {
        let (_directory, nic) = nic(|port| {
            port.device_id = device_id;
            port.link.speed = speed;
        });
        let links = links(&mut connect(&nic));
        assert_eq!(links & (r::LINKS_SPEED | NON_STANDARD), expected);
    }
}

#[test]
fn a_rate_limit_survives_resets_and_slows_its_queue() {
    let (_directory, nic) = nic(|port| {
        port.left_behind.rate_limit = Some(10);
        port.capture = true;
    });
    let mut plane = nic.data_plane().unwrap();
    let port = &nic.ports()[0];
    let mut client = connect(&nic);
    reset(&mut client);
    assert_ne!(client.get(r::RTTBCNRC) & r::RTTBCNRC_RS_ENA, 0);
    client.set(r::RTTDQSEL, 1);
    assert_eq!(client.get(r::RTTBCNRC), 0, "each queue has its own limit");
    drop(client);
    support::eventually("the session ends", || !port.connected());
    let mut driver = Driver::start(port.socket(), Rings::default());
    let mut send = |driver: &mut Driver, count: u8| {
        for n in 0..count {
            driver.post_frame(&frame(1514, n), r::TXD_RS);
        }
        driver.ring_doorbell();
        let (start, mut sent) = (Instant::now(), 0);
        support::eventually("all frames leave", || {
            plane.poll();
            sent += port.take_transmitted().len();
            sent == usize::from(count)
        });
        start.elapsed()
    };
    // A frame takes 1.23 ms at 10 Mbit/s; the first one waits for none.
    let time = send(&mut driver, 20);
    assert!(time > Duration::from_millis(20), "{time:?}");
    driver.client.set(r::RTTDQSEL, 0);
    driver.client.set(r::RTTBCNRC, 0);
    assert_eq!(port.unmodelled(), [""; 0]);
    assert!(send(&mut driver, 20) < time);
}
