//! A card that times bursts.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use nic::{registers as r, Bursts, Faults, MmioMode, Placement};
use support::{Bench, Driver, Rings};

const RING: usize = 256;
const TX_RING: usize = 1024;
const NUMBERS: [usize; 4] = [32, 64, 128, 192];
const BURSTS: usize = 12;
const LIMIT: Duration = Duration::from_secs(120);

fn bench(faults: Faults) -> (Bench, [Driver; 2]) {
    let bench = Bench::of(|mut config| {
        let text = format!("rounds=1,bursts={BURSTS},saturate=0");
        let mut bursts: Bursts = text.parse().unwrap();
        bursts.placements = vec![Placement::Memory, Placement::Warm];
        config.bursts = Some(bursts);
        let config = config.with_mmio(MmioMode::Shared);
        config.with_each_port(|port| port.faults = faults)
    });
    let rings = Rings::with(|it| (it.rx_len, it.rx_filled, it.tx_len) = (RING, RING - 1, TX_RING));
    let drivers = [0, 1].map(|port| bench.driver(port, rings));
    (bench, drivers)
}

/// Waits until the ring has room for as many frames as a receive ring holds. `posted` is the number of frames
/// posted so far.
fn wait_for_room(driver: &Driver, posted: usize) {
    let start = Instant::now();
    let Some(earlier) = posted.checked_sub(TX_RING / 2) else {
        return;
    };
    while !driver.tx_done(earlier % TX_RING) {
        assert!(start.elapsed() < LIMIT, "the card sends nothing");
    }
}

fn is_done(driver: &Driver, slot: usize) -> bool {
    driver.rx_descriptor(slot % RING)[1] & r::RXD_DD != 0
}

/// The frames that wait from `next` on, all of which the card has made visible at once.
fn visible(driver: &Driver, next: usize) -> usize {
    // As a driver that reads descriptors by fours, the last first.
    let later = (1..4)
        .rev()
        .any(|distance| is_done(driver, next + distance));
    if !is_done(driver, next) {
        assert!(!later, "a later descriptor is visible before the first");
        return 0;
    }
    (0..RING)
        .take_while(|distance| is_done(driver, next + distance))
        .count()
}

#[test]
fn a_driver_gets_whole_bursts_in_order() {
    let (bench, mut drivers) = bench(Faults::default());
    let nic = &bench.nic;
    let running = nic.run_data_plane().unwrap();
    let (mut next, mut posted) = ([0; 2], [0; 2]);
    let mut seen: [Vec<usize>; 2] = Default::default();
    let start = Instant::now();
    while !nic.bursts_done() {
        assert!(start.elapsed() < LIMIT, "{:?}", nic.bursts());
        for port in 0..2 {
            let mut count = visible(&drivers[port], next[port]);
            if (1..4).contains(&count) {
                // The card is writing the first four.
                while count < 4 && start.elapsed() < LIMIT {
                    count = visible(&drivers[port], next[port]);
                }
            }
            if count == 0 {
                continue;
            }
            seen[port].push(count);
            next[port] += count;
            wait_for_room(&drivers[port ^ 1], posted[port ^ 1]);
            posted[port ^ 1] += count;
            for _ in 0..count {
                let frame = drivers[port].receive().unwrap();
                drivers[port ^ 1].post_frame(&support::touched(&frame), r::TXD_RS);
            }
            drivers[port ^ 1].ring_doorbell();
        }
    }
    drop(running);
    let report = nic.bursts().unwrap();
    let placements: Vec<_> = report.blocks.iter().map(|block| block.placement).collect();
    assert_eq!(placements, [Placement::Memory, Placement::Warm]);
    // Before the first burst the driver gets as many frames as it takes.
    for seen in seen {
        let bursts = &seen[seen.len() - 2 * BURSTS..];
        assert!(
            bursts.iter().all(|count| NUMBERS.contains(count)),
            "{seen:?}"
        );
    }
    for (packets, before, ticks) in report.blocks.iter().flat_map(|block| &block.bursts) {
        assert!(NUMBERS.contains(&(*packets as usize)) && NUMBERS.contains(&(*before as usize)));
        assert!(*ticks > 0);
    }
    for port in nic.ports() {
        let verify = port.stats().verify;
        assert!(verify.clean(), "{verify:?}");
    }
}

#[test]
fn a_card_that_sends_nothing_times_nothing_and_stops_at_once() {
    let mut faults = Faults::default();
    faults.stall_tx = true;
    let (bench, mut drivers) = bench(faults);
    let nic = &bench.nic;
    let running = nic.run_data_plane().unwrap();
    while drivers[0].receive().is_none() {}
    drop(running);
    assert!(!nic.bursts_done());
    assert_eq!(nic.bursts().unwrap().blocks, []);
}
