//! One process of a driver beside a card that times bursts.

use std::process::{Command, Stdio};
use std::time::Duration;

use nic::TimedBurst;
use record::{LinePlacement, Placement};
use serde::Deserialize;

use crate::backend::{Cell, MeasureError};
use crate::device::{BurstSetup, Nic, NicProgram, NicSetup, Traffic};
use crate::interrupt::Interrupt;
use crate::peer::card::CardCounts;
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
    ///
    /// # Errors
    /// If driver or card fail, or the card finds wrong frames.
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
            self.command(&nic),
            (self.placement.driver, None),
            folder.path(),
            (Stdio::piped(), Stdio::null()),
        )?;
        nic.wait_for_bursts(LIMIT, self.interrupt, || driver.check_running())?;
        driver.stop(STOP)?;
        let path = nic.stop()?;
        let text =
            std::fs::read_to_string(&path).map_err(|cause| MeasureError::File { path, cause })?;
        blocks(&text)
    }

    fn command(&self, nic: &Nic) -> Command {
        let Cell {
            program,
            conditions,
            peer,
            ..
        } = self.cell;
        if let Some(peer) = peer {
            return peer.command(program, nic.sockets(), self.placement.driver);
        }
        let mut command = Command::new(program);
        command
            .args(["--batch", &conditions.batch.to_string()])
            .args(["--ring-size", &conditions.ring_size.to_string()])
            .args(nic.devices());
        command
    }
}

/// The blocks in a card's report.
fn blocks(report: &str) -> Result<Vec<Block>, MeasureError> {
    if let Some(why) = CardCounts::parse(report)?.wrong_frames() {
        return Err(MeasureError::Other(why));
    }
    let malformed = |why: String| MeasureError::Other(format!("the card's report: {why}"));
    let report: Report =
        serde_json::from_str(report).map_err(|error| malformed(error.to_string()))?;
    match report.bursts.done {
        true => Ok(report.bursts.blocks),
        false => Err(malformed("not all bursts are timed".to_owned())),
    }
}
