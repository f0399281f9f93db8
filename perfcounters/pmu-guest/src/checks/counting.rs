//! What a group counts: exactly the instructions of this thread in user space, also when there are more
//! events than counters, and when others hold counters.

use std::time::Duration;

use anyhow::{anyhow, ensure, Context, Result};
use perf_event::events::Raw;
use perf_event::{Builder, Counter};
use perfcounters::perf::kernel::Kernel;
use perfcounters::perf::known_loops;
use perfcounters::perf::passes::{Counters, Group};
use perfcounters::perf::resolve::EventSet;
use record::Metric;

use crate::environment::{
    count_loop, ensure_exact, Environment, CPU_CYCLES, INST_RETIRED, LOOP_INSTRUCTIONS,
};
use crate::machine::Machine;

const ITERATIONS: u64 = 100_000;
/// Iterations for a window of many turns of the counters, which the kernel makes every 4 ms.
const LONG: u64 = 3_000_000;

/// Counts exactly the instructions of the loop, several times. Returns the sizes of the passes.
fn instructions(environment: &Environment, number: usize) -> Result<Vec<usize>> {
    let events = environment.events(INST_RETIRED, number);
    ensure_exact(&events, ITERATIONS, LOOP_INSTRUCTIONS)
}

/// Counts exactly the cycles of the loop, several times.
fn cycles(environment: &Environment, number: usize) -> Result<Vec<usize>> {
    let each = environment.machine.cycles(LOOP_INSTRUCTIONS);
    ensure_exact(&environment.events(CPU_CYCLES, number), ITERATIONS, each)
}

/// Ten events are two passes, because a group that exceeds the counters is refused.
pub fn split(environment: &Environment) -> Result<()> {
    let sizes = instructions(environment, 10)?;
    ensure!(sizes == [Machine::COUNTERS, 10 - Machine::COUNTERS]);
    // The cycle counter is one more.
    let sizes = cycles(environment, 8)?;
    ensure!(sizes == [Machine::COUNTERS + 1, 1]);
    Ok(())
}

/// Counters that are held as the NMI watchdog of x86-64 holds one: always, on the whole CPU.
fn hold(environment: &Environment, number: usize) -> Result<Vec<Counter>> {
    let mut builder = Builder::new(Raw::new(INST_RETIRED));
    builder.attrs_mut().type_ = environment.pmu.kind;
    builder.any_pid().one_cpu(0).pinned(true).enabled(true);
    let held = (0..number).map(|_| builder.build());
    held.collect::<std::io::Result<_>>()
        .context("holding counters")
}

/// The kernel accepts a group that would fit alone, and never counts it. The halves fit.
pub fn halved(environment: &Environment) -> Result<()> {
    let held = hold(environment, 4)?;
    ensure!(instructions(environment, 4)? == [2, 2]);
    drop(held);
    ensure!(instructions(environment, 4)? == [4]);
    Ok(())
}

/// If others hold all counters, instructions are absent. Cycles have a counter of their own.
pub fn absent(environment: &Environment) -> Result<()> {
    let _held = hold(environment, Machine::COUNTERS)?;
    let mut events = environment.events(CPU_CYCLES, 1);
    events.extend(environment.events(INST_RETIRED, 2));
    let counted = count_loop(&events, ITERATIONS)?;
    ensure!(counted.absent.len() == 2, "{counted:?}");
    for (event, why) in &counted.absent {
        let never = why.contains("never had a counter");
        ensure!(*event > 0 && never, "{counted:?}");
    }
    cycles(environment, 1).map(drop)
}

/// The kernel counts in turn what does not fit. Single events are scaled, and marked.
pub fn scaled(environment: &Environment) -> Result<()> {
    // This thread's own events, as a profiler would open them. They take turns.
    let mut builder = Builder::new(Raw::new(INST_RETIRED));
    builder.attrs_mut().type_ = environment.pmu.kind;
    builder.observe_self().any_cpu().exclude_kernel(true);
    let rivals = (0..2 * Machine::COUNTERS).map(|_| builder.enabled(true).build());
    let rivals: Vec<Counter> = rivals.collect::<std::io::Result<_>>()?;
    let counted = count_loop(&environment.events(INST_RETIRED, 2), LONG)?;
    let complete = counted.absent.is_empty() && counted.passes.len() == 2;
    ensure!(complete, "{counted:?}");
    let expected = (LONG * LOOP_INSTRUCTIONS) as f64;
    for value in counted.passes.iter().flat_map(|pass| &pass.values) {
        ensure!(value.scaled, "{value:?}");
        let ratio = value.count / expected;
        ensure!((0.95..1.05).contains(&ratio), "{ratio} of the instructions");
    }
    drop(rivals);
    ensure!(instructions(environment, 2)? == [2]);
    Ok(())
}

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
    ensure!(instructions == known_loops::KnownLoop::ALL.len());
    Ok(())
}

/// Reading a file of /proc costs most of its instructions in the kernel.
pub fn kernel_excluded(environment: &Environment) -> Result<()> {
    const FILES: usize = 200;
    let cycles = environment.events(CPU_CYCLES, 1).remove(0);
    let mut group = Kernel.open(&[&cycles]).map_err(|why| anyhow!(why))?;
    let mut bytes = 0;
    let ((), reading) = group.count(|| {
        for _ in 0..FILES {
            bytes += std::fs::read("/proc/meminfo").map_or(0, |text| text.len());
        }
    })?;
    ensure!(bytes > 100 * FILES);
    // The clock is 1 GHz, so cycles are nanoseconds.
    let outside = Duration::from_nanos(reading.counts[0]);
    ensure!(reading.enabled > 3 * outside);
    Ok(())
}
