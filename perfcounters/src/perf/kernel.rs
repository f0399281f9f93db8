//! The kernel's counters: `perf_event_open` for this thread, in user space only.

use std::io;

use perf_event::events::Raw;
use perf_event::{Builder, Counter};

use super::events::Event;
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
        self.leader.enable()?;
        let result = work();
        self.leader.disable()?;
        let data = self.leader.read()?;
        let counts = self
            .members
            .iter()
            .map(|member| data.get(member).map(|entry| entry.value()))
            .collect::<Option<Vec<_>>>();
        let reading = counts
            .zip(data.time_enabled().zip(data.time_running()))
            .map(|(counts, (enabled, running))| Reading {
                enabled,
                running,
                counts,
            })
            .ok_or_else(|| io::Error::other("the kernel left a counter out"))?;
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
        let mut memory = vec![0u8; pages * 4096 + (64 << 20)];
        for page in memory.chunks_mut(4096).take(pages) {
            page[0] = 1;
        }
        std::hint::black_box(&memory);
    }

    #[test]
    fn a_window_counts_only_its_own_events_in_its_own_thread() {
        let events = software_events();
        if let Err(Refusal::Forbidden(_)) = Kernel.try_event(&events[0]) {
            return; // A container forbids perf_event_open.
        }
        let mut group = Kernel.open(&[&events[0], &events[1]]).unwrap();
        assert_eq!(group.size(), events.len());
        touch(1000);
        let ((), reading) = group
            .count(|| {
                touch(2000);
                std::thread::spawn(|| touch(5000)).join().unwrap();
            })
            .unwrap();
        assert_eq!(reading.running, reading.enabled);
        let (time, faults) = (reading.counts[0], reading.counts[1]);
        assert!((2000..2500).contains(&faults), "{faults} page faults");
        let enabled = reading.enabled.as_nanos();
        assert!(
            (1..=enabled).contains(&time.into()),
            "{time} ns of {enabled}"
        );

        let mut unknown = software_events().remove(0);
        unknown.config = 999_999;
        let refusal = Kernel.try_event(&unknown);
        assert!(matches!(refusal, Err(Refusal::Unsupported(_))));
    }

    #[test]
    fn refusals_are_classified() {
        use rustix::io::Errno;
        let kind = |errno: Errno| Refusal::new(errno.into());
        assert!(matches!(kind(Errno::ACCESS), Refusal::Forbidden(_)));
        assert!(matches!(kind(Errno::NOENT), Refusal::Unsupported(_)));
        assert!(matches!(kind(Errno::MFILE), Refusal::Other(_)));
    }
}
