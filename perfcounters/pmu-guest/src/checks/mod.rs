//! The checks. Each runs the collector's own code on loops of known length, and fails with a reason.

mod choice;
mod counting;
mod worker;

use anyhow::Result;

use crate::environment::Environment;

pub use choice::DETECT;

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
