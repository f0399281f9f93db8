//! The recording of the tour: a driver starts, and forwards frames until both rings have gone round.

use std::path::Path;

use anyhow::{bail, Result};
use perfcounters::Interrupt;
use rustix::process::Signal;
use safety_lab::testbed::{Testbed, FRAME};

use super::format::Step;
use super::recorder::{Plan, Recorder};

/// The step of the tour that a kind of step begins.
const TOUR: [(&str, u8); 10] = [
    ("wire.arrives", 1),
    ("pool.take", 2),
    ("rx.refill_address", 3),
    ("rx.status", 4),
    ("application.touch", 5),
    ("tx.address", 6),
    ("tx.TDT", 7),
    ("device.writes_back_tx", 8),
    ("start.fill", 9),
    ("start.RDT", 10),
];
/// Frames of the shortest batch, and of the whole recording: a ring has 64 descriptors.
const FEW: u32 = 4;
const FRAMES: u32 = 68;
/// More than the recording has.
const MOST: usize = 20_000;

/// Records a driver's program. `batch` frames arrive at once, after the first four.
pub fn record(program: &Path, batch: u32, interrupt: &Interrupt) -> Result<(Vec<Step>, Recorder)> {
    let mut testbed = Testbed::start_stopped(program)?;
    let mut plan = Plan {
        quiet: 0,
        most: MOST,
        starting: true,
    };
    let (pid, ports) = (testbed.process(), testbed.ports().to_vec());
    let first = Recorder::attach(program, pid, &ports, plan, interrupt)?;
    first.seen().start(pid, || {
        testbed.poll();
    })?;
    first.seen().release();
    let mut steps = std::mem::take(&mut first.seen().steps);
    if !testbed.wait_until_running()? {
        let (_, why) = testbed.stop()?.outcome();
        bail!("the driver does not start: {why}");
    }
    plan.starting = false;
    let recorder = Recorder::attach(program, pid, &ports, plan, interrupt)?;
    recorder.take_over(&first);
    testbed.take_turns(Box::new(recorder.clone()));
    let mut left = FRAMES;
    let mut next = FEW.min(batch);
    while left > 0 {
        // The frames of a batch arrive one by one, and then the driver gets its turn.
        testbed.signal(Signal::STOP)?;
        for _ in 0..next {
            testbed.inject(1, FRAME)?;
            testbed.poll();
        }
        testbed.signal(Signal::CONT)?;
        testbed.poll();
        // The card sends what the driver has handed over.
        testbed.poll();
        left -= next;
        next = batch.min(left);
    }
    let error = recorder.seen().error.take();
    error.map_or(Ok(()), Err)?;
    steps.append(&mut recorder.seen().steps);
    let ended = testbed.stop()?;
    if !ended.end.is_some_and(|status| status.success()) {
        let (outcome, why) = ended.outcome();
        let text = format!("The driver does not end as it should: {outcome}");
        steps.push(Step {
            note: Some(why),
            ..Step::by("lab", "lab.end", text)
        });
    }
    // A driver with a mistake may lack some.
    for (point, number) in TOUR {
        if let Some(first) = steps.iter_mut().find(|step| step.point == point) {
            first.tour = Some(number);
        }
    }
    Ok((steps, recorder))
}
