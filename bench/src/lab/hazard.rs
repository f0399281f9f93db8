//! The recording of a hazard: the frames around it, and the evidence.

use anyhow::{Context, Result};
use perfcounters::Interrupt;
use safety_lab::builds::Externs;
use safety_lab::catalogue::Hazard;
use safety_lab::outcome::{AtFault, DriverBuild, Outcome};
use safety_lab::results::Case;

use super::format::{Evidence, Recording, Step};
use super::recorder::{Plan, Recorder};
use super::recording::{empty, words};
use crate::usage::UsageError;

/// Most steps.
const MOST: usize = 600;
/// Frames that pass before the recording of a driver's own mistake begins: the mistake is there from the start. Of others,
/// the recording begins with the hazard.
const BEFORE_MISTAKE: u64 = 30;

/// The hazard of this name.
pub fn find<'h>(hazards: &'h [Hazard], id: &str) -> Result<&'h Hazard, UsageError> {
    let found = hazards.iter().find(|hazard| hazard.id == id);
    found.ok_or_else(|| {
        let ids: Vec<_> = hazards.iter().map(|hazard| hazard.id.as_str()).collect();
        UsageError(format!(
            "there is no hazard {id}; choose one of: {}",
            ids.join(", ")
        ))
    })
}

/// Provokes a hazard with a driver and records it.
pub fn record(
    hazard: &Hazard,
    driver: DriverBuild,
    externs: &Externs,
    interrupt: &Interrupt,
) -> Result<Recording> {
    let quiet = match hazard.at_fault {
        AtFault::Driver => BEFORE_MISTAKE,
        _ => u64::MAX,
    };
    let plan = Plan {
        quiet,
        most: MOST,
        starting: false,
    };
    let mut recorder = None;
    let case = Case::watched(hazard, driver, externs, |program, testbed| {
        let watching =
            Recorder::attach(program, testbed.process(), testbed.ports(), plan, interrupt)?;
        testbed.take_turns(Box::new(watching.clone()));
        recorder = Some(watching);
        Ok(())
    });
    // A driver that the recorder had to kill explains all that follows.
    let error = recorder
        .as_ref()
        .and_then(|recorder| recorder.seen().error.take());
    error.map_or(Ok(()), Err)?;
    let (recorded, agrees) = (case.recorded().to_owned(), case.agrees());
    let (outcome, text) = case
        .seen
        .with_context(|| format!("{}, {driver}", hazard.id))?;
    let mut recording = Recording {
        id: format!("{}-{driver}", hazard.id),
        title: format!("{}, in {}", hazard.title, words(driver)),
        kind: "hazard",
        hazard: Some(hazard.id.clone()),
        ..empty(driver)?
    };
    if let Some(recorder) = recorder {
        let mut seen = recorder.seen();
        recording.code = seen.code();
        recording.points = seen.points.clone();
        recording.steps = std::mem::take(&mut seen.steps);
    }
    let [noticed, wrong] = who_noticed(outcome);
    recording.steps.push(Step {
        actor: "lab",
        point: "lab.end",
        text: format!("The outcome: {outcome}"),
        note: Some(text.clone()),
        ..Step::default()
    });
    recording.evidence = Some(Evidence {
        outcome: outcome.to_string(),
        recorded,
        agrees,
        text,
        title: hazard.title.clone(),
        cwe: hazard.cwe,
        provocation: hazard.provocation.clone(),
        why: hazard.why.get(&driver).cloned(),
        noticed,
        wrong,
    });
    Ok(recording)
}

/// Who noticed the hazard, and what stays wrong. Both follow from the outcome.
fn who_noticed(outcome: Outcome) -> [Vec<&'static str>; 2] {
    let (noticed, wrong) = match outcome {
        Outcome::DoesNotCompile => ("the compiler, before the program ran", ""),
        Outcome::Hang => ("", "the program does not end"),
        Outcome::Trap => (
            "the processor, a sanitizer or a check of the language: the program ended",
            "the program has ended",
        ),
        Outcome::Corruption => ("", "memory has other contents, and the program goes on"),
        Outcome::Disclosure => ("", "bytes of other memory have left on the wire"),
        Outcome::Error => (
            "the driver, which returned an error",
            "the program has ended",
        ),
        Outcome::Leak => ("", "buffers are missing for as long as the program runs"),
        Outcome::Stall => ("", "no packet gets through any more"),
        Outcome::Iommu => ("the IOMMU, which refused the access", ""),
        Outcome::WrongPacket => ("", "a wrong packet has left on the wire"),
        Outcome::Loss => ("", "packets are lost, and no counter shows it"),
        Outcome::CountedDrop => ("a counter of driver or card", "the packets are lost"),
        Outcome::NoEffect => ("", ""),
    };
    [noticed, wrong].map(|what| {
        Some(what)
            .filter(|what| !what.is_empty())
            .into_iter()
            .collect()
    })
}
