//! Bounds every wait for a traced program: it kills the program when a step takes too long, or when
//! the user asks to stop. The wait for the program then ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;

/// Time between two looks.
const TICK: Duration = Duration::from_millis(20);

#[derive(Debug)]
struct State {
    step: &'static str,
    limit: Duration,
    since: Instant,
    /// The processes to kill. Only the tracer waits for them, so their numbers are still theirs.
    processes: Vec<Pid>,
}

/// A running watchdog. It ends soon after it is dropped.
#[derive(Debug)]
pub(crate) struct Watchdog(Arc<Mutex<State>>);

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watchdog {
    /// Watches over a process. Its first step may take `limit`.
    pub(crate) fn start(
        process: Pid,
        step: &'static str,
        limit: Duration,
        interrupt: Arc<AtomicBool>,
    ) -> Self {
        let state = Arc::new(Mutex::new(State {
            step,
            limit,
            since: Instant::now(),
            processes: vec![process],
        }));
        let watched = Arc::downgrade(&state);
        std::thread::spawn(move || {
            while let Some(state) = watched.upgrade() {
                let this = Self(state);
                if interrupt.load(Ordering::Relaxed) || this.late().is_some() {
                    for process in &lock(&this.0).processes {
                        // It fails only for a process that has ended.
                        let _ = kill(*process, Signal::SIGKILL);
                    }
                }
                drop(this);
                std::thread::sleep(TICK);
            }
        });
        Self(state)
    }

    /// A step begins, which may take `limit`.
    pub(crate) fn step(&self, step: &'static str, limit: Duration) {
        let mut state = lock(&self.0);
        (state.step, state.limit, state.since) = (step, limit, Instant::now());
    }

    /// Watches over another process.
    pub(crate) fn add(&self, process: Pid) {
        lock(&self.0).processes.push(process);
    }

    /// No longer watches over a process that has ended.
    pub(crate) fn remove(&self, process: Pid) {
        lock(&self.0).processes.retain(|other| *other != process);
    }

    /// The step that takes too long, and its limit in seconds.
    pub(crate) fn late(&self) -> Option<(&'static str, u64)> {
        let state = lock(&self.0);
        (state.since.elapsed() > state.limit).then_some((state.step, state.limit.as_secs()))
    }
}
