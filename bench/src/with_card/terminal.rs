//! The terminal of the command, if it has one. Ctrl-C and Ctrl-Z go to the process group in its foreground.

use std::fs::File;

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{getpgrp, tcgetpgrp, tcsetpgrp, Pid};

/// The controlling terminal.
pub(super) struct Terminal(File);

impl Terminal {
    /// The terminal of this process; `None` without one.
    pub(super) fn open() -> Option<Self> {
        File::open("/dev/tty").ok().map(Self)
    }

    /// Whether a process group is in the foreground.
    pub(super) fn shows(&self, group: Pid) -> bool {
        tcgetpgrp(&self.0) == Ok(group)
    }

    /// Puts the program into the foreground, if this process's group is there.
    pub(super) fn give(&self, program: Pid) {
        self.pass(getpgrp(), program);
    }

    /// Puts this process's group into the foreground, if the program is there.
    pub(super) fn take_back(&self, program: Pid) {
        self.pass(program, getpgrp());
    }

    fn pass(&self, from: Pid, to: Pid) {
        if self.shows(from) {
            // SIGTTOU would stop a process in the background that changes the foreground.
            let mut blocked = SigSet::empty();
            blocked.add(Signal::SIGTTOU);
            let _ = blocked.thread_block();
            let _ = tcsetpgrp(&self.0, to);
            let _ = blocked.thread_unblock();
        }
    }
}
