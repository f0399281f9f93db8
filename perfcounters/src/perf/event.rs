//! The kernel's events, and the metrics that the processor's counters give.

use record::{BackendName, Group, Metric};
use serde::{Deserialize, Serialize};

/// Something that the kernel can count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The metric that it gives; `None` for the cycles of the reference clock, from which follows
    /// how fast the core ran.
    pub metric: Option<Metric>,
    /// Its name in the maker's documents, or the kernel's.
    pub name: String,
    /// `perf_event_attr.type`.
    pub kind: u32,
    /// `perf_event_attr.config`.
    pub config: u64,
    /// The unit of a value per packet, if it differs from the metric's.
    pub unit: Option<String>,
}

/// The metrics that processors have events for: the counters that `perf` gives, without ratios.
pub fn counted_metrics() -> impl Iterator<Item = Metric> {
    Metric::ALL.into_iter().filter(|metric| {
        metric.is_given_by(BackendName::Perf)
            && metric.group() == Group::Counter
            && metric.quotient().is_none()
    })
}

/// The ratios that `perf` computes, each with the metrics that it divides.
pub fn ratios() -> impl Iterator<Item = (Metric, (Metric, Metric))> {
    Metric::ALL
        .into_iter()
        .filter(|metric| metric.is_given_by(BackendName::Perf))
        .filter_map(|metric| Some((metric, metric.quotient()?)))
}
