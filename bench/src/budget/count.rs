//! Counts the instructions that a packet costs one driver.

use std::path::Path;

use anyhow::{bail, Context, Result};
use perfcounters::device::NicProgram;
use perfcounters::placement::Topology;
use perfcounters::trace::Trace;
use perfcounters::valgrind::Valgrind;
use perfcounters::{Backend, Cell, Interrupt, Observer};
use record::{BackendName, Failure, Metric, RecordError, Sample};

use crate::builds::cells::missing;

/// Packets of the shorter of two runs under valgrind, as in `triptych run`.
const PACKETS: u64 = 409_600;

/// Most measurements of one driver under valgrind until nothing disturbs it.
const MOST_MEASUREMENTS: usize = 4;

/// Counts drivers of one build folder.
#[derive(Debug)]
pub(crate) enum Counter {
    /// The tracer, whose counts are the same in every run.
    Trace(Box<Trace>),
    /// Valgrind on processors whose programs the tracer cannot follow.
    Valgrind(Valgrind),
}

impl Counter {
    /// The counter of this machine.
    ///
    /// # Errors
    /// If this machine cannot count.
    pub(crate) fn new(build: &Path, interrupt: &Interrupt) -> Result<Self> {
        let nic = NicProgram::new(build.join("bin/nic"));
        if cfg!(target_arch = "x86_64") {
            let counter = Trace {
                nic,
                placement: Topology::here().choose(None),
                cpus: Vec::new(),
                interrupt: interrupt.clone(),
            };
            return match counter.unavailable() {
                Some(why) => bail!("instructions are not measurable here: {why}"),
                None => Ok(Self::Trace(Box::new(counter))),
            };
        }
        let counter = Valgrind {
            nic,
            packets: PACKETS,
            repeats: 1,
            interrupt: interrupt.clone(),
        };
        match counter.unavailable() {
            Some(why) => bail!("instructions are not measurable here: {why}"),
            None => Ok(Self::Valgrind(counter)),
        }
    }

    /// Instructions per packet of one driver.
    ///
    /// # Errors
    /// If the driver cannot be measured, or something disturbs every measurement under valgrind.
    pub(crate) fn measure(&self, cell: &Cell) -> Result<f64> {
        if let Some(why) = missing(cell, false) {
            bail!(why);
        }
        match self {
            Self::Trace(trace) => traced(&mut Trace::clone(trace), cell),
            Self::Valgrind(valgrind) => undisturbed(valgrind, cell),
        }
    }
}

fn traced(trace: &mut Trace, cell: &Cell) -> Result<f64> {
    let mut collector = Collector::default();
    trace.measure(std::slice::from_ref(cell), &mut collector)?;
    if let Some(why) = collector.failure {
        bail!(why);
    }
    let mut samples = collector.samples.iter();
    let instructions = samples.find(|sample| sample.metric == Metric::Instructions);
    let instructions = instructions.map(|sample| sample.value);
    instructions.context("the tracer counted no instructions")
}

/// Keeps the values of a backend, or why there are none.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) samples: Vec<Sample>,
    pub(super) failure: Option<String>,
}

impl Observer for Collector {
    fn begin(&mut self, _backend: BackendName, _steps: u64) {}

    fn step(&mut self, _what: &str) {}

    fn measured(&mut self, samples: &[Sample]) -> Result<(), RecordError> {
        self.samples.extend_from_slice(samples);
        Ok(())
    }

    fn failure(&mut self, failure: Failure) {
        self.failure = Some(failure.cause);
    }

    fn warning(&mut self, text: &str) {
        eprintln!("{text}");
    }
}

/// The instructions of the first undisturbed measurement.
fn undisturbed(valgrind: &Valgrind, cell: &Cell) -> Result<f64> {
    let mut measurement = valgrind.measure_cell(cell)?;
    for _ in 1..MOST_MEASUREMENTS {
        if measurement.disturbance.is_none() {
            break;
        }
        measurement = valgrind.measure_cell(cell)?;
    }
    if let Some(why) = measurement.disturbance {
        bail!(why);
    }
    let instructions = measurement.values.get(&Metric::Instructions);
    instructions
        .copied()
        .context("valgrind counted no instructions")
}
