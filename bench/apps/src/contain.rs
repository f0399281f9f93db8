//! A panic costs the connection that it served, and nothing else.

use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the work of a connection is under way.
static INSIDE: AtomicBool = AtomicBool::new(false);

/// Whether a contained panic was reported.
static REPORTED: AtomicBool = AtomicBool::new(false);

/// Does the work of one connection. `None` if it panicked. Then the caller gives up that connection and counts it.
pub fn contained<R>(work: impl FnOnce() -> R) -> Option<R> {
    INSIDE.store(true, Ordering::Relaxed);
    let done = catch_unwind(AssertUnwindSafe(work)).ok();
    INSIDE.store(false, Ordering::Relaxed);
    done
}

/// Reports the first contained panic, and those of the program itself. A client that causes many must not fill a log.
pub fn report_panics(program: String) {
    set_hook(Box::new(move |panic| {
        if !INSIDE.load(Ordering::Relaxed) {
            eprintln!("{program}: {panic}");
        } else if !REPORTED.swap(true, Ordering::Relaxed) {
            eprintln!("{program}: a connection is lost, and more are only counted: {panic}");
        }
    }));
}
