//! The signals that reach the program through this process.

use std::io::Write;
use std::os::unix::net::UnixStream;

use nix::sys::signal::Signal;
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
    let ignored = ignored();
    Signals::new(
        FORWARDED
            .iter()
            .filter(|signal| ignored & (1 << (**signal as u32 - 1)) == 0)
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
