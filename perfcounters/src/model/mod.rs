//! What a driver would cost on a named processor, the same in every run, to the digit.
//!
//! Driver and software card work in turns ([`tracer`]), so batches are always as full as asked for, and
//! every executed instruction is known. The counts need nothing else. For cycles, levels and
//! mispredictions, the crate [`model`] executes the recordings on the processors of its CPU files. From
//! the cycles follow throughput and latency in virtual time. No clock of this machine is in any value.
//!
//! ```text
//! Cell -> traced (card, launcher, driver) -> Traces -> Processor -> Cost -> values
//! ```

#[cfg(target_arch = "x86_64")]
pub mod cost;
pub mod processor;
pub mod sensitivity;
#[cfg(target_arch = "x86_64")]
pub mod traced;
#[cfg(target_arch = "x86_64")]
pub mod traces;
#[cfg(target_arch = "x86_64")]
mod values;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use model::stream::Stream;
use record::{BackendName, Implementation, Placement, Sample};

use crate::backend::{measure_side_by_side, Backend, Cell, MeasureError, Observer};
use crate::device::NicProgram;
use crate::interrupt::Interrupt;
use processor::Processors;

/// The backend `model` and its settings.
#[derive(Debug, Clone)]
pub struct Model {
    /// The software NIC.
    pub nic: NicProgram,
    /// The CPUs of driver and NIC. Each of them traces one cell at a time: driver and NIC never run at
    /// the same time, so they share a CPU.
    pub placement: Placement,
    /// The processors to model. Without any, or without LLVM, the backend only counts.
    pub processors: Processors,
    /// Stops a measurement when set.
    pub interrupt: Interrupt,
}

/// What a driver executed.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Instructions, addresses and transfers.
    pub stream: Stream,
    /// The files of the executed code.
    pub code: Vec<CodeFile>,
}

/// A part of a file that a process executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeFile {
    /// The file.
    pub path: PathBuf,
    /// Its addresses in the process.
    pub addresses: Range<u64>,
    /// The offset in the file of the first of them.
    pub offset: u64,
}

impl Model {
    /// Records a driver that finds full batches only.
    ///
    /// # Errors
    /// If the driver cannot be traced.
    #[cfg(target_arch = "x86_64")]
    pub fn full_batches(&self, cell: &Cell) -> Result<Recording, MeasureError> {
        let plan = tracer::Plan::default();
        let trace = traced::with_driver(self.place(0), cell, |session| session.follow(&plan))?;
        let code = trace.images.into_iter().map(|image| CodeFile {
            path: image.path,
            addresses: image.addresses,
            offset: image.offset,
        });
        Ok(Recording {
            stream: trace.stream,
            code: code.collect(),
        })
    }

    /// As on x86-64, where it works.
    ///
    /// # Errors
    /// Always: see the message.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn full_batches(&self, _cell: &Cell) -> Result<Recording, MeasureError> {
        Err(MeasureError::Other(OTHER_PROCESSOR.to_owned()))
    }

    #[cfg(target_arch = "x86_64")]
    fn place(&self, worker: usize) -> traced::Place<'_> {
        traced::Place {
            nic: &self.nic,
            cpu: self.placement.cpus().get(worker).copied(),
            interrupt: &self.interrupt,
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn measure_cell(&self, cell: &Cell, worker: usize) -> Result<Vec<Sample>, MeasureError> {
        let traces = traced::with_driver(self.place(worker), cell, |session| {
            traces::Traces::record(session, cell.conditions.batch, cell.groups_descriptors())
        })?;
        let mut samples = values::counts(cell, &tracer::Counts::of(&traces.full));
        let Some(llvm) = &self.processors.llvm else {
            return Ok(samples);
        };
        let card = model::virtual_time::Card::intel_82599()
            .map_err(|error| MeasureError::Other(error.to_string()))?;
        for processor in &self.processors.modelled {
            for (mhz, cost) in cost::costs(processor, llvm, &traces)? {
                samples.extend(values::modelled(cell, &processor.cpu, mhz, &cost, &card)?);
            }
        }
        if let Some(host) = &self.processors.host {
            let cycles = cost::lockstep_cycles(host, llvm, &traces)?;
            let packets = traces.full.packets;
            samples.push(values::on_this_machine(cell, host, cycles, packets));
        }
        Ok(samples)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn measure_cell(&self, _cell: &Cell, _worker: usize) -> Result<Vec<Sample>, MeasureError> {
        Err(MeasureError::Other(OTHER_PROCESSOR.to_owned()))
    }
}

/// The reason why another processor cannot trace.
#[cfg(not(target_arch = "x86_64"))]
const OTHER_PROCESSOR: &str = "the tracer decodes instructions of x86-64 only";

/// Why one peer is left out.
const NOT_IN_TURNS: &str =
    "model: no dpdk-scalar: it stops forwarding when the card works only at \
                            its doorbells";

impl Backend for Model {
    fn name(&self) -> BackendName {
        BackendName::Model
    }

    fn unavailable(&self) -> Option<String> {
        #[cfg(not(target_arch = "x86_64"))]
        return Some(OTHER_PROCESSOR.to_owned());
        #[cfg(target_arch = "x86_64")]
        self.nic.unavailable()
    }

    fn estimate(&self, _cell: &Cell) -> Duration {
        Duration::from_secs(3)
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        self.processors.settings()
    }

    fn measure(&mut self, cells: &[Cell], observer: &mut dyn Observer) -> Result<(), MeasureError> {
        let this = &*self;
        let (cells, left_out): (Vec<Cell>, Vec<Cell>) = cells
            .iter()
            .cloned()
            .partition(|cell| cell.implementation != Implementation::DpdkScalar);
        if !left_out.is_empty() {
            observer.warning(NOT_IN_TURNS);
        }
        let workers = this.placement.cpus().len();
        measure_side_by_side(this.name(), &cells, workers, observer, |cell, worker| {
            this.measure_cell(cell, worker)
        })
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    #[test]
    fn a_missing_nic_makes_the_backend_unavailable() {
        let model = Model {
            nic: NicProgram::new("/nonexistent/nic".into()),
            placement: Placement::default(),
            processors: Processors::default(),
            interrupt: Interrupt::new(),
        };
        assert!(model.unavailable().unwrap().contains("/nonexistent/nic"));
    }
}
