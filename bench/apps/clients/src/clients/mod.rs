//! The clients, and what they print.

pub mod http;
pub mod iperf;
pub mod node;
pub mod ping;
pub mod redis;

use std::time::Duration;

use crate::process::CpuTime;

/// No run of a client takes so long.
pub const LIMIT: Duration = Duration::from_secs(120);

/// What a client measured.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// What it did, such as `redis-benchmark SET`.
    pub client: String,
    /// Requests that it sent, or bytes.
    pub requests: u64,
    /// Requests without an answer, or with a wrong one.
    pub failed: u64,
    /// Seconds from the first request to the last answer.
    pub seconds: f64,
    /// Requests per second, or bits per second.
    pub rate: f64,
    /// Percentiles of the latency in milliseconds, if the client measures it.
    pub p50_ms: Option<f64>,
    /// The same.
    pub p99_ms: Option<f64>,
    /// The same.
    pub p999_ms: Option<f64>,
    /// The client's processor time.
    pub cpu: CpuTime,
}
