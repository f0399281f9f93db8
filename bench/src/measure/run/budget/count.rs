//! Counts the instructions that a packet costs one driver.

use std::path::Path;

use anyhow::{bail, Context, Result};
use perfcounters::device::NicProgram;
use perfcounters::placement::Topology;
use perfcounters::trace::Trace;
use perfcounters::valgrind::Valgrind;
use perfcounters::{Backend, Cell, Interrupt, Observer};
use record::{BackendName, Failure, Metric, RecordError, Sample};

use crate::build::builds::cells::missing;

/// Packets of the shorter of two runs under valgrind, as in `triptych run`.
const PACKETS: u64 = 409_600;

/// Counts drivers of one build folder: with the tracer, whose counts are the same in every run, or with
/// valgrind on processors whose programs the tracer cannot follow.
pub(crate) struct Counter(Box<dyn Backend>);

impl Counter {
    /// The counter of this machine.
    ///
    /// # Errors
    /// If this machine cannot count.
    pub(crate) fn new(build: &Path, interrupt: &Interrupt) -> Result<Self> {
        let nic = NicProgram::new(build.join("bin/nic"));
        let interrupt = interrupt.clone();
        let backend: Box<dyn Backend> = match cfg!(target_arch = "x86_64") {
            true => Box::new(Trace {
                nic,
                placement: Topology::here().choose(None),
                cpus: Vec::new(),
                interrupt,
            }),
            false => Box::new(Valgrind {
                nic,
                packets: PACKETS,
                repeats: 1,
                interrupt,
            }),
        };
        match backend.unavailable() {
            Some(why) => bail!("instructions are not measurable here: {why}"),
            None => Ok(Self(backend)),
        }
    }

    /// Instructions per packet of one driver.
    ///
    /// # Errors
    /// If the driver cannot be measured, or something disturbs the measurement under valgrind.
    pub(crate) fn measure(&mut self, cell: &Cell) -> Result<f64> {
        if let Some(why) = missing(cell, false) {
            bail!(why);
        }
        let mut collector = Collector::default();
        self.0.measure(std::slice::from_ref(cell), &mut collector)?;
        if let Some(why) = collector.failure.or(collector.warning) {
            bail!(why);
        }
        let mut samples = collector.samples.iter();
        let instructions = samples.find(|sample| sample.metric == Metric::Instructions);
        let instructions = instructions.map(|sample| sample.value);
        instructions.context("no instructions were counted")
    }
}

/// Keeps the values of a backend, or why there are none.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) samples: Vec<Sample>,
    pub(super) failure: Option<String>,
    warning: Option<String>,
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
        self.warning = Some(text.to_owned());
    }
}
