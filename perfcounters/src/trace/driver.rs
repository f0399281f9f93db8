//! A cell's driver under the tracer, beside a software card in turns.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use caches::stream::Stream;
use record::Placement;
use tracer::{trace, Launch, Plan, TraceError};

use crate::backend::{Cell, MeasureError};
use crate::device::{Nic, NicProgram};
use crate::interrupt::Interrupt;
use crate::load::Place;
use crate::peer::{self, card::Control};
use crate::process::ProcessError;
use crate::temporary::TemporaryFolder;

/// Longest time of each step of a trace: a few seconds on an idle machine.
const LIMIT: Duration = Duration::from_secs(180);
/// Where programs that the driver starts are found.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Starts a card and the driver of a cell, ours or a peer, and records what the driver executes with full
/// batches. Driver and card take turns on `cpu`, or on any. Both have ended when this returns.
/// Fails if the card found wrong frames.
pub(super) fn record(
    program: &NicProgram,
    cpu: Option<usize>,
    cell: &Cell,
    interrupt: &Interrupt,
) -> Result<Stream, MeasureError> {
    let folder = TemporaryFolder::create()?;
    let placement = Placement {
        nic: cpu,
        ..Placement::default()
    };
    let place = Place {
        placement: &placement,
        folder: folder.path(),
        interrupt,
    };
    let nic = Nic::start(program, cell, &place, &["--traffic", "saturate", "--turns"])?;
    let command = peer::command(cell, &nic, cpu);
    let launch = Launch {
        command: std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(OsString::from)
            .collect(),
        driver: cell.program.clone(),
        environment: environment(&command),
        folder: folder.path().to_owned(),
        control: nic.control(),
        cpu,
        limit: LIMIT,
        interrupt: interrupt.flag(),
    };
    let stream = trace(&launch, &Plan::default()).map_err(|error| match error {
        TraceError::Interrupted => MeasureError::Process(ProcessError::Interrupted),
        other => MeasureError::Other(other.to_string()),
    })?;
    let counts = Control::connect(&nic.control())?.counts()?;
    nic.stop()?;
    counts.check()?;
    Ok(stream)
}

/// The variables that a command sets itself, and those that every program needs. Others would change
/// addresses from machine to machine.
fn environment(command: &Command) -> BTreeMap<OsString, OsString> {
    let mut all = BTreeMap::from([("PATH".into(), PATH.into())]);
    // `triptych` finds its cache there, and a user namespace its folder.
    for name in ["HOME", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            all.insert(name.into(), value);
        }
    }
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            all.insert(name.to_owned(), value.to_owned());
        }
    }
    all
}
