//! The processor's own counters, as the published figures were taken.
//!
//! [`resolve`] finds out what can be counted here, from a table of events by processor
//! ([`events`]), the kernel's description of its counters ([`pmu`]) and by trying. Then a process
//! for each cell and repeat ([`worker`]) forwards packets of a NIC that runs elsewhere, and counts
//! its own user-space events in windows that open after it has warmed up ([`passes`], [`kernel`]).

pub mod events;
pub mod kernel;
pub mod passes;
pub mod pmu;
pub mod resolve;
pub mod worker;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use self::passes::Counted;
use self::resolve::EventSet;
use self::worker::{Specification, Window};
use crate::backend::{measure_in_turn, Backend, Cell, MeasureError, Observer};
use crate::device::{self, Nic, NicSetup, Traffic};
use crate::interrupt::Interrupt;
use crate::load::Load;
use crate::placement::Placement;
use crate::process::Process;
use crate::record::{BackendName, Metric, Sample, MULTIPLEXED};
use crate::wall::Link;

/// The metrics that processors have events for.
pub const METRICS: [Metric; 10] = [
    Metric::Cycles,
    Metric::Instructions,
    Metric::Branches,
    Metric::BranchMisses,
    Metric::Stores,
    Metric::Loads,
    Metric::L1Hits,
    Metric::L2Hits,
    Metric::L3Hits,
    Metric::L3Misses,
];
/// With a smaller share of full receive calls than this, waiting for packets is a good part of
/// what was counted.
const FULL_BATCHES: f64 = 0.9;
/// A larger share of dropped packets than this is pointed out.
const DROPPED: f64 = 0.01;
/// What starting and stopping takes besides, for estimates.
const AROUND: Duration = Duration::from_secs(1);
/// How long a worker may take to open and close.
const SETUP: Duration = Duration::from_secs(30);

/// Something that the kernel can count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// What it says; `None` for the cycles of the reference clock, which say how fast the core ran.
    pub metric: Option<Metric>,
    /// Its name in the maker's documents, or the kernel's.
    pub name: String,
    /// `perf_event_attr.type`.
    pub kind: u32,
    /// `perf_event_attr.config`.
    pub config: u64,
    /// The unit of a value per packet, where it is not that of the metric.
    pub unit: Option<String>,
}

/// How to count with the processor's counters.
#[derive(Debug)]
pub struct Perf {
    /// What the driver forwards between.
    pub link: Link,
    /// Where it runs.
    pub placement: Placement,
    /// Program and first arguments of the worker; the path of its specification is added.
    pub worker: (PathBuf, Vec<String>),
    /// How long each pass over some of the events takes.
    pub window: Duration,
    /// How long the driver forwards before the first one.
    pub warm_up: Duration,
    /// How often each cell is measured, at least 1.
    pub repeats: u32,
    /// What to count, or why nothing can be counted; [`EventSet::detect`].
    pub events: Result<EventSet, String>,
    /// Stops the measurement when set.
    pub interrupt: Interrupt,
}

impl Perf {
    /// One worker, with its NIC or the generator that sends to the card.
    fn run(&mut self, cell: &Cell, events: &[Event]) -> Result<Counted<Window>, MeasureError> {
        let folder = device::temporary_folder()?;
        let worker = Worker {
            cell,
            events,
            program: &self.worker,
            window: self.window,
            warm_up: self.warm_up,
            placement: &self.placement,
            interrupt: &self.interrupt,
        };
        match &mut self.link {
            Link::Software(program) => {
                let setup = NicSetup {
                    frame_size: cell.frame_size,
                    ..NicSetup::new(Traffic::Saturate, self.placement.nic)
                };
                let nic = Nic::start(program, &setup, folder.path(), &self.interrupt)?;
                let counted = worker.run(nic.devices(), folder.path())?;
                nic.stop()?;
                Ok(counted)
            }
            Link::Real { devices, generator } => {
                if let Some(generator) = generator {
                    generator.start(Load {
                        mpps: cell.offered_mpps,
                        frame_size: cell.frame_size,
                    })?;
                }
                let counted = worker.run(devices, folder.path());
                // It is stopped whatever has happened; but a driver that failed is the cause.
                let stopped = generator.as_mut().map_or(Ok(()), |it| it.stop());
                let counted = counted?;
                stopped?;
                Ok(counted)
            }
        }
    }

    fn measure_cell(
        &mut self,
        cell: &Cell,
        repeat: u32,
        events: &[Event],
    ) -> Result<Found, MeasureError> {
        let counted = self.run(cell, events)?;
        Ok(Found::new(cell, repeat, events, &counted))
    }
}

/// A worker that is to be run.
struct Worker<'a> {
    cell: &'a Cell,
    events: &'a [Event],
    program: &'a (PathBuf, Vec<String>),
    window: Duration,
    warm_up: Duration,
    placement: &'a Placement,
    interrupt: &'a Interrupt,
}

impl Worker<'_> {
    /// Runs it to its end.
    fn run(&self, devices: &[String; 2], folder: &Path) -> Result<Counted<Window>, MeasureError> {
        let output = folder.join("counts.json");
        let specification = folder.join("specification.json");
        let file_error = |path: &Path| {
            let path = path.to_owned();
            move |cause| MeasureError::File { path, cause }
        };
        let json = serde_json::to_vec(&Specification {
            cell: self.cell.clone(),
            devices: devices.clone(),
            events: self.events.to_vec(),
            window: self.window,
            warm_up: self.warm_up,
            output: output.clone(),
        })
        .map_err(|error| MeasureError::Other(format!("cannot describe the cell: {error}")))?;
        fs::write(&specification, json).map_err(file_error(&specification))?;

        let mut command = Command::new(&self.program.0);
        command.args(&self.program.1).arg(&specification);
        // Whatever a driver leaves goes with the folder.
        command.env("TMPDIR", folder);
        let windows = u32::try_from(2 * self.events.len() + 1).unwrap_or(u32::MAX);
        let limit = SETUP + self.warm_up + self.window.saturating_mul(windows);
        Process::start_on_node(
            "perf worker",
            command,
            self.placement.driver,
            self.placement.node,
            folder,
            Stdio::null(),
        )?
        .wait(limit, self.interrupt)?;
        let text = fs::read_to_string(&output).map_err(file_error(&output))?;
        serde_json::from_str(&text).map_err(|error| {
            MeasureError::Other(format!("the perf worker's counts are malformed: {error}"))
        })
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

    fn repeats(&self) -> Vec<u32> {
        (0..self.repeats).collect()
    }

    fn estimate(&self, _: &Cell) -> Duration {
        // Counters are enough for all events in two or three passes.
        self.warm_up + self.window * 3 + AROUND
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        let mut settings = BTreeMap::from([
            ("seconds_per_pass".into(), json!(self.window.as_secs_f64())),
            ("warm_up".into(), json!(self.warm_up.as_secs_f64())),
            ("repeats".into(), json!(self.repeats)),
            ("driver_cpu".into(), json!(self.placement.driver)),
            (
                "counted".into(),
                json!("the forwarding thread, user space only"),
            ),
        ]);
        match &self.link {
            Link::Software(_) => {
                settings.insert("nic_cpu".into(), json!(self.placement.nic));
            }
            Link::Real { devices, generator } => {
                let generator = generator.as_ref().map(|generator| generator.describe());
                settings.insert("devices".into(), json!(devices));
                settings.insert("generator".into(), json!(generator));
                settings.insert("node".into(), json!(self.placement.node));
            }
        }
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
        let outcome = measure_in_turn(name, cells, repeats, observer, |cell, repeat, observer| {
            let mut found = self.measure_cell(cell, repeat, &set.events)?;
            if repeat == 0 {
                found
                    .warnings
                    .iter()
                    .for_each(|text| observer.warning(text));
            }
            for (metric, why) in found.absent {
                if absent.insert(metric, why.clone()).is_none() {
                    observer.warning(&format!("{cell}, perf: no {metric}: {why}"));
                }
            }
            clocks.append(&mut found.clocks);
            Ok(found.samples)
        });
        // Also of a run that was interrupted.
        observer.setting(name, "not_measurable_metrics", json!(absent));
        if !clocks.is_empty() {
            observer.setting(name, "core_clock", core_clock(&clocks));
        }
        outcome
    }
}

/// How fast the core ran in one window.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Clock {
    /// Core cycles per cycle of the time-stamp counter.
    ratio: f64,
    /// Clock of the time-stamp counter in that window, MHz.
    tsc_mhz: f64,
    /// Whether the processor counted the reference cycles, too. Else the ratio is that of user-space
    /// core cycles to all cycles of the window: what the kernel took lowers it.
    exact: bool,
}

/// What one worker's counts say.
#[derive(Debug, Default)]
struct Found {
    samples: Vec<Sample>,
    warnings: Vec<String>,
    absent: Vec<(Metric, String)>,
    clocks: Vec<Clock>,
}

impl Found {
    fn new(cell: &Cell, repeat: u32, events: &[Event], counted: &Counted<Window>) -> Self {
        let mut found = Self::default();
        for (index, why) in &counted.absent {
            if let Some(metric) = events.get(*index).and_then(|event| event.metric) {
                found.absent.push((metric, why.clone()));
            }
        }
        let (mut packets, mut calls, mut full, mut dropped) = (0, 0, 0, 0);
        for pass in &counted.passes {
            let window = pass.window;
            packets += window.packets;
            calls += window.rx_calls;
            full += window.full_batches;
            dropped += window.dropped;
            let values: Vec<_> = pass
                .values
                .iter()
                .filter_map(|value| Some((events.get(value.event)?, value)))
                .collect();
            for (event, value) in &values {
                let Some(metric) = event.metric else { continue };
                if value.count == 0.0 && matches!(metric, Metric::Cycles | Metric::Instructions) {
                    let why = "the counter stands still: a hypervisor that does not emulate it?";
                    found.absent.push((metric, why.to_owned()));
                    continue;
                }
                let per_packet = value.count / window.packets as f64;
                found.push(cell, metric, per_packet, window.packets, repeat, |sample| {
                    if let Some(unit) = &event.unit {
                        sample.unit.clone_from(unit);
                    }
                    note(sample, value.scaled);
                });
            }
            // Ratios only of what was counted in one and the same window.
            let count = |metric| {
                let mut values = values.iter();
                let (_, value) = values.find(|(event, _)| event.metric == metric)?;
                (value.count > 0.0).then_some(**value)
            };
            let cycles = count(Some(Metric::Cycles));
            if let Some((cycles, instructions)) = cycles.zip(count(Some(Metric::Instructions))) {
                let ipc = instructions.count / cycles.count;
                found.push(cell, Metric::Ipc, ipc, window.packets, repeat, |sample| {
                    note(sample, cycles.scaled || instructions.scaled);
                });
            }
            if let Some(cycles) = cycles {
                let reference = count(None);
                found.clocks.push(Clock {
                    ratio: cycles.count / reference.map_or(window.tsc_cycles as f64, |r| r.count),
                    tsc_mhz: window.tsc_cycles as f64 / window.seconds / 1e6,
                    exact: reference.is_some(),
                });
            }
        }
        if packets == 0 {
            return found;
        }
        let ratio = full as f64 / calls.max(1) as f64;
        found.push(cell, Metric::FullBatchRatio, ratio, packets, repeat, |_| ());
        if ratio < FULL_BATCHES {
            found.warnings.push(format!(
                "{cell}, perf: only {:.1} % of the receive calls were full; what the driver did \
                 while it waited for packets is counted, too",
                100.0 * ratio
            ));
        }
        let dropped = dropped as f64 / packets as f64;
        if dropped > DROPPED {
            found.warnings.push(format!(
                "{cell}, perf: {:.1} % of the packets were dropped, which costs the driver less \
                 than sending them",
                100.0 * dropped
            ));
        }
        found
    }

    fn push(
        &mut self,
        cell: &Cell,
        metric: Metric,
        value: f64,
        packets: u64,
        repeat: u32,
        finish: impl FnOnce(&mut Sample),
    ) {
        let mut sample = cell.sample(BackendName::Perf, metric, value, packets, repeat);
        finish(&mut sample);
        self.samples.push(sample);
    }
}

/// Marks a value that the kernel did not count all the time.
fn note(sample: &mut Sample, scaled: bool) {
    if scaled {
        MULTIPLEXED.clone_into(&mut sample.note);
    }
}

/// How the core's clock and the time-stamp counter's compare, for `run.json`: a cycle at a low clock
/// is not worth the same as one at a high clock, because memory does not slow down with the core.
fn core_clock(clocks: &[Clock]) -> serde_json::Value {
    let spread = |value: fn(&Clock) -> f64| {
        let mut values: Vec<f64> = clocks.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        match values.as_slice() {
            [] => json!(null),
            [first, .., last] => {
                json!({"min": first, "median": values[values.len() / 2], "max": last})
            }
            [only] => json!({"min": only, "median": only, "max": only}),
        }
    };
    json!({
        "core_cycles_per_tsc_cycle": spread(|clock| clock.ratio),
        "core_mhz": spread(|clock| clock.ratio * clock.tsc_mhz),
        "tsc_mhz": spread(|clock| clock.tsc_mhz),
        "counted_against": match clocks.iter().all(|clock| clock.exact) {
            true => "the processor's reference cycles, in the same windows",
            false => "the time-stamp counter over the same windows; time in the kernel lowers it",
        },
    })
}

/// What the tests of this folder share.
#[cfg(test)]
pub(crate) mod fixtures {
    use std::path::{Path, PathBuf};

    use super::Event;
    use crate::record::Metric;

    /// A recorded folder of event sources.
    pub fn sources(machine: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/sysfs")
            .join(machine)
    }

    /// Events that every kernel counts: time of the task, ns, in the place of the cycles; and page
    /// faults in that of the instructions.
    pub fn software_events() -> Vec<Event> {
        [
            (Metric::Cycles, "task-clock", 1),
            (Metric::Instructions, "page-faults", 2),
        ]
        .map(|(metric, name, config)| Event {
            metric: Some(metric),
            name: name.into(),
            kind: 1,
            config,
            unit: None,
        })
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::passes::{Pass, Value};
    use super::*;
    use crate::record::{Implementation, DEFAULT_FRAME_SIZE, DEFAULT_RING_SIZE};

    fn cell() -> Cell {
        Cell {
            implementation: Implementation::Rust,
            variant: "default".into(),
            toolchain: "rustc 1.85.0".into(),
            batch: 32,
            ring_size: DEFAULT_RING_SIZE,
            frame_size: DEFAULT_FRAME_SIZE,
            offered_mpps: None,
            program: PathBuf::new(),
            library: PathBuf::new(),
        }
    }

    fn event(metric: Option<Metric>, unit: Option<&str>) -> Event {
        Event {
            metric,
            name: format!("{metric:?}"),
            kind: 4,
            config: 0,
            unit: unit.map(ToOwned::to_owned),
        }
    }

    /// A pass of 1000 packets in 40 full receive calls; `values` are event and count.
    fn pass(values: &[(usize, f64)], scaled: bool) -> Pass<Window> {
        Pass {
            window: Window {
                packets: 1000,
                dropped: 0,
                rx_calls: 40,
                full_batches: 40,
                tsc_cycles: 62_500,
                seconds: 1.0 / 32.0,
            },
            values: values
                .iter()
                .map(|(event, count)| Value {
                    event: *event,
                    count: *count,
                    scaled,
                })
                .collect(),
        }
    }

    fn found(events: &[Event], passes: Vec<Pass<Window>>) -> Found {
        let absent = Vec::new();
        Found::new(&cell(), 3, events, &Counted { passes, absent })
    }

    fn values(found: &Found) -> Vec<(Metric, f64)> {
        let samples = found.samples.iter();
        samples
            .map(|sample| (sample.metric, sample.value))
            .collect()
    }

    #[test]
    fn counts_are_divided_by_the_packets_of_their_window() {
        let events = [
            event(Some(Metric::Cycles), None),
            event(None, None),
            event(Some(Metric::Instructions), None),
            event(Some(Metric::L2Hits), Some("lines/packet")),
        ];
        let passes = vec![
            pass(&[(0, 94_000.0), (1, 188_000.0), (2, 127_000.0)], false),
            pass(&[(3, 1100.0)], true),
        ];
        let found = found(&events, passes);
        assert_eq!(
            values(&found),
            [
                (Metric::Cycles, 94.0),
                (Metric::Instructions, 127.0),
                (Metric::Ipc, 127.0 / 94.0),
                (Metric::L2Hits, 1.1),
                (Metric::FullBatchRatio, 1.0)
            ]
        );
        let told: Vec<_> = found
            .samples
            .iter()
            .map(|sample| (sample.unit.as_str(), sample.note.as_str(), sample.packets))
            .collect();
        assert_eq!(
            told,
            [
                ("core cycles/packet", "", 1000),
                ("instructions/packet", "", 1000),
                ("instructions/cycle", "", 1000),
                ("lines/packet", "multiplexed", 1000),
                ("ratio", "", 2000)
            ]
        );
        assert!(found.samples.iter().all(|sample| sample.repeat == 3));
        assert!(found.warnings.is_empty() && found.absent.is_empty());
        assert_eq!(
            found.clocks,
            [Clock {
                ratio: 0.5,
                tsc_mhz: 2.0,
                exact: true
            }]
        );
    }

    #[test]
    fn ratios_are_only_taken_within_a_window() {
        let events = [
            event(Some(Metric::Cycles), None),
            event(Some(Metric::Instructions), None),
        ];
        let apart = vec![
            pass(&[(0, 31_250.0)], false),
            pass(&[(1, 127_000.0)], false),
        ];
        let found = found(&events, apart);
        assert!(!values(&found)
            .iter()
            .any(|(metric, _)| *metric == Metric::Ipc));
        // Without reference cycles, the time-stamp counter says how fast the core ran.
        assert_eq!((found.clocks[0].ratio, found.clocks[0].exact), (0.5, false));
        let clock = core_clock(&found.clocks);
        assert_eq!(clock["core_mhz"]["median"], 1.0);
        assert!(clock["counted_against"]
            .as_str()
            .unwrap()
            .contains("time-stamp"));
        assert!(core_clock(&[])["core_mhz"].is_null());
    }

    #[test]
    fn a_counter_that_stands_still_is_no_measurement() {
        let events = [
            event(Some(Metric::Cycles), None),
            event(Some(Metric::L3Misses), None),
        ];
        let found = found(&events, vec![pass(&[(0, 0.0), (1, 0.0)], false)]);
        // No misses can be true; no cycles cannot.
        assert_eq!(
            values(&found),
            [(Metric::L3Misses, 0.0), (Metric::FullBatchRatio, 1.0)]
        );
        assert_eq!(found.absent[0].0, Metric::Cycles);
        assert!(found.clocks.is_empty());
    }

    #[test]
    fn waiting_and_dropping_are_pointed_out() {
        let events = [event(Some(Metric::Cycles), None)];
        let mut bad = pass(&[(0, 1.0)], false);
        bad.window.full_batches = 10;
        bad.window.dropped = 100;
        let found = found(&events, vec![bad]);
        assert_eq!(found.warnings.len(), 2);
        assert!(found.warnings[0].contains("25.0 % of the receive calls"));
        assert!(found.warnings[1].contains("10.0 % of the packets were dropped"));
    }

    #[test]
    fn what_cannot_be_counted_is_a_reason_and_not_a_figure() {
        let perf = Perf {
            link: Link::Real {
                devices: ["a".into(), "b".into()],
                generator: None,
            },
            placement: Placement::default(),
            worker: (PathBuf::new(), Vec::new()),
            window: Duration::from_secs(1),
            warm_up: Duration::ZERO,
            repeats: 1,
            events: Err("no PMU".into()),
            interrupt: Interrupt::new(),
        };
        assert_eq!(perf.unavailable().as_deref(), Some("no PMU"));
        assert!(!perf.settings().contains_key("events"));
    }
}
