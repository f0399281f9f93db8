//! A part of the self-test in a process of its own, because a driver may crash.
//!
//! The process writes each finding to standard output, a line of JSON each, as soon as it has it. It
//! ends early when its standard input is closed: then its parent wants it to end, or has died.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use perfcounters::Interrupt;
use serde::{Deserialize, Serialize};

use super::counters::{self, Counted};
use super::finding::Finding;
use super::library::Ports;
use super::{cable, events, exchange, interrupts, link};

/// The part that a process runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Task {
    /// Ports, frames and counters, with one driver.
    Driver {
        /// Its `libports.so`.
        library: PathBuf,
        /// The two ports.
        devices: [String; 2],
        /// Frames in each direction.
        frames: u64,
        /// Time for the links.
        link_timeout: Duration,
        /// Number of the run, in every frame.
        run: u32,
    },
    /// Interrupts of both ports.
    Interrupts {
        /// The two ports.
        devices: [String; 2],
    },
    /// Events of the processor.
    Events,
}

/// Longest time for the exchange of frames.
fn exchange_limit(frames: u64) -> Duration {
    // A card takes 1.3 s for a million frames, and a machine without processor to spare much more.
    Duration::from_secs(20) + Duration::from_micros(40 * frames)
}

impl Task {
    /// Longest time for the whole task.
    pub fn limit(&self) -> Duration {
        match self {
            Self::Driver {
                frames,
                link_timeout,
                ..
            } => Duration::from_secs(30) + *link_timeout + exchange_limit(*frames),
            Self::Interrupts { .. } | Self::Events => Duration::from_secs(60),
        }
    }
}

/// Runs the task that a file describes.
///
/// # Errors
/// If the file cannot be read, or the findings cannot be written. What is wrong with ports or
/// processor is a finding.
pub fn run(specification: &Path, interrupt: &Interrupt) -> Result<()> {
    let text = std::fs::read(specification)
        .with_context(|| format!("cannot read {}", specification.display()))?;
    let task: Task = serde_json::from_slice(&text)
        .with_context(|| format!("{} is malformed", specification.display()))?;
    let parent = interrupt.clone();
    std::thread::spawn(move || {
        let _ = io::stdin().read(&mut [0]);
        parent.set();
    });
    let mut failed = None;
    let mut say = |finding: Finding| {
        if let Err(error) = write(&finding) {
            failed.get_or_insert(error);
        }
    };
    match &task {
        Task::Driver { .. } => drive(&task, interrupt, &mut say),
        Task::Interrupts { devices } => interrupts::check(devices, interrupt)
            .into_iter()
            .for_each(say),
        Task::Events => events::check().into_iter().for_each(say),
    }
    failed.map_or(Ok(()), |error| Err(error).context("cannot write a finding"))
}

fn write(finding: &Finding) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, finding)?;
    writeln!(out)?;
    out.flush()
}

/// Tests one driver on both ports.
fn drive(task: &Task, interrupt: &Interrupt, say: &mut dyn FnMut(Finding)) {
    let Task::Driver {
        library, devices, ..
    } = task
    else {
        return;
    };
    let mut ports = match Ports::open(library, devices) {
        Ok(ports) => ports,
        Err(why) => return say(Finding::fail("open", why)),
    };
    say(pages(&ports));
    exercise(task, &mut ports, interrupt, say);
    say(match ports.close() {
        Ok(()) => Finding::pass("stop", "both ports stopped, with empty rings"),
        Err(why) => Finding::fail("stop", why),
    });
}

fn pages(ports: &Ports) -> Finding {
    match ports.on_ordinary_pages() {
        false => Finding::pass("driver memory", "on huge pages"),
        true => Finding::not_available(
            "driver memory",
            "too few huge pages are free, so it lies on ordinary pages, which costs speed; \
             `make hugepages` reserves some",
        ),
    }
}

/// Everything between opening and closing the ports. It ends at the first check without which the
/// next ones make no sense.
fn exercise(task: &Task, ports: &mut Ports, interrupt: &Interrupt, say: &mut dyn FnMut(Finding)) {
    let Task::Driver {
        frames,
        link_timeout,
        run,
        ..
    } = *task
    else {
        return;
    };
    if !link::bring_up(ports, link_timeout, interrupt, say) || interrupt.is_set() {
        return;
    }
    // The counters have seen the link come up, which is not free of errors.
    if let Err(why) = counters::clear_errors(ports) {
        return say(Finding::fail("counters", why));
    }
    let (finding, first) = cable::check(ports, run, interrupt);
    say(finding.figure("registers", counters::state(ports)));
    let Some(first) = first.filter(|_| !interrupt.is_set()) else {
        return;
    };
    let limit = exchange_limit(frames);
    let exchange = exchange::run(ports, run, frames, limit, interrupt);
    exchange.findings(frames).into_iter().for_each(&mut *say);
    let counted = [0, 1].map(|port: usize| {
        let (sent, arrived) = (
            &exchange.directions[port],
            &exchange.directions[1 - port].verifier,
        );
        Counted {
            sent: first.sent[port] + sent.sent,
            sent_bytes: first.sent_bytes[port] + sent.sent_bytes,
            received: first.received[port] + arrived.received(),
            received_bytes: first.received_bytes[port] + arrived.bytes(),
        }
    });
    let finding = counters::check(ports, &counted);
    say(finding.figure("registers", counters::state(ports)));
}
