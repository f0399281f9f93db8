//! Which processors card and server run on.

use anyhow::{Context, Result};
use rustix::thread::{sched_getaffinity, sched_setaffinity, CpuSet};

/// What has a processor of its own, if there are two. Otherwise the kernel would move both between processors, and the
/// measurements would vary with its choices. Clients run on any processor.
#[derive(Clone, Copy, Debug)]
pub enum Role {
    /// What carries the frames: the card or socat.
    Between,
    /// The server.
    Server,
}

/// Runs `start`, and lets the programs that it starts run on one processor only.
///
/// # Errors
/// That of `start`, or if the kernel refuses.
pub fn start_on_own<T>(role: Role, start: impl FnOnce() -> Result<T>) -> Result<T> {
    let allowed = sched_getaffinity(None).context("cannot read the processors of this process")?;
    // A program inherits the processors of the thread that starts it.
    set(&only(&allowed, role as usize))?;
    let started = start();
    set(&allowed)?;
    started
}

fn set(processors: &CpuSet) -> Result<()> {
    sched_setaffinity(None, processors).context("cannot choose a processor")
}

/// The allowed processor with this number, counted from 0. Beyond the last one, the count starts again.
fn only(allowed: &CpuSet, number: usize) -> CpuSet {
    let count = (allowed.count() as usize).max(1);
    let mut processors = (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor));
    let mut own = CpuSet::new();
    if let Some(processor) = processors.nth(number % count) {
        own.set(processor);
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_of(processors: &[usize]) -> CpuSet {
        let mut set = CpuSet::new();
        processors.iter().for_each(|processor| set.set(*processor));
        set
    }

    #[test]
    fn each_role_has_its_own_processor_if_there_are_two() {
        let allowed = set_of(&[3, 5, 7]);
        assert_eq!(only(&allowed, Role::Between as usize), set_of(&[3]));
        assert_eq!(only(&allowed, Role::Server as usize), set_of(&[5]));
        assert_eq!(only(&set_of(&[3]), Role::Server as usize), set_of(&[3]));
    }

    #[test]
    fn only_the_started_programs_are_bound_to_a_processor() -> Result<()> {
        let before = sched_getaffinity(None)?;
        let inside = start_on_own(Role::Server, || Ok(sched_getaffinity(None)?))?;
        assert_eq!(inside.count(), 1);
        assert_eq!(sched_getaffinity(None)?, before);
        Ok(())
    }
}
