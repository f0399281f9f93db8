//! Threads on chosen CPUs, and how they end.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;
use std::thread::{self, Scope};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};

/// Time between two checks for a stalled queue.
pub const CHECK: Duration = Duration::from_secs(1);

/// The most CPUs in a list.
const CPU_LIST_MAX: usize = 16;

/// The CPUs of the threads, in their order. An empty list leaves the choice to the scheduler.
#[derive(Clone, Debug, Default)]
pub struct CpuList(pub Vec<usize>);

/// Reads a list of CPUs, such as `1,3` or `0-3`. A CPU may appear twice: then two threads share it.
pub fn cpu_list_parse(text: &str) -> std::result::Result<CpuList, String> {
    let allowed = sched_getaffinity(None)
        .map_err(|error| format!("cannot read the CPUs of this process: {error}"))?;
    let wrong = || format!("a list of CPUs looks like 1,3 or 0-3, not {text}");
    let number = |text: &str| -> Option<usize> {
        let digits = !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
        digits.then(|| text.parse().ok())?
    };
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = number(first).zip(number(last)).ok_or_else(wrong)?;
        if last < first || last >= CpuSet::MAX_CPU {
            return Err(wrong());
        }
        for cpu in first..=last {
            if !allowed.is_set(cpu) {
                return Err(format!(
                    "CPU {cpu} does not exist, is offline, or is not for this process, which may use \
                     {}",
                    allowed_text(&allowed)
                ));
            }
            if cpus.len() == CPU_LIST_MAX {
                return Err(format!("the list has more than {CPU_LIST_MAX} CPUs"));
            }
            cpus.push(cpu);
        }
    }
    Ok(CpuList(cpus))
}

/// The CPUs that this process may use, as text.
fn allowed_text(allowed: &CpuSet) -> String {
    let cpus = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
    let cpus: Vec<_> = cpus.map(|cpu| cpu.to_string()).collect();
    cpus.join(",")
}

impl CpuList {
    /// The CPU of a thread: the threads take the CPUs in turn. `None` if the list is empty.
    pub fn get(&self, nth: usize) -> Option<usize> {
        let turn = nth.checked_rem(self.0.len())?;
        self.0.get(turn).copied()
    }
}

/// Pins the calling thread to a CPU, if there is one.
fn pin(cpu: Option<usize>) -> Result<()> {
    let Some(cpu) = cpu else { return Ok(()) };
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).with_context(|| format!("cannot pin a thread to CPU {cpu}"))
}

/// What the threads of a program share. They look at it between rounds, not for each packet.
#[derive(Default)]
pub struct Crew {
    end: AtomicBool,
    /// The error of the first thread that failed.
    failed: OnceLock<anyhow::Error>,
}

impl Crew {
    /// Whether the threads have to end: somebody said so, or one has failed.
    pub fn ends(&self) -> bool {
        self.end.load(Ordering::Relaxed)
    }

    fn end(&self) {
        self.end.store(true, Ordering::Relaxed);
    }

    /// Starts a thread on a CPU. If that fails, or the thread does, all end.
    pub fn start<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        name: String,
        cpu: Option<usize>,
        run: impl FnOnce() -> Result<()> + Send + 'scope,
    ) -> Result<()> {
        let thread = thread::Builder::new().name(name.clone());
        let started = thread.spawn_scoped(scope, move || {
            if let Err(error) = pin(cpu).and_then(|()| run()) {
                // Only the first one stays.
                let _ = self.failed.set(error);
                self.end();
            }
        });
        if started.is_err() {
            self.end();
        }
        started.with_context(|| format!("cannot start the thread '{name}'"))?;
        Ok(())
    }

    /// Calls `goes_on` again and again, until it says no or fails, the threads end, or `done` says that they
    /// are done. Then ends them.
    pub fn watch(
        &self,
        done: impl Fn() -> bool,
        mut goes_on: impl FnMut() -> Result<bool>,
    ) -> Result<()> {
        let mut watched = Ok(true);
        while matches!(watched, Ok(true)) && !self.ends() && !done() {
            watched = goes_on();
        }
        self.end();
        watched.map(|_| ())
    }

    /// After all threads have ended: the error of `watched`, or else of the first thread that failed.
    pub fn result(self, watched: Result<()>) -> Result<()> {
        watched.and(self.failed.into_inner().map_or(Ok(()), Err))
    }
}
