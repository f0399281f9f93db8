//! Measures the builds of a comparison with its backends.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use perfcounters::device::NicProgram;
use perfcounters::lockstep::Lockstep;
use perfcounters::trace::Trace;
use perfcounters::valgrind::Valgrind;
use perfcounters::{Backend, Cell, Interrupt};
use record::{BackendName, LinePlacement, Placement};

use super::plan::Comparison;
use crate::measure::run::peers::measurable;
use crate::measure::run::recorder::Recorder;
use crate::progress::Progress;
use crate::usage::WorkerKind;

/// How builds are measured.
#[derive(Debug)]
pub(super) struct Measurement<'a> {
    /// The folder with the software NIC.
    pub build: &'a Path,
    /// The backends and their settings.
    pub comparison: &'a Comparison,
    /// Stops a measurement.
    pub interrupt: &'a Interrupt,
}

impl Measurement<'_> {
    fn nic(&self) -> NicProgram {
        NicProgram::new(self.build.join("bin/nic"))
    }

    fn backend(&self, name: BackendName, placement: &Placement) -> Result<Box<dyn Backend>> {
        let interrupt = self.interrupt.clone();
        Ok(match name {
            BackendName::Trace => Box::new(Trace {
                nic: self.nic(),
                placement: placement.clone(),
                cpus: Vec::new(),
                interrupt,
            }),
            BackendName::Lockstep => Box::new(Lockstep {
                worker: WorkerKind::Lockstep.command()?,
                processes: self.comparison.lockstep.processes,
                rounds: self.comparison.lockstep.rounds,
                placements: vec![LinePlacement::Memory],
                interrupt,
            }),
            _ => Box::new(Valgrind {
                nic: self.nic(),
                packets: self.comparison.valgrind.packets.into(),
                repeats: self.comparison.valgrind.repeats,
                interrupt,
            }),
        })
    }

    /// Measures the cells with each backend.
    ///
    /// # Errors
    /// If the user asks to stop, or the record cannot be written.
    pub fn measure(&self, cells: &[Cell], recorder: &mut Recorder) -> Result<()> {
        let placement = recorder.folder.record.placement.clone();
        let names = self.comparison.backends.iter();
        let backends: Vec<Box<dyn Backend>> = names
            .map(|name| self.backend(*name, &placement))
            .collect::<Result<_>>()?;
        let time = |backend: &dyn Backend| -> Duration {
            let repeats = u32::try_from(backend.repeats().len()).unwrap_or(u32::MAX);
            let estimates = cells.iter().map(|cell| backend.estimate(cell) * repeats);
            estimates.sum()
        };
        recorder.progress =
            Progress::new(backends.iter().map(|backend| time(backend.as_ref())).sum());
        for mut backend in backends {
            recorder.note_settings(backend.as_ref());
            if let Some(why) = backend.unavailable() {
                recorder.not_measurable(backend.name(), &why);
                continue;
            }
            recorder.estimate = time(backend.as_ref());
            let cells = cells
                .iter()
                .flat_map(|cell| backend.cells_of(cell))
                .collect();
            let cells = measurable(backend.as_ref(), cells, recorder);
            backend.measure(&cells, recorder)?;
            recorder.folder.save()?;
        }
        Ok(())
    }
}
