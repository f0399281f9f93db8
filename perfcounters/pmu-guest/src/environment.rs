//! What all checks share: the machines with their PMU, and the loop whose instructions are known.

use std::path::Path;

use anyhow::{anyhow, ensure, Context, Result};
use perfcounters::perf::kernel::Kernel;
use perfcounters::perf::known_loops::KnownLoop;
use perfcounters::perf::passes::{self, Counted, Counters, Reading};
use perfcounters::perf::pmu::Pmu;
use perfcounters::perf::resolve::EventSet;
use perfcounters::perf::Event;
use record::EVENT_SOURCES;

/// `PERF_TYPE_RAW` codes of Arm's PMUv3: instructions that the processor has executed.
pub const INST_RETIRED: u64 = 0x08;
/// Cycles. One of these events takes the cycle counter, further ones take other counters.
pub const CPU_CYCLES: u64 = 0x11;

/// A machine with one emulated processor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// QEMU's name of the processor.
    pub name: &'static str,
    /// The vendor and the model of the processor, as the kernel shows them.
    pub identity: (&'static str, u32),
    /// Each instruction takes 2^`shift` ns. The processor's clock is 1 GHz, so this is also the number
    /// of cycles.
    pub shift: u32,
    /// Clock of the generic timer, MHz.
    pub timer_mhz: f64,
}

impl Machine {
    /// All machines.
    pub const ALL: [Self; 2] = [
        Self {
            name: "max",
            identity: ("0x00", 0x51),
            shift: 4,
            timer_mhz: 1000.0,
        },
        // All counters but that of cycles have 32 bits, so the kernel adds their overflows up.
        Self {
            name: "cortex-a72",
            identity: ("0x41", 0xd08),
            shift: 6,
            timer_mhz: 62.5,
        },
    ];

    /// The counters of one processor besides its cycle counter.
    pub const COUNTERS: usize = 6;

    /// The cycles of a number of instructions.
    pub fn cycles(&self, instructions: u64) -> u64 {
        instructions << self.shift
    }
}

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
        let pmu = Pmu::find(Path::new(EVENT_SOURCES), Some(0)).context("Linux lists no PMU")?;
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

/// The events that the collector chooses here.
pub fn detect() -> Result<EventSet> {
    EventSet::detect(Some(0)).map_err(|why| anyhow!(why))
}

/// Counts one event while `work` runs.
pub fn count_one(event: &Event, work: impl FnOnce()) -> Result<Reading> {
    Ok(Kernel.count(&[event], work)?.1)
}

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
    let sizes = |counted: &Counted<()>| -> Vec<usize> {
        let passes = counted.passes.iter();
        passes.map(|pass| pass.values.len()).collect()
    };
    ensure!(sizes(&short) == sizes(&long));
    for (index, event) in events.iter().enumerate() {
        let values = short.value(index).zip(long.value(index));
        let (short, long) = values.context("an event was not counted")?;
        ensure!(!short.scaled && !long.scaled, "scaled: {short:?} {long:?}");
        let expected = (each * iterations) as f64;
        let counted = long.count - short.count;
        ensure!(
            counted == expected,
            "{}: {counted}, not {expected}",
            event.name
        );
    }
    Ok(sizes(&short))
}
