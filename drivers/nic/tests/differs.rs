//! What `hardware.toml` lists: a card that differs from the model, one behaviour a test.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use nic::registers as r;
use nic::Hardware;
use support::{Bench, Driver, Rings, X540};

fn bench(device_id: u16, change: impl Fn(&mut Hardware)) -> Bench {
    Bench::with(|port| {
        port.device_id = device_id;
        port.capture = true;
        change(&mut port.hardware);
    })
}

fn differing(change: impl Fn(&mut Hardware)) -> Bench {
    bench(nic::DEFAULT_DEVICE_ID, change)
}

/// A driver that has the card write back four descriptors at once, and has sent six frames.
fn six_sent(bench: &mut Bench) -> Driver {
    let mut driver = bench.driver(
        0,
        Rings::with(|it| it.tx_thresholds = r::field(r::TXDCTL_WTHRESH, 4)),
    );
    driver.transmit_small(0..6, r::TXD_RS);
    bench.poll();
    assert_eq!(bench.sent().len(), 6);
    driver
}

fn flush(driver: &mut Driver) {
    driver.client.change(r::TXDCTL(0), r::TXDCTL_SWFLSH, 0);
}

#[test]
fn tdh_moves_with_the_frames_or_with_the_write_backs() {
    for (with_write_back, head) in [(false, 6), (true, 4)] {
        let mut bench = differing(|it| it.head_with_write_back = with_write_back);
        let mut driver = six_sent(&mut bench);
        assert_eq!(driver.client.get(r::TDH(0)), head);
        flush(&mut driver);
        assert_eq!(driver.client.get(r::TDH(0)), 6);
    }
}

#[test]
fn groups_may_be_written_back_a_round_later() {
    for late in [false, true] {
        let mut bench = differing(|it| it.late_write_backs = late);
        let mut driver = six_sent(&mut bench);
        assert_eq!(driver.tx_done(3), !late);
        bench.poll();
        assert_eq!((driver.tx_done(3), driver.tx_done(4)), (true, false));
        flush(&mut driver);
        assert!(driver.tx_done(5));
        let stats = bench.port(0).stats();
        let written = (stats.tx_write_backs, stats.tx_descriptors_written_back);
        assert_eq!(written, (2, 6));
    }
}

#[test]
fn a_counter_may_show_its_value_again_and_survive_a_reset() {
    for slow in [false, true] {
        let mut bench = differing(|it| it.slow_counters = slow);
        let client = &mut six_sent(&mut bench).client;
        let again = if slow { 6 } else { 0 };
        assert_eq!([client.get(r::GPTC), client.get(r::GPTC)], [6, again]);
        assert_eq!(client.get(r::CRCERRS), 0);
        assert_eq!(client.get(r::GPTC), 0, "another access came between");
        client.set(r::CTRL, r::CTRL_RST);
        assert_eq!(client.get(r::QPTC(0)), again);
    }
}

#[test]
fn eiam_ex_may_be_a_register_of_its_own() {
    for (separate, shown) in [(false, [3, 1]), (true, [0, 3])] {
        let bench = differing(|it| it.separate_eiam = separate);
        let mut client = bench.client(0);
        client.set(r::EIAM, 3);
        let mirrored = client.get(r::EIAM_EX(0));
        client.set(r::EIAM_EX(0), 1);
        assert_eq!([mirrored, client.get(r::EIAM) & 3], shown);
    }
}

#[test]
fn firmware_may_have_the_phy_until_a_driver_has_looked_often() {
    const FIRMWARE: u32 = r::SW_FW_SYNC_FW_PHY0;
    for (device_id, looks, held) in [
        (X540, 0, 0),
        (X540, 3, 3),
        (X540, u32::MAX, 10),
        // An 82599 has no PHY.
        (nic::DEFAULT_DEVICE_ID, 3, 0),
    ] {
        let bench = bench(device_id, |it| it.firmware_looks = looks);
        let mut client = bench.client(0);
        let seen = (0..10).filter(|_| {
            // A driver cannot release what firmware has.
            client.set(r::SW_FW_SYNC, 0);
            client.get(r::SW_FW_SYNC) & FIRMWARE != 0
        });
        assert_eq!(seen.count(), held);
    }
}

#[test]
fn a_reset_without_the_semaphore_of_the_phy_is_noted() {
    let bench = bench(X540, |_| {});
    let mut client = bench.client(0);
    for (semaphore, notes) in [(r::SW_FW_SYNC_SW_PHY0, 0), (0, 1)] {
        client.set(r::SW_FW_SYNC, semaphore);
        client.reset_card();
        assert_eq!(bench.port(0).notes().len(), notes);
    }
    let notes = bench.port(0).notes();
    assert!(notes[0].contains("SW_FW_SYNC"), "{notes:?}");
}

#[test]
fn the_link_may_go_down_once_more_at_a_start() {
    let bench = differing(|it| it.flap_at_start = 2);
    for flaps in [false, true, false] {
        let mut client = bench.client(0);
        client.set(r::CTRL, r::CTRL_RST);
        let mut up = || client.get(r::LINKS) & r::LINKS_UP != 0;
        assert_eq!((up(), up()), (false, true));
        assert_eq!(up(), !flaps, "after the driver has seen it");
        support::eventually("the link", || {
            std::thread::sleep(Duration::from_millis(1));
            up()
        });
        assert!(up());
        drop(client);
        bench.until_free();
    }
}
