//! Messages on standard error. They need no memory, so that signal handlers can write them.

use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sys;

/// Longest message in bytes. The rest of a longer one is cut off.
const LONGEST: usize = 400;

/// Whether messages about each request are wanted.
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Turns on the messages of [`trace`].
pub(crate) fn set_verbose(verbose: bool) {
    VERBOSE.store(verbose, Ordering::Relaxed);
}

/// Writes a line: what the program's user must know.
pub(crate) fn warn(message: fmt::Arguments<'_>) {
    let mut line = [b'\n'; LONGEST];
    // The last byte is for the end of the line.
    let mut rest = &mut line[..LONGEST - 1];
    let _ = rest.write_all(b"triptych bridge: ");
    let _ = rest.write_fmt(message);
    let len = LONGEST - rest.len();
    sys::write_out(libc::STDERR_FILENO, &line[..len]);
}

/// Writes a line about a single request, with TRIPTYCH_BRIDGE_TRACE=1.
pub(crate) fn trace(message: fmt::Arguments<'_>) {
    if VERBOSE.load(Ordering::Relaxed) {
        warn(message);
    }
}

/// Writes a line the first time only.
pub(crate) fn warn_once(said: &AtomicBool, message: fmt::Arguments<'_>) {
    if !said.swap(true, Ordering::Relaxed) {
        warn(message);
    }
}
