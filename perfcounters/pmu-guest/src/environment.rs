//! What all checks share: the machine with its PMU, and the loop whose instructions are known.

use std::path::Path;

use anyhow::{anyhow, ensure, Context, Result};
use perfcounters::perf::kernel::Kernel;
use perfcounters::perf::known_loops::KnownLoop;
use perfcounters::perf::passes::{self, Counted};
use perfcounters::perf::pmu::{Pmu, SOURCES};
use perfcounters::perf::Event;

use crate::machine::Machine;

/// `PERF_TYPE_RAW` codes of Arm's PMUv3: instructions that the processor has executed.
pub const INST_RETIRED: u64 = 0x08;
/// Cycles. One of these events takes the cycle counter, further ones take other counters.
pub const CPU_CYCLES: u64 = 0x11;

/// What the checks know.
#[derive(Debug)]
pub struct Environment {
    /// The machine that the checks run on.
    pub machine: Machine,
    /// Its PMU, as the kernel describes it.
    pub pmu: Pmu,
}

impl Environment {
    /// Finds the PMU of this machine.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(machine: Machine) -> Result<Self> {
        let pmu = Pmu::find(Path::new(SOURCES), Some(0)).context("Linux lists no PMU")?;
        Ok(Self { machine, pmu })
    }

    /// An event of the PMU by its code, several times. The kernel gives each a counter of its own.
    pub fn events(&self, code: u64, number: usize) -> Vec<Event> {
        let event = Event {
            metric: None,
            name: format!("event {code:#x}"),
            kind: self.pmu.kind,
            config: code,
            unit: None,
        };
        vec![event; number]
    }
}

/// The loop of most checks: an iteration has 10 instructions.
pub const LOOP: KnownLoop = KnownLoop::Additions;
/// The instructions of an iteration.
pub const LOOP_INSTRUCTIONS: u64 = 10;

/// Counts the loop in passes.
pub fn count_loop(events: &[Event], iterations: u64) -> Result<Counted<()>> {
    passes::count(&Kernel, events, || {
        LOOP.run(iterations);
        Ok(())
    })
    .map_err(|why| anyhow!(why))
}

/// Counts the loop for `iterations` and for twice as many. Every event must have counted the whole
/// time, and exactly the loop's `each` more. Returns the sizes of the passes.
pub fn ensure_exact(events: &[Event], iterations: u64, each: u64) -> Result<Vec<usize>> {
    let short = count_loop(events, iterations)?;
    let long = count_loop(events, 2 * iterations)?;
    ensure!(short.absent.is_empty(), "{short:?}");
    let sizes = |counted: &Counted<()>| {
        let passes = counted.passes.iter();
        passes.map(|pass| pass.values.len()).collect::<Vec<_>>()
    };
    let sizes_short = sizes(&short);
    ensure!(sizes_short == sizes(&long));
    ensure!(sizes_short.iter().sum::<usize>() == events.len());
    let values = |counted: Counted<()>| counted.passes.into_iter().flat_map(|pass| pass.values);
    for (short, long) in values(short).zip(values(long)) {
        ensure!(!short.scaled && !long.scaled, "scaled: {short:?} {long:?}");
        let event = &events[long.event].name;
        let expected = (each * iterations) as f64;
        let counted = long.count - short.count;
        ensure!(counted == expected, "{event}: {counted}, not {expected}");
    }
    Ok(sizes_short)
}
