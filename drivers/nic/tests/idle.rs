//! An unused NIC costs no processor time. The test is alone in its process, so that it can measure
//! that time.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use nic::{Nic, NicConfig, Traffic};
use support::{eventually, frame, Driver, Rings};

/// Processor time of this process so far, in clock ticks of 10 ms.
fn cpu_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<_> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn an_idle_data_plane_sleeps_and_wakes() {
    let directory = tempfile::tempdir().unwrap();
    let config =
        NicConfig::new(directory.path(), 2).with_each_port(|port| port.traffic = Traffic::Saturate);
    let nic = Nic::new(config).unwrap();
    let _running = nic.run_data_plane().unwrap();
    let before = cpu_ticks();
    std::thread::sleep(Duration::from_millis(500));
    let spent = cpu_ticks() - before;
    assert!(spent <= 5, "{spent}0 ms of 500");

    let mut driver = Driver::start(nic.port(0).unwrap().socket(), Rings::default());
    eventually("frames arrive", || driver.receive().is_some());
    driver.stop();
    let port = nic.port(0).unwrap();
    eventually("the driver has left", || !port.connected());
    port.inject(&frame(60, 1)).unwrap();

    std::thread::sleep(Duration::from_millis(50));
    let before = cpu_ticks();
    std::thread::sleep(Duration::from_millis(500));
    let spent = cpu_ticks() - before;
    assert!(spent <= 5, "{spent}0 ms of 500, after use");
}
