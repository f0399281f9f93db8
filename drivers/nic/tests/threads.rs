//! All threads at once: the data plane, one thread for each socket, and those of the program that runs the NIC.
//!
//! Drivers take their memory away, reset and leave while the data plane works on their rings. Under ThreadSanitizer
//! (`make test ONLY=test-sanitizers`), the tests find data races.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nic::{registers as r, Faults, MeasureLatency, MmioMode, Module, Port, Traffic};
use rustix::event::{eventfd, EventfdFlags};
use support::{eventually, frame, Bench, Driver, Memory, Rings};

/// Length of each test; `NIC_TEST_SECONDS` sets another.
fn duration() -> Duration {
    let given = std::env::var("NIC_TEST_SECONDS").ok();
    let given = given.and_then(|seconds| seconds.parse().ok());
    given.map_or(Duration::from_millis(300), Duration::from_secs)
}

/// First IOVA of the memory that a driver maps beside its rings.
const ELSEWHERE: u64 = 0x2_0000_0000;
const MAP_LEN: u64 = 0x1_0000;
/// The contents of memory that is never mapped.
const CANARY: u64 = 0xa5a5_a5a5_a5a5_a5a5;

fn wait_for_frames(driver: &mut Driver, count: usize) {
    eventually("frames arrive", || driver.receive().is_some());
    for _ in 1..count {
        driver.receive();
    }
}

/// Maps and unmaps under DMA: memory beside the rings, then a buffer in use, then the rings.
fn change_maps(driver: &mut Driver, elsewhere: &Memory) {
    for nth in 0..4 {
        let iova = ELSEWHERE + nth * MAP_LEN;
        let client = &mut driver.client;
        client
            .dma_map(iova, MAP_LEN, nth * MAP_LEN, 3, Some(&elsewhere.file))
            .unwrap();
    }
    // The device writes there from now on, because slot 0 has its buffer there.
    driver.memory.write_u64(0, ELSEWHERE + MAP_LEN);
    wait_for_frames(driver, 70);
    driver.client.dma_unmap(ELSEWHERE, 2 * MAP_LEN).unwrap();
    driver.client.dma_unmap(ELSEWHERE, 4 * MAP_LEN).unwrap();
    wait_for_frames(driver, 10);
    // Unmap the rings.
    let len = driver.memory.len() as u64;
    driver.client.dma_unmap(support::IOVA, len).unwrap();
    driver.map();
}

/// Runs one driver after the other at a port. Each disturbs the traffic in its own way.
fn drivers(socket: &Path, end: Instant, seed: usize) -> usize {
    let mut rounds = seed;
    while Instant::now() < end {
        rounds += 1;
        let mut driver = Driver::start(socket, Rings::default());
        let elsewhere = Memory::new(5 * MAP_LEN as usize);
        elsewhere.write_u64(4 * MAP_LEN as usize, CANARY);
        let causes = r::IVAR_RX_EVEN_VALID | r::IVAR_TX_EVEN_VALID;
        let _vector = driver.client.interrupt(0, causes);
        if rounds % 2 == 0 {
            let slot = driver.transmit(&frame(60, 7));
            driver.receive();
            let _ = driver.tx_done(slot);
        }
        match rounds % 5 {
            0 => change_maps(&mut driver, &elsewhere),
            1 => driver.client.reset(),
            2 => driver.client.set(r::CTRL, r::CTRL_RST),
            // Without the file, the next access to the memory raises SIGBUS.
            3 => rustix::fs::ftruncate(&driver.memory.file, 4096).unwrap(),
            _ => driver
                .client
                .set_irq(0, &eventfd(0, EventfdFlags::NONBLOCK).unwrap()),
        }
        let _ = driver.client.get(r::EICR);
        let _ = driver.client.get(r::GPRC);
        assert_eq!(elsewhere.read_u64(4 * MAP_LEN as usize), CANARY);
        if rounds % 5 == 4 {
            driver.stop();
        }
    }
    rounds - seed
}

/// Does what a program that runs the NIC may do to a port.
fn use_port(port: &Port, nth: usize) {
    let _ = (
        port.stats(),
        port.snapshot(),
        port.latency(),
        port.dma_maps(),
    );
    let _ = (port.notes(), port.last_session(), port.last_reset());
    let _ = (port.registers().peek(r::RDH(0)), port.take_transmitted());
    let _ = (port.dma_faults(), port.unmodelled(), port.mac_address());
    port.inject(&frame(60 + nth % 1000, 9)).unwrap();
    // The map, or its driver, may be gone.
    let memory = port.driver_memory();
    let _ = memory.read(support::IOVA, &mut [0; 64]);
    match nth % 16 {
        3 => port.set_plugged(false),
        4 => port.set_plugged(true),
        5 => port.set_module(Module::Sr),
        6 => port.set_module(Module::Dac),
        7 => {
            let mut faults = Faults::default();
            faults.stall_tx = true;
            port.set_faults(faults);
        }
        8 => port.set_faults(Faults::default()),
        9 => {
            port.rogue_write(support::IOVA + 0x3_0000, &[nth as u8]);
        }
        _ => {}
    }
}

fn run_all_threads(mmio: MmioMode, latency: Option<MeasureLatency>, traffic: Traffic) {
    let mut bench = Bench::of(|mut config| {
        config.latency = latency;
        let config = config.with_mmio(mmio);
        config.with_each_port(|port| port.traffic = traffic)
    });
    let nic = &bench.nic;
    let running = nic.run_data_plane().unwrap();
    let end = Instant::now() + duration();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let at = |port: usize| nic.port(port).unwrap().socket();
        let both = [0, 1].map(|port| scope.spawn(move || drivers(at(port), end, port)));
        scope.spawn(|| {
            let mut nth = 0;
            while !over.load(Ordering::Relaxed) {
                use_port(&nic.ports()[nth % 2], nth / 2);
                nth += 1;
                std::thread::sleep(Duration::from_micros(200));
            }
            for port in nic.ports() {
                port.set_faults(Faults::default());
                port.set_plugged(true);
                port.set_module(Module::Dac);
            }
        });
        for drivers in both {
            assert!(drivers.join().unwrap() > 0);
        }
        over.store(true, Ordering::Relaxed);
    });
    bench.until_free();
    // The drivers have left no maps, and the next drivers can work.
    for port in nic.ports() {
        assert!(port.dma_maps().is_empty());
        let mut next = Driver::start(port.socket(), Rings::default());
        wait_for_frames(&mut next, 1);
        next.stop();
    }
    bench.take_back(running);
    bench.poll();
}

#[test]
fn drivers_come_and_go_with_trapped_registers() {
    run_all_threads(MmioMode::Trap, None, Traffic::Saturate);
}

#[test]
fn drivers_come_and_go_with_shared_registers() {
    run_all_threads(MmioMode::Shared, None, Traffic::Saturate);
}

#[test]
fn drivers_come_and_go_while_latency_is_measured() {
    let after = Duration::ZERO;
    let traffic = Traffic::Rate { mpps: 0.05 };
    run_all_threads(MmioMode::Trap, Some(MeasureLatency { after }), traffic);
}
