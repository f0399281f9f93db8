//! What a group counts: exactly the instructions of this thread in user space, also when there are more
//! events than counters, and when others hold counters.

use std::time::Duration;

use anyhow::{anyhow, ensure, Context, Result};
use perf_event::events::Raw;
use perf_event::{Builder, Counter};
use perfcounters::perf::kernel::Kernel;
use perfcounters::perf::known_loops;
use record::Metric;

use crate::environment::{
    count_loop, count_one, detect, ensure_exact, Environment, Machine, CPU_CYCLES, INST_RETIRED,
    LOOP_INSTRUCTIONS,
};

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

/// Counters of instructions that another program would open. `whose` says whose instructions.
fn hold(
    environment: &Environment,
    number: usize,
    whose: fn(&mut Builder<'static>),
) -> Result<Vec<Counter>> {
    let mut builder = Builder::new(Raw::new(INST_RETIRED));
    builder.attrs_mut().type_ = environment.pmu.kind;
    whose(builder.enabled(true));
    let held: std::io::Result<_> = (0..number).map(|_| builder.build()).collect();
    held.context("holding counters")
}

/// The NMI watchdog of x86-64 holds a counter like this: always, on the whole CPU.
fn watchdog(builder: &mut Builder<'static>) {
    builder.any_pid().one_cpu(0).pinned(true);
}

/// A profiler's counter for this thread's own events. Many of them take turns.
fn profiler(builder: &mut Builder<'static>) {
    builder.observe_self().any_cpu().exclude_kernel(true);
}

/// The kernel accepts a group that would fit alone, and never counts it. The halves fit.
pub fn halved(environment: &Environment) -> Result<()> {
    let held = hold(environment, 4, watchdog)?;
    ensure!(instructions(environment, 4)? == [2, 2]);
    drop(held);
    ensure!(instructions(environment, 4)? == [4]);
    Ok(())
}

/// If others hold all counters, instructions are absent. Cycles have a counter of their own.
pub fn absent(environment: &Environment) -> Result<()> {
    let _held = hold(environment, Machine::COUNTERS, watchdog)?;
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
    let rivals = hold(environment, 2 * Machine::COUNTERS, profiler)?;
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
    let checked = known_loops::check(&Kernel, &detect()?.events, ITERATIONS);
    let checks = checked.map_err(|why| anyhow!(why))?.checks;
    let mut instructions = 0;
    for check in &checks {
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
    let mut bytes = 0;
    let reading = count_one(&cycles, || {
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
