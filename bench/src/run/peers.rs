//! The peers of a run: which backends measure them, whether they forward correctly, and which are missing.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use anyhow::Result;
use perfcounters::device::NicProgram;
use perfcounters::peer::verification::verify;
use perfcounters::{Backend, Cell, Interrupt, MeasureError, Observer};
use record::{Placement, RunRecord};

use super::recorder::Recorder;

/// The setting of a backend that says why it measures no peers.
const NOT_MEASURABLE: &str = "peers_not_measurable";

/// The cells that a backend can measure: without peers, if it cannot measure them. The record has the
/// reason.
pub fn measurable(
    backend: &dyn Backend,
    mut cells: Vec<Cell>,
    recorder: &mut Recorder,
) -> Vec<Cell> {
    let peers = cells.iter().filter(|cell| cell.peer.is_some()).count();
    let Some(why) = backend.unavailable_for_peers().filter(|_| peers > 0) else {
        return cells;
    };
    let name = backend.name();
    if peers == cells.len() {
        recorder.not_measurable(name, &why);
    } else {
        recorder.progress.say(&format!("{name}: no peers: {why}"));
    }
    recorder.setting(name, NOT_MEASURABLE, why.into());
    cells.retain(|cell| cell.peer.is_none());
    cells
}

/// The peers that a run has not measured at all or not everywhere, one line for each reason.
pub fn missing(record: &RunRecord) -> Vec<String> {
    let absent = record.skipped_peers.iter();
    let absent = absent.map(|peer| (peer.implementation, &peer.variant, &peer.reason));
    let failed = record.failures.iter().map(|failure| {
        let series = &failure.series;
        (series.implementation, &series.variant, &failure.cause)
    });
    let mut reasons: Vec<(&String, BTreeSet<String>)> = Vec::new();
    for (peer, variant, reason) in absent.chain(failed.filter(|failed| failed.0.is_peer())) {
        let name = format!("{peer}/{variant}");
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => drop(names.insert(name)),
            None => reasons.push((reason, BTreeSet::from([name]))),
        }
    }
    let line = |(reason, names): (&String, BTreeSet<String>)| {
        let names: Vec<_> = names.into_iter().collect();
        format!("{}: {reason}", names.join(", "))
    };
    reasons.into_iter().map(line).collect()
}

/// Verifies each program of a peer once, before its first measurement.
pub struct Verifier<'a> {
    nic: NicProgram,
    placement: &'a Placement,
    interrupt: &'a Interrupt,
    /// The verified programs and frame sizes, each with what is wrong.
    results: HashMap<(PathBuf, Vec<String>, u32), Option<String>>,
}

impl<'a> Verifier<'a> {
    /// Nothing is verified yet.
    pub fn new(nic: NicProgram, placement: &'a Placement, interrupt: &'a Interrupt) -> Self {
        Self {
            nic,
            placement,
            interrupt,
            results: HashMap::new(),
        }
    }

    /// The cells whose drivers forward correctly. Records a failure for the others, which get no figure.
    /// Cells that the record has already are not verified again.
    ///
    /// # Errors
    /// If the user asks to stop.
    pub fn correct(
        &mut self,
        backend: &dyn Backend,
        cells: Vec<Cell>,
        recorder: &mut Recorder,
    ) -> Result<Vec<Cell>, MeasureError> {
        let name = backend.name();
        let mut correct = Vec::new();
        for cell in cells {
            let wanted = |repeat: &u32| recorder.wanted(&cell, name, *repeat);
            if cell.peer.is_some() && backend.repeats().iter().any(wanted) {
                if let Some(why) = self.verify(&cell, recorder)? {
                    recorder.failure(cell.failure(name, &why));
                    continue;
                }
            }
            correct.push(cell);
        }
        Ok(correct)
    }

    /// What is wrong with the program of a cell.
    fn verify(&mut self, cell: &Cell, recorder: &Recorder) -> Result<Option<String>, MeasureError> {
        let arguments = cell.peer.as_ref().map(|peer| peer.arguments.clone());
        let key = (
            cell.program.clone(),
            arguments.unwrap_or_default(),
            cell.conditions.frame_size,
        );
        if let Some(known) = self.results.get(&key) {
            return Ok(known.clone());
        }
        recorder.progress.say(&format!("verifying {cell}"));
        let wrong = match verify(cell, &self.nic, self.placement, self.interrupt) {
            Ok(()) => None,
            Err(error) if error.ends_the_run() => return Err(error),
            Err(error) => Some(format!(
                "not measured, because its frames are not verified: {error}"
            )),
        };
        self.results.insert(key, wrong.clone());
        Ok(wrong)
    }
}
