//! The processor's own counters, which the published figures come from.
//!
//! [`resolve`] chooses the events that this machine can count: the kernel's own, and those of a table
//! ([`events`]) for the driver's kind of core ([`pmu`]). It tries each. Then one process for each cell and repeat ([`worker`]) forwards packets of a NIC that runs
//! elsewhere. After a warm-up the process counts its own user-space events, in several windows
//! ([`passes`], [`kernel`]). The module `findings` turns the counts into values per packet.
//! [`known_loops`] checks on a machine that its events count what their names say.

pub mod events;
mod findings;
pub mod kernel;
pub mod known_loops;
pub mod passes;
pub mod pmu;
pub mod resolve;
pub mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use record::{BackendName, Placement};
use serde_json::json;

pub use self::events::Event;
use self::findings::{core_clock, Findings};
use self::passes::Counted;
use self::resolve::EventSet;
use self::worker::{Plan, Specification, Window};
use crate::backend::{measure_in_turn, Backend, Cell, MeasureError, Observer};
use crate::files;
use crate::interrupt::Interrupt;
use crate::load::{ForwarderProcess, Link, SentRange};
use crate::place::Place;
use crate::process::Process;

/// Time for starting and stopping, for estimates.
const AROUND: Duration = Duration::from_secs(1);
/// Time limit for opening and closing the driver.
const SETUP: Duration = Duration::from_secs(30);

/// The perf backend and its settings.
#[derive(Debug)]
pub struct Perf {
    /// The two ports that the driver forwards between.
    pub link: Link,
    /// CPUs of driver and NIC.
    pub placement: Placement,
    /// Program and first arguments of the worker; the path of its specification is added.
    pub worker: (PathBuf, Vec<String>),
    /// Duration of each pass over some of the events.
    pub window: Duration,
    /// Time that the driver forwards before the first pass.
    pub warm_up: Duration,
    /// Number of measurements of each cell, at least 1.
    pub repeats: u32,
    /// The events to count, or the reason why none can be counted; [`EventSet::detect`].
    pub events: Result<EventSet, String>,
    /// Stops the measurement when set.
    pub interrupt: Interrupt,
}

impl Perf {
    /// Runs one worker, with its NIC or with the generator that sends to the card.
    fn measure_cell(
        &mut self,
        cell: &Cell,
        repeat: u32,
        events: &[Event],
        range: &mut SentRange,
    ) -> Result<Findings, MeasureError> {
        let place = Place::new(&self.placement, &self.interrupt)?;
        let start = |devices: &[String; 2], link_timeout| {
            let specification = Specification {
                cell: cell.clone(),
                devices: devices.clone(),
                link_timeout,
                plan: Plan {
                    events: events.to_vec(),
                    warm_up: self.warm_up,
                    window: self.window,
                },
                folder: place.folder().to_owned(),
            };
            let process = Process::start(
                "perf worker",
                files::worker(&self.worker, &specification, place.folder())?,
                place.placement.driver,
                place.folder(),
                Stdio::null(),
            )?;
            // The worker opens the devices, and forwards until it is asked to count.
            Ok(Worker {
                process,
                specification,
            })
        };
        let count = |worker: &mut Worker| worker.count(&self.interrupt);
        let end = |worker: Worker, counted| worker.end(&self.interrupt).map(|()| counted);
        let (counted, sent) = self.link.measure(cell, &place, start, count, end)?;
        let mut findings = Findings::new(cell, repeat, events, &counted);
        if let Some(sent) = sent {
            range.add(&sent);
            let why = sent.deviation().map(|why| format!("{cell}, perf: {why}"));
            findings.warnings.extend(why);
        }
        Ok(findings)
    }
}

/// A worker that forwards. It counts when it is asked to, and ends when it is asked to.
struct Worker {
    process: Process,
    specification: Specification,
}

impl ForwarderProcess for Worker {
    fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    fn has_link(&self) -> bool {
        self.specification.opened().exists()
    }
}

impl Worker {
    /// Lets the worker count, and waits for the counts.
    fn count(&mut self, interrupt: &Interrupt) -> Result<Counted<Window>, MeasureError> {
        let plan = &self.specification.plan;
        files::write(&self.specification.begin(), b"")?;
        let windows = u32::try_from(2 * plan.events.len() + 1).unwrap_or(u32::MAX);
        let limit = SETUP + plan.warm_up + plan.window.saturating_mul(windows);
        let output = self.specification.output();
        self.process
            .wait_until(limit, interrupt, || output.exists())?;
        files::read_json(&output)
    }

    /// Lets the worker close the devices.
    fn end(mut self, interrupt: &Interrupt) -> Result<(), MeasureError> {
        files::write(&self.specification.end(), b"")?;
        Ok(self.process.wait(SETUP, interrupt)?)
    }
}

impl Backend for Perf {
    fn name(&self) -> BackendName {
        BackendName::Perf
    }

    fn unavailable(&self) -> Option<String> {
        if let Err(why) = &self.events {
            return Some(why.clone());
        }
        self.link.unavailable(&self.placement)
    }

    fn unavailable_for_peers(&self) -> Option<String> {
        Some(
            "perf counts between two turns of a driver, and a peer does not tell when a turn ends"
                .to_owned(),
        )
    }

    fn repeats(&self) -> Vec<u32> {
        (0..self.repeats).collect()
    }

    fn estimate(&self, _: &Cell) -> Duration {
        // Two or three passes cover all events.
        self.warm_up + self.window * 3 + AROUND
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        let mut settings = BTreeMap::from([
            ("seconds_per_pass".into(), json!(self.window.as_secs_f64())),
            ("warm_up".into(), json!(self.warm_up.as_secs_f64())),
            ("repeats".into(), json!(self.repeats)),
            ("driver_cpu".into(), json!(self.placement.driver)),
        ]);
        let counted = json!("the forwarding thread, user space only");
        settings.insert("counted".into(), counted);
        settings.extend(self.link.settings(&self.placement));
        if let Ok(set) = &self.events {
            settings.extend(set.facts.clone());
            settings.insert("not_measurable_metrics".into(), json!(set.absent));
        }
        settings
    }

    fn measure(&mut self, cells: &[Cell], observer: &mut dyn Observer) -> Result<(), MeasureError> {
        let set = self.events.clone().map_err(MeasureError::Other)?;
        for text in &set.warnings {
            observer.warning(text);
        }
        let mut clocks = Vec::new();
        let mut absent = set.absent.clone();
        let (name, repeats) = (self.name(), self.repeats);
        let mut range = SentRange::default();
        let outcome = measure_in_turn(name, cells, repeats, observer, |cell, repeat, observer| {
            let mut found = self.measure_cell(cell, repeat, &set.events, &mut range)?;
            for text in found.warnings.iter().filter(|_| repeat == 0) {
                observer.warning(text);
            }
            for (metric, why) in found.absent {
                if absent.insert(metric, why.clone()).is_none() {
                    observer.warning(&format!("{cell}, perf: no {metric}: {why}"));
                }
            }
            clocks.append(&mut found.clocks);
            Ok(found.samples)
        });
        self.link.close(range, name, observer);
        observer.setting(name, "not_measurable_metrics", json!(absent));
        if !clocks.is_empty() {
            observer.setting(name, "core_clock", core_clock(&clocks));
        }
        outcome
    }
}

/// Values that the tests of this folder share.
#[cfg(test)]
pub(crate) mod fixtures {
    use std::cell::Cell;

    use record::{CpuFacts, Metric};

    use super::passes::{CountError, Counters, Reading};
    use super::pmu::Pmu;
    use super::Event;

    /// Counters that count one event at a time, and each time a thousand more than before. They have
    /// no event with the name "missing".
    #[derive(Default)]
    pub struct OneByOne(Cell<u64>);

    impl Counters for OneByOne {
        fn count<R>(
            &self,
            events: &[&Event],
            work: impl FnOnce() -> R,
        ) -> Result<(R, Reading), CountError> {
            if events[0].name == "missing" {
                return Err(CountError::Absent("no such event".into()));
            }
            self.0.set(self.0.get() + 1000);
            Ok((work(), Reading::whole(vec![self.0.get()])))
        }
    }

    /// A processor.
    pub fn cpu(vendor: &str, family: u32, model: u32) -> CpuFacts {
        CpuFacts {
            vendor: Some(vendor.into()),
            family: Some(family),
            model: Some(model),
            model_name: Some("Some Processor".into()),
            ..CpuFacts::default()
        }
    }

    /// An event source that names no events.
    pub fn pmu(name: &str) -> Pmu {
        Pmu {
            name: name.to_owned(),
            kind: 4,
            events: Vec::new(),
            hybrid: name != "cpu",
        }
    }

    /// Events that every kernel counts. The task's time, in ns, stands in for the cycles, and page
    /// faults stand in for the instructions.
    pub fn software_events() -> Vec<Event> {
        [
            (Metric::CoreCycles, "task-clock", 1),
            (Metric::Instructions, "page-faults", 2),
        ]
        .map(|(metric, name, config)| Event {
            metric: Some(metric),
            name: name.into(),
            kind: 1,
            config,
            ..Event::default()
        })
        .into()
    }
}
