//! One process of a driver beside a card that times bursts.

use std::process::Stdio;
use std::time::Duration;

use nic::TimedBurst;
use record::{LinePlacement, Placement};
use serde::Deserialize;

use crate::backend::{Cell, MeasureError};
use crate::device::{BurstSetup, Nic, NicProgram, NicSetup, Traffic};
use crate::files;
use crate::interrupt::Interrupt;
use crate::peer::{self, card::CardCounts};
use crate::process::Process;
use crate::temporary::TemporaryFolder;

/// Time within which all bursts must be timed. It is many times the usual duration: a machine with other
/// work on both processors is slow.
const LIMIT: Duration = Duration::from_secs(180);
/// Time within which the driver must end after SIGTERM.
const STOP: Duration = Duration::from_secs(30);

/// The bursts of one round at one placement.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Block {
    pub round: u32,
    pub placement: LinePlacement,
    pub bursts: Vec<TimedBurst>,
}

/// The part of the card's report that is used.
#[derive(Debug, Deserialize)]
struct Report {
    bursts: Bursts,
}

#[derive(Debug, Deserialize)]
struct Bursts {
    done: bool,
    blocks: Vec<Block>,
}

/// A process to measure.
pub(super) struct BurstRun<'a> {
    pub cell: &'a Cell,
    pub nic: &'a NicProgram,
    pub bursts: BurstSetup,
    pub placement: &'a Placement,
    pub interrupt: &'a Interrupt,
}

impl BurstRun<'_> {
    /// Runs the driver beside a card until the card has timed all bursts.
    /// Fails if the card finds wrong frames.
    pub fn run(&self) -> Result<Vec<Block>, MeasureError> {
        let folder = TemporaryFolder::create()?;
        let setup = NicSetup {
            frame_size: self.cell.conditions.frame_size,
            expect: self.cell.peer.as_ref().map(|peer| peer.expect.clone()),
            bursts: Some(self.bursts.clone()),
            ..NicSetup::new(Traffic::Off, self.placement.nic)
        };
        let mut nic = Nic::start(self.nic, &setup, folder.path(), self.interrupt)?;
        let mut driver = Process::start_with(
            &self.cell.implementation.to_string(),
            peer::command(self.cell, &nic, self.placement.driver),
            (self.placement.driver, None),
            folder.path(),
            (Stdio::piped(), Stdio::null()),
        )?;
        nic.wait_for_bursts(LIMIT, self.interrupt, || driver.check_running())?;
        driver.stop(STOP)?;
        blocks(&files::read(&nic.stop()?)?)
    }
}

/// The blocks in a card's report.
fn blocks(report: &str) -> Result<Vec<Block>, MeasureError> {
    CardCounts::parse(report)?.check()?;
    let malformed = |error| format!("the card's report is malformed: {error}");
    let report: Report = serde_json::from_str(report).map_err(malformed)?;
    match report.bursts.done {
        true => Ok(report.bursts.blocks),
        false => Err("not all bursts are timed".to_owned().into()),
    }
}
