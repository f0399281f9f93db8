//! Exact counts of what a driver executes, and a simulation of a named processor's caches and branch
//! predictor, the same in every run, to the digit.
//!
//! Driver and software card work in turns ([`tracer`]), so batches are always as full as asked for, and
//! every executed instruction is known. The counts need nothing else. Levels and mispredictions come from
//! the crate [`caches`], which executes the recording on the processors of its CPU files, with the card's
//! writes in memory and in L3. No clock is in any value.

#[cfg(target_arch = "x86_64")]
mod measure;

use std::collections::BTreeMap;
use std::time::Duration;

use caches::cpu::Cpu;
use record::{BackendName, Implementation, Placement, Sample};
use serde_json::json;

use crate::backend::{measure_side_by_side, Backend, Cell, MeasureError, Observer};
use crate::device::NicProgram;
use crate::interrupt::Interrupt;

/// The backend `trace` and its settings.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The software NIC.
    pub nic: NicProgram,
    /// The CPUs of driver and NIC. Each of them traces one cell at a time: driver and NIC never run at
    /// the same time, so they share a CPU.
    pub placement: Placement,
    /// The processors to simulate. Without any, the backend only counts.
    pub cpus: Vec<Cpu>,
    /// Stops a measurement when set.
    pub interrupt: Interrupt,
}

/// The reason why another processor cannot trace.
const OTHER_PROCESSOR: &str = "the tracer decodes instructions of x86-64 only";
/// Why one peer is left out.
const NOT_IN_TURNS: &str =
    "trace: no dpdk-scalar: it stops forwarding when the card works only at its doorbells";

impl Trace {
    /// The counts of a cell, and the values on each processor to simulate.
    #[cfg(target_arch = "x86_64")]
    fn measure_cell(&self, cell: &Cell, worker: usize) -> Result<Vec<Sample>, MeasureError> {
        let cpu = self.placement.cpus().get(worker).copied();
        let stream = measure::record(&self.nic, cpu, cell, &self.interrupt)?;
        let mut samples = measure::counts(cell, &tracer::Counts::of(&stream));
        for cpu in &self.cpus {
            samples.extend(measure::simulated(cell, cpu, &stream));
        }
        Ok(samples)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn measure_cell(&self, _: &Cell, _: usize) -> Result<Vec<Sample>, MeasureError> {
        Err(OTHER_PROCESSOR.to_owned().into())
    }
}

impl Backend for Trace {
    fn name(&self) -> BackendName {
        BackendName::Trace
    }

    fn unavailable(&self) -> Option<String> {
        match cfg!(target_arch = "x86_64") {
            true => self.nic.unavailable(),
            false => Some(OTHER_PROCESSOR.to_owned()),
        }
    }

    fn estimate(&self, _cell: &Cell) -> Duration {
        Duration::from_secs(6)
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        let names: Vec<_> = self.cpus.iter().map(|cpu| &cpu.name).collect();
        BTreeMap::from([("cpus".to_owned(), json!(names))])
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
