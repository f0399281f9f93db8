//! The kernel's counters: `perf_event_open` for this thread, in user space only.

use std::io;

use perf_event::events::Raw;
use perf_event::{Builder, Counter};

use super::events::Event;
use super::passes::{CountError, Counters, Reading};

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

impl Counters for Kernel {
    fn count<R>(
        &self,
        events: &[&Event],
        work: impl FnOnce() -> R,
    ) -> Result<(R, Reading), CountError> {
        let absent = |error| CountError::Absent(Refusal::new(error).to_string());
        // The leader counts nothing, so that all events are members alike.
        let mut leader = perf_event::Group::builder()
            .observe_self()
            .any_cpu()
            .inherit(false)
            .build_group()
            .map_err(absent)?;
        let mut members: Vec<Counter> = Vec::new();
        for event in events {
            match leader.add(&builder(event)) {
                Ok(member) => members.push(member),
                Err(error) if members.is_empty() => return Err(absent(error)),
                // The event does not fit or cannot be counted. The pass that begins with it shows which.
                Err(_) => break,
            }
        }
        leader.enable()?;
        let result = work();
        leader.disable()?;
        let data = leader.read()?;
        let counts = members.iter().map(|member| Some(data.get(member)?.value()));
        let reading = counts
            .collect::<Option<Vec<_>>>()
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
        let work = || {
            touch(2000);
            std::thread::spawn(|| touch(5000)).join().unwrap();
        };
        let ((), reading) = Kernel.count(&[&events[0], &events[1]], work).unwrap();
        assert_eq!(reading.counts.len(), events.len());
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
