//! The metrics: an enum and a table, generated from `metrics.toml`.

use std::fmt;
use std::str::FromStr;

use serde::{de, Deserialize, Deserializer, Serialize, Serializer};

use crate::names::BackendName;

include!(concat!(env!("OUT_DIR"), "/metrics.rs"));

/// Name of the cycles of both clocks in records from before the metric was divided.
const UNDIVIDED_CYCLES: &str = "cycles";

/// The table that a metric belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// The cost of one packet.
    Counter,
    /// The throughput of the forwarder.
    Throughput,
    /// The time that packets take.
    Latency,
}

/// The better direction of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// Small values are better.
    Less,
    /// Large values are better.
    More,
}

/// An entry of `metrics.toml`, whose head explains the fields.
#[derive(Debug)]
struct Properties {
    name: &'static str,
    label: &'static str,
    description: &'static str,
    unit: &'static str,
    digits: u32,
    wanted: Option<Wanted>,
    group: Group,
    backends: &'static [BackendName],
    simulated: &'static [BackendName],
    quotient: Option<(Metric, Metric)>,
    percentile: Option<f64>,
    notes: &'static [(BackendName, &'static str)],
}

impl Metric {
    fn properties(self) -> &'static Properties {
        // The enum and the table have one order, because build.rs writes both.
        &PROPERTIES[self as usize]
    }

    /// Its name in `samples.csv`.
    pub fn name(self) -> &'static str {
        self.properties().name
    }

    /// Its name in tables.
    pub fn label(self) -> &'static str {
        self.properties().label
    }

    /// Its definition, in one sentence.
    pub fn description(self) -> &'static str {
        self.properties().description
    }

    /// Its unit in `samples.csv`.
    pub fn unit(self) -> &'static str {
        self.properties().unit
    }

    /// Number of decimals that tables show, 0 to 6.
    pub fn digits(self) -> usize {
        self.properties().digits as usize
    }

    /// Whether small or large values are better; `None` where neither are.
    pub fn wanted(self) -> Option<Wanted> {
        self.properties().wanted
    }

    /// The table that it belongs to.
    pub fn group(self) -> Group {
        self.properties().group
    }

    /// The backends that give it, best first.
    pub fn backends(self) -> &'static [BackendName] {
        self.properties().backends
    }

    /// Whether `backend` gives it.
    pub fn is_given_by(self, backend: BackendName) -> bool {
        self.backends().contains(&backend)
    }

    /// Whether the values of `backend` come from a simulated processor.
    pub fn is_simulated_by(self, backend: BackendName) -> bool {
        self.properties().simulated.contains(&backend)
    }

    /// For a ratio: the metrics that it divides, in that order.
    pub fn quotient(self) -> Option<(Self, Self)> {
        self.properties().quotient
    }

    /// For a percentile of the latency: the share of the packets that it covers, in percent.
    pub fn percentile(self) -> Option<f64> {
        self.properties().percentile
    }

    /// A remark that readers need to interpret the values of `backend`.
    pub fn note(self, backend: BackendName) -> Option<&'static str> {
        let mut notes = self.properties().notes.iter();
        notes.find(|(of, _)| *of == backend).map(|(_, note)| *note)
    }

    /// The metric that a record of `backend` calls `name`. Records from before the cycles of the two
    /// clocks were divided call both `cycles`; the backend decides between them.
    ///
    /// # Errors
    /// [`UnknownMetric`] if there is no such metric.
    pub fn recorded(name: &str, backend: BackendName) -> Result<Self, UnknownMetric> {
        match (name, backend) {
            (UNDIVIDED_CYCLES, BackendName::Perf) => Ok(Self::CoreCycles),
            (UNDIVIDED_CYCLES, BackendName::Lockstep | BackendName::Wall) => Ok(Self::TscCycles),
            _ => name.parse(),
        }
    }
}

/// A name that is not in `metrics.toml`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a metric; the metrics are {list}{hint}", list = names(), hint = hint(.0))]
pub struct UnknownMetric(pub String);

fn names() -> String {
    Metric::ALL.map(Metric::name).join(", ")
}

fn hint(name: &str) -> &'static str {
    match name {
        UNDIVIDED_CYCLES => " (cycles are core_cycles or tsc_cycles, depending on the clock)",
        _ => "",
    }
}

impl FromStr for Metric {
    type Err = UnknownMetric;

    fn from_str(name: &str) -> Result<Self, UnknownMetric> {
        Self::ALL
            .into_iter()
            .find(|metric| metric.name() == name)
            .ok_or_else(|| UnknownMetric(name.to_owned()))
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_one_name_everywhere() {
        for metric in Metric::ALL {
            let json = serde_json::to_string(&metric).unwrap();
            assert_eq!(json, format!("\"{metric}\""));
            assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric);
            assert_eq!(metric.to_string().parse(), Ok(metric));
        }
    }

    #[test]
    fn an_unknown_name_lists_the_valid_ones() {
        let error = "l4_hits".parse::<Metric>().unwrap_err().to_string();
        assert!(error.starts_with("\"l4_hits\" is not a metric"), "{error}");
        assert!(
            error.contains("core_cycles, tsc_cycles, lockstep_cycles, instr"),
            "{error}"
        );
        assert!(error.ends_with("loss_ratio"), "{error}");
        let error = "cycles".parse::<Metric>().unwrap_err().to_string();
        assert!(error.contains("depending on the clock"), "{error}");
    }

    #[test]
    fn the_backend_decides_what_old_cycles_are() {
        let recorded = |backend| Metric::recorded("cycles", backend);
        assert_eq!(recorded(BackendName::Perf), Ok(Metric::CoreCycles));
        assert_eq!(recorded(BackendName::Lockstep), Ok(Metric::TscCycles));
        assert_eq!(recorded(BackendName::Wall), Ok(Metric::TscCycles));
        assert!(recorded(BackendName::Valgrind).is_err());
    }

    #[test]
    fn the_table_is_as_written() {
        assert_eq!(Metric::LatencyP99_9Us.name(), "latency_p99_9_us");
        assert_eq!(Metric::LatencyP99_9999Us.percentile(), Some(99.9999));
        assert_eq!(Metric::BranchMisses.unit(), "branches/packet");
        assert_eq!(Metric::L2Hits.digits(), 2);
        assert_eq!(Metric::L2Hits.wanted(), None);
        assert_eq!(Metric::Mpps.wanted(), Some(Wanted::More));
        assert_eq!(Metric::LossRatio.group(), Group::Latency);
        assert!(!Metric::L2Hits.is_given_by(BackendName::Valgrind));
        assert!(Metric::L1Hits.is_simulated_by(BackendName::Valgrind));
        assert!(!Metric::L1Hits.is_simulated_by(BackendName::Perf));
        let quotient = Some((Metric::Instructions, Metric::CoreCycles));
        assert_eq!(Metric::Ipc.quotient(), quotient);
        assert!(Metric::TscCycles.note(BackendName::Wall).is_some());
        assert_eq!(Metric::TscCycles.note(BackendName::Perf), None);
    }
}
