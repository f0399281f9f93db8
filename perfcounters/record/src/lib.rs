//! The record of a run, for everything that writes or reads results.

mod metric;
mod names;

pub use metric::{Group, Metric, UnknownMetric, Wanted};
pub use names::{BackendName, Implementation};
