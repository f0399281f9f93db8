//! The terminal of the command, if it has one. Ctrl-C and Ctrl-Z go to the process group in its
//! foreground.

use std::fs::File;

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{getpgid, getppid, tcgetpgrp, tcsetpgrp, Pid};

/// The controlling terminal.
#[derive(Debug)]
pub struct Terminal {
    file: File,
    /// The process group of the process that the user started.
    parent: Pid,
}

impl Terminal {
    /// The terminal that this process shares with its parent; `None` without one.
    pub fn of_parent() -> Option<Self> {
        let file = File::open("/dev/tty").ok()?;
        let parent = getpgid(Some(getppid())).ok()?;
        // This process is in the background. SIGTTOU would stop it when it changes the foreground.
        let mut blocked = SigSet::empty();
        blocked.add(Signal::SIGTTOU);
        blocked.thread_block().ok()?;
        Some(Self { file, parent })
    }

    /// Whether the parent's process group is in the foreground.
    pub fn is_parents(&self) -> bool {
        tcgetpgrp(&self.file) == Ok(self.parent)
    }

    /// Puts the program into the foreground, if the parent is there.
    pub fn give(&self, program: Pid) {
        if self.is_parents() {
            let _ = tcsetpgrp(&self.file, program);
        }
    }

    /// Puts the parent into the foreground, if the program is there.
    pub fn take_back(&self, program: Pid) {
        if tcgetpgrp(&self.file) == Ok(program) {
            let _ = tcsetpgrp(&self.file, self.parent);
        }
    }
}
