//! The perf backend on a PMU that every machine can have: that of an emulated Arm processor.
//!
//! The program `pmu-checks` runs the [`CHECKS`] in the guest. Each runs the collector's own code on
//! loops of known length, and fails with a reason. The test `tests/pmu.rs` boots each [`Machine`] on the
//! host. Errors are [`anyhow::Error`]: only the reader of a failed test handles them.

mod choice;
mod counting;
mod environment;
mod worker;

use anyhow::Result;

pub use choice::DETECT;
pub use environment::{Environment, Machine};

/// The guest's last line if all checks hold.
pub const ALL_HOLD: &str = "all checks hold";

type Check = fn(&Environment) -> Result<()>;

/// All checks with their names.
pub const CHECKS: [(&str, Check); 12] = [
    ("the processor is described", choice::described),
    ("events are chosen", choice::chosen),
    (
        "events that do not exist are absent",
        choice::not_implemented,
    ),
    ("forbidden counters name the remedy", choice::forbidden),
    ("known loops count exactly", counting::known_loops),
    ("the kernel is not counted", counting::kernel_excluded),
    ("a group that does not fit is split", counting::split),
    ("a pass with held counters is halved", counting::halved),
    ("an event without a counter is absent", counting::absent),
    ("a shared counter is scaled", counting::scaled),
    ("the worker counts per packet", worker::per_packet),
    ("the warm-up is outside the windows", worker::warm_up),
];
