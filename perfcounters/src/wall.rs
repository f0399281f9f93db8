//! Throughput of whole processes: the forwarder runs on one CPU. The software NIC runs on another, or
//! a real card gets its load from outside.
//!
//! Against the software NIC, cache lines that move between two cores dominate the throughput. It
//! shows whether the driver was the bottleneck, but not what the driver's code costs.

use std::collections::BTreeMap;
use std::time::Duration;

use record::{BackendName, Metric, Placement, Sample};
use serde_json::json;

use crate::backend::{measure_in_turn, Backend, Cell, MeasureError, Observer};
use crate::forwarder::{ForwarderReport, Rates, Running};
use crate::interrupt::Interrupt;
use crate::load::{Link, SentLoad, SentRange};
use crate::peer::run::{PeerRun, PATIENCE, START};
use crate::place::Place;

/// Above this share of dropped packets, a warning says so.
const DROPPED: f64 = 0.01;
/// Time for starting and stopping, for estimates.
const AROUND: Duration = Duration::from_millis(500);
/// Without this, the forwarder may end before it prints the line of the last second.
const LAST_LINE: Duration = Duration::from_millis(500);

/// The wall backend and its settings.
#[derive(Debug)]
pub struct Wall {
    /// The two ports that the forwarder runs between.
    pub link: Link,
    /// CPUs of driver and NIC.
    pub placement: Placement,
    /// Duration of each measurement.
    pub duration: Duration,
    /// Time that the forwarder runs before that. With a warm-up, throughput comes from the line that
    /// the forwarder prints every second; without a warm-up, from its totals.
    pub warm_up: Duration,
    /// Number of measurements of each cell, at least 1.
    pub repeats: u32,
    /// Stops the measurement when set.
    pub interrupt: Interrupt,
}

impl Wall {
    /// The report of a forwarder, its rates within the measurement, and those of the generator.
    fn run(
        &mut self,
        cell: &Cell,
    ) -> Result<(ForwarderReport, Rates, Option<SentLoad>), MeasureError> {
        let place = Place::new(&self.placement, &self.interrupt)?;
        if cell.peer.is_some() {
            let Link::Software(nic) = &self.link else {
                return Err(self.unavailable_for_peers().unwrap_or_default().into());
            };
            let peer = PeerRun::start(cell, nic, &place, PATIENCE)?;
            let report = peer.measure(self.warm_up, self.duration)?;
            return Ok((report, report.rates(), None));
        }
        let skip = self.warm_up.as_secs_f64().ceil() as usize;
        let take = self.duration.as_secs_f64().ceil().max(1.0) as usize;
        let whole = self.warm_up.is_zero();
        let rest = if whole { Duration::ZERO } else { LAST_LINE };
        // With a generator, the load begins after the forwarder.
        let software = matches!(self.link, Link::Software(_));
        let duration = software.then_some(self.warm_up + self.duration + rest);
        let ((rates, report), sent) = self.link.measure(
            cell,
            &place,
            |devices, link_timeout| Running::start(cell, &place, devices, link_timeout, duration),
            |forwarder| {
                let Some(duration) = duration else {
                    return Ok((forwarder.wait_for_rates(skip, take)?, None));
                };
                let report = forwarder.finish(duration)?;
                let rates = match whole {
                    true => report.rates(),
                    false => forwarder.rates(skip, take)?,
                };
                Ok((rates, Some(report)))
            },
            |forwarder, (rates, report)| {
                let report = report.map_or_else(|| forwarder.stop(), Ok)?;
                Ok((rates, report))
            },
        )?;
        Ok((report, rates, sent))
    }

    fn measure_cell(
        &mut self,
        cell: &Cell,
        repeat: u32,
        range: &mut SentRange,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Sample>, MeasureError> {
        let (report, rates, sent) = self.run(cell)?;
        if let Some(sent) = sent {
            range.add(&sent);
            let warnings = [sent.deviation(), sent.too_small_for(rates.rx_mpps)];
            for why in warnings.into_iter().flatten() {
                observer.warning(&format!("{cell}, wall: {why}"));
            }
        }
        let dropped = report.dropped_ratio();
        if dropped > DROPPED {
            observer.warning(&format!(
                "{cell}, wall: the driver dropped {:.1} % of the packets, because the NIC did not take them \
                 in time; a drop costs less than a send",
                100.0 * dropped
            ));
        }
        let tsc_mhz = report.tsc_cycles as f64 / report.seconds / 1e6;
        let packets = (rates.rx_mpps * rates.seconds * 1e6).round().max(1.0) as u64;
        let mut values = vec![
            (Metric::Mpps, rates.tx_mpps),
            (Metric::TscCycles, tsc_mhz / rates.rx_mpps),
        ];
        // With a real card, the forwarder runs before the load begins, so its totals include calls
        // that do not belong to the measurement. A peer does not report its calls.
        if matches!(self.link, Link::Software(_)) && cell.peer.is_none() {
            values.push((Metric::FullBatchRatio, report.full_batch_ratio()));
        }
        Ok(values
            .into_iter()
            .map(|(metric, value)| cell.sample(BackendName::Wall, metric, value, packets, repeat))
            .collect())
    }
}

impl Backend for Wall {
    fn name(&self) -> BackendName {
        BackendName::Wall
    }

    fn unavailable(&self) -> Option<String> {
        self.link.unavailable(&self.placement)
    }

    fn unavailable_for_peers(&self) -> Option<String> {
        match self.link {
            Link::Software(_) => None,
            Link::Real { .. } => Some(
                "the software card counts a peer's packets, and this run uses a real card"
                    .to_owned(),
            ),
        }
    }

    fn repeats(&self) -> Vec<u32> {
        (0..self.repeats).collect()
    }

    fn estimate(&self, cell: &Cell) -> Duration {
        let start = match cell.peer {
            None => Duration::ZERO,
            Some(_) => START,
        };
        self.warm_up + self.duration + AROUND + start
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        let mut settings = BTreeMap::from([
            ("seconds".into(), json!(self.duration.as_secs_f64())),
            ("warm_up".into(), json!(self.warm_up.as_secs_f64())),
            ("repeats".into(), json!(self.repeats)),
            ("driver_cpu".into(), json!(self.placement.driver)),
        ]);
        settings.extend(self.link.settings(&self.placement));
        if matches!(self.link, Link::Real { .. }) {
            settings.insert("pinning".into(), json!("system_calls"));
        }
        settings
    }

    fn measure(&mut self, cells: &[Cell], observer: &mut dyn Observer) -> Result<(), MeasureError> {
        let (name, repeats) = (self.name(), self.repeats);
        let mut range = SentRange::default();
        let outcome = measure_in_turn(name, cells, repeats, observer, |cell, repeat, observer| {
            self.measure_cell(cell, repeat, &mut range, observer)
        });
        self.link.close(range, name, observer);
        outcome
    }
}
