//! The clock of the processor's cores: fixed for a run, checked, and set back afterwards.
//!
//! `clocks.sh` writes the kernel's files and keeps a note of the earlier settings. [`holder`] ties it to the
//! life of a run. [`core_clock`] measures the clock that a core really has.

use std::path::Path;
use std::process::Command;

pub mod cli;
pub(crate) mod core_clock;
pub(crate) mod holder;

/// The script, for an action and a clock in GHz, if the action needs one. `root` is `/` except in tests.
fn script(action: &str, root: &Path, ghz: &str) -> Command {
    let sudo = action == "hold" && needs_sudo(root);
    let mut command = Command::new(if sudo { "sudo" } else { "sh" });
    if sudo {
        command.args(["-n", "sh"]);
    }
    command.args(["-c", include_str!("clocks.sh"), "clocks.sh", action]);
    command.arg(root).arg(ghz);
    command
}

/// Whether the clocks below this root need sudo. A simulated machine does not.
pub(crate) fn needs_sudo(root: &Path) -> bool {
    root == Path::new("/") && !rustix::process::geteuid().is_root()
}

/// Whether a run or `clocks set` has changed the settings, by its note of the earlier ones.
pub(crate) fn is_changed(root: &Path) -> bool {
    root.join("run/triptych-clocks").exists()
}
