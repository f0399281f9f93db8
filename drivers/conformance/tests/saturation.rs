//! Does the software NIC saturate every driver, so that it is never what limits a measurement?
//!
//! Full batches say so: if the driver always finds as many packets as it asks for, the NIC is ahead.
//! Where it is not, `make saturation` says by how much; the tests ask for a rate only.
//!
//! That is a statement about time, so it needs two processors that nobody else uses. What else runs
//! on the machine can only make it look worse than it is, which is why the best of five attempts
//! counts; how many were needed is printed (`cargo test ... -- --nocapture`).

use std::fmt::Write;
use std::time::Duration;

use anyhow::{ensure, Context, Result};
use conformance::{expect, for_each_implementation, Implementation, TestNic};
use nic::Traffic;
use rustix::process::setpriority_process;
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};

for_each_implementation!(calls_return_full_batches);

const LIMIT: Duration = Duration::from_secs(60);
const ATTEMPTS: usize = 5;
/// With this variable in the environment (`make saturation`), the processors are taken to be quiet.
const STRICT: &str = "TRIPTYCH_QUIET";
/// Share of the receive calls that must then return as many packets as they ask for.
const FULL: f64 = 0.99;
/// What the NIC must then carry.
const QUIET_MPPS: f64 = 15.0;
/// What it must carry in any case.
const BUSY_MPPS: f64 = 2.0;
/// Packets of one attempt: some tenths of a second.
const PACKETS: u64 = 2_000_000;

/// Two processors of which this process may use both: for the NIC, and for the driver.
fn two_processors() -> Result<[usize; 2]> {
    let allowed = sched_getaffinity(None)?;
    let mut processors = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    let two = processors
        .next()
        .zip(processors.next())
        .context("only one processor may be used: the NIC and the driver need one each")?;
    Ok([two.0, two.1])
}

/// Share of full batches in one run, with the NIC's data plane and the driver on processors of
/// their own.
fn attempt(
    implementation: Implementation,
    batch: u64,
    [one, other]: [usize; 2],
) -> Result<Attempt> {
    // Before whatever else runs, if that is permitted; threads and processes started from here on
    // are, too.
    let _ = setpriority_process(None, -20);
    let mut nic = TestNic::running(|mut config| {
        config.cpu = Some(one);
        config.with_each_port(|port| port.traffic = Traffic::Saturate)
    })?;
    let program = nic
        .forwarder(implementation)?
        .args(["--batch", &batch.to_string()]);
    // A process starts on the processors of the thread that starts it.
    let everywhere = sched_getaffinity(None)?;
    let mut there = CpuSet::new();
    there.set(other);
    sched_setaffinity(None, &there)?;
    let started = program.args(["--packets", &PACKETS.to_string()]).start();
    sched_setaffinity(None, &everywhere)?;

    let output = started?.wait(LIMIT)?;
    output.expect_success()?;
    let totals = output.totals()?;
    totals.check(batch)?;
    nic.sessions()?.iter().try_for_each(expect::left_at_rest)?;
    nic.stop_data_plane()?;
    expect::nothing_lost(nic.ports(), &totals)?;
    Ok(Attempt {
        full: totals.full_batches as f64 / totals.rx_calls as f64,
        mpps: totals.rx as f64 / totals.seconds / 1e6,
    })
}

/// What an attempt reached.
#[derive(Clone, Copy, Default)]
struct Attempt {
    /// Share of the calls that returned full batches.
    full: f64,
    /// Million packets a second, both directions.
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

    fn max(self, other: Self) -> Self {
        Self {
            full: self.full.max(other.full),
            mpps: self.mpps.max(other.mpps),
        }
    }
}

fn calls_return_full_batches(implementation: Implementation) -> Result<()> {
    let processors = two_processors()?;
    let strict = std::env::var_os(STRICT).is_some();
    let mut results = String::new();
    let mut enough = true;
    for batch in [1, 8, 32, 256] {
        let mut best = Attempt::default();
        let mut attempts = 0;
        while !best.is_enough(strict) && attempts < ATTEMPTS {
            best = best.max(attempt(implementation, batch, processors)?);
            attempts += 1;
        }
        enough &= best.is_enough(strict);
        writeln!(
            results,
            "batch {batch}: {:.4} of the calls full, {:.1} Mpps, best of {attempts}",
            best.full, best.mpps
        )?;
    }
    println!("{implementation}\n{results}");
    ensure!(
        enough,
        "the NIC does not keep ahead of the driver:\n{results}"
    );
    Ok(())
}
