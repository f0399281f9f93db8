//! What a group counts: exactly the instructions of this thread in user space.

use std::time::Duration;

use anyhow::{anyhow, ensure, Result};
use perfcounters::perf::kernel::Kernel;
use perfcounters::perf::known_loops;
use perfcounters::perf::passes::{Counters, Group, Reading};
use perfcounters::perf::resolve::EventSet;
use perfcounters::perf::Event;
use record::Metric;

use crate::environment::{ensure_exact, Environment, LOOP, LOOP_INSTRUCTIONS};

const ITERATIONS: u64 = 100_000;
/// A counter of 32 bits overflows twice on the way there.
const LARGE: u64 = 1 << 33;

/// Opens a group that holds all the events.
fn open(events: &[Event]) -> Result<impl Group> {
    let references: Vec<_> = events.iter().collect();
    let group = Kernel.open(&references).map_err(|why| anyhow!(why))?;
    ensure!(group.size() == events.len(), "only {} fit", group.size());
    Ok(group)
}

fn read(group: &mut impl Group, work: impl FnOnce()) -> Result<Reading> {
    let ((), reading) = group.count(work)?;
    ensure!(reading.running == reading.enabled, "shared: {reading:?}");
    Ok(reading)
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
    let loops = known_loops::KnownLoop::ALL.len();
    ensure!(
        instructions == loops,
        "only {instructions} of {loops} loops"
    );
    Ok(())
}

/// QEMU lets a fixed number of cycles pass for each instruction.
pub fn cycles(environment: &Environment) -> Result<()> {
    let events = [environment.cycles(1), environment.instructions(1)].concat();
    let mut group = open(&events)?;
    for iterations in [1, 1000, ITERATIONS] {
        let reading = read(&mut group, || LOOP.run(iterations))?;
        let [cycles, instructions] = reading.counts[..] else {
            return Err(anyhow!("{reading:?}"));
        };
        let expected = environment.machine.cycles(instructions);
        ensure!(
            cycles == expected,
            "{instructions} instructions took {cycles} and not {expected} cycles"
        );
    }
    let each = environment.machine.cycles(LOOP_INSTRUCTIONS);
    ensure_exact(&environment.cycles(1), ITERATIONS, each).map(drop)
}

/// Reading a file of /proc costs most of its instructions in the kernel.
pub fn kernel_excluded(environment: &Environment) -> Result<()> {
    const FILES: usize = 200;
    let events = environment.cycles(1);
    let mut group = open(&events)?;
    let mut bytes = 0;
    let reading = read(&mut group, || {
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

/// A thread that this one starts, and waits for, does not count.
pub fn other_threads(environment: &Environment) -> Result<()> {
    let events = environment.instructions(1);
    let mut group = open(&events)?;
    let mut ended = true;
    let reading = read(&mut group, || {
        let thread = std::thread::spawn(|| LOOP.run(10 * ITERATIONS));
        ended = thread.join().is_ok();
    })?;
    let limit = LOOP_INSTRUCTIONS * ITERATIONS;
    ensure!(ended && reading.counts[0] < limit, "{reading:?}");
    Ok(())
}

/// Three windows of one group count as much as one window of the same work. What a window adds itself
/// is the same each time.
pub fn windows_add_up(environment: &Environment) -> Result<()> {
    let events = [environment.instructions(2), environment.cycles(1)].concat();
    let mut group = open(&events)?;
    let mut window = |iterations| read(&mut group, || LOOP.run(iterations));
    let own = window(1)?;
    let parts = [window(1000)?, window(20_000)?, window(300_000)?];
    let whole = window(321_000)?;
    let without_own = |reading: &Reading, event: usize, iterations: u64| {
        let each = match event {
            2 => environment.machine.cycles(LOOP_INSTRUCTIONS),
            _ => LOOP_INSTRUCTIONS,
        };
        reading.counts[event] as i64
            - (own.counts[event] as i64 + (iterations as i64 - 1) * each as i64)
    };
    for event in 0..events.len() {
        let rests = [
            without_own(&parts[0], event, 1000),
            without_own(&parts[1], event, 20_000),
            without_own(&parts[2], event, 300_000),
            without_own(&whole, event, 321_000),
        ];
        ensure!(rests == [0; 4], "event {event}: {rests:?} too many");
    }
    let times: Duration = parts.iter().map(|reading| reading.enabled).sum();
    let ratio = times.as_secs_f64() / whole.enabled.as_secs_f64();
    ensure!(
        (0.9..1.2).contains(&ratio),
        "{times:?} and {:?}",
        whole.enabled
    );
    Ok(())
}

/// Counts beyond 2^32. The first event of cycles has the cycle counter with 64 bits. The others have
/// counters that overflow, unless the processor has longer ones.
pub fn large_counts(environment: &Environment) -> Result<()> {
    let machine = &environment.machine;
    let iterations = LARGE / machine.cycles(LOOP_INSTRUCTIONS) + 1;
    let events = [environment.cycles(3), environment.instructions(1)].concat();
    let mut group = open(&events)?;
    let reading = read(&mut group, || LOOP.run(iterations))?;
    let [first, second, third, instructions] = reading.counts[..] else {
        return Err(anyhow!("{reading:?}"));
    };
    ensure!(first > LARGE, "only {first} cycles");
    ensure!(
        first == second && first == third && first == machine.cycles(instructions),
        "three counters of cycles differ: {reading:?}"
    );
    Ok(())
}
