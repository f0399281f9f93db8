//! Latency: the time that packets take through a forwarder under a given load. It starts when a frame
//! is due on the wire, and ends when the software NIC fetches the frame for sending.
//!
//! The NIC times every packet, not a sample.

use std::collections::BTreeMap;
use std::time::Duration;

use record::{BackendName, Metric, Placement, Sample};
use serde::Deserialize;
use serde_json::json;

use crate::backend::{measure_in_turn, Backend, Cell, MeasureError, Observer};
use crate::device::{Nic, NicProgram};
use crate::files;
use crate::forwarder::Running;
use crate::interrupt::Interrupt;
use crate::place::Place;

/// Time for starting and stopping, for estimates.
const AROUND: Duration = Duration::from_millis(500);
/// Above this share of lost frames, a warning says that the driver is overloaded.
const LOST: f64 = 0.001;
/// Above this share of the NIC's own delay in the latency, a warning says so.
const NIC_LATE: f64 = 0.5;

/// The latency backend and its settings.
#[derive(Debug)]
pub struct Latency {
    /// The software NIC.
    pub nic: NicProgram,
    /// CPUs of driver and NIC.
    pub placement: Placement,
    /// Duration of each measurement.
    pub duration: Duration,
    /// Time that the forwarder runs before that.
    pub warm_up: Duration,
    /// Number of measurements of each cell, at least 1.
    pub repeats: u32,
    /// Stops the measurement when set.
    pub interrupt: Interrupt,
}

/// The part of the NIC's report that is about latency.
#[derive(Debug, Deserialize)]
struct NicReport {
    latency: NicLatency,
}

#[derive(Debug, Deserialize)]
struct NicLatency {
    /// Frames that were timed.
    count: u64,
    /// Frames that were due.
    offered: u64,
    /// Frames that did not come back.
    lost: u64,
    /// The latencies by name: `min_us`, `p50_us`, …; `null` if there were too few frames. `lag` has the
    /// NIC's own delay before it handled the frames; a part of the latency that is not the driver's.
    #[serde(flatten)]
    times: BTreeMap<String, serde_json::Value>,
}

impl NicLatency {
    /// A latency in µs.
    fn time(&self, name: &str) -> Option<f64> {
        self.times.get(name)?.as_f64()
    }

    /// Largest share of the NIC's own delay in the 99th percentile, 0 to 1.
    fn nics_share(&self) -> f64 {
        let lag = self.times.get("lag").and_then(|lag| lag["p99_us"].as_f64());
        match (self.time("p99_us"), lag) {
            (Some(all), Some(lag)) if all > 0.0 => (lag / all).min(1.0),
            _ => 0.0,
        }
    }
}

impl Latency {
    fn measure_cell(
        &self,
        cell: &Cell,
        repeat: u32,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Sample>, MeasureError> {
        let Some(offered) = cell.conditions.offered_mpps else {
            return Err(MeasureError::Other(
                "a latency measurement needs an offered load, and none is given".to_owned(),
            ));
        };
        let place = Place::new(&self.placement, &self.interrupt)?;
        // The rate is that of one port.
        let traffic = format!("rate={}", offered / 2.0);
        let after = self.warm_up.as_secs_f64().to_string();
        let latency = [
            "--traffic",
            &traffic,
            "--latency",
            "--latency-after",
            &after,
        ];
        let nic = Nic::start(&self.nic, cell, &place, &latency)?;
        let duration = self.warm_up + self.duration;
        let mut forwarder = Running::start(cell, &place, &nic.devices(), None, Some(duration))?;
        let report = forwarder.finish(duration)?;
        let latency = files::read_json::<NicReport>(&nic.stop()?)?.latency;
        if latency.count == 0 {
            let NicLatency { offered, lost, .. } = latency;
            let why = format!("the NIC timed no frames of {offered} and lost {lost}");
            return Err(why.into());
        }
        let loss = latency.lost as f64 / latency.offered.max(1) as f64;
        if loss > LOST {
            observer.warning(&format!(
                "{cell}, wall: {:.1} % of the frames were lost: the load exceeds what driver and NIC \
                 carry, and the latency is that of full queues",
                100.0 * loss
            ));
        }
        if latency.nics_share() > NIC_LATE {
            observer.warning(&format!(
                "{cell}, wall: up to {:.0} % of the latency (99th percentile) is the software NIC's \
                 own delay; is the machine busy?",
                100.0 * latency.nics_share()
            ));
        }
        let time = |metric: Metric| {
            let name = metric.name().strip_prefix("latency_")?;
            Some((metric, latency.time(name)))
        };
        let values: Vec<_> = Metric::ALL.into_iter().filter_map(time).collect();
        let absent = values.iter().filter(|(_, value)| value.is_none());
        let absent: Vec<_> = absent.map(|(metric, _)| metric.name()).collect();
        if !absent.is_empty() {
            observer.warning(&format!(
                "wall: too few packets within {} s for {} at some loads; measure for longer",
                self.duration.as_secs_f64(),
                absent.join(", ")
            ));
        }
        let share = report.cpu_seconds.map(|time| time / report.seconds);
        let totals = [
            (Metric::Mpps, Some(report.rates().tx_mpps)),
            (Metric::CpuShare, share),
            (Metric::LossRatio, Some(loss)),
        ];
        let sample = |(metric, value): (_, Option<_>)| {
            Some(cell.sample(BackendName::Wall, metric, value?, latency.count, repeat))
        };
        Ok(totals
            .into_iter()
            .chain(values)
            .filter_map(sample)
            .collect())
    }
}

impl Backend for Latency {
    fn name(&self) -> BackendName {
        BackendName::Wall
    }

    fn unavailable(&self) -> Option<String> {
        self.nic.unavailable_beside_driver(&self.placement)
    }

    fn unavailable_for_peers(&self) -> Option<String> {
        Some(
            "the offered loads are shares of what the drivers of this repository forward"
                .to_owned(),
        )
    }

    fn repeats(&self) -> Vec<u32> {
        (0..self.repeats).collect()
    }

    fn estimate(&self, _: &Cell) -> Duration {
        self.warm_up + self.duration + AROUND
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        let seconds = |duration: Duration| json!(duration.as_secs_f64());
        BTreeMap::from([
            ("latency_seconds".into(), seconds(self.duration)),
            ("latency_warm_up".into(), seconds(self.warm_up)),
            ("latency_repeats".into(), json!(self.repeats)),
        ])
    }

    fn measure(&mut self, cells: &[Cell], observer: &mut dyn Observer) -> Result<(), MeasureError> {
        let (this, name, repeats) = (&*self, self.name(), self.repeats);
        measure_in_turn(name, cells, repeats, observer, |cell, repeat, observer| {
            this.measure_cell(cell, repeat, observer)
        })
    }
}
