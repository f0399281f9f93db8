//! Evaluates the counts of a worker: values per packet, the core's clock, and warnings.

use std::collections::BTreeMap;

use record::{BackendName, Metric, Sample, MULTIPLEXED};
use serde_json::json;

use super::events::{ratios, Event};
use super::passes::{Counted, Pass};
use super::worker::Window;
use crate::backend::Cell;

/// With a smaller share of full receive calls than this, much of what was counted is waiting.
const FULL_BATCHES: f64 = 0.9;
/// Above this share of dropped packets, a warning says so.
const DROPPED: f64 = 0.01;

/// The core's clock in one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Clock {
    /// Core cycles per cycle of the time-stamp counter.
    ratio: f64,
    /// Clock of the time-stamp counter in that window, MHz.
    tsc_mhz: f64,
    /// Whether the processor counted reference cycles, too. If not, the ratio divides the core
    /// cycles in user space by all cycles of the window, and time in the kernel lowers it.
    exact: bool,
}

/// The evaluated counts of one worker.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The measured values.
    pub samples: Vec<Sample>,
    /// Disturbances that may have changed the values.
    pub warnings: Vec<String>,
    /// Metrics without a value, with the reason.
    pub absent: Vec<(Metric, String)>,
    /// The core's clock in each window.
    pub clocks: Vec<Clock>,
}

impl Findings {
    /// Evaluates the counts of `events` that a worker took of `cell`.
    pub(super) fn new(
        cell: &Cell,
        repeat: u32,
        events: &[Event],
        counted: &Counted<Window>,
    ) -> Self {
        let mut findings = Self::default();
        let metric = |event: usize| events.get(event)?.metric;
        for (event, why) in &counted.absent {
            let absent = metric(*event).map(|metric| (metric, why.clone()));
            findings.absent.extend(absent);
        }
        for pass in &counted.passes {
            findings.add_pass(cell, repeat, events, pass);
        }
        findings.add_totals(cell, repeat, counted);
        findings
    }

    /// Adds the values of one pass, and the ratios of what it counted in one window.
    fn add_pass(&mut self, cell: &Cell, repeat: u32, events: &[Event], pass: &Pass<Window>) {
        let window = pass.window;
        let sample = |metric, value, scaled| {
            let name = BackendName::Perf;
            let mut sample = cell.sample(name, metric, value, window.packets, repeat);
            if scaled {
                MULTIPLEXED.clone_into(&mut sample.note);
            }
            sample
        };
        // The values that advanced, by metric; the reference cycles have none.
        let mut counted = BTreeMap::new();
        for value in &pass.values {
            let Some(event) = events.get(value.event) else {
                continue;
            };
            if value.count > 0.0 {
                counted.insert(event.metric, value);
            }
            let Some(metric) = event.metric else { continue };
            if value.count == 0.0 && matches!(metric, Metric::CoreCycles | Metric::Instructions) {
                let why = "the counter does not advance; the hypervisor may not emulate it";
                self.absent.push((metric, why.to_owned()));
                continue;
            }
            let per_packet = value.count / window.packets as f64;
            let mut sample = sample(metric, per_packet, value.scaled);
            if let Some(unit) = &event.unit {
                sample.unit.clone_from(unit);
            }
            self.samples.push(sample);
        }
        for (metric, (over, under)) in ratios() {
            if let (Some(over), Some(under)) = (counted.get(&Some(over)), counted.get(&Some(under)))
            {
                let (ratio, scaled) = (over.count / under.count, over.scaled || under.scaled);
                self.samples.push(sample(metric, ratio, scaled));
            }
        }
        if let Some(cycles) = counted.get(&Some(Metric::CoreCycles)) {
            let reference = counted.get(&None);
            self.clocks.push(Clock {
                ratio: cycles.count / reference.map_or(window.tsc_cycles as f64, |r| r.count),
                tsc_mhz: window.tsc_cycles as f64 / window.seconds / 1e6,
                exact: reference.is_some(),
            });
        }
    }

    /// Adds the share of full batches over all windows, and warns of waiting and dropping.
    fn add_totals(&mut self, cell: &Cell, repeat: u32, counted: &Counted<Window>) {
        let total = |part: fn(&Window) -> u64| -> u64 {
            let windows = counted.passes.iter().map(|pass| &pass.window);
            windows.map(part).sum()
        };
        let packets = total(|window| window.packets);
        if packets == 0 {
            return;
        }
        let calls = total(|window| window.rx_calls).max(1);
        let full = total(|window| window.full_batches) as f64 / calls as f64;
        let (name, metric) = (BackendName::Perf, Metric::FullBatchRatio);
        self.samples
            .push(cell.sample(name, metric, full, packets, repeat));
        if full < FULL_BATCHES {
            self.warnings.push(format!(
                "{cell}, perf: only {:.1} % of the receive calls were full; the counts include \
                 what the driver did while it waited for packets",
                100.0 * full
            ));
        }
        let dropped = total(|window| window.dropped) as f64 / packets as f64;
        if dropped > DROPPED {
            self.warnings.push(format!(
                "{cell}, perf: the driver dropped {:.1} % of the packets, and a drop costs less \
                 than a send",
                100.0 * dropped
            ));
        }
    }
}

/// The core's clock against the time-stamp counter's, for `run.json`. A cycle at a low clock is not
/// worth a cycle at a high clock, because memory does not slow down with the core.
pub(super) fn core_clock(clocks: &[Clock]) -> serde_json::Value {
    let spread = |value: fn(&Clock) -> f64| {
        let mut values: Vec<f64> = clocks.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        let median = values.get(values.len() / 2);
        json!({"min": values.first(), "median": median, "max": values.last()})
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use record::Implementation;

    use super::*;
    use crate::common::cell;
    use crate::perf::passes::Value;

    const EVENTS: [(Option<Metric>, Option<&str>); 4] = [
        (Some(Metric::CoreCycles), None),
        (None, None),
        (Some(Metric::Instructions), None),
        (Some(Metric::L2Hits), Some("lines/packet")),
    ];

    /// Evaluates passes of 1000 packets in 40 receive calls, of which `full` were full. The values are
    /// indices of `EVENTS`, and their counts.
    fn found(passes: &[(&[(usize, f64)], bool)], full: u64, dropped: u64) -> Findings {
        let events = EVENTS.map(|(metric, unit)| Event {
            metric,
            unit: unit.map(ToOwned::to_owned),
            ..Event::default()
        });
        let passes = passes.iter().map(|(values, scaled)| Pass {
            window: Window {
                packets: 1000,
                dropped,
                rx_calls: 40,
                full_batches: full,
                tsc_cycles: 62_500,
                seconds: 1.0 / 32.0,
            },
            values: values
                .iter()
                .map(|(event, count)| Value {
                    event: *event,
                    count: *count,
                    scaled: *scaled,
                })
                .collect(),
        });
        let counted = Counted {
            passes: passes.collect(),
            absent: Vec::new(),
        };
        let cell = cell(Path::new(""), "fwd", Implementation::Rust);
        Findings::new(&cell, 3, &events, &counted)
    }

    #[test]
    fn counts_are_divided_by_the_packets_of_their_window() {
        let together = [(0, 94_000.0), (1, 188_000.0), (2, 127_000.0)];
        let found = found(&[(&together, false), (&[(3, 1100.0)], true)], 40, 0);
        let values = found.samples.iter().map(|sample| {
            let (unit, note) = (sample.unit.as_str(), sample.note.as_str());
            (sample.metric, sample.value, sample.packets, unit, note)
        });
        let (cycles, ipc, full) = (Metric::CoreCycles, Metric::Ipc, Metric::FullBatchRatio);
        assert_eq!(
            values.collect::<Vec<_>>(),
            [
                (cycles, 94.0, 1000, cycles.unit(), ""),
                (Metric::Instructions, 127.0, 1000, "instructions/packet", ""),
                (ipc, 127.0 / 94.0, 1000, ipc.unit(), ""),
                (Metric::L2Hits, 1.1, 1000, "lines/packet", MULTIPLEXED),
                (full, 1.0, 2000, full.unit(), ""),
            ]
        );
        assert!(found.samples.iter().all(|sample| sample.repeat == 3));
        assert!(found.warnings.is_empty() && found.absent.is_empty());
        let clock = core_clock(&found.clocks);
        assert_eq!(clock["core_cycles_per_tsc_cycle"]["max"], 0.5);
        assert_eq!(clock["core_mhz"]["median"], 1.0);
        assert!(clock["counted_against"].to_string().contains("reference"));
    }

    #[test]
    fn ratios_divide_counts_of_one_window() {
        let apart = [(&[(0, 31_250.0)][..], false), (&[(2, 127_000.0)], false)];
        let found = found(&apart, 40, 0);
        assert!(!found.samples.iter().any(|it| it.metric == Metric::Ipc));
        // Without reference cycles, the core clock is compared with the time-stamp counter.
        let clock = core_clock(&found.clocks);
        assert_eq!(clock["core_cycles_per_tsc_cycle"]["min"], 0.5);
        assert!(clock["counted_against"].to_string().contains("time-stamp"));
    }

    #[test]
    fn a_counter_that_does_not_advance_gives_no_value() {
        let found = found(&[(&[(0, 0.0), (3, 0.0)], false)], 40, 0);
        // A window without hits is possible, one without cycles is not.
        let metrics = found.samples.iter().map(|sample| sample.metric);
        assert!(metrics.eq([Metric::L2Hits, Metric::FullBatchRatio]));
        assert_eq!(found.absent[0].0, Metric::CoreCycles);
        assert!(found.clocks.is_empty());
    }

    #[test]
    fn waiting_and_dropping_give_warnings() {
        let found = found(&[(&[(0, 1.0)], false)], 10, 100);
        assert_eq!(found.warnings.len(), 2);
        assert!(found.warnings[0].contains("25.0 % of the receive calls"));
        assert!(found.warnings[1].contains("dropped 10.0 % of the packets"));
    }
}
