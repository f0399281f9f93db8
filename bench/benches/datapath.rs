//! Cycles per packet of each part of a driver alone: forward, receive, send, and the pool.
//!
//! Driver and NIC model take turns in one thread, as in the `lockstep` backend. The time-stamp counter
//! times the driver only. The benchmarks run one after another, so a disturbance of the machine hits
//! only some of them. Use them to compare a driver with itself before a change. To compare drivers,
//! use `triptych run`, which measures them in turn.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter};
use criterion::{BenchmarkId, Criterion, Throughput};
use perfcounters::device::two_cpus;
use perfcounters::lockstep::parts::{self, Part, SteppedDriver};
use record::Implementation;

/// The batch sizes of the published counters.
const BATCHES: [u32; 2] = [8, 32];
const PARTS: [(&str, Part); 4] = [
    ("forward", Part::Forward),
    ("receive", Part::Receive),
    ("send", Part::Send),
    ("pool", Part::Alloc),
];

/// Cycles of the time-stamp counter. An iteration is one packet.
struct TscCycles;

impl Measurement for TscCycles {
    type Intermediate = u64;
    type Value = f64;

    fn start(&self) -> u64 {
        parts::clock()
    }

    fn end(&self, start: u64) -> f64 {
        parts::clock().wrapping_sub(start) as f64
    }

    fn add(&self, a: &f64, b: &f64) -> f64 {
        a + b
    }

    fn zero(&self) -> f64 {
        0.0
    }

    fn to_f64(&self, value: &f64) -> f64 {
        *value
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &CyclesPerPacket
    }
}

/// All values have the same unit, so nothing is scaled.
struct CyclesPerPacket;

const UNIT: &str = "cycles/packet";

impl ValueFormatter for CyclesPerPacket {
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        UNIT
    }

    fn scale_throughputs(&self, _: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
        UNIT
    }

    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        UNIT
    }
}

/// A driver and its name in results.
struct Driver {
    implementation: Implementation,
    batch: u32,
    driver: SteppedDriver,
}

fn open() -> Result<Vec<Driver>, String> {
    let build = std::env::var_os("TRIPTYCH_BUILD_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../build"),
        PathBuf::from,
    );
    let mut drivers = Vec::new();
    for implementation in Implementation::OURS {
        let library = build
            .join("bin")
            .join(implementation.to_string())
            .join("libforwarder.so");
        for batch in BATCHES {
            let driver = SteppedDriver::open(&library, batch).map_err(|why| {
                format!("{implementation}: {why}; `make build` builds the drivers")
            })?;
            drivers.push(Driver {
                implementation,
                batch,
                driver,
            });
        }
    }
    Ok(drivers)
}

/// The average cycles per packet over enough turns for `packets` packets, or the reason for no figure.
fn measure(driver: &mut SteppedDriver, part: Part, turns: u64) -> Result<f64, String> {
    let (mut cycles, mut packets) = (0, 0);
    for _ in 0..turns {
        let turn = driver.turn(part)?;
        cycles += turn.0;
        packets += turn.1;
    }
    match packets {
        0 => Err("it had no packets".to_owned()),
        _ => Ok(cycles as f64 * turns as f64 / packets as f64),
    }
}

fn run(drivers: &mut [Driver]) -> Result<(), String> {
    // Criterion nests the folders of its results: build/criterion/receive/c/32.
    let mut criterion = Criterion::default()
        .with_measurement(TscCycles)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
        .sample_size(50)
        .configure_from_args();
    let mut failure = None;
    for (name, part) in PARTS {
        let mut group = criterion.benchmark_group(name);
        for driver in &mut *drivers {
            let id = BenchmarkId::new(driver.implementation.to_string(), driver.batch);
            group.bench_function(id, |bencher| {
                bencher.iter_custom(|turns| {
                    measure(&mut driver.driver, part, turns).unwrap_or_else(|why| {
                        failure = Some(format!("{name}/{}: {why}", driver.implementation));
                        // Criterion needs a value. The run fails all the same.
                        turns as f64
                    })
                });
            });
        }
        group.finish();
    }
    criterion.final_summary();
    failure.map_or(Ok(()), Err)
}

fn benchmark() -> Result<(), String> {
    let mut drivers = open()?;
    if let Some(cpu) = two_cpus().0 {
        parts::pin(cpu).map_err(|error| format!("cannot run on CPU {cpu}: {error}"))?;
    }
    run(&mut drivers)?;
    for driver in drivers {
        let name = driver.implementation;
        let closed = driver.driver.close();
        closed.map_err(|why| format!("{name} did not close: {why}"))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match benchmark() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("datapath: {why}");
            ExitCode::FAILURE
        }
    }
}
