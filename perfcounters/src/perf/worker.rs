//! The process that forwards packets and counts its own events.
//!
//! ```text
//! open both devices, and say that they have a link
//! forward until the load begins, and until the rings and caches are warm
//! for each pass
//!     counters on
//!     whole turns until the time is up
//!     counters off
//! write the counts down, and forward until the load ends
//! close both devices
//! ```
//!
//! The packets of a window are those that the driver received while the counters were on. Counts and
//! packets therefore belong together exactly.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forwarder_library::{Forwarder, Library, Setup};
use serde::{Deserialize, Serialize};

use super::events::Event;
use super::kernel::Kernel;
use super::passes::{self, CountError, Counted, Counters, Reading};
use crate::backend::{Cell, MeasureError};
use crate::files;
use crate::interrupt::Interrupt;
use crate::sys;

pub use forwarder_library::Counts as ForwarderCounts;

/// Turns between two readings of the clock.
const TURNS: u32 = 64;
/// Longest time between the links and the load: a generator measures and corrects its rate.
const LOAD: (Duration, &str) = (Duration::from_secs(300), "the load did not begin");
/// Longest time between the counts and the end of the load.
const END: (Duration, &str) = (Duration::from_secs(60), "the load did not end");
/// Time within which the first packet must arrive, from the moment when the load has begun.
const FIRST_PACKET: (Duration, &str) = (Duration::from_secs(30), "no packet arrived");
/// Longest pause between packets after that.
const NO_PACKET: Duration = Duration::from_secs(2);

/// The worker's task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Specification {
    /// The cell to measure.
    pub cell: Cell,
    /// Names of the two devices.
    pub devices: [String; 2],
    /// Longest time for the link of each port; `None` for the driver's default.
    pub link_timeout: Option<Duration>,
    /// What to count.
    pub plan: Plan,
    /// A folder for the files below. They do not exist at first.
    pub folder: PathBuf,
}

impl Specification {
    /// The worker creates this file as soon as both ports have a link.
    pub fn opened(&self) -> PathBuf {
        self.folder.join("opened")
    }

    /// The worker counts only when this file exists: the load has begun.
    pub fn begin(&self) -> PathBuf {
        self.folder.join("begin")
    }

    /// The result, [`Counted`] in JSON.
    pub fn output(&self) -> PathBuf {
        self.folder.join("counts.json")
    }

    /// The worker closes the devices only when this file exists: the load has ended. A port that is
    /// closed under load would take the link from the generator.
    pub fn end(&self) -> PathBuf {
        self.folder.join("end")
    }
}

/// What the worker measures: an open forwarder, or a stand-in that forwards nothing.
pub trait Forwarding {
    /// Runs one turn, and returns how many packets were received.
    fn turn(&mut self) -> u32;

    /// Totals since it was opened.
    fn counts(&self) -> ForwarderCounts;

    /// Reads the counters of both devices, before 32 bits are full: after 288 s at line rate.
    fn read_devices(&mut self) -> Result<(), forwarder_library::Error> {
        Ok(())
    }
}

impl Forwarding for Forwarder {
    #[inline(always)]
    fn turn(&mut self) -> u32 {
        Forwarder::turn(self)
    }

    fn counts(&self) -> ForwarderCounts {
        Forwarder::counts(self)
    }

    fn read_devices(&mut self) -> Result<(), forwarder_library::Error> {
        (0..2).try_for_each(|device| self.device_stats(device).map(drop))
    }
}

/// Reads the devices' own counters before each pass, while nothing is counted.
struct BetweenReads<'a, C, F> {
    counters: &'a C,
    forwarder: &'a RefCell<&'a mut F>,
}

impl<C: Counters, F: Forwarding> Counters for BetweenReads<'_, C, F> {
    fn count<R>(
        &self,
        events: &[&Event],
        work: impl FnOnce() -> R,
    ) -> Result<(R, Reading), CountError> {
        let read = self.forwarder.borrow_mut().read_devices();
        read.map_err(io::Error::other)?;
        self.counters.count(events, work)
    }
}

/// The events to count while a forwarder runs, and for how long.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// The events.
    pub events: Vec<Event>,
    /// Time from the first packet to the first window.
    pub warm_up: Duration,
    /// Duration of each window.
    pub window: Duration,
}

/// Packets and time of one window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Packets received.
    pub packets: u64,
    /// Of these, dropped because a send ring was full.
    pub dropped: u64,
    /// Receive calls.
    pub rx_calls: u64,
    /// Receive calls that returned a full batch.
    pub full_batches: u64,
    /// Cycles of the time-stamp counter.
    pub tsc_cycles: u64,
    /// Time, seconds.
    pub seconds: f64,
}

/// Counts the events of the specification, and writes the counts down.
pub fn run(specification: &Path, interrupt: &Interrupt) -> Result<(), MeasureError> {
    let specification: Specification = files::read_json(specification)?;
    measure(&specification, &Kernel, interrupt)
}

/// Opens the driver, warms it up, counts, and closes it after the end of the load.
fn measure<C: Counters>(
    specification: &Specification,
    counters: &C,
    interrupt: &Interrupt,
) -> Result<(), MeasureError> {
    let [a, b] = &specification.devices;
    let library = Library::load(&specification.cell.library)?;
    let conditions = &specification.cell.conditions;
    let setup = Setup {
        batch: conditions.batch,
        ring_size: conditions.ring_size,
        queues: 1,
        path: specification.cell.path(),
        link_timeout: specification.link_timeout,
    };
    let mut forwarder = library.open([a, b], setup)?;
    files::write(&specification.opened(), b"")?;
    let begin = specification.begin();
    forward_until(&mut forwarder, LOAD, interrupt, |_| begin.exists())?;
    let plan = &specification.plan;
    let counted = count(&mut forwarder, plan, counters, interrupt).and_then(|counted| {
        files::write_json(&specification.output(), &counted)?;
        let end = specification.end();
        forward_until(&mut forwarder, END, interrupt, |_| end.exists())
    });
    let closed = forwarder.close();
    counted?;
    closed.map_err(|why| format!("it did not close: {why}"))?;
    Ok(())
}

/// Warms a forwarder up, then counts the events of the plan, pass by pass.
pub fn count<C: Counters, F: Forwarding>(
    forwarder: &mut F,
    plan: &Plan,
    counters: &C,
    interrupt: &Interrupt,
) -> Result<Counted<Window>, MeasureError> {
    forward_until(forwarder, FIRST_PACKET, interrupt, |received| received > 0)?;
    // The packets pass through rings and pool many times, so that every descriptor, page and branch
    // has been used.
    window(forwarder, plan.warm_up, interrupt)?;
    let forwarder = &RefCell::new(forwarder);
    let counters = BetweenReads {
        counters,
        forwarder,
    };
    let counted = passes::count(&counters, &plan.events, || {
        window(*forwarder.borrow_mut(), plan.window, interrupt)
    });
    match interrupt.is_set() {
        true => Err(MeasureError::Interrupted),
        false => counted.map_err(MeasureError::Other),
    }
}

/// Forwards until `done`, which receives the number of packets since it was last asked.
fn forward_until<F: Forwarding>(
    forwarder: &mut F,
    (limit, late): (Duration, &str),
    interrupt: &Interrupt,
    done: impl Fn(u32) -> bool,
) -> Result<(), MeasureError> {
    let start = Instant::now();
    while !done((0..TURNS).map(|_| forwarder.turn()).sum()) {
        if interrupt.is_set() {
            return Err(MeasureError::Interrupted);
        }
        if start.elapsed() > limit {
            let seconds = limit.as_secs();
            return Err(MeasureError::Other(format!("{late} within {seconds} s")));
        }
    }
    Ok(())
}

/// Forwards in whole turns until `time` is over or the user asks to stop.
fn window<F: Forwarding>(
    forwarder: &mut F,
    time: Duration,
    interrupt: &Interrupt,
) -> Result<Window, String> {
    let before = forwarder.counts();
    let start = Instant::now();
    let first = sys::tsc_ordered();
    let mut last_packet = Duration::ZERO;
    loop {
        let received: u32 = (0..TURNS).map(|_| forwarder.turn()).sum();
        let now = start.elapsed();
        if received > 0 {
            last_packet = now;
        } else if now - last_packet > NO_PACKET {
            return Err("it stopped receiving packets".to_owned());
        }
        if now >= time || interrupt.is_set() {
            break;
        }
    }
    let last = sys::tsc_ordered();
    let seconds = start.elapsed().as_secs_f64();
    let after = forwarder.counts();
    let packets = after.rx.saturating_sub(before.rx);
    if packets == 0 {
        return Err("it received no packets".to_owned());
    }
    Ok(Window {
        packets,
        dropped: after.dropped.saturating_sub(before.dropped),
        rx_calls: after.rx_calls.saturating_sub(before.rx_calls),
        full_batches: after.full_batches.saturating_sub(before.full_batches),
        tsc_cycles: last.wrapping_sub(first),
        seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::cell_with_library;
    use crate::perf::fixtures::{software_events, OneByOne};
    use crate::perf::passes::Pass;
    use record::Implementation;

    /// A specification with the stand-in for a driver, built with a macro defined.
    fn specification(folder: &Path, define: &str) -> Specification {
        let specification = Specification {
            link_timeout: None,
            cell: cell_with_library(folder, Implementation::C, define),
            devices: ["a".into(), "b".into()],
            plan: Plan {
                events: software_events(),
                window: Duration::from_millis(20),
                warm_up: Duration::ZERO,
            },
            folder: folder.to_owned(),
        };
        for word in [specification.begin(), specification.end()] {
            std::fs::write(word, "").unwrap();
        }
        specification
    }

    #[test]
    fn a_driver_that_receives_nothing_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let specification = specification(folder.path(), "NOTHING");
        let start = Instant::now();
        let error = measure(&specification, &OneByOne::default(), &Interrupt::new()).unwrap_err();
        assert!(error.to_string().contains("no packet arrived"), "{error}");
        assert!(start.elapsed() < FIRST_PACKET.0 + Duration::from_secs(5));
    }

    #[test]
    fn the_devices_are_read_before_each_pass() {
        let folder = tempfile::tempdir().unwrap();
        // Two events in a pass each, and two devices.
        let specification = specification(folder.path(), "READS=4");
        measure(&specification, &OneByOne::default(), &Interrupt::new()).unwrap();
    }

    #[test]
    fn each_event_has_a_window_and_an_interrupt_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let specification = specification(folder.path(), "WORK=2");
        let interrupt = Interrupt::new();
        measure(&specification, &OneByOne::default(), &interrupt).unwrap();
        let counted: Counted<Window> = files::read_json(&specification.output()).unwrap();
        assert_eq!(counted.passes.len(), specification.plan.events.len());
        for Pass { window, .. } in &counted.passes {
            assert!((0.02..2.0).contains(&window.seconds), "{window:?}");
            assert!(window.tsc_cycles > 0);
        }
        interrupt.set();
        let error = measure(&specification, &OneByOne::default(), &interrupt).unwrap_err();
        assert!(error.ends_the_run(), "{error}");
    }
}
