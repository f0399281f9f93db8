//! Does the software NIC saturate every driver, so that it never limits a measurement?
//!
//! Full batches show it: if every receive call returns as many packets as it asks for, the NIC is
//! ahead of the driver. `make test ONLY=nic-saturation` checks the share of full batches. The ordinary test
//! checks only a rate.
//!
//! Both depend on time and need two processors without other work. Other work can only make the
//! result worse, so the best of five attempts counts. `cargo test ... -- --nocapture` prints the
//! number of attempts.

use std::fmt::Write;

use anyhow::{ensure, Context, Result};
use conformance::{for_each_implementation, saturated, Implementation, TestNic, LIMIT};
use rustix::process::setpriority_process;
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};

for_each_implementation!(calls_return_full_batches);

const ATTEMPTS: usize = 5;
/// Environment variable that declares the processors quiet (`make test ONLY=nic-saturation` sets it).
const STRICT: &str = "TRIPTYCH_QUIET";
/// Share of the receive calls that must return full batches on quiet processors.
const FULL: f64 = 0.99;
/// Rate that the NIC must reach on quiet processors, in million packets per second.
const QUIET_MPPS: f64 = 15.0;
/// Rate that the NIC must reach on any machine, in million packets per second.
const BUSY_MPPS: f64 = 2.0;
/// Packets of one attempt, which takes some tenths of a second.
const PACKETS: u64 = 2_000_000;

/// Two processors that this process may use: one for the NIC, one for the driver.
fn two_processors() -> Result<[usize; 2]> {
    let allowed = sched_getaffinity(None)?;
    let mut processors = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    let two = processors
        .next()
        .zip(processors.next())
        .context("only one processor may be used: the NIC and the driver need one each")?;
    Ok([two.0, two.1])
}

/// Measures one run with the NIC's data plane and the driver on a processor each.
fn attempt(driver: Implementation, batch: u64, [one, other]: [usize; 2]) -> Result<Attempt> {
    // The highest priority, if permitted. Threads and processes that start later inherit it.
    let _ = setpriority_process(None, -20);
    let mut nic = TestNic::running(|mut config| {
        config.cpu = Some(one);
        saturated(config)
    })?;
    let program = nic.forwarder(driver)?.args(["--batch", &batch.to_string()]);
    // A process inherits the processors of the thread that starts it.
    let all = sched_getaffinity(None)?;
    let mut driver_cpu = CpuSet::new();
    driver_cpu.set(other);
    sched_setaffinity(None, &driver_cpu)?;
    let started = program.args(["--packets", &PACKETS.to_string()]).start();
    sched_setaffinity(None, &all)?;

    let output = started?.wait(LIMIT)?;
    let totals = nic.check_run(&output)?;
    Ok(Attempt {
        full: totals.full_batches as f64 / totals.rx_calls as f64,
        mpps: totals.rx as f64 / totals.seconds / 1e6,
    })
}

/// The result of an attempt: the share of the calls that returned full batches, and million packets per second, both
/// directions added.
#[derive(Clone, Copy, Default)]
struct Attempt {
    full: f64,
    mpps: f64,
}

impl Attempt {
    fn is_enough(self, strict: bool) -> bool {
        if strict {
            self.full >= FULL && self.mpps >= QUIET_MPPS
        } else {
            self.mpps >= BUSY_MPPS
        }
    }
}

fn calls_return_full_batches(driver: Implementation) -> Result<()> {
    let processors = two_processors()?;
    let strict = std::env::var_os(STRICT).is_some();
    let mut results = String::new();
    let mut enough = true;
    for batch in [1, 8, 32, 256] {
        let mut best = Attempt::default();
        let mut attempts = 0;
        while !best.is_enough(strict) && attempts < ATTEMPTS {
            let Attempt { full, mpps } = attempt(driver, batch, processors)?;
            best = Attempt {
                full: full.max(best.full),
                mpps: mpps.max(best.mpps),
            };
            attempts += 1;
        }
        enough &= best.is_enough(strict);
        writeln!(
            results,
            "batch {batch}: {:.4} of the calls full, {:.1} Mpps, best of {attempts}",
            best.full, best.mpps
        )?;
    }
    println!("{driver}\n{results}");
    ensure!(
        enough,
        "the NIC does not stay ahead of the driver:\n{results}"
    );
    Ok(())
}
