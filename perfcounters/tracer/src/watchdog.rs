//! Bounds every wait for a traced program: it kills the program when a step takes too long, or when
//! the user asks to stop. The wait for the program then ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{kill, Signal};
use nix::unistd::Pid;

/// Time between two looks.
const TICK: Duration = Duration::from_millis(20);

/// Why the program was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The step took too long: the step, and its limit in seconds.
    Hung(&'static str, u64),
    /// The user asked to stop.
    Interrupted,
}

#[derive(Debug)]
struct State {
    step: &'static str,
    limit: Duration,
    since: Instant,
    /// The processes to kill. Only the tracer waits for them, so their numbers are still theirs.
    processes: Vec<Pid>,
    verdict: Option<Verdict>,
    ended: bool,
}

/// A running watchdog. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Watchdog {
    state: Arc<Mutex<State>>,
    thread: Option<JoinHandle<()>>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watchdog {
    pub(crate) fn start(interrupt: Arc<AtomicBool>) -> Self {
        let state = Arc::new(Mutex::new(State {
            step: "start the program",
            limit: Duration::from_secs(180),
            since: Instant::now(),
            processes: Vec::new(),
            verdict: None,
            ended: false,
        }));
        let watched = state.clone();
        let thread = std::thread::spawn(move || watch(&watched, &interrupt));
        Self {
            state,
            thread: Some(thread),
        }
    }

    /// A step begins, which may take `limit`.
    pub(crate) fn step(&self, step: &'static str, limit: Duration) {
        let mut state = lock(&self.state);
        (state.step, state.limit, state.since) = (step, limit, Instant::now());
    }

    /// Watches over another process.
    pub(crate) fn add(&self, process: Pid) {
        lock(&self.state).processes.push(process);
    }

    /// No longer watches over a process that the caller is about to wait for, or has waited for.
    pub(crate) fn remove(&self, process: Pid) {
        lock(&self.state)
            .processes
            .retain(|other| *other != process);
    }

    /// Why the processes were killed, if they were.
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        lock(&self.state).verdict
    }
}

fn watch(state: &Mutex<State>, interrupt: &AtomicBool) {
    loop {
        std::thread::park_timeout(TICK);
        let mut state = lock(state);
        if state.ended {
            return;
        }
        let hung = state.since.elapsed() > state.limit;
        if interrupt.load(Ordering::Relaxed) {
            state.verdict.get_or_insert(Verdict::Interrupted);
        } else if hung {
            let verdict = Verdict::Hung(state.step, state.limit.as_secs());
            state.verdict.get_or_insert(verdict);
        }
        if state.verdict.is_some() {
            for process in &state.processes {
                // It fails only for a process that has ended.
                let _ = kill(*process, Signal::SIGKILL);
            }
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        lock(&self.state).ended = true;
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The thread cannot panic.
            let _ = thread.join();
        }
    }
}
