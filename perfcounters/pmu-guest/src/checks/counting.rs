//! What a group counts: exactly the instructions of this thread in user space.

use std::time::Duration;

use anyhow::{anyhow, ensure, Result};
use perfcounters::perf::kernel::Kernel;
use perfcounters::perf::known_loops;
use perfcounters::perf::passes::{Counters, Group};
use perfcounters::perf::resolve::EventSet;
use record::Metric;

use crate::environment::{Environment, CPU_CYCLES};

const ITERATIONS: u64 = 100_000;

/// The loops of `triptych selftest`, with the events that the collector chooses.
pub fn known_loops(_: &Environment) -> Result<()> {
    let set = EventSet::detect(Some(0)).map_err(|why| anyhow!(why))?;
    let checked =
        known_loops::check(&Kernel, &set.events, ITERATIONS).map_err(|why| anyhow!(why))?;
    let mut instructions = 0;
    for check in &checked.checks {
        ensure!(!check.scaled, "scaled: {check}");
        if check.metric == Metric::Instructions {
            ensure!(check.counted == check.expected, "not exact: {check}");
            instructions += 1;
        }
    }
    let loops = known_loops::KnownLoop::ALL.len();
    ensure!(
        instructions == loops,
        "only {instructions} of {loops} loops"
    );
    Ok(())
}

/// Reading a file of /proc costs most of its instructions in the kernel.
pub fn kernel_excluded(environment: &Environment) -> Result<()> {
    const FILES: usize = 200;
    let cycles = environment.event("cycles", CPU_CYCLES);
    let mut group = Kernel.open(&[&cycles]).map_err(|why| anyhow!(why))?;
    let mut bytes = 0;
    let ((), reading) = group.count(|| {
        for _ in 0..FILES {
            bytes += std::fs::read("/proc/meminfo").map_or(0, |text| text.len());
        }
    })?;
    ensure!(bytes > 100 * FILES, "{bytes} bytes");
    // The clock is 1 GHz, so cycles are nanoseconds.
    let outside = Duration::from_nanos(reading.counts[0]);
    ensure!(
        reading.enabled > 3 * outside,
        "{outside:?} of {:?} outside the kernel",
        reading.enabled
    );
    Ok(())
}
