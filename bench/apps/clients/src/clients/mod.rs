//! The clients, and what they print.

pub mod http;
pub mod node;
pub mod ping;
pub mod redis;

use std::time::Duration;

use anyhow::{Context, Result};

use crate::median::median;
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

/// Runs a client several times, one run after the other: the counts are sums, and the percentiles are medians. One
/// short run would measure little more than its own start.
///
/// # Errors
/// The first error of the client, or if `times` is 0.
pub fn repeated(times: u32, run: impl Fn() -> Result<Load>) -> Result<Load> {
    let loads = (0..times).map(|_| run()).collect::<Result<Vec<_>>>()?;
    let client = loads.first().context("no run")?.client.clone();
    let count = |value: fn(&Load) -> u64| loads.iter().map(value).sum::<u64>();
    let sum = |value: fn(&Load) -> f64| loads.iter().map(value).sum::<f64>();
    let middle = |value: fn(&Load) -> Option<f64>| median(loads.iter().filter_map(value).collect());
    let (requests, seconds) = (count(|load| load.requests), sum(|load| load.seconds));
    Ok(Load {
        client,
        requests,
        failed: count(|load| load.failed),
        seconds,
        rate: requests as f64 / seconds,
        p50_ms: middle(|load| load.p50_ms),
        p99_ms: middle(|load| load.p99_ms),
        p999_ms: middle(|load| load.p999_ms),
        cpu: CpuTime {
            user: sum(|load| load.cpu.user),
            system: sum(|load| load.cpu.system),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_runs_add_up_and_have_median_percentiles() {
        let next = std::cell::Cell::new(0.0);
        let run = || {
            next.set(next.get() + 1.0);
            Ok(Load {
                requests: 100,
                failed: 1,
                seconds: next.get(),
                p99_ms: Some(next.get()),
                ..Load::default()
            })
        };
        let load = repeated(3, run).unwrap();
        assert_eq!((load.requests, load.failed), (300, 3));
        assert_eq!((load.seconds, load.rate), (6.0, 50.0));
        assert_eq!((load.p99_ms, load.p50_ms), (Some(2.0), None));
        assert!(repeated(0, || Ok(Load::default())).is_err());
    }
}
