//! The metrics: an enum and a table, generated from `metrics.toml`.

use crate::names::BackendName;

include!(concat!(env!("OUT_DIR"), "/metrics.rs"));

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

/// An entry of `metrics.toml`, whose head explains the fields.
#[derive(Debug)]
struct Properties {
    label: &'static str,
    unit: &'static str,
    digits: usize,
    group: Group,
    backends: &'static [BackendName],
    simulated: &'static [BackendName],
    quotient: Option<(Metric, Metric)>,
}

impl Metric {
    /// Its name in `samples.csv`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Its name in tables.
    pub fn label(self) -> &'static str {
        self.properties().label
    }

    /// Its unit in `samples.csv`.
    pub fn unit(self) -> &'static str {
        self.properties().unit
    }

    /// Number of decimals that tables show.
    pub fn digits(self) -> usize {
        self.properties().digits
    }

    /// The table that it belongs to.
    pub fn group(self) -> Group {
        self.properties().group
    }

    /// The backends that give it, best first.
    pub(crate) fn backends(self) -> &'static [BackendName] {
        self.properties().backends
    }

    /// Whether `backend` gives it.
    pub fn is_given_by(self, backend: BackendName) -> bool {
        self.backends().contains(&backend)
    }

    /// Whether the values of `backend` come from a simulated processor.
    pub(crate) fn is_simulated_by(self, backend: BackendName) -> bool {
        self.properties().simulated.contains(&backend)
    }

    /// For a ratio: the metrics that it divides, in that order.
    pub fn quotient(self) -> Option<(Self, Self)> {
        self.properties().quotient
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_as_written_and_have_one_name_everywhere() {
        for metric in Metric::ALL {
            let json = serde_json::to_string(&metric).unwrap();
            assert_eq!(json, format!("\"{metric}\""));
            assert_eq!(metric.name().parse(), Ok(metric));
        }
        assert_eq!(Metric::LatencyP99_9Us.name(), "latency_p99_9_us");
        assert_eq!(Metric::LatencyP99_9Us.unit(), "us");
        assert_eq!(Metric::BranchMisses.unit(), "branches/packet");
        assert_eq!(Metric::CoreCycles.digits(), 1);
        assert_eq!(Metric::LossRatio.group(), Group::Latency);
        assert!(!Metric::L2Hits.is_given_by(BackendName::Valgrind));
        assert!(Metric::L1Hits.is_simulated_by(BackendName::Valgrind));
        assert!(!Metric::L1Hits.is_simulated_by(BackendName::Perf));
        let quotient = Some((Metric::Instructions, Metric::CoreCycles));
        assert_eq!(Metric::Ipc.quotient(), quotient);
    }
}
