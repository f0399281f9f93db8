//! Messages on standard error. They need no memory, so that signal handlers can write them.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::sys;

/// Longest message in bytes. The rest of a longer one is cut off.
const LONGEST: usize = 400;

/// Whether messages about each request are wanted.
static VERBOSE: AtomicBool = AtomicBool::new(false);

struct Line {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // The last byte is for the end of the line.
        let room = LONGEST - 1 - self.len;
        let part = &text.as_bytes()[..text.len().min(room)];
        self.bytes[self.len..self.len + part.len()].copy_from_slice(part);
        self.len += part.len();
        Ok(())
    }
}

/// Turns on the messages of [`trace`].
pub(crate) fn set_verbose(verbose: bool) {
    VERBOSE.store(verbose, Ordering::Relaxed);
}

/// Writes a line: what the program's user must know.
pub(crate) fn warn(message: fmt::Arguments<'_>) {
    let mut line = Line {
        bytes: [0; LONGEST],
        len: 0,
    };
    let _ = line.write_str("triptych bridge: ");
    let _ = line.write_fmt(message);
    let len = line.len;
    line.bytes[len] = b'\n';
    sys::write_out(libc::STDERR_FILENO, &line.bytes[..=len]);
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
