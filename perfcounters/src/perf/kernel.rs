//! The kernel's counters: `perf_event_open` for this thread, in user space only.

use std::io;
use std::time::Duration;

use perf_event::events::Raw;
use perf_event::{Builder, Counter};

use super::event::Event;
use super::passes::{Counters, Group, Reading};

/// The counters of this machine, for the thread that opens them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kernel;

/// The kernel's reason for not counting an event.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The user lacks the permission.
    #[error("the kernel does not permit it: {0}")]
    Forbidden(io::Error),
    /// This machine has no such event.
    #[error("the kernel cannot count it here: {0}")]
    Unsupported(io::Error),
    /// Another error: too many open files, no memory.
    #[error("it cannot be counted: {0}")]
    Other(io::Error),
}

impl Refusal {
    fn new(error: io::Error) -> Self {
        use rustix::io::Errno;
        match Errno::from_io_error(&error) {
            Some(Errno::ACCESS | Errno::PERM) => Self::Forbidden(error),
            Some(
                Errno::NOENT
                | Errno::INVAL
                | Errno::OPNOTSUPP
                | Errno::NODEV
                | Errno::NXIO
                | Errno::NOSYS,
            ) => Self::Unsupported(error),
            _ => Self::Other(error),
        }
    }
}

/// One event, counted in user space, in the calling thread, on every CPU that the thread runs on.
fn builder(event: &Event) -> Builder<'static> {
    let mut builder = Builder::new(Raw::new(event.config));
    builder.attrs_mut().type_ = event.kind;
    builder
        .observe_self()
        .any_cpu()
        .inherit(false)
        .exclude_kernel(true)
        .exclude_hv(true)
        // The leader starts and stops the counting. When the kernel checks whether a group fits, it
        // ignores members that are switched off, so the members stay on.
        .enabled(true);
    builder
}

impl Kernel {
    /// Whether the kernel can count an event.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn try_event(self, event: &Event) -> Result<(), Refusal> {
        let mut builder = builder(event);
        let counter = builder.enabled(false).build();
        counter.map(drop).map_err(Refusal::new)
    }
}

/// Events that the kernel counts together or not at all.
pub struct KernelGroup {
    leader: perf_event::Group,
    members: Vec<Counter>,
    /// The times that it was enabled and that it counted until the end of the last window: the kernel
    /// resets only the counts.
    before: (Duration, Duration),
}

impl Counters for Kernel {
    type Group = KernelGroup;

    fn open(&self, events: &[&Event]) -> Result<KernelGroup, String> {
        // The leader counts nothing, so that all events are members alike.
        let leader = perf_event::Group::builder()
            .observe_self()
            .any_cpu()
            .inherit(false)
            .build_group()
            .map_err(|error| Refusal::new(error).to_string())?;
        let mut group = KernelGroup {
            leader,
            members: Vec::new(),
            before: Default::default(),
        };
        for event in events {
            match group.leader.add(&builder(event)) {
                Ok(member) => group.members.push(member),
                Err(error) if group.members.is_empty() => {
                    return Err(Refusal::new(error).to_string())
                }
                // The event does not fit or cannot be counted. The pass that begins with it shows which.
                Err(_) => break,
            }
        }
        Ok(group)
    }
}

impl Group for KernelGroup {
    fn size(&self) -> usize {
        self.members.len()
    }

    fn count<R>(&mut self, work: impl FnOnce() -> R) -> io::Result<(R, Reading)> {
        self.leader.reset()?;
        self.leader.enable()?;
        let result = work();
        self.leader.disable()?;
        let data = self.leader.read()?;
        let missing = || io::Error::other("the kernel left a counter out");
        let counts = self
            .members
            .iter()
            .map(|member| data.get(member).map(|entry| entry.value()))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(missing)?;
        let enabled = data.time_enabled().ok_or_else(missing)?;
        let running = data.time_running().ok_or_else(missing)?;
        let before = std::mem::replace(&mut self.before, (enabled, running));
        let reading = Reading {
            enabled: enabled.saturating_sub(before.0),
            running: running.saturating_sub(before.1),
            counts,
        };
        Ok((result, reading))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::fixtures::software_events;

    /// Touches `pages` fresh pages.
    fn touch(pages: usize) {
        // The allocator maps an allocation of this size separately, so that every page is new.
        let mut memory: Vec<u8> = Vec::with_capacity(pages * 4096 + (64 << 20));
        for byte in memory
            .spare_capacity_mut()
            .iter_mut()
            .step_by(4096)
            .take(pages)
        {
            byte.write(1);
        }
        std::hint::black_box(&memory);
    }

    /// Whether a container forbids perf_event_open; the tests then have nothing to check.
    fn forbidden() -> bool {
        matches!(
            Kernel.try_event(&software_events()[0]),
            Err(Refusal::Forbidden(_))
        )
    }

    #[test]
    fn a_window_counts_only_its_own_events() {
        if forbidden() {
            return;
        }
        let events = software_events();
        let references: Vec<_> = events.iter().collect();
        let mut group = Kernel.open(&references).unwrap();
        assert_eq!(group.size(), events.len());
        touch(1000);
        let ((), reading) = group.count(|| touch(2000)).unwrap();
        touch(1000);
        assert_eq!(reading.running, reading.enabled);
        let (time, faults) = (reading.counts[0], reading.counts[1]);
        assert!((2000..2100).contains(&faults), "{faults} page faults");
        let enabled = reading.enabled.as_nanos() as f64;
        assert!(
            (time as f64 / enabled - 1.0).abs() < 0.2,
            "{time} ns of the task in {enabled} ns"
        );
        // A second window begins at zero, counts and times alike.
        let ((), second) = group.count(|| touch(100)).unwrap();
        assert!((100..200).contains(&second.counts[1]), "{second:?}");
        assert!(second.enabled < reading.enabled, "{second:?} {reading:?}");
        assert_eq!(second.running, second.enabled);
    }

    #[test]
    fn other_threads_are_not_counted() {
        if forbidden() {
            return;
        }
        let events = software_events();
        let mut group = Kernel.open(&[&events[1]]).unwrap();
        let ((), reading) = group
            .count(|| {
                std::thread::spawn(|| touch(5000)).join().unwrap();
            })
            .unwrap();
        assert!(reading.counts[0] < 1000, "{reading:?}");
    }

    #[test]
    fn an_event_that_the_kernel_does_not_know_is_unsupported() {
        let mut unknown = software_events().remove(0);
        unknown.config = 999_999;
        let refusal = Kernel.try_event(&unknown);
        assert!(forbidden() || matches!(refusal, Err(Refusal::Unsupported(_))));
    }

    #[test]
    fn refusals_are_classified() {
        let kind = |errno: rustix::io::Errno| Refusal::new(errno.into());
        use rustix::io::Errno;
        assert!(matches!(kind(Errno::ACCESS), Refusal::Forbidden(_)));
        assert!(matches!(kind(Errno::NOENT), Refusal::Unsupported(_)));
        assert!(matches!(kind(Errno::MFILE), Refusal::Other(_)));
    }
}
