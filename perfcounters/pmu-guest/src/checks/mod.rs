//! The checks. Each runs the collector's own code on loops of known length, and fails with a reason.

mod choice;
mod counting;
mod sharing;
mod worker;

use anyhow::Result;

use crate::environment::Environment;

pub use choice::DETECT;

/// Runs in the guest.
pub type Check = fn(&Environment) -> Result<()>;

/// All checks with their names.
pub const CHECKS: [(&str, Check); 12] = [
    (
        "the-processor-is-described",
        choice::the_processor_is_described,
    ),
    ("events-are-chosen", choice::events_are_chosen),
    (
        "an-event-that-is-not-implemented-is-absent",
        choice::not_implemented,
    ),
    ("forbidden-counters-name-the-remedy", choice::forbidden),
    ("known-loops-count-exactly", counting::known_loops),
    ("the-kernel-is-not-counted", counting::kernel_excluded),
    ("a-group-that-does-not-fit-is-split", sharing::split),
    ("a-pass-with-held-counters-is-halved", sharing::halved),
    ("an-event-without-a-counter-is-absent", sharing::absent),
    ("a-shared-counter-is-scaled", sharing::scaled),
    ("the-worker-counts-per-packet", worker::per_packet),
    ("the-worker-warms-up-outside-the-windows", worker::warm_up),
];
