//! More events than counters, and counters that others hold.

use anyhow::{ensure, Context, Result};
use perf_event::events::Raw;
use perf_event::{Builder, Counter};

use crate::environment::{count_loop, ensure_exact, Environment, INST_RETIRED, LOOP_INSTRUCTIONS};
use crate::machine::Machine;

const ITERATIONS: u64 = 100_000;
/// Iterations for a window of many turns of the counters, which the kernel makes every 4 ms.
const LONG: u64 = 3_000_000;

/// Ten events are two passes, because a group that exceeds the counters is refused.
pub fn split(environment: &Environment) -> Result<()> {
    let sizes = ensure_exact(&environment.instructions(10), ITERATIONS, LOOP_INSTRUCTIONS)?;
    ensure!(
        sizes == [Machine::COUNTERS, 10 - Machine::COUNTERS],
        "{sizes:?}"
    );
    // The cycle counter is one more.
    let each = environment.machine.cycles(LOOP_INSTRUCTIONS);
    let sizes = ensure_exact(&environment.cycles(8), ITERATIONS, each)?;
    ensure!(sizes == [Machine::COUNTERS + 1, 1], "{sizes:?}");
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
    let sizes = ensure_exact(&environment.instructions(4), ITERATIONS, LOOP_INSTRUCTIONS)?;
    ensure!(sizes == [2, 2], "{sizes:?} with {} held", held.len());
    drop(held);
    let sizes = ensure_exact(&environment.instructions(4), ITERATIONS, LOOP_INSTRUCTIONS)?;
    ensure!(sizes == [4], "{sizes:?} after they are free again");
    Ok(())
}

/// If others hold all counters, instructions are absent. Cycles have a counter of their own.
pub fn absent(environment: &Environment) -> Result<()> {
    let held = hold(environment, Machine::COUNTERS)?;
    let events = [environment.cycles(1), environment.instructions(2)].concat();
    let counted = count_loop(&events, ITERATIONS)?;
    ensure!(
        counted.absent.len() == 2,
        "{} held: {counted:?}",
        held.len()
    );
    for (event, why) in &counted.absent {
        ensure!(
            *event > 0 && why.contains("never had a counter"),
            "{counted:?}"
        );
    }
    let each = environment.machine.cycles(LOOP_INSTRUCTIONS);
    ensure_exact(&environment.cycles(1), ITERATIONS, each).map(drop)
}

/// The kernel counts in turn what does not fit. Single events are scaled, and marked.
pub fn scaled(environment: &Environment) -> Result<()> {
    // This thread's own events, as a profiler would open them. They take turns.
    let mut builder = Builder::new(Raw::new(INST_RETIRED));
    builder.attrs_mut().type_ = environment.pmu.kind;
    builder.observe_self().any_cpu().exclude_kernel(true);
    let rivals = (0..2 * Machine::COUNTERS).map(|_| builder.enabled(true).build());
    let rivals: Vec<Counter> = rivals.collect::<std::io::Result<_>>()?;
    let counted = count_loop(&environment.instructions(2), LONG)?;
    ensure!(
        counted.absent.is_empty() && counted.passes.len() == 2,
        "{counted:?}"
    );
    let expected = (LONG * LOOP_INSTRUCTIONS) as f64;
    for value in counted.passes.iter().flat_map(|pass| &pass.values) {
        ensure!(value.scaled, "with {} rivals: {value:?}", rivals.len());
        let ratio = value.count / expected;
        ensure!((0.95..1.05).contains(&ratio), "{ratio} of the instructions");
    }
    drop(rivals);
    let sizes = ensure_exact(&environment.instructions(2), ITERATIONS, LOOP_INSTRUCTIONS)?;
    ensure!(sizes == [2], "{sizes:?}");
    Ok(())
}
