//! The signals that reach the program through this process.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::signal::Signal;
use rustix::process::{getppid, pidfd_open, PidfdFlags};
use signal_hook::iterator::Signals;

/// The signals that are passed on.
const FORWARDED: [Signal; 9] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGTSTP,
    Signal::SIGCONT,
    Signal::SIGWINCH,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// Catches the signals that are passed on. Those that this process ignores, for instance below
/// `nohup`, stay ignored here and in the program.
///
/// # Errors
/// The system refuses a handler.
pub fn forwarded() -> std::io::Result<Signals> {
    Signals::new(
        FORWARDED
            .iter()
            .filter(|signal| !is_ignored(**signal))
            .map(|signal| *signal as i32),
    )
}

/// Sends the number of each signal to the guard, from a thread that lives as long as the process.
pub fn forward(mut signals: Signals, mut control: UnixStream) {
    std::thread::spawn(move || {
        for signal in signals.forever() {
            let number = u8::try_from(signal).unwrap_or_default();
            if control.write_all(&[number]).is_err() {
                return; // The guard has ended, and this process ends soon.
            }
        }
    });
}

/// Sends SIGTERM to the guard when the process that started this one has ended, if Ctrl-C cannot end this
/// one. A script starts its background jobs so: they ignore SIGINT and would outlive its end by Ctrl-C.
/// A job below `nohup` is meant to go on.
///
/// # Errors
/// The system refuses to watch the process.
pub fn end_with_the_script(mut control: UnixStream, say: fn(&str)) -> std::io::Result<()> {
    if !is_ignored(Signal::SIGINT) || is_ignored(Signal::SIGHUP) {
        return Ok(());
    }
    let Some(parent) = getppid() else {
        return Ok(()); // It is in another PID namespace.
    };
    let script = pidfd_open(parent, PidfdFlags::empty())?;
    std::thread::spawn(move || {
        let mut fds = [PollFd::new(script.as_fd(), PollFlags::POLLIN)];
        while poll(&mut fds, PollTimeout::NONE) != Ok(1) {}
        say(
            "the script that started this in the background has ended, so the program ends; `nohup` lets \
             it go on",
        );
        let _ = control.write_all(&[Signal::SIGTERM as u8]);
    });
    Ok(())
}

fn is_ignored(signal: Signal) -> bool {
    ignored() & (1 << (signal as u32 - 1)) != 0
}

/// The set of ignored signals: bit N-1 stands for signal N.
fn ignored() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("SigIgn:"))?;
            u64::from_str_radix(line.trim(), 16).ok()
        })
        .unwrap_or_default()
}
