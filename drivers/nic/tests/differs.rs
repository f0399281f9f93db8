//! What `hardware.toml` lists: a card that differs from the model, one behaviour a test.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use nic::registers as r;
use nic::{DataPlane, Hardware, MmioMode, Nic, NicConfig};
use support::{frame, Client, Driver, Rings};

const X540: u16 = 0x1528;

struct Bench {
    nic: Nic,
    plane: DataPlane,
    _directory: tempfile::TempDir,
}

fn bench(device_id: u16, change: impl Fn(&mut Hardware)) -> Bench {
    let directory = tempfile::tempdir().unwrap();
    let config = NicConfig::new(directory.path(), 2)
        .with_mmio(MmioMode::Trap)
        .with_each_port(|port| {
            port.device_id = device_id;
            port.capture = true;
            change(&mut port.hardware);
        });
    let nic = Nic::new(config).unwrap();
    Bench {
        plane: nic.data_plane().unwrap(),
        nic,
        _directory: directory,
    }
}

impl Bench {
    fn client(&self) -> Client {
        Client::connect(self.nic.ports()[0].socket())
    }

    /// A driver that has the card write back four descriptors at once, and has sent six frames.
    fn six_sent(&mut self) -> Driver {
        let rings = Rings {
            tx_thresholds: r::field(r::TXDCTL_WTHRESH, 4),
            ..Rings::default()
        };
        let mut driver = Driver::start(self.nic.ports()[0].socket(), rings);
        for n in 0..6 {
            driver.post_frame(&frame(60, n), r::TXD_RS);
        }
        driver.ring_doorbell();
        self.plane.poll();
        assert_eq!(self.nic.ports()[0].take_transmitted().len(), 6);
        driver
    }
}

fn flush(driver: &mut Driver) {
    driver.client.change(r::TXDCTL(0), r::TXDCTL_SWFLSH, 0);
}

#[test]
fn tdh_moves_with_the_frames_or_with_the_write_backs() {
    for (with_write_back, head) in [(false, 6), (true, 4)] {
        let mut bench = bench(nic::DEFAULT_DEVICE_ID, |hardware| {
            hardware.head_with_write_back = with_write_back;
        });
        let mut driver = bench.six_sent();
        assert_eq!(driver.client.get(r::TDH(0)), head);
        flush(&mut driver);
        assert_eq!(driver.client.get(r::TDH(0)), 6);
    }
}

#[test]
fn groups_may_be_written_back_a_round_later() {
    for late in [false, true] {
        let mut bench = bench(nic::DEFAULT_DEVICE_ID, |hardware| {
            hardware.late_write_backs = late;
        });
        let mut driver = bench.six_sent();
        assert_eq!(driver.tx_done(3), !late);
        bench.plane.poll();
        assert_eq!((driver.tx_done(3), driver.tx_done(4)), (true, false));
        flush(&mut driver);
        assert!(driver.tx_done(5));
        let stats = bench.nic.ports()[0].stats();
        let written = (stats.tx_write_backs, stats.tx_descriptors_written_back);
        assert_eq!(written, (2, 6));
    }
}

#[test]
fn a_counter_may_show_its_value_again_and_survive_a_reset() {
    for slow in [false, true] {
        let mut bench = bench(nic::DEFAULT_DEVICE_ID, |hardware| {
            hardware.slow_counters = slow;
        });
        let mut driver = bench.six_sent();
        let client = &mut driver.client;
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
    for separate in [false, true] {
        let bench = bench(nic::DEFAULT_DEVICE_ID, |hardware| {
            hardware.separate_eiam = separate;
        });
        let mut client = bench.client();
        client.set(r::EIAM, 3);
        let mirrored = if separate { 0 } else { 3 };
        assert_eq!(client.get(r::EIAM_EX(0)), mirrored);
        client.set(r::EIAM_EX(0), 1);
        assert_eq!(client.get(r::EIAM) & 3, if separate { 3 } else { 1 });
    }
}

#[test]
fn firmware_may_have_the_phy_until_a_driver_has_looked_often() {
    for (looks, held) in [(0, 0), (3, 3), (u32::MAX, 10)] {
        let bench = bench(X540, |hardware| hardware.firmware_looks = looks);
        let mut client = bench.client();
        let mut seen = 0;
        for _ in 0..10 {
            // A driver cannot release what firmware has.
            client.set(r::SW_FW_SYNC, 0);
            seen += u32::from(client.get(r::SW_FW_SYNC) & r::SW_FW_SYNC_FW_PHY0 != 0);
        }
        assert_eq!(seen, held);
    }
    let bench = bench(nic::DEFAULT_DEVICE_ID, |hardware| {
        hardware.firmware_looks = 3
    });
    let held = bench.client().get(r::SW_FW_SYNC) & r::SW_FW_SYNC_FW_PHY0;
    assert_eq!(held, 0, "an 82599 has no PHY");
}

#[test]
fn a_reset_without_the_semaphore_of_the_phy_is_noted() {
    let bench = bench(X540, |_| {});
    let mut client = bench.client();
    client.set(r::SW_FW_SYNC, r::SW_FW_SYNC_SW_PHY0);
    client.set(r::CTRL, r::CTRL_RST);
    client.get(r::CTRL);
    assert!(bench.nic.ports()[0].notes().is_empty());
    client.set(r::SW_FW_SYNC, 0);
    client.set(r::CTRL, r::CTRL_RST);
    client.get(r::CTRL);
    let notes = bench.nic.ports()[0].notes();
    assert!(notes[0].contains("SW_FW_SYNC"), "{notes:?}");
}

#[test]
fn the_link_may_go_down_once_more_at_a_start() {
    let bench = bench(nic::DEFAULT_DEVICE_ID, |hardware| {
        hardware.flap_at_start = 2
    });
    for flaps in [false, true, false] {
        let mut client = bench.client();
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
        support::eventually("the session ends", || !bench.nic.ports()[0].connected());
    }
}
