//! The signals that this process passes on to the program.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::signal::Signal;
use signal_hook::consts::signal::*;
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

/// The signals that are passed on.
const FORWARDED: [i32; 9] = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGUSR1, SIGUSR2,
];

/// Catches the signals that are passed on, and those of children.
pub(super) struct Signals(SignalDelivery<UnixStream, SignalOnly>);

impl Signals {
    /// Begins to catch. Signals that this process ignores, for instance below `nohup`, stay ignored here and in the
    /// program.
    pub(super) fn catch() -> std::io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        let forwarded = FORWARDED.into_iter().filter(|signal| !is_ignored(*signal));
        let caught = forwarded.chain([SIGCHLD]);
        SignalDelivery::with_pipe(read, write, SignalOnly, caught).map(Self)
    }

    /// Waits for a signal, at most until `deadline`.
    pub(super) fn wait(&mut self, deadline: Option<Instant>) {
        let timeout = deadline.map_or(PollTimeout::NONE, |at| {
            let left = at.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
            PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
        });
        // An error such as EINTR means that there may be a signal.
        let _ = poll(
            &mut [PollFd::new(self.0.get_read().as_fd(), PollFlags::POLLIN)],
            timeout,
        );
    }

    /// The signals for the program that have arrived.
    pub(super) fn arrived(&mut self) -> Vec<Signal> {
        let signals = self
            .0
            .pending()
            .filter_map(|number| Signal::try_from(number).ok());
        signals
            .filter(|signal| *signal != Signal::SIGCHLD)
            .collect()
    }
}

/// Whether this process ignores a signal.
pub(super) fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.unwrap_or_default() & (1 << (signal - 1)) != 0
}
