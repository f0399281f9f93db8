//! An unused NIC costs no processor time. The test is alone in its process, so that it can measure
//! that time.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use nic::MmioMode;
use rustix::time::{clock_gettime, ClockId};
use support::{eventually, frame, Bench, Rings};

/// Checks that this process needs less than a tenth of half a second.
fn sleeps(when: &str) {
    let spent = || clock_gettime(ClockId::ProcessCPUTime);
    let before = spent();
    std::thread::sleep(Duration::from_millis(500));
    let spent = Duration::try_from(spent() - before).unwrap();
    assert!(spent < Duration::from_millis(50), "{spent:?} {when}");
}

#[test]
fn an_idle_data_plane_sleeps_and_wakes() {
    let bench = Bench::saturated(MmioMode::Shared);
    let _running = bench.nic.run_data_plane().unwrap();
    sleeps("before use");
    let mut driver = bench.driver(0, Rings::default());
    eventually("frames arrive", || driver.receive().is_some());
    driver.stop();
    bench.until_free();
    bench.inject(&frame(60, 1));
    std::thread::sleep(Duration::from_millis(50));
    sleeps("after use");
}
