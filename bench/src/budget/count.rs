//! Counts what a packet costs one driver: instructions, and cycles on named processors.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use model::pipeline::Llvm;
use perfcounters::device::NicProgram;
use perfcounters::model::processor::{Processor, Processors};
use perfcounters::model::Model;
use perfcounters::placement::Topology;
use perfcounters::valgrind::Valgrind;
use perfcounters::{Backend, Cell, Interrupt, Observer};
use record::{BackendName, Failure, Metric, RecordError, Sample};

use crate::builds::cells::missing;
use crate::settings::values::{CpuName, Ghz};

/// Packets of the shorter of two runs under valgrind, as in `triptych run`.
const PACKETS: u64 = 409_600;

/// Most measurements of one driver under valgrind until nothing disturbs it.
const MOST_MEASUREMENTS: usize = 4;

/// A modelled processor and its clock in MHz.
pub type Clocked = (String, u32);

/// The processor and the clock of a figure.
pub fn clocked(cpu: &CpuName, clock: Ghz) -> Clocked {
    (cpu.0.clone(), (clock.0 * 1000.0).round() as u32)
}

/// What a packet costs a driver.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Costs {
    /// Instructions per packet.
    pub instructions: f64,
    /// Core cycles per packet, by processor and clock.
    pub cycles: BTreeMap<Clocked, f64>,
}

/// Counts drivers of one build folder.
#[derive(Debug)]
pub(crate) enum Counter {
    /// The model, whose values are the same in every run.
    Model(Box<Model>),
    /// Valgrind on processors that the model cannot trace. It counts instructions only.
    Valgrind(Valgrind),
}

impl Counter {
    /// The counter of this machine. `modelled` are the processors that cycles are computed for.
    ///
    /// # Errors
    /// If this machine cannot count, or cycles are wanted and LLVM is not installed.
    pub(crate) fn new(
        build: &Path,
        modelled: Vec<Processor>,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let nic = NicProgram::new(build.join("bin/nic"));
        if cfg!(target_arch = "x86_64") {
            let llvm = match modelled.as_slice() {
                [] => None,
                _ => Some(Llvm::find().context(
                    "the budget has figures of cycles; bench/setup/llvm-mca.sh installs LLVM",
                )?),
            };
            let counter = Model {
                nic,
                placement: Topology::here().choose(None),
                processors: Processors {
                    modelled,
                    host: None,
                    llvm,
                },
                interrupt: interrupt.clone(),
            };
            return match counter.unavailable() {
                Some(why) => bail!("instructions are not measurable here: {why}"),
                None => Ok(Self::Model(Box::new(counter))),
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

    /// Counts one driver.
    ///
    /// # Errors
    /// If the driver cannot be measured, or something disturbs every measurement under valgrind.
    pub(crate) fn measure(&self, cell: &Cell) -> Result<Costs> {
        if let Some(why) = missing(cell, false) {
            bail!(why);
        }
        match self {
            Self::Model(model) => modelled(&mut Model::clone(model), cell),
            Self::Valgrind(valgrind) => Ok(Costs {
                instructions: undisturbed(valgrind, cell)?,
                cycles: BTreeMap::new(),
            }),
        }
    }
}

fn modelled(model: &mut Model, cell: &Cell) -> Result<Costs> {
    let mut collector = Collector::default();
    model.measure(std::slice::from_ref(cell), &mut collector)?;
    if let Some(why) = collector.failure {
        bail!(why);
    }
    let mut costs = Costs::default();
    for sample in collector.samples {
        match sample.metric {
            Metric::Instructions => costs.instructions = sample.value,
            Metric::CoreCycles => {
                let clock = Ghz(sample.clock_ghz.unwrap_or_default());
                let place = clocked(&CpuName(sample.cpu), clock);
                costs.cycles.insert(place, sample.value);
            }
            _ => {}
        }
    }
    Ok(costs)
}

/// Keeps the values of one cell, or why there are none.
#[derive(Debug, Default)]
struct Collector {
    samples: Vec<Sample>,
    failure: Option<String>,
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
        if measurement.undisturbed {
            break;
        }
        measurement = valgrind.measure_cell(cell)?;
    }
    ensure!(measurement.undisturbed, measurement.disturbance());
    let instructions = measurement.per_packet.get(Metric::Instructions);
    instructions.context("valgrind counted no instructions")
}
